"""The review queue: a page of candidates, and the steps that a person takes on one of them.

Each step answers an htmx request with what takes the place of the card, and any other request with
a redirect back to where the person was. Losing a race is an answer of its own: 409.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urldefrag
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents import audit
from agents.desk import DeskRequest, back, came_from, desk
from agents.gate import allowed
from conversations.access import conversations_of
from memory import lifecycle, llm
from memory.access import fact_of
from memory.models import Fact
from memory.review import queue
from memory.review.forms import EditForm, RejectForm
from memory.vocabulary import State

PAGE = "memory/review.html"


@require_GET
@desk
def review(request: DeskRequest) -> HttpResponse:
    now = timezone.now()
    page = queue.page(request.user, now, after=request.GET.get("after", ""))
    context = {"page": page, "here": request.get_full_path(), **_mode(request)}
    if not page.groups:
        context["started"] = conversations_of(request.user).exists()
    return render(request, PAGE, context)


@require_GET
@desk
def candidate(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    return _show(request, fact_of(request.user, fact_id))


@require_http_methods(["GET", "POST"])
@desk
def edit(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    fact = fact_of(request.user, fact_id)
    if request.method == "GET":
        return _show(request, fact, form=EditForm.of(fact))
    form = EditForm.of(fact, request.POST)
    if not form.is_valid():
        return _show(request, fact, form=form, status=422)

    def step() -> Fact:
        return lifecycle.confirm_with_edit(
            fact=fact, edit=form.edit(fact), actor=_actor(request), seen=_seen(request)
        )

    return _decide(request, fact, "Confirmed with your wording", step, form)


@require_POST
@desk
def confirm(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    fact = fact_of(request.user, fact_id)

    def step() -> Fact:
        return lifecycle.confirm(fact=fact, actor=_actor(request), seen=_seen(request))

    return _decide(request, fact, "Confirmed", step)


@require_POST
@desk
def reject(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    fact = fact_of(request.user, fact_id)
    form = RejectForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""

    def step() -> Fact:
        return lifecycle.reject(
            fact=fact, actor=_actor(request), reason=reason, seen=_seen(request)
        )

    return _decide(request, fact, "Rejected", step)


@require_POST
@desk
def take_back(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    """Undo: what was confirmed or rejected waits once more, and its card is back."""
    fact = fact_of(request.user, fact_id)
    step = lifecycle.reconsider if fact.state == State.REJECTED else lifecycle.undo
    try:
        step(fact=fact, actor=_actor(request), reason="taken back")
    except lifecycle.LifecycleError as refusal:
        return _refuse(request, fact, refusal)
    if request.htmx:
        return _show(request, fact_of(request.user, fact_id), fragment="card_again")
    messages.success(request, "Taken back: it waits for you again.")
    return back(request, reverse("review"))


def _decide(
    request: DeskRequest,
    fact: Fact,
    done: str,
    step: Callable[[], Fact],
    form: EditForm | None = None,
) -> HttpResponse:
    try:
        outcome = step()
    except lifecycle.Stale as refusal:
        return _show(request, fact_of(request.user, fact.pk), problem=refusal, status=409)
    except lifecycle.Conflict as refusal:
        return _refuse(request, refusal.fact, refusal)
    except lifecycle.LifecycleError as refusal:
        return _show(request, fact, form=form, problem=refusal, status=409)
    if request.htmx:
        return _result(request, outcome, done, replaced=fact)
    messages.success(request, f"{done}: {outcome.statement}")
    return back(request, reverse("review"))


def _refuse(request: DeskRequest, fact: Fact, refusal: lifecycle.LifecycleError) -> HttpResponse:
    """Somebody else was first, or the step is not possible: says how things stand instead."""
    if request.htmx:
        return _result(request, fact, str(refusal), replaced=fact, status=409)
    context = {"fact": fact, "outcome": str(refusal), "here": _here(request)}
    return render(request, "memory/outcome.html", context, status=409)


def _result(
    request: HttpRequest, fact: Fact, outcome: str, *, replaced: Fact, status: int = 200
) -> HttpResponse:
    """The line that takes the place of the card of `replaced`."""
    context = {
        "fact": fact,
        "outcome": outcome,
        "replaced": replaced,
        "lost": status != 200,
        "here": _here(request),
    }
    return render(request, f"{PAGE}#result", context, status=status)


def _show(
    request: DeskRequest,
    fact: Fact,
    form: EditForm | None = None,
    problem: lifecycle.LifecycleError | None = None,
    status: int = 200,
    fragment: str = "",
) -> HttpResponse:
    """One card, open for edit where there is a form; a page around it unless htmx asks."""
    if fact.state != State.PENDING:
        return _refuse(request, fact, lifecycle.Conflict(fact))
    card = queue.one(fact)
    context: dict[str, Any] = {
        "card": card,
        "form": form,
        "problem": problem,
        "here": _here(request),
    }
    if request.htmx:
        name = fragment or ("edit" if form else "card")
        return render(request, f"{PAGE}#{name}", context, status=status)
    group = queue.Group(conversation=card.fact.conversation, cards=[card])
    context |= {
        "page": queue.QueuePage(groups=[group], next_key=""),
        "alone": True,
        **_mode(request),
    }
    return render(request, PAGE, context, status=status)


def _mode(request: DeskRequest) -> dict[str, object]:
    """What a newcomer must know about the state of the server."""
    choice = request.user.settings.memory_enabled
    return {
        "rule_based": llm.configured(llm.GENERAL) is None,
        "memory_off": not allowed(settings.MEMORY_MODE, choice),
    }


def _here(request: HttpRequest) -> str:
    """Where the person goes back to: the queue's page that the card stands on."""
    return urldefrag(came_from(request, reverse("review"))).url


def _seen(request: HttpRequest) -> str:
    return request.POST.get("seen", "")


def _actor(request: DeskRequest) -> audit.Actor:
    return audit.person(request.user)
