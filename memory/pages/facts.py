"""One fact with its history, and the steps taken on it."""

from collections.abc import Callable
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from agents import audit
from agents.access import agents_of
from agents.desk import DeskRequest, desk
from agents.models import Agent, User
from memory import lifecycle
from memory.access import fact_of, was_purged
from memory.models import Fact
from memory.pages.validity import ValidityForm
from memory.review import history, queue, timeline
from memory.review.around import around
from memory.review.forms import EditForm
from memory.rules import from_candidate
from memory.vocabulary import ArchivedReason, State


class MoveForm(forms.Form):
    """No agent: every assistant."""

    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(),
        required=False,
        label="Who may read it",
        empty_label="All assistants",
    )

    def __init__(self, owner: User, fact: Fact, data: object = None) -> None:
        super().__init__(data, initial={"agent": fact.agent_id}, label_suffix="")  # type: ignore[arg-type]
        self.fields["agent"].queryset = agents_of(owner)  # type: ignore[attr-defined]


@require_GET
@desk
def fact(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    if was_purged(request.user, fact_id):
        return render(request, "memory/purged.html", status=410)
    return _show(request, fact_of(request.user, fact_id))


@require_POST
@desk
def correct(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    row = fact_of(request.user, fact_id)
    form = EditForm.of(row, request.POST)
    if not form.is_valid():
        return _show(request, row, form=form, status=422)
    seen = request.POST.get("seen", "")

    def step(actor: audit.Actor) -> Fact:
        return lifecycle.correct(fact=row, edit=form.edit(row), actor=actor, seen=seen)

    return _take(request, row, "Saved.", step, form)


@require_POST
@desk
def set_validity(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    row = fact_of(request.user, fact_id)
    form = ValidityForm.of(row, request.POST)
    if not form.is_valid():
        return _show(request, row, validity=form, status=422)

    def step(actor: audit.Actor) -> Fact:
        return lifecycle.correct(fact=row, edit=form.edit(row), actor=actor)

    return _take(request, row, "Saved.", step)


@require_POST
@desk
def forget(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    row = fact_of(request.user, fact_id)

    def step(actor: audit.Actor) -> Fact:
        return lifecycle.archive(fact=row, why=ArchivedReason.FORGOTTEN, actor=actor)

    return _take(request, row, "Forgotten: nobody is told, and it is not learned again.", step)


@require_POST
@desk
def restore(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    row = fact_of(request.user, fact_id)
    return _take(request, row, "Restored.", lambda by: lifecycle.restore(fact=row, actor=by))


@require_POST
@desk
def reconsider(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    row = fact_of(request.user, fact_id)
    done = "It waits in the queue again."
    if from_candidate.standing(row):
        done = f"{done} The rule that was made of it is taken out."
    return _take(request, row, done, lambda by: from_candidate.take_back(fact=row, actor=by))


@require_POST
@desk
def pin(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    row = fact_of(request.user, fact_id)
    pinned = request.POST.get("pinned") == "yes"
    done = "Pinned: it rides along on every turn." if pinned else "No longer pinned."

    def step(actor: audit.Actor) -> Fact:
        return lifecycle.set_pinned(fact=row, pinned=pinned, actor=actor)

    return _take(request, row, done, step)


@require_POST
@desk
def move(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    """Promote to every assistant, or keep to one."""
    row = fact_of(request.user, fact_id)
    form = MoveForm(request.user, row, request.POST)
    if not form.is_valid():
        return _show(request, row, move=form, status=422)
    agent = form.cleaned_data["agent"]
    done = f"Only {agent.name} reads it now." if agent else "All assistants may read it now."

    def step(actor: audit.Actor) -> Fact:
        return lifecycle.promote(fact=row, agent=agent, actor=actor)

    return _take(request, row, done, step)


def _take(
    request: DeskRequest,
    row: Fact,
    done: str,
    step: Callable[[audit.Actor], Fact],
    form: EditForm | None = None,
) -> HttpResponse:
    """A step may leave a successor in the fact's place; the person goes along to it."""
    try:
        outcome = step(audit.person(request.user))
    except lifecycle.LifecycleError as refusal:
        row = fact_of(request.user, row.pk)
        return _show(request, row, form=form, problem=refusal, status=409)
    messages.success(request, done)
    return redirect("fact", outcome.pk)


def _show(
    request: DeskRequest,
    row: Fact,
    form: EditForm | None = None,
    move: MoveForm | None = None,
    validity: ValidityForm | None = None,
    problem: lifecycle.LifecycleError | None = None,
    status: int = 200,
) -> HttpResponse:
    card = queue.one(row)
    context = {
        "card": card,
        "fact": card.fact,
        "around": around(row),
        "timeline": timeline.timeline_of(row),
        "told": timeline.told_of(row),
        "entities": row.entities.order_by("normal_name", "pk"),
        "trail": history.trail_of(row),
        "form": form or EditForm.of(row),
        "form_open": form is not None,
        "validity": validity or ValidityForm.of(row),
        "move": move or MoveForm(request.user, row),
        "problem": problem,
        "rules": from_candidate.standing(row) if card.fact.state == State.REJECTED else [],
    }
    return render(request, "memory/fact.html", context, status=status)
