"""How much a request may bring, by its address, told before any of it is read: a form's files would
otherwise fill the disk of whoever lets strangers at the sign-in page."""

from collections.abc import Callable
from fnmatch import fnmatchcase

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config.problems import NO_LENGTH
from config.refusals import MCP, PROXY, refused
from conversations.importers import upload
from knowledge.uploads import AT_ONCE
from memory import api_transfer

# Have limits of their own.
ELSEWHERE = (PROXY, MCP)
WITHOUT_LENGTH = "Say how long the body is (Content-Length): one sent in chunks can't be taken."


def largest(path: str) -> int:
    """Bytes."""
    for pattern, limit in _larger():
        if fnmatchcase(path, pattern):
            return limit
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE


def _larger() -> tuple[tuple[str, int], ...]:
    """Addresses that take files."""
    return (
        ("/api/v1/import*", api_transfer.LARGEST),
        # It looks who asks before it reads, as the next but one does.
        ("/imports/new/", upload.LARGEST),
        ("/api/v1/knowledge/collections/*", settings.KNOWLEDGE_MAX_BYTES),
        # Several files in one form, each of which has its limit.
        ("/knowledge/collections/*/upload/", AT_ONCE * settings.KNOWLEDGE_MAX_BYTES),
    )


class RequestSizes:
    """Middleware. The web server hands on nothing of a body in chunks, so that the length is all to
    look at, and who sends such a body is told so."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or ""
        if not length and request.headers.get("Transfer-Encoding"):
            return refused(request, 411, NO_LENGTH, WITHOUT_LENGTH)
        most = largest(request.path)
        if request.path.startswith(ELSEWHERE) or not length.isdecimal() or int(length) <= most:
            return self.get_response(request)
        said = f"The request is larger than the {most // 1_000_000} MB that this address takes."
        return refused(request, 413, "too_large", said)
