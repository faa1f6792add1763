"""How many documents one worker process reads at a time."""

import threading
from collections.abc import Callable
from time import monotonic

# Seconds after which a document that takes long makes room for others.
PATIENCE = 60.0


class Rooms:
    """So many at a time, and `aside` more that take long: one owner's hostile or huge file keeps
    nobody else waiting for longer than a minute. (Of one owner one document is read at a time.)"""

    def __init__(
        self, rooms: int, *, aside: int = 1, clock: Callable[[], float] = monotonic
    ) -> None:
        self.rooms, self.aside, self.clock = rooms, aside, clock
        self._lock = threading.Lock()
        self._since: dict[object, float] = {}
        self._aside: set[object] = set()

    def enter(self) -> object | None:
        """A place, to be handed back to `leave`. None: there is no room."""
        with self._lock:
            now = self.clock()
            if len(self._since) >= self.rooms:
                self._make_room(now)
            if len(self._since) >= self.rooms:
                return None
            place = object()
            self._since[place] = now
            return place

    def leave(self, place: object) -> None:
        with self._lock:
            self._since.pop(place, None)
            self._aside.discard(place)

    def _make_room(self, now: float) -> None:
        longest = min(self._since, key=lambda place: self._since[place])
        if len(self._aside) < self.aside and now - self._since[longest] >= PATIENCE:
            del self._since[longest]
            self._aside.add(longest)
