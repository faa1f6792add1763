"""Errors of the API as RFC 9457 problem documents. They never repeat what the client sent."""

import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, ClassVar

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from pydantic import BaseModel

from agents import api as accounts
from agents import auth, gate, limits, replies
from agents.assistants import Overtaken
from agents.bodies import WrongType
from agents.keys import KeyRefused
from agents.models import ApiKey
from agents.versions import Outdated
from conversations import ingest, reading
from conversations.schemas import place_of
from conversations.sketches import reading as sketches
from conversations.sketches import writing
from knowledge import collections as shelves
from knowledge import ingest as documents
from memory import lifecycle, remember
from memory.api_schemas import BadValidity, FactOut
from memory.cited import NoSuchMessage
from memory.purge.plan import OtherPlan
from memory.purge.requests import TooMany
from memory.purge.selection import BadSelection
from memory.recall import as_of
from memory.transfer.reading import BadFile
from memory.vocabulary import State
from memory.webhooks.keeping import HookRefused

PROBLEM_TYPE = "application/problem+json"
NO_LENGTH, BROKE = "length_required", "broken_off"
BROKEN_OFF = "The request broke off before its end, so nothing of it was taken."

Handler = Callable[[HttpRequest, Exception], HttpResponse]

# Status, and a code for programs. The most specific class of an error decides.
PROBLEMS: tuple[tuple[type[Exception], int, str], ...] = (
    (auth.ScopeMissing, 403, "scope_missing"),
    (auth.NoSuchAgent, 404, "not_found"),
    (auth.AgentUnnamed, 422, "agent_unnamed"),
    (limits.TooManyCalls, 429, "too_many_calls"),
    (WrongType, 415, "wrong_type"),
    (replies.BadName, 422, "invalid"),
    (replies.OtherCall, 422, "other_call"),
    (replies.StillRunning, 409, "still_running"),
    (replies.ReplyGone, 409, "reply_gone"),
    (accounts.NotForKey, 403, "not_allowed"),
    (accounts.Unfit, 422, "invalid"),
    (KeyRefused, 422, "invalid"),
    (HookRefused, 422, "invalid"),
    (Overtaken, 409, "conflict"),
    (Outdated, 409, "stale"),
    (shelves.Overtaken, 409, "conflict"),
    (documents.Refused, 422, "refused"),
    (gate.MemoryOff, 403, "memory_off"),
    (ingest.BadMessage, 422, "invalid"),
    (reading.BadCursor, 422, "invalid"),
    (BadFile, 422, "invalid"),
    (BadValidity, 422, "invalid"),
    (remember.BadStatement, 422, "invalid"),
    (remember.NoSuchFact, 404, "not_found"),
    (NoSuchMessage, 404, "not_found"),
    (as_of.DayToCome, 422, "invalid"),
    (ingest.NoSuchConversation, 404, "not_found"),
    (ingest.Refused, 409, "conflict"),
    (sketches.NoSuchSketch, 404, "not_found"),
    (writing.Changed, 409, "stale"),
    (writing.Kept, 409, "refused"),
    (writing.TooLong, 422, "too_long"),
    (OtherPlan, 409, "stale"),
    (TooMany, 422, "invalid"),
    (BadSelection, 422, "invalid"),
    (lifecycle.NotAllowed, 403, "not_allowed"),
    (lifecycle.Purged, 410, "purged"),
    (lifecycle.Stale, 409, "stale"),
    (lifecycle.Conflict, 409, "decided_elsewhere"),
    (lifecycle.Duplicate, 409, "duplicate"),
    (lifecycle.AtCap, 409, "at_cap"),
    (lifecycle.Tombstoned, 409, "tombstoned"),
    (lifecycle.LifecycleError, 409, "refused"),
    (RequestDataTooBig, 413, "too_large"),
    (TooManyFieldsSent, 413, "too_large"),
    (Http404, 404, "not_found"),
)
# By status: those of errors with handlers of their own among them, and of what no operation sees.
CODES: tuple[tuple[int, str], ...] = (
    *((status, code) for _, status, code in PROBLEMS),
    (422, "invalid"),
    (401, "unauthenticated"),
    (400, "malformed"),
    (400, BROKE),
    (411, NO_LENGTH),
)
# Said instead of the exception's own message, which is Django's or names the model.
SAID = {
    TooManyFieldsSent: "The address has too many fields.",
    RequestDataTooBig: "The request is too large; send less at a time.",
    Http404: "Not found.",
}
# One broken message is told; a batch of broken ones need not be told in full.
SHOWN_ERRORS = 20


def problem(status: int, code: str, detail: str, **more: Any) -> HttpResponse:
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "code": code, **more}
    return HttpResponse(
        json.dumps(body | {"detail": detail}),
        status=status,
        content_type=PROBLEM_TYPE,
    )


class UnknownAddress:
    """Addresses and methods that the API does not have end before its own handlers: Django answers
    them with a page, which a program can't read."""

    CODES: ClassVar[dict[int, tuple[str, str]]] = {
        404: ("not_found", "The API has no such address; /api/v1/openapi.json lists them."),
        405: ("method_not_allowed", "This address does not take that method."),
    }

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        of_the_api = request.path.startswith("/api/") and response.status_code in self.CODES
        if not of_the_api or response.headers.get("Content-Type") == PROBLEM_TYPE:
            return response
        told = problem(response.status_code, *self.CODES[response.status_code])
        if "Allow" in response.headers:
            told["Allow"] = response["Allow"]
        return told


def install(api: NinjaAPI) -> None:
    handlers: dict[type[Exception], Any] = {
        kind: _handler(status, code, SAID.get(kind, "")) for kind, status, code in PROBLEMS
    }
    handlers[ValidationError] = _invalid
    handlers[AuthenticationError] = _unauthenticated
    handlers[HttpError] = _http_error
    handlers[replies.Replay] = _replayed
    for kind, handler in handlers.items():
        api.add_exception_handler(kind, handler)


def _handler(status: int, code: str, said: str) -> Handler:
    def handle(request: HttpRequest, error: Exception) -> HttpResponse:
        more: dict[str, Any] = {}
        if isinstance(error, ingest.BadMessage):
            more = {"at": error.at}
        elif (current := _current(request, error)) is not None:
            more = {"current": current.model_dump(mode="json")}
        told = problem(status, code, said or str(error), **more)
        if isinstance(error, limits.TooManyCalls | replies.StillRunning):
            told["Retry-After"] = str(getattr(error, "wait", 1))
        return told

    return handle


def _current(request: HttpRequest, error: Exception) -> BaseModel | None:
    """What is there now in place of what the client saw, for who may see it."""
    if isinstance(error, Outdated):
        return error.current
    if not isinstance(error, lifecycle.Stale | lifecycle.Conflict):
        return None
    key = getattr(request, "auth", None)
    scopes = key.scopes if isinstance(key, ApiKey) else []
    reads = ApiKey.Scope.SEARCH in scopes and error.fact.state == State.ACTIVE
    return FactOut.of(error.fact) if reads or ApiKey.Scope.REVIEW in scopes else None


def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    errors = [
        {"at": _place(one["loc"]), "message": one["msg"].removeprefix("Value error, ")}
        for one in error.errors[:SHOWN_ERRORS]
    ]
    first = errors[0]
    return problem(422, "invalid", f"{first['at']}: {first['message']}", errors=errors)


def _place(location: tuple[str | int, ...]) -> str:
    """`messages[3].sent_at` from ("body", "batch", "messages", 3, "sent_at")."""
    steps = location[2:] if location[0] == "body" else location[1:]
    return place_of(steps) or str(location[0])


def _unauthenticated(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
    detail = "Send a valid key: Authorization: Bearer rmb_…"
    response = problem(401, "unauthenticated", detail)
    response["WWW-Authenticate"] = "Bearer"
    return response


def _replayed(request: HttpRequest, error: replies.Replay) -> HttpResponse:
    return replies.replayed(error.reply)


def _http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, WrongType):
        return problem(415, "wrong_type", str(error.__cause__))
    if error.status_code == 400:  # ninja's word for a body that it can't parse
        return problem(400, "malformed", "The body is not valid JSON in UTF-8.")
    return problem(error.status_code, "error", str(error))
