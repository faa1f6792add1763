"""A second session for tests of what happens at once: a connection of its own in its own thread."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import connection, transaction

from tests.memory.raw import sql

Result = TypeVar("Result")
PATIENCE = 30  # seconds; longer than any lock that a test means to wait for


class Session:
    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self.do(lambda: sql(f"SET statement_timeout = '{PATIENCE - 10}s'"))

    def begin(self, isolation: str = "READ COMMITTED") -> None:
        self.do(lambda: transaction.set_autocommit(False))
        self.do(lambda: sql(f"SET TRANSACTION ISOLATION LEVEL {isolation}"))
        # A transaction sees the world as it was at its first question, not at its beginning.
        self.do(lambda: sql("SELECT 1 FROM memory_fact LIMIT 1"))

    def start(self, step: Callable[[], Result]) -> "Future[Result]":
        return self._thread.submit(step)

    def do(self, step: Callable[[], Result]) -> Result:
        return self.start(step).result(timeout=PATIENCE)

    def commit(self) -> None:
        self.do(transaction.commit)

    def close(self) -> None:
        self.do(lambda: connection.close())  # looked up in that thread
        self._thread.shutdown()


def waits(future: "Future[Any]") -> bool:
    """It is held up by the other session."""
    try:
        future.result(timeout=0.3)
    except TimeoutError:
        return True
    return False
