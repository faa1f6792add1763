"""Clients of the API that wait for each answer before they ask again, so many at once."""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from typing import Any
from uuid import uuid4

Figures = dict[str, float]
# Not counted, seconds: connections are made and caches filled.
WARM = 1.0
PATIENCE = 60


@dataclass
class Told:
    """What was answered within the time, and by whom what."""

    seconds: float
    taken: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    def figures(self) -> Figures:
        """Calls a second; milliseconds."""
        ordered = sorted(self.taken) or [0.0]  # of none; then there are errors
        at = {name: ordered[int(share * (len(ordered) - 1))] for name, share in _SHARES.items()}
        found = {name: round(1_000 * value, 1) for name, value in at.items()}
        rate = round(len(self.taken) / self.seconds, 1)
        return {"rps": rate, **found, "errors": self.errors.total()}


_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


class Client:
    """One kept connection. `number` tells clients apart."""

    def __init__(self, port: int, number: int, key: str) -> None:
        self.number, self.key = number, key
        self.random = random.Random(number)
        self.connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self.asked = 0

    def post(self, path: str, body: Any) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        self.asked += 1
        try:
            self.connection.request("POST", path, json.dumps(body), headers)
            answer = self.connection.getresponse()
            return answer.status, answer.read()
        except (HTTPException, OSError):
            self.connection.close()
            raise


# One call: raises Wrong where the answer is not what it ought to be.
Act = Callable[[Client], None]


class Wrong(Exception):
    pass


def expect(answer: tuple[int, bytes], *statuses: int) -> bytes:
    status, text = answer
    if status not in statuses:
        raise Wrong(f"{status}: {text[:200]!r}")
    return text


def run(act: Act, clients: Sequence[Client], seconds: float) -> Told:
    """All clients at once. What begins within the time is waited for."""
    told, lock = Told(seconds), threading.Lock()
    began = time.monotonic() + WARM
    end = began + seconds

    def go(client: Client) -> None:
        taken, errors = [], Counter[str]()
        while (now := time.monotonic()) < end:
            started = time.perf_counter()
            try:
                act(client)
            except (Wrong, HTTPException, OSError) as error:
                errors[f"{type(error).__name__}: {error}"[:160]] += 1
            else:
                if now >= began:
                    taken.append(time.perf_counter() - started)
        with lock:
            told.taken += taken
            told.errors += errors

    threads = [threading.Thread(target=go, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


@dataclass
class Accepted:
    """Ids of messages whose storing was answered with yes, by owner and conversation."""

    ids: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, owner: str, conversation: str, names: Iterable[str]) -> None:
        with self.lock:
            self.ids.setdefault((owner, conversation), set()).update(names)

    def __len__(self) -> int:
        return sum(map(len, self.ids.values()))

    def lost(self) -> int:
        """Those that the database does not have."""
        from conversations.models import Message

        missing = 0
        for (owner, conversation), names in self.ids.items():
            rows = Message.objects.filter(
                owner__username=owner, conversation__external_id=conversation
            )
            missing += len(names - set(rows.values_list("client_id", flat=True)))
        return missing


def messages(client: Client, words: Callable[[], str]) -> list[dict[str, Any]]:
    """A question and its answer, under names that no other call uses."""
    now = datetime.now(UTC).isoformat()
    mark = uuid4().hex
    said = (("user", f"I bought {words()} yesterday."), ("assistant", f"Noted: {words()}."))
    return [
        {"id": f"{mark}-{role}", "role": role, "content": text, "sent_at": now}
        for role, text in said
    ]
