"""The reconfirm queue: facts that nobody confirmed for long. Still true, no longer true, changed to
something else, or ask again later; each with its Undo."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from agents import audit
from agents.desk import DeskRequest, back, desk
from memory import lifecycle
from memory.access import fact_of
from memory.consolidation import reconfirm as service
from memory.models import Fact
from memory.review import answered, queue
from memory.review.answered import ENDED, LATER, SAID, STILL
from memory.review.cards import Card, card
from memory.review.decided import TAKEN_BACK
from memory.review.forms import BOUNDS, MAX_STATEMENT, Day, SnoozeForm
from memory.scope import facts_of

PAGE = "memory/reconfirm.html"


class AnswerForm(forms.Form):
    """`when`: the last day on which it held, or the first one of what it changed to."""

    when = forms.DateField(required=False, widget=Day, validators=BOUNDS)
    statement = forms.CharField(max_length=MAX_STATEMENT, required=False, widget=forms.Textarea)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said to the person, and by which reason the trail knows it (none: it is a supersede,
    which has an undo of its own)."""

    said: str
    reason: str
    step: Callable[[], Fact]


@require_GET
@desk
def reconfirm(request: DeskRequest) -> HttpResponse:
    now = timezone.now()
    waiting = service.waiting(owner=request.user, now=now)
    cards = _cards(request, [fact.pk for fact in waiting])
    return render(request, PAGE, {"cards": cards, "here": request.get_full_path()})


@require_POST
@desk
def answer(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    """`answer` is still, ended, changed or later."""
    fact = fact_of(request.user, fact_id)
    form, snooze = AnswerForm(request.POST), SnoozeForm(request.POST)
    if not form.is_valid():
        return _again(request, fact, "Choose a day, and at most 500 characters.", 422)
    chosen = _answer(request, fact, form.cleaned_data, snooze)
    if chosen is None:
        return _again(request, fact, "Say what is so, and a day to come if it is to wait.", 422)
    try:
        outcome = chosen.step()
    except lifecycle.Stale as refusal:
        return _again(request, refusal.fact, str(refusal), 409)
    except lifecycle.Conflict as refusal:
        return _line(request, refusal.fact, str(refusal), replaced=fact, status=409)
    except lifecycle.LifecycleError as refusal:
        return _again(request, fact, str(refusal), 409)
    # The same text again changes nothing.
    reason = STILL if outcome.pk == fact.pk and not chosen.reason else chosen.reason
    if reason:
        answered.remember(request, outcome, reason)
    said = SAID.get(reason, chosen.said)
    return _line(request, outcome, said, replaced=fact, reason=reason)


@require_POST
@desk
def unanswer(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    fact, actor = fact_of(request.user, fact_id), audit.person(request.user)
    reason = request.POST.get("answer", "")
    try:
        if reason in (STILL, ENDED, LATER):
            row = lifecycle.unanswer(fact=fact, answer=reason, actor=actor, reason=TAKEN_BACK)
        else:
            lifecycle.undo(fact=fact, actor=actor, reason=TAKEN_BACK)
            row = fact_of(request.user, UUID(request.POST.get("replaced", "") or str(fact.pk)))
    except lifecycle.LifecycleError as refusal:
        return _line(request, fact, str(refusal), replaced=fact, status=409)
    answered.forget(request, fact)
    if request.htmx:
        return render(request, "memory/_reconfirm_card.html", _context(request, row, counted=True))
    messages.success(request, "Taken back: it is asked about again.")
    return back(request, reverse("reconfirm"))


def _answer(
    request: DeskRequest, fact: Fact, said: dict[str, Any], snooze: SnoozeForm
) -> Answer | None:
    known: dict[str, Any] = {"fact": fact, "actor": audit.person(request.user)}
    seen: dict[str, Any] = {"seen": request.POST.get("seen", "")}
    when: date | None = said["when"]
    match request.POST.get("answer", ""):
        case "still":
            return Answer(SAID[STILL], STILL, lambda: service.still_true(**known, **seen))
        case "ended":
            end = _start(when + timedelta(days=1)) if when else None
            return Answer(
                SAID[ENDED],
                ENDED,
                lambda: service.no_longer_true(when=_not_after_now(end), **known, **seen),
            )
        case "changed" if said["statement"].strip():
            text, start = said["statement"], _start(when) if when else None
            return Answer(
                "Changed",
                "",
                lambda: service.changed_to(statement=text, when=start, **known, **seen),
            )
        case "later" if snooze.is_valid():
            until = snooze.cleaned_data["moment"]
            return Answer(SAID[LATER], LATER, lambda: service.ask_later(until=until, **known))
    return None


def _start(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _not_after_now(end: datetime | None) -> datetime | None:
    """A day that still runs has not ended: what ends today ends now."""
    if end is not None and end.date() == timezone.localdate() + timedelta(days=1):
        return None
    return end


def _cards(request: DeskRequest, ids: Sequence[UUID]) -> list[Card]:
    rows = queue.with_details(facts_of(request.user).filter(pk__in=ids))
    found = {row.pk: row for row in rows}
    shown = [found[pk] for pk in ids if pk in found]
    return [card(fact, following) for fact, following in zip_longest(shown, shown[1:])]


def _context(request: DeskRequest, fact: Fact, **context: Any) -> dict[str, Any]:
    return {
        "card": queue.one(fact),
        "here": request.POST.get("back") or reverse("reconfirm"),
        **context,
    }


def _again(request: DeskRequest, fact: Fact, problem: str, status: int) -> HttpResponse:
    """The card once more, with what is in the way."""
    context = _context(request, fact_of(request.user, fact.pk), problem=problem)
    if request.htmx:
        return render(request, "memory/_reconfirm_card.html", context, status=status)
    context["cards"] = [context.pop("card")]
    return render(request, PAGE, context, status=status)


def _line(
    request: DeskRequest,
    fact: Fact,
    outcome: str,
    *,
    replaced: Fact,
    reason: str = "",
    status: int = 200,
) -> HttpResponse:
    context = _context(
        request, fact, outcome=outcome, replaced=replaced, reason=reason, lost=status != 200
    )
    if request.htmx:
        return render(request, "memory/_reconfirm_line.html", context, status=status)
    if status != 200:
        context |= {"fact": fact}
        return render(request, "memory/outcome.html", context, status=status)
    messages.success(request, f"{outcome}: {context['card'].statement}")
    return back(request, reverse("reconfirm"))
