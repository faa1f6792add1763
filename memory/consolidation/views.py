"""The pages of consolidation: its runs, what each did, and the ways back."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.audit import person
from agents.desk import DeskRequest, desk
from agents.gate import MemoryOff, memory_on
from agents.models import User
from memory import lifecycle
from memory.consolidation import access, due
from memory.consolidation.registry import STAGES
from memory.consolidation.run import go_on, plan
from memory.consolidation.undo import CannotUndo, Undone, undo_change, undo_run
from memory.consolidation.values import Change
from memory.extraction.lease import LeaseTaken
from memory.lifecycle import Edit, LifecycleError
from memory.models import ConsolidationChange, ConsolidationRun, ConsolidationSchedule, Fact
from memory.pages.paging import day_of, newest_first
from memory.scope import facts_of
from memory.vocabulary import Tag

SHOWN = 100
LABELS = {stage.name: stage.label for stage in STAGES}
ACTIONS = {
    "archive": "archived",
    "decay": "asked about again",
    "fold": "folded into the older one",
    "propose": "proposed as one sentence",
    "offer": "offered for merging by hand",
    "keep_apart": "kept apart",
    "group": "would be looked at together",
}


@dataclass(frozen=True)
class Line:
    """A change with the facts that it speaks of, as they are now; a purged one is missing."""

    change: ConsolidationChange | Change
    action: str
    facts: list[Fact]
    sources: list[Fact]
    can_undo: bool = False


class MergeForm(forms.Form):
    statement = forms.CharField(
        max_length=500,
        label="One sentence for all of them",
        widget=forms.Textarea(attrs={"rows": 3, "autofocus": True}),
    )

    def clean_statement(self) -> str:
        statement = " ".join(str(self.cleaned_data["statement"]).split())
        if not any(character.isalnum() for character in statement):
            raise forms.ValidationError("It needs words: nothing here can be read.")
        return statement


@require_GET
@desk
def runs(request: DeskRequest) -> HttpResponse:
    owner, now = request.user, timezone.now()
    found = access.runs_of(owner)
    day = day_of(request.GET.get("day", ""))
    if day is not None:
        found = found.filter(started_at__gte=day, started_at__lt=day + timedelta(days=1))
    schedule = ConsolidationSchedule.objects.filter(owner=owner).first()
    offers = access.offers_to(owner, now)
    context = {
        "listing": newest_first(found, "started_at", request.GET.get("after", "")),
        "last": schedule.last_run_at if schedule else None,
        "asked": schedule.requested_at if schedule else None,
        "memory_off": not memory_on(owner),
        "offers": _lines(owner, offers),
        "hour": due.HOUR,
        "day": day,
    }
    return render(request, "memory/consolidation.html", context)


@require_GET
@desk
def preview(request: DeskRequest) -> HttpResponse:
    """What a run would do now."""
    try:
        found = plan(owner=request.user, now=timezone.now())
    except MemoryOff as error:
        messages.error(request, str(error))
        return redirect("consolidation")
    context = {
        "stages": _by_stage(_lines(request.user, found.changes[:SHOWN])),
        "count": len(found.changes),
        "shown": min(SHOWN, len(found.changes)),
        "stopped_by": ConsolidationRun.Breaker(found.stopped_by).label if found.stopped_by else "",
    }
    return render(request, "memory/consolidation_preview.html", context)


@require_POST
@desk
def start(request: DeskRequest) -> HttpResponse:
    """Leaves a note in the database; the hint to the worker may be lost."""
    from memory.tasks_consolidation import hint

    try:
        due.ask_for_run(request.user, timezone.now())
    except MemoryOff as error:
        messages.error(request, str(error))
        return redirect("consolidation")
    owner_id = request.user.pk
    transaction.on_commit(lambda: hint(owner_id))
    messages.success(request, "A run was asked for. It begins within a minute.")
    return redirect("consolidation")


@require_GET
@desk
def run(request: DeskRequest, run_id: UUID) -> HttpResponse:
    return _show(request, access.run_of(request.user, run_id))


@require_POST
@desk
def undo_all(request: DeskRequest, run_id: UUID) -> HttpResponse:
    row = access.run_of(request.user, run_id)
    outcome = undo_run(run=row, actor=person(request.user))
    if outcome.refused:
        return _show(request, row, outcome, status=409)
    messages.success(request, f"{_changes(outcome.done)} taken back.")
    return redirect("consolidation-run", row.pk)


@require_POST
@desk
def undo_one(request: DeskRequest, change_id: UUID) -> HttpResponse:
    change = access.change_of(request.user, change_id)
    try:
        undo_change(change=change, actor=person(request.user))
    except CannotUndo as refusal:
        outcome = Undone(refused=[(change, refusal)])
        return _show(request, change.run, outcome, status=409)
    messages.success(request, "Taken back.")
    return redirect("consolidation-run", change.run_id)


@require_POST
@desk
def continue_run(request: DeskRequest, run_id: UUID) -> HttpResponse:
    row = access.run_of(request.user, run_id)
    try:
        new = go_on(run=row, now=timezone.now(), actor=person(request.user))
    except (MemoryOff, LeaseTaken) as error:
        messages.error(request, str(error))
        return redirect("consolidation-run", row.pk)
    return redirect("consolidation-run", new.pk)


@require_http_methods(["GET", "POST"])
@desk
def merge_offer(request: DeskRequest, change_id: UUID) -> HttpResponse:
    """One sentence, by hand, in the place of a group."""
    offer = access.change_of(request.user, change_id)
    members = access.members_of(offer)
    longest = max(members, key=lambda fact: len(fact.statement))
    if request.method != "POST":
        return _merge(request, offer, members, MergeForm({"statement": longest.statement}))
    form = MergeForm(request.POST)
    if not form.is_valid():
        return _merge(request, offer, members, form, status=422)
    try:
        edit = _edit(longest, members, form.cleaned_data["statement"])
        merged = lifecycle.merge(facts=members, edit=edit, actor=person(request.user))
    except LifecycleError as refusal:
        form.add_error("statement", str(refusal))
        return _merge(request, offer, members, form, status=409)
    messages.success(request, "Merged. It is as old as the oldest of them.")
    return redirect("fact", merged.pk)


def _edit(longest: Fact, members: Iterable[Fact], statement: str) -> Edit:
    tags = dict.fromkeys(Tag(tag) for fact in members for tag in fact.tags)
    pinned = any(fact.pinned for fact in members)
    return Edit.of(longest, statement=statement, tags=tuple(tags), pinned=pinned)


def _merge(
    request: DeskRequest,
    offer: ConsolidationChange,
    members: list[Fact],
    form: MergeForm,
    status: int = 200,
) -> HttpResponse:
    context = {"offer": offer, "members": members, "form": form}
    return render(request, "memory/consolidation_merge.html", context, status=status)


def _show(
    request: DeskRequest, row: ConsolidationRun, outcome: Undone | None = None, status: int = 200
) -> HttpResponse:
    """A page of changes; those that a breaker holds back come after all others."""
    changes = row.changes.filter(held=False)
    after = _uuid(request.GET.get("after", ""))
    page = list((changes.filter(pk__gt=after) if after else changes).order_by("id")[: SHOWN + 1])
    held = list(row.changes.filter(held=True).order_by("id")[:SHOWN])
    context: dict[str, Any] = {
        "run": row,
        "stages": _by_stage(_lines(row.owner, page[:SHOWN])),
        "next_key": page[SHOWN - 1].pk if len(page) > SHOWN else "",
        "held": _lines(row.owner, held),
        "held_count": row.changes.filter(held=True).count(),
        "can_undo": row.changes.filter(
            reversible=True, held=False, undone_at__isnull=True
        ).exists(),
        "errors": [(LABELS.get(name, name), why) for name, why in row.errors.items()],
        "llm": row.counts.get("llm"),
        "outcome": outcome,
    }
    return render(request, "memory/consolidation_run.html", context, status=status)


def _lines(owner: User, changes: Iterable[ConsolidationChange | Change]) -> list[Line]:
    rows = list(changes)
    wanted = {pk for row in rows for pk in (*row.facts, *row.sources)}
    facts = facts_of(owner).in_bulk(wanted)
    return [
        Line(
            change=row,
            action=ACTIONS.get(row.action, row.action.replace("_", " ")),
            facts=[facts[pk] for pk in row.facts if pk in facts],
            sources=[facts[pk] for pk in row.sources if pk in facts],
            can_undo=isinstance(row, ConsolidationChange)
            and row.reversible
            and not row.held
            and row.undone_at is None,
        )
        for row in rows
    ]


def _by_stage(lines: list[Line]) -> list[tuple[str, list[Line]]]:
    order = {name: n for n, name in enumerate(LABELS)}
    ranked = sorted(lines, key=lambda line: order.get(line.change.stage, len(order)))
    return [
        (LABELS.get(name, name), list(members))
        for name, members in groupby(ranked, key=lambda line: line.change.stage)
    ]


def _changes(count: int) -> str:
    return "1 change was" if count == 1 else f"{count} changes were"


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
