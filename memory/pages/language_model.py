"""The language model that is connected, and a question to it. Operators connect it, in the
environment of the server; a page can't, and shows no key."""

import time

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST
from pydantic import BaseModel, Field

from agents.desk import DeskRequest, desk
from memory import llm, sample

SYSTEM = "You are asked whether you can be reached. Answer in one short sentence."
QUESTION = "Which model are you?"
NAMES = {
    llm.GENERAL: "For conversations",
    llm.PRIVATE: "For conversations marked as sensitive",
    llm.VISION: "For pictures in documents",
}


class Hello(BaseModel):
    """What the model is asked to hand in."""

    answer: str = Field(max_length=2000)


@require_GET
@desk
def language_model(request: DeskRequest) -> HttpResponse:
    return _page(request)


@require_POST
@desk
def ask(request: DeskRequest) -> HttpResponse:
    """Costs tokens, and may reach places that only the operator should: for superusers."""
    if not request.user.is_superuser:
        raise PermissionDenied
    route = llm.configured(request.POST.get("route", "")) if _named(request) else None
    if route is None:
        return _page(request, problem="That one is not set.", status=422)
    started = time.monotonic()
    try:
        done = _asked(route)
    except llm.LlmError as error:
        return _page(request, asked=route.name, error=str(error), usage=error.usage)
    return _page(
        request,
        asked=route.name,
        answer=done.reply.answer,
        usage=done.usage,
        seconds=time.monotonic() - started,
    )


def _asked(route: llm.Route) -> llm.Completion[Hello]:
    if route.name == llm.VISION:
        return llm.complete(route, SYSTEM, sample.QUESTION, Hello, picture=sample.picture())
    return llm.complete(route, SYSTEM, QUESTION, Hello)


def _named(request: DeskRequest) -> bool:
    return request.POST.get("route", "") in NAMES


def _page(request: DeskRequest, status: int = 200, **context: object) -> HttpResponse:
    context |= {
        "routes": [(name, label, llm.configured(name)) for name, label in NAMES.items()],
        "timeout": settings.LLM_TIMEOUT_SECONDS,
        "may_ask": request.user.is_superuser,
        "word": sample.WORD,
    }
    return render(request, "memory/language_model.html", context, status=status)
