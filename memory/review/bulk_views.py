"""One decision over many candidates: first what it would hold, then what became of each."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from agents import audit
from agents.desk import DeskRequest, came_from, desk
from conversations.access import conversation_of
from memory import lifecycle
from memory.access import fact_of, run_of
from memory.models import Fact
from memory.review import alike, bulk, decided, queue
from memory.review.cards import Card, card
from memory.review.forms import RejectForm, SnoozeForm
from memory.scope import facts_of


@dataclass(frozen=True, slots=True)
class Choice:
    """A candidate of the preview. A flagged one is never ticked for the person."""

    card: Card
    ticked: bool


@dataclass(frozen=True, slots=True)
class Held:
    title: str
    choices: list[Choice]
    more: bool


@require_GET
@desk
def preview(request: DeskRequest) -> HttpResponse:
    """`conversation`, `run`, `like` (a candidate and what came with it), several `id`, or all."""
    held = _held(request, request.GET)
    context = {
        "held": held,
        "plain": [choice for choice in held.choices if not choice.card.is_flagged],
        "flagged": [choice for choice in held.choices if choice.card.is_flagged],
        "limit": bulk.LIMIT,
        "like": request.GET.get("like", ""),
        "snooze": SnoozeForm(),
        "here": came_from(request, reverse("review")),
    }
    return render(request, "memory/bulk.html", context)


@require_POST
@desk
def decide(request: DeskRequest) -> HttpResponse:
    """`id` for each that was ticked, with `seen-ID`; `step` says what to do."""
    facts = _chosen(request)
    seen = {fact.pk: request.POST.get(f"seen-{fact.pk}", "") for fact in facts}
    name = request.POST.get("step", "")
    step = _step(request, name)
    if step is None or not facts:
        problem = "Tick at least one candidate, and choose what to do with it."
        nothing = {"problem": problem, "here": came_from(request, reverse("review"))}
        return render(request, "memory/bulk_done.html", nothing, status=422)
    outcomes = bulk.decide(facts, seen, step)
    context = {
        "outcomes": outcomes,
        "done": sum(outcome.is_done for outcome in outcomes),
        "undone": name == "undo",
        "here": came_from(request, reverse("review")),
    }
    return render(request, "memory/bulk_done.html", context)


def _held(request: DeskRequest, asked: QueryDict) -> Held:
    waiting = queue.waiting(request.user, timezone.now())
    if like := _uuid(asked.get("like", "")):
        fact = fact_of(request.user, like)
        held = _first(alike.same_source(waiting, fact))
        wanted = alike.like(fact, held[0])
        return _show("Like it, from the same source", *held, ticked=wanted)
    if conversation := _uuid(asked.get("conversation", "")):
        source = conversation_of(request.user, conversation)
        return _show(f"All from “{source}”", *_first(waiting.filter(conversation=source)))
    if run := _uuid(asked.get("run", "")):
        source_run = run_of(request.user, run)
        return _show("All from one run", *_first(waiting.filter(run=source_run)))
    if asked.getlist("id"):
        ids = [pk for pk in map(_uuid, asked.getlist("id")) if pk]
        return _show("Selected", *_first(waiting.filter(pk__in=ids)))
    return _show("All that waits", *_first(waiting))


def _first(facts: Any) -> tuple[list[Fact], bool]:
    rows = list(queue.with_details(facts)[: bulk.LIMIT + 1])
    return rows[: bulk.LIMIT], len(rows) > bulk.LIMIT


def _show(title: str, facts: list[Fact], more: bool, ticked: set[UUID] | None = None) -> Held:
    shown = [card(fact) for fact in facts]
    return Held(
        title=title,
        choices=[
            Choice(row, not row.is_flagged and (ticked is None or row.fact.pk in ticked))
            for row in shown
        ],
        more=more,
    )


def _chosen(request: DeskRequest) -> list[Fact]:
    """In the order of the page. Raises Http404 where one is not the person's."""
    ids = [pk for pk in map(_uuid, request.POST.getlist("id")) if pk][: bulk.LIMIT]
    found = facts_of(request.user).select_related("owner", "agent").in_bulk(ids)
    if len(found) < len(set(ids)):
        raise Http404("There is no such fact.")
    return [found[pk] for pk in dict.fromkeys(ids)]


def _step(request: DeskRequest, name: str) -> bulk.Step | None:
    """None: no such step, or what it needs was not said."""
    actor = audit.person(request.user)
    form = RejectForm(request.POST)
    reason = form.cleaned_data["reason"] if form.is_valid() else ""
    snooze = SnoozeForm(request.POST)
    until = snooze.cleaned_data["moment"] if snooze.is_valid() else None

    def confirm(fact: Fact, seen: str) -> Fact:
        return lifecycle.confirm(fact=fact, actor=actor, seen=seen, reason="bulk")

    def reject(fact: Fact, seen: str) -> Fact:
        return lifecycle.reject(fact=fact, actor=actor, seen=seen, reason=reason)

    def put_off(fact: Fact, seen: str) -> Fact:
        return lifecycle.snooze(fact=fact, until=until, actor=actor, reason="bulk")

    def undo(fact: Fact, seen: str) -> Fact:
        return decided.take_back(fact=fact, actor=actor)

    steps = {"confirm": confirm, "reject": reject, "undo": undo}
    if until is not None:
        steps["snooze"] = put_off
    return steps.get(name)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
