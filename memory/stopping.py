"""How a long command is stopped: between two steps, or at once by a second request."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from types import FrameType


@contextmanager
def stop_request(say: Callable[[str], None]) -> Iterator[Event]:
    """Ctrl-C and SIGTERM set the event; the second one interrupts. Main thread only."""
    stop = Event()

    def note(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        say("Stopping after this step. Once more stops at once.")

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
