"""Whoever hangs up in the middle of a request has not sent it. The web server here ends such a body
as it ends a whole one, so half a file would be stored for the file."""

from collections.abc import Callable
from http import HTTPStatus
from io import IOBase
from typing import BinaryIO, NoReturn

from django.http import HttpRequest, HttpResponse, UnreadablePostError

from config.problems import BROKE, BROKEN_OFF
from config.refusals import refused


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

    def _break(self) -> NoReturn:
        self.broke = True
        raise OSError(BROKEN_OFF)


class HangUps:
    """Middleware, behind Django's look for a form's token. That reads the form, and where the form
    broke off goes on with an empty one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or ""
        if not length.isdecimal():
            return self.get_response(request)
        body = Promised(request._stream, int(length))
        request._stream = request.promised = body  # type: ignore[assignment,attr-defined]
        response = self.get_response(request)
        if not body.broke:
            return response
        _drop_files(request)
        return _told(request)

    def process_view(self, request: HttpRequest, *_: object) -> HttpResponse | None:
        """No view is shown a form that lost its fields: it would take each box for unticked."""
        body = getattr(request, "promised", None)
        return _told(request) if body is not None and body.broke else None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Nobody listens any more; it is no fault of ours that the log should tell."""
        return _told(request) if isinstance(error, UnreadablePostError) else None


def _told(request: HttpRequest) -> HttpResponse:
    return refused(request, HTTPStatus.BAD_REQUEST, BROKE, BROKEN_OFF)


def _drop_files(request: HttpRequest) -> None:
    """The half one would stand on the disk until Python comes to collect its garbage."""
    for handler in request.upload_handlers:
        handler.upload_interrupted()
