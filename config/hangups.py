"""Whoever hangs up in the middle of a request has not sent it. The web server here ends such a body
as it ends a whole one, so half a file would be stored for the file."""

from collections.abc import Callable
from io import IOBase
from typing import BinaryIO, NoReturn

from django.http import HttpRequest, HttpResponse, UnreadablePostError

from config.problems import BROKEN_OFF


class Promised(IOBase):
    """A body that must come to its length. Raises OSError where it ends before, of which Django
    makes an UnreadablePostError."""

    def __init__(self, stream: BinaryIO, length: int) -> None:
        self.stream, self.left, self.broke = stream, length, False

    def read(self, size: int | None = -1) -> bytes:
        wanted = self.left if size is None or size < 0 else min(size, self.left)
        said = self.stream.read(wanted)
        while len(said) < wanted:
            more = self.stream.read(wanted - len(said))
            if not more:
                self._break()
            said += more
        self.left -= len(said)
        return said

    def readline(self, size: int | None = -1) -> bytes:
        said = self.stream.readline(-1 if size is None else size)
        self.left -= len(said)
        if not said and size and self.left:
            self._break()
        return said

    def _break(self) -> NoReturn:
        self.broke = True
        raise OSError(BROKEN_OFF)


class HangUps:
    """Middleware. The API has an answer of its own (config/problems.py)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdigit() or not int(length):
            return self.get_response(request)
        body = Promised(request._stream, int(length))
        request._stream = body  # type: ignore[assignment]
        try:
            return self.get_response(request)
        finally:
            if body.broke:
                _drop_files(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Nobody listens any more; it is no fault of ours that the log should tell."""
        if not isinstance(error, UnreadablePostError):
            return None
        return HttpResponse(BROKEN_OFF, status=400, content_type="text/plain; charset=utf-8")


def _drop_files(request: HttpRequest) -> None:
    """The half one would stand on the disk until Python comes to collect its garbage."""
    for handler in request.upload_handlers:
        handler.upload_interrupted()
