"""The embedding of a message, begun while its caller asks the database, and the look for what lies
near it, which goes on from there in the model's thread and on a connection of its own: the longest
two steps of a recall, beside all others instead of behind them."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock

from django.db import DEFAULT_DB_ALIAS, connection, connections

from memory import embedding
from memory.recall.nearest import Row
from memory.recall.query import as_facts_say

log = logging.getLogger(__name__)

Vectors = list[list[float]]
Look = Callable[[Vectors], list[Row]]


class Thinking:
    """Nobody waits for a connection that is not there yet: who needs what is near looks for it
    alone unless the look has begun."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._lock = Lock()
        self._look: Look | None = None
        self._is_thought = self._is_looking = self._is_taken = False
        self._near: Future[list[Row] | None] = Future()
        self._vectors = embedding.embed_ahead([as_facts_say(text) for text in texts])
        self._vectors.add_done_callback(self._go_on)

    def vectors(self) -> Vectors:
        """Of the texts, in order. Waits. Raises EmbeddingNotReady."""
        return self._vectors.result()

    def then(self, look: Look) -> None:
        """What to look for when the vectors are there, for `near`. Left to the caller of `near`
        where they are there already, and in a transaction, which other connections do not see."""
        if connection.in_atomic_block:
            return
        with self._lock:
            if not self._is_thought:
                self._look = look

    def near(self) -> list[Row] | None:
        """What the look has found. None where it has not begun, and never will, or has failed."""
        with self._lock:
            self._is_taken = True
            if not self._is_looking:
                return None
        return self._near.result()

    def cancel(self) -> None:
        with self._lock:
            self._is_taken = True
        self._vectors.cancel()

    def _go_on(self, vectors: Future[Vectors]) -> None:
        with self._lock:
            self._is_thought = True
            look = self._look
        if look is not None and not vectors.cancelled() and vectors.exception() is None:
            self._find(look, vectors.result())

    def _find(self, look: Look, vectors: Vectors) -> None:
        found = None
        try:
            _connect()
            if self._may_begin():
                found = look(vectors)
        except Exception as error:  # it is tried again, and told then
            log.debug("recall looked ahead in vain: %s", type(error).__name__)
            connection.close()
        finally:
            self._near.set_result(found)

    def _may_begin(self) -> bool:
        with self._lock:
            self._is_looking = not self._is_taken
            return self._is_looking


def _connect() -> None:
    """One that stays, for each of the model's threads. Not of a pool: no request ends here that
    would give it back, and all would wait for the model while it waits for a request to end."""
    if connection.settings_dict["OPTIONS"].get("pool"):
        own = connections.create_connection(DEFAULT_DB_ALIAS)
        options = {
            name: value for name, value in own.settings_dict["OPTIONS"].items() if name != "pool"
        }
        own.settings_dict = {**own.settings_dict, "OPTIONS": options}
        connections[DEFAULT_DB_ALIAS] = own
    connection.ensure_connection()
