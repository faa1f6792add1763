"""The cases of an owner: the list of each state, one case with what it rests on, and the steps."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents import audit
from agents.desk import DeskRequest, back, desk
from memory.cases import lifecycle
from memory.cases.cards import card
from memory.cases.scope import case_of, cases_of
from memory.lifecycle import LifecycleError
from memory.models import Case, CaseSource
from memory.pages.paging import newest_first
from memory.vocabulary import CaseArchivedReason, State

# In the order in which the page offers them.
STATES = (State.PENDING, State.ACTIVE, State.REJECTED, State.ARCHIVED)
PAGE = 10

Step = Callable[[Case, audit.Actor], Case]


@require_GET
@desk
def cases(request: DeskRequest) -> HttpResponse:
    asked = request.GET.get("state", "")
    state = State(asked) if asked in State.values else State.PENDING
    rows = _with_details(cases_of(request.user).filter(state=state))
    listing = newest_first(rows, "created_at", request.GET.get("after", ""), PAGE)
    context = {
        "cards": [card(row) for row in listing.rows],
        "next_key": listing.next_key,
        "state": state,
        "states": STATES,
        "here": request.get_full_path(),
    }
    return render(request, "memory/cases.html", context)


@require_GET
@desk
def case(request: DeskRequest, case_id: UUID) -> HttpResponse:
    return _show(request, case_id)


@require_POST
@desk
def confirm(request: DeskRequest, case_id: UUID) -> HttpResponse:
    seen = _seen(request)

    def step(row: Case, by: audit.Actor) -> Case:
        return lifecycle.confirm(case=row, actor=by, seen=seen)

    return _take(request, case_id, "Confirmed: assistants are told of it where it helps.", step)


@require_POST
@desk
def reject(request: DeskRequest, case_id: UUID) -> HttpResponse:
    seen, reason = _seen(request), request.POST.get("reason", "")[:200]

    def step(row: Case, by: audit.Actor) -> Case:
        return lifecycle.reject(case=row, actor=by, reason=reason, seen=seen)

    return _take(request, case_id, "Rejected: the same case is not proposed again.", step)


@require_POST
@desk
def take_back(request: DeskRequest, case_id: UUID) -> HttpResponse:
    def step(row: Case, by: audit.Actor) -> Case:
        undo = lifecycle.reconsider if row.state == State.REJECTED else lifecycle.undo
        return undo(case=row, actor=by, reason="taken back")

    return _take(request, case_id, "Taken back: it waits for you again.", step)


@require_POST
@desk
def forget(request: DeskRequest, case_id: UUID) -> HttpResponse:
    def step(row: Case, by: audit.Actor) -> Case:
        return lifecycle.archive(case=row, why=CaseArchivedReason.FORGOTTEN, actor=by)

    return _take(request, case_id, "Forgotten: nobody is told, and it is not proposed again.", step)


@require_POST
@desk
def restore(request: DeskRequest, case_id: UUID) -> HttpResponse:
    def step(row: Case, by: audit.Actor) -> Case:
        return lifecycle.restore(case=row, actor=by)

    return _take(request, case_id, "Restored.", step)


def _take(request: DeskRequest, case_id: UUID, done: str, step: Step) -> HttpResponse:
    """Somebody else was first, or it is not possible: says how things stand instead."""
    row = case_of(request.user, case_id)
    try:
        step(row, audit.person(request.user))
    except LifecycleError as refusal:
        return _show(request, case_id, problem=refusal, status=409)
    messages.success(request, done)
    return back(request, reverse("case", args=[case_id]))


def _show(
    request: DeskRequest,
    case_id: UUID,
    problem: LifecycleError | None = None,
    status: int = 200,
) -> HttpResponse:
    case_of(request.user, case_id)
    row = _with_details(cases_of(request.user).filter(pk=case_id)).get()
    context = {
        "card": card(row),
        "problem": problem,
        "here": reverse("case", args=[case_id]),
    }
    return render(request, "memory/case.html", context, status=status)


def _with_details(rows: QuerySet[Case]) -> QuerySet[Case]:
    """All that a card shows, in a number of queries that does not grow with the rows."""
    cited = CaseSource.objects.filter(cited=True).select_related("message").order_by("message__seq")
    return (
        rows.select_related("owner", "agent", "conversation", "reviewer")
        .prefetch_related(Prefetch("sources", cited))
        .defer("search")
    )


def _seen(request: DeskRequest) -> int | None:
    seen = request.POST.get("seen", "")
    return int(seen) if seen.isdecimal() and len(seen) < 10 else None
