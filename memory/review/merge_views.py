"""Merging: several candidates and facts become one statement, in one step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from agents import audit
from agents.desk import DeskRequest, back, desk
from memory import lifecycle
from memory.access import fact_of
from memory.lifecycle import LifecycleError
from memory.models import Fact
from memory.review import alike, around, queue
from memory.review.answers import here, refuse, settled, show
from memory.review.cards import Card, card
from memory.review.forms import EditForm
from memory.scope import facts_of
from memory.vocabulary import State

MOST = 20  # members of one merge
OFFERED = 8
LOOKED_AT = 60  # candidates of the same source, of which the most alike are offered


@dataclass(frozen=True, slots=True)
class Member:
    card: Card
    ticked: bool


@require_http_methods(["GET", "POST"])
@desk
def merge(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    """`with` names each further member, ticked or brought along from a selection."""
    fact = fact_of(request.user, fact_id)
    if fact.state != State.PENDING:
        return refuse(request, fact, lifecycle.Conflict(fact))
    chosen = _chosen(request, fact)
    if request.method == "GET":
        return _form(request, fact, _live(chosen))
    form = EditForm.of(fact, request.POST)
    if not form.is_valid():
        return _form(request, fact, chosen, form, status=422)
    members = [fact, *chosen]
    seen = {row.pk: request.POST.get(f"seen-{row.pk}", "") for row in members}
    try:
        merged = lifecycle.merge(
            facts=members, edit=form.edit(fact), actor=audit.person(request.user), seen=seen
        )
    except LifecycleError as refusal:
        return _refused(request, fact, form, refusal)
    waited = [row for row in chosen if row.state == State.PENDING]
    return settled(request, merged, "Merged", replaced=fact, others=waited)


def _refused(
    request: DeskRequest, fact: Fact, form: EditForm, refusal: LifecycleError
) -> HttpResponse:
    """A member that was decided elsewhere drops out of the form, which says so."""
    now = fact_of(request.user, fact.pk)
    if now.state != State.PENDING:
        return refuse(request, now, lifecycle.Conflict(now))
    chosen = _live(_chosen(request, now))
    return _form(request, now, chosen, form, refusal, status=409)


def _form(
    request: DeskRequest,
    fact: Fact,
    chosen: Sequence[Fact],
    form: EditForm | None = None,
    problem: LifecycleError | None = None,
    status: int = 200,
) -> HttpResponse:
    tags = sorted({tag for row in (fact, *chosen) for tag in row.tags})
    offered = [row for row in _offers(fact) if row.pk not in {member.pk for member in chosen}]
    ids = [row.pk for row in (*chosen, *offered)]
    found = {row.pk: row for row in queue.with_details(facts_of(fact.owner).filter(pk__in=ids))}
    ticked = {row.pk for row in chosen}
    context: dict[str, Any] = {
        "merge": form or EditForm.of(fact, tags=tags),
        "members": [Member(card(found[pk]), pk in ticked) for pk in ids if pk in found],
    }
    return show(request, fact, problem=problem, status=status, **context)


def _offers(fact: Fact) -> list[Fact]:
    """What could be meant: the nearest active facts of its scope, and candidates like it."""
    near = [row for row in around.nearest(fact) if row.agent_id == fact.agent_id]
    waiting = queue.waiting(fact.owner, timezone.now()).filter(agent=fact.agent_id)
    beside = alike.same_source(waiting, fact).exclude(pk=fact.pk)
    mine = alike.substance(fact.statement)
    ranked = sorted(
        beside.order_by("pk")[:LOOKED_AT],
        key=lambda row: -len(mine & alike.substance(row.statement)),
    )
    return [*near, *ranked][:OFFERED]


def _chosen(request: DeskRequest, fact: Fact) -> list[Fact]:
    """Raises Http404 where one is not the person's."""
    sent = request.POST if request.method == "POST" else request.GET
    try:
        ids = [UUID(text) for text in sent.getlist("with")][:MOST]
    except ValueError:
        raise Http404("There is no such fact.") from None
    rows = facts_of(request.user).select_related("owner", "agent").in_bulk(ids)
    if len(rows) < len(set(ids)):
        raise Http404("There is no such fact.")
    return [rows[pk] for pk in dict.fromkeys(ids) if pk != fact.pk]


def _live(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.state in (State.PENDING, State.ACTIVE)]


@require_GET
@desk
def merge_selected(request: DeskRequest) -> HttpResponse:
    """From a selection, `id` again and again, to the form of its first one."""
    first, *others = request.GET.getlist("id") or [""]
    try:
        address = reverse("merge", args=[UUID(first)])
    except ValueError:
        messages.warning(request, "Select at least two candidates to merge.")
        return back(request, reverse("review"))
    query = urlencode({"with": others, "back": here(request)}, doseq=True)
    return redirect(f"{address}?{query}")
