"""`/mcp`: streamable HTTP without sessions, each request answered by one JSON document.

The SDK's own session machinery answers it, in an event loop that lasts as long as the request; so
one WSGI process serves everything, and any number of them need share nothing.
"""

from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from agents import keys
from memory.mcp.caller import Caller

# Bytes of a request: far more than the longest message that a tool takes.
LARGEST = 1_000_000
_SECRET = {"authorization", "cookie"}

Message = MutableMapping[str, Any]


@csrf_exempt
def endpoint(request: HttpRequest) -> HttpResponse:
    """A bearer key is all that counts, so there is no cookie that another site could ride on."""
    if request.method != "POST":  # there is no stream to listen to and no session to end
        told = refusal(HTTPStatus.METHOD_NOT_ALLOWED, "Send requests by POST.")
        told["Allow"] = "POST"
        return told
    if not _is_own_origin(request):
        return refusal(HTTPStatus.FORBIDDEN, "Pages of other sites may not call this address.")
    key = keys.verify(_bearer(request))
    if key is None:
        told = refusal(HTTPStatus.UNAUTHORIZED, "Send a valid key: Authorization: Bearer rmb_…")
        told["WWW-Authenticate"] = "Bearer"
        return told
    body = request.read(LARGEST + 1)
    if len(body) > LARGEST:
        return refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large.")
    return async_to_sync(_answered)(_scope(request), body, Caller(key))


def _bearer(request: HttpRequest) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _is_own_origin(request: HttpRequest) -> bool:
    """The host was checked before, by Django. Programs that are no browser send no origin."""
    origin = request.headers.get("Origin")
    if origin is None or origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        return urlsplit(origin).netloc == request.get_host()
    except ValueError:
        return False


def refusal(status: int, why: str) -> HttpResponse:
    """An error of JSON-RPC, of no call."""
    error = {"code": -32600, "message": why}
    return JsonResponse({"jsonrpc": "2.0", "id": None, "error": error}, status=status)


def _scope(request: HttpRequest) -> dict[str, Any]:
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [
            (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in request.headers.items()
            if name.lower() not in _SECRET
        ],
    }


async def _answered(scope: dict[str, Any], body: bytes, caller: Caller) -> HttpResponse:
    import anyio
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from memory.mcp.serve import server

    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        if not waiting:
            await anyio.sleep_forever()  # nobody tells us that the client has gone
        return waiting.pop()

    async def send(message: Message) -> None:
        sent.append(message)

    manager = StreamableHTTPSessionManager(
        server(lambda: caller), stateless=True, json_response=True, max_request_body_size=LARGEST
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
    return _response(sent)


def _response(sent: list[Message]) -> HttpResponse:
    start = sent[0]
    content = b"".join(message.get("body", b"") for message in sent[1:])
    response = HttpResponse(content, status=start["status"])
    del response["Content-Type"]
    for name, value in start.get("headers", ()):
        if name.lower() != b"content-length":
            response[name.decode("latin-1")] = value.decode("latin-1")
    return response
