"""How the review pages answer: with what takes the place of a card where htmx asks, with a page or
a way back everywhere else. Losing a race is an answer of its own: 409."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urldefrag, urlsplit

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone

from agents.desk import DeskRequest, back, came_from
from agents.gate import allowed
from memory import lifecycle, llm
from memory.access import fact_of
from memory.models import Fact
from memory.review import queue
from memory.review.forms import EditForm
from memory.vocabulary import State

PAGE = "memory/review.html"
ONE = "one"


def show(
    request: DeskRequest,
    fact: Fact,
    *,
    problem: lifecycle.LifecycleError | None = None,
    form: EditForm | None = None,
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """One card, open for edit where there is a form; a page around it unless htmx asks."""
    if fact.state != State.PENDING:
        return refuse(request, fact, lifecycle.Conflict(fact))
    card = queue.one(fact)
    context |= {"card": card, "form": form, "problem": problem, **place(request)}
    if request.htmx:
        name = "memory/_one.html" if context["one"] else "memory/_card.html"
        context |= _neighbours(request, fact) if context["one"] else {}
        return render(request, name, context, status=status)
    group = queue.Group(conversation=card.fact.conversation, cards=[card])
    context |= {
        "page": queue.QueuePage(groups=[group], next_key=""),
        "alone": True,
        **mode(request),
    }
    return render(request, PAGE, context, status=status)


def settled(
    request: DeskRequest, fact: Fact, outcome: str, *, replaced: Fact, others: Sequence[Fact] = ()
) -> HttpResponse:
    """It was done: a line in the place of the card of `replaced`, and of the cards of `others`."""
    if request.htmx:
        return result(request, fact, outcome, replaced=replaced, others=others)
    messages.success(request, f"{outcome}: {queue.one(fact).statement}")
    return back(request, reverse("review"))


def refuse(request: DeskRequest, fact: Fact, refusal: lifecycle.LifecycleError) -> HttpResponse:
    """Somebody else was first, or the step is not possible: says how things stand instead."""
    if request.htmx:
        return result(request, fact, str(refusal), replaced=fact, status=409)
    context = {"fact": fact, "outcome": str(refusal), "here": here(request)}
    return render(request, "memory/outcome.html", context, status=409)


def refused_step(
    request: DeskRequest,
    fact: Fact,
    refusal: lifecycle.LifecycleError,
    form: EditForm | None = None,
    **context: Any,
) -> HttpResponse:
    """The same for a step on one card: what has changed is shown anew, to be decided again."""
    if isinstance(refusal, lifecycle.Stale):
        fact, form = fact_of(request.user, fact.pk), None
    elif isinstance(refusal, lifecycle.Conflict):
        return refuse(request, refusal.fact, refusal)
    return show(request, fact, form=form, problem=refusal, status=409, **context)


def result(
    request: DeskRequest,
    fact: Fact,
    outcome: str,
    *,
    replaced: Fact,
    others: Sequence[Fact] = (),
    status: int = 200,
) -> HttpResponse:
    """The line that takes the place of the card of `replaced`; one at a time, the next card too."""
    context = {
        "fact": fact,
        "statement": queue.one(fact).statement,
        "outcome": outcome,
        "replaced": replaced,
        "others": others,
        "lost": status != 200,
        **place(request),
    }
    if not context["one"]:
        return render(request, "memory/_result.html", context, status=status)
    context |= _next_one(request, replaced)
    return render(request, "memory/_one.html", context, status=status)


def place(request: HttpRequest) -> dict[str, Any]:
    """Where the person works: the page to go back to, and whether it shows one card at a time."""
    address = here(request)
    return {"here": address, "one": parse_qs(urlsplit(address).query).get("view") == [ONE]}


def here(request: HttpRequest) -> str:
    """The queue's page that the card stands on."""
    return urldefrag(came_from(request, reverse("review"))).url


def mode(request: DeskRequest) -> dict[str, object]:
    """What a newcomer must know about the state of the server."""
    choice = request.user.settings.memory_enabled
    return {
        "rule_based": llm.configured(llm.GENERAL) is None,
        "memory_off": not allowed(settings.MEMORY_MODE, choice),
    }


def _next_one(request: DeskRequest, decided: Fact) -> dict[str, Any]:
    """The candidate after this one, or the first one where it was the last."""
    now, key = timezone.now(), queue.key(decided)
    for after in (key, ""):
        page = queue.page(request.user, now, after=after, size=1)
        if page.cards:
            card = page.cards[0]
            return {"card": card, **_neighbours(request, card.fact)}
    return {"card": None}


def _neighbours(request: DeskRequest, fact: Fact) -> dict[str, Any]:
    """Where j and k lead when one card is shown at a time."""
    return {
        "next_key": queue.key(fact),
        "previous": queue.before(request.user, timezone.now(), fact),
    }
