"""Passes an answer through, piece by piece as it comes, and says when it is over."""

import logging
import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from django.conf import settings

from memory.proxy.answers import Answer, Reader

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger(__name__)


class BrokenOff(Exception):
    """The web server cuts the client's connection, so that half an answer is not taken for one."""


class Busy(Exception):
    """As many chats pass through this process as it has threads for."""


class Slot:
    """One of the chats that may pass at once. Taken by making it; raises Busy. One that is lost,
    because the server failed before it had the answer, frees itself."""

    taken = False

    def __init__(self) -> None:
        self._slots = _slots(settings.UPSTREAM_STREAMS)
        self.taken = self._slots.acquire(blocking=False)
        if not self.taken:
            raise Busy

    def free(self) -> None:
        if self.taken:
            self.taken = False
            self._slots.release()

    __del__ = free


@cache
def _slots(number: int) -> threading.BoundedSemaphore:
    return threading.BoundedSemaphore(number)


class Relay:
    """An iterator over the upstream's bytes as they are. The web server closes it when the client
    has them, or is gone; then `over` is called, once."""

    def __init__(
        self, response: "httpx2.Response", reader: Reader, over: Callable[[Answer], None]
    ) -> None:
        self._response = response
        self._bytes = response.iter_raw()
        self._reader = reader
        self._over = over
        self._open = True

    def __iter__(self) -> "Relay":
        return self

    def __next__(self) -> bytes:
        import httpx2

        try:
            piece = next(self._bytes)
        except httpx2.HTTPError as error:
            log.warning("a model server broke off (%s)", type(error).__qualname__)
            raise BrokenOff from None
        self._reader.feed(piece)
        return piece

    def close(self) -> None:
        if self._open:
            self._open = False
            self._response.close()
            self._over(self._reader.answer())
