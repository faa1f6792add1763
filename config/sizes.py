"""How much a request may bring, by its address, told before any of it is read: a form's files would
otherwise fill the disk of whoever lets strangers at the sign-in page."""

from collections.abc import Callable
from fnmatch import fnmatchcase

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from config.problems import problem
from conversations.importers import upload
from knowledge.uploads import AT_ONCE
from memory import api_transfer

# Have limits of their own, and answers in the shape that their clients read.
ELSEWHERE = ("/v1/", "/mcp")
API = "/api/"
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
    """Middleware. A web server here hands on no body without its length, so that is all to look
    at, and whoever sends one is told so."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "CONTENT_LENGTH" not in request.META and request.headers.get("Transfer-Encoding"):
            return _refusal(request.path, 411, "length_required", WITHOUT_LENGTH)
        length = request.META.get("CONTENT_LENGTH") or "0"
        most = largest(request.path)
        if request.path.startswith(ELSEWHERE) or not length.isdigit() or int(length) <= most:
            return self.get_response(request)
        said = f"The request is larger than the {most // 1_000_000} MB that this address takes."
        return _refusal(request.path, 413, "too_large", said)


def _refusal(path: str, status: int, code: str, said: str) -> HttpResponse:
    if path.startswith(API):
        return problem(status, code, said)
    return HttpResponse(said, status=status, content_type="text/plain; charset=utf-8")
