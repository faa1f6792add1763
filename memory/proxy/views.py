"""The addresses that a client of OpenAI's asks, and what they answer when it is ours to answer."""

import logging
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.db import close_old_connections
from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_exempt

from agents.auth import NoSuchAgent, ScopeMissing, agent_for, require_scope
from agents.limits import TooManyCalls
from agents.models import Agent, ApiKey
from conversations import rules
from memory.proxy import recalling, upstream, wire
from memory.proxy.answers import Answer, Unread, reader_for
from memory.proxy.recalling import Memory, Status
from memory.proxy.recording import Exchange, finish
from memory.proxy.relay import Busy, Relay, Slot
from memory.recall.block import NONCE_CHARACTERS
from memory.recall.service import Recall

log = logging.getLogger(__name__)

# Pictures come inside the body. The largest that OpenAI's own server takes is of this order.
BODY_BYTES = 32_000_000
KEY = require_scope(ApiKey.Scope.PROXY)
# The name of the conversation: ours, or what Open WebUI sends by itself when it is told to.
NAMES = ("x-remembrancer-conversation", "x-openwebui-chat-id")
MEMORY = "x-remembrancer-memory"
OFF, READ_ONLY = "off", "read-only"
FACTS_NAMED = 100

View = Callable[[HttpRequest, ApiKey], HttpResponseBase]


class BadRequest(Exception):
    pass


class TooLarge(Exception):
    pass


ANSWERS: tuple[tuple[type[Exception], int, str], ...] = (
    (ScopeMissing, 403, "scope_missing"),
    (TooManyCalls, 429, "too_many_calls"),
    (NoSuchAgent, 404, "no_such_agent"),
    (TooLarge, 413, "too_large"),
    (wire.Unreadable, 400, "malformed"),
    (BadRequest, 400, "invalid"),
    (upstream.TimedOut, 504, "upstream_timeout"),
    (upstream.Unreachable, 502, "upstream_unreachable"),
)


def failure(status: int, code: str, message: str, kind: str = "remembrancer_error") -> JsonResponse:
    """In the shape that OpenAI's clients read."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return JsonResponse({"error": error}, status=status)


def _refusal(error: Exception) -> JsonResponse:
    status, code = next((s, c) for kind, s, c in ANSWERS if isinstance(error, kind))
    told = failure(status, code, str(error))
    if isinstance(error, TooManyCalls):
        told["Retry-After"] = str(error.wait)
    return told


def _guarded(method: str) -> Callable[[View], Callable[[HttpRequest], HttpResponseBase]]:
    def around(view: View) -> Callable[[HttpRequest], HttpResponseBase]:
        @csrf_exempt
        @wraps(view)
        def guarded(request: HttpRequest) -> HttpResponseBase:
            if not upstream.is_configured():
                return _not_configured()
            if request.method != method:
                told = failure(405, "method_not_allowed", f"This address takes {method}.")
                told["Allow"] = method
                return told
            try:
                key = KEY(request)
                return view(request, key) if key else _no_key()
            except Busy:
                return _busy()
            except tuple(kind for kind, _, _ in ANSWERS) as error:
                return _refusal(error)

        return guarded

    return around


@_guarded("POST")
def chat_completions(request: HttpRequest, key: ApiKey) -> HttpResponseBase:
    began = time.perf_counter()
    raw = _body(request)
    body = wire.parse(raw)
    exchange, wants = _exchange(request, key, body)
    slot = Slot()
    try:
        memory = _remembered(exchange, body) if wants else Memory(Status.SKIPPED)
        sent = wire.with_block(body, memory.block) if memory.block else raw
        close_old_connections()  # a stream may last for minutes, and needs none
        added = 1000 * (time.perf_counter() - began)
        response = _passed(request, "/chat/completions", sent, slot, exchange, memory.recall)
    except BaseException:
        slot.free()
        raise
    return _told(response, memory, added)


@_guarded("GET")
def models(request: HttpRequest, key: ApiKey) -> HttpResponseBase:
    slot = Slot()
    try:
        close_old_connections()
        return _passed(request, "/models", None, slot)
    except BaseException:
        slot.free()
        raise


@csrf_exempt
def elsewhere(request: HttpRequest) -> HttpResponseBase:
    """Nothing else of the model server can be reached through us."""
    if not upstream.is_configured():
        return _not_configured()
    known = "/v1/chat/completions and /v1/models"
    return failure(404, "not_found", f"Only {known} are passed on.")


def _exchange(request: HttpRequest, key: ApiKey, body: dict[str, Any]) -> tuple[Exchange, bool]:
    """And whether the client wants memory at all."""
    asked = request.headers.get(MEMORY, "").strip().lower()
    if asked not in {"", OFF, READ_ONLY}:
        raise BadRequest(f"{MEMORY}: write {OFF} or {READ_ONLY}, or leave it out.")
    wants = asked != OFF and not wire.is_chore(body)
    exchange = Exchange(
        key=key,
        agent=_agent(request, key),
        said=wire.turns(body),
        asked_at=timezone.now(),
        named=_name(request),
        kept=wants and asked != READ_ONLY,
    )
    return exchange, wants


def _agent(request: HttpRequest, key: ApiKey) -> Agent:
    """A client that knows nothing of agents speaks for its owner's default one."""
    slug = request.headers.get("x-remembrancer-agent") or None
    if slug is None and key.agent is None:
        default = Agent.objects.filter(owner=key.owner, is_default=True).select_related("owner")
        agent = default.first()
        if agent is None:
            raise NoSuchAgent
        return agent
    return agent_for(key, slug)


def _name(request: HttpRequest) -> str | None:
    for header in NAMES:
        name = request.headers.get(header, "").strip()
        if len(name) > rules.ID_LENGTH:
            raise BadRequest(f"{header}: at most {rules.ID_LENGTH} characters.")
        if name:
            return name
    return None


def _remembered(exchange: Exchange, body: dict[str, Any]) -> Memory:
    words = wire.last_words(body)
    if not words.strip():
        return Memory(Status.SKIPPED)
    asked = [turn.text for turn in exchange.said if turn.role == wire.USER]
    mark = f"{exchange.key.pk}\n{wire.beginning(body)}"
    return recalling.look(
        agent=exchange.agent,
        message=words,
        recent=asked[:-1],
        talk=exchange.talk,
        # Not random, so that all steps that tools take within a turn send the same prompt, which
        # the model server then has in its cache; and nobody can guess it either.
        nonce=salted_hmac("memory.proxy", mark, algorithm="sha256").hexdigest()[:NONCE_CHARACTERS],
    )


def _passed(
    request: HttpRequest,
    path: str,
    body: bytes | None,
    slot: Slot,
    exchange: Exchange | None = None,
    told: Recall | None = None,
) -> StreamingHttpResponse:
    answer = upstream.ask(request.method or "", path, headers=request.headers, body=body)
    reader = (
        Unread()
        if exchange is None
        else reader_for(
            answer.headers.get("content-type", ""), answer.headers.get("content-encoding", "")
        )
    )
    heard = answer.status_code == 200

    def over(read: Answer) -> None:
        if exchange is not None and heard:
            finish(exchange=exchange, answer=read, told=told)
        slot.free()

    response = StreamingHttpResponse(Relay(answer, reader, over), status=answer.status_code)
    del response["Content-Type"]
    for name, value in upstream.headers_back(answer):
        response[name] = value
    return response


def _told(response: StreamingHttpResponse, memory: Memory, added: float) -> StreamingHttpResponse:
    response["X-Remembrancer-Memory"] = memory.status.value
    response["X-Remembrancer-Added-Ms"] = f"{added:.1f}"
    if memory.recall is not None:
        for name, ids in (
            ("Facts", [item.fact.pk for item in memory.recall.items]),
            ("Cases", [found.case.pk for found in memory.recall.cases]),
        ):
            if ids:
                response[f"X-Remembrancer-{name}"] = ",".join(map(str, ids[:FACTS_NAMED]))
    return response


def _body(request: HttpRequest) -> bytes:
    too_large = TooLarge(f"The request is larger than {BODY_BYTES // 1_000_000} MB.")
    if int(request.headers.get("content-length") or 0) > BODY_BYTES:
        raise too_large
    raw: bytes = request.read(BODY_BYTES + 1)
    if len(raw) > BODY_BYTES:
        raise too_large
    return raw


def _not_configured() -> JsonResponse:
    return failure(404, "not_configured", "No model server is configured: set UPSTREAM_BASE_URL.")


def _no_key() -> JsonResponse:
    message = "Send a valid key of Remembrancer's as the API key: rmb_…"
    told = failure(401, "invalid_api_key", message, "invalid_request_error")
    told["WWW-Authenticate"] = "Bearer"
    return told


def _busy() -> JsonResponse:
    message = f"{settings.UPSTREAM_STREAMS} chats pass through already; try again in a moment."
    told = failure(503, "busy", message)
    told["Retry-After"] = "1"
    return told
