"""The review queue: a page of candidates, and the steps that a person takes on one of them."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents import audit
from agents.desk import DeskRequest, back, desk
from conversations.access import conversations_of
from memory import embedding, lifecycle
from memory.access import fact_of
from memory.lifecycle import Edit, Scope
from memory.models import Fact
from memory.pages.paging import newest_first
from memory.purge import requests
from memory.review import answered, around, decided, queue
from memory.review.answers import (
    ONE,
    PAGE,
    mode,
    place,
    refuse,
    refused_step,
    result,
    settled,
    show,
)
from memory.review.cards import card
from memory.review.forms import EVERYBODY, EditForm, MakeRuleForm, RejectForm, SnoozeForm
from memory.rules import from_candidate
from memory.scope import facts_of
from memory.vocabulary import State

VIEWS = (ONE, "list")
REQUESTS = 10  # to forget, shown above the queue


@require_GET
@desk
def review(request: DeskRequest) -> HttpResponse:
    view = request.GET.get("view", "")
    chosen = request.session.get("review_view")
    if view in VIEWS and view != chosen:
        request.session["review_view"] = view
    elif not view and chosen == ONE:
        return redirect(f"{reverse('review')}?view={ONE}")
    context = _one_page(request) if view == ONE else _list_page(request)
    context |= {"here": request.get_full_path(), "one": view == ONE, **mode(request)}
    context["forget_requests"] = requests.waiting(request.user)[:REQUESTS]
    if not context["page"].groups:
        context["started"] = conversations_of(request.user).exists()
    return render(request, PAGE, context)


def _list_page(request: DeskRequest) -> dict[str, Any]:
    after = request.GET.get("after", "")
    return {"page": queue.page(request.user, timezone.now(), after=after)}


def _one_page(request: DeskRequest) -> dict[str, Any]:
    """`at` names a candidate to stand at, where it still waits; `after` what it follows."""
    now, user = timezone.now(), request.user
    at, after = _uuid(request.GET.get("at", "")), request.GET.get("after", "")
    standing = queue.with_details(queue.waiting(user, now).filter(pk=at))[:1] if at else []
    page = queue.QueuePage(queue.groups(list(standing)), next_key="")
    if not page.cards and after:
        page = queue.page(user, now, after=after, size=1)
    is_first = not page.cards
    if is_first:
        page = queue.page(user, now, size=1)
    if not page.cards:
        return {"page": page}
    card = page.cards[0]
    return {
        "page": page,
        "card": card,
        "next_key": queue.key(card.fact),
        "previous": None if is_first else queue.before(user, now, card.fact),
    }


@require_GET
@never_cache
def waiting_count(request: HttpRequest) -> HttpResponse:
    """Asked for by every open page now and then, so that its count stays true. Who is signed out
    by now keeps the page: there is no answer."""
    if not request.user.is_authenticated:
        return HttpResponse(status=204)
    return render(request, "memory/_count_now.html", {})


@require_GET
@desk
def candidate(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    return show(request, fact_of(request.user, fact_id))


@require_GET
@desk
def surroundings(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    """The messages before and after, and the nearest facts: on demand."""
    fact = fact_of(request.user, fact_id)
    found = around.around(fact)
    if request.htmx:
        return render(request, "memory/_around.html", {"around": found, "fact": fact})
    return show(request, fact, around=found)


@require_http_methods(["GET", "POST"])
@desk
def edit(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    fact = fact_of(request.user, fact_id)
    if request.method == "GET":
        return show(request, fact, form=EditForm.of(fact))
    form = EditForm.of(fact, request.POST)
    if not form.is_valid():
        return show(request, fact, form=form, status=422)

    def step() -> Fact:
        row = lifecycle.confirm_with_edit(
            fact=fact, edit=form.edit(fact), actor=_actor(request), seen=_seen(request)
        )
        embedding.store_at_once([row])
        return row

    return _decide(request, fact, "Confirmed with your wording", step, form)


@require_POST
@desk
def confirm(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    """`scope=all`: for every assistant, in the same step."""
    fact = fact_of(request.user, fact_id)
    for_all = request.POST.get("scope") == EVERYBODY
    known: dict[str, Any] = {"fact": fact, "actor": _actor(request), "seen": _seen(request)}

    def step() -> Fact:
        if for_all:
            return lifecycle.confirm_with_edit(edit=Edit.of(fact, scope=Scope(None)), **known)
        return lifecycle.confirm(**known)

    return _decide(request, fact, "Confirmed for all assistants" if for_all else "Confirmed", step)


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
def make_rule(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    """`rule` in the owner's words; the candidate is gone as a fact."""
    fact = fact_of(request.user, fact_id)
    form = MakeRuleForm(request.POST)
    if not form.is_valid():
        return show(request, fact, make_rule=form, status=422)
    agent = fact.agent if form.cleaned_data["for_agent"] else None

    def step() -> Fact:
        made = from_candidate.make(
            fact=fact,
            text=form.cleaned_data["rule"],
            agent=agent,
            actor=_actor(request),
            seen=_seen(request),
        )
        return made.candidate or fact

    return _decide(request, fact, "Made a rule", step)


@require_POST
@desk
def snooze(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    fact = fact_of(request.user, fact_id)
    form = SnoozeForm(request.POST)
    if not form.is_valid():
        return show(request, fact, snooze=form, status=422)
    until: datetime = form.cleaned_data["moment"]

    def step() -> Fact:
        return lifecycle.snooze(fact=fact, until=until, actor=_actor(request))

    day = date_format(timezone.localtime(until), "j F Y")
    return _decide(request, fact, f"Snoozed until {day}", step)


@require_POST
@desk
def take_back(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    """Undo: what was decided waits once more, and its card is back. `replaced` is the candidate in
    whose place the outcome was shown."""
    fact = fact_of(request.user, fact_id)
    members = [row.pk for row in fact.predecessors.all()]
    try:
        returned = decided.take_back(fact=fact, actor=_actor(request))
    except lifecycle.LifecycleError as refusal:
        return refuse(request, fact_of(request.user, fact_id), refusal)
    if not request.htmx:
        waits = returned.state == State.PENDING
        messages.success(
            request, f"Taken back: {'it waits for you again' if waits else 'it is as it was'}."
        )
        return back(request, reverse("review"))
    return _returned(request, returned, members)


def _returned(request: DeskRequest, returned: Fact, members: list[UUID]) -> HttpResponse:
    shown = _uuid(request.POST.get("replaced", ""))
    waits = facts_of(request.user).filter(state=State.PENDING)
    card_of = waits.filter(pk=shown).first() if shown else None
    fact = card_of or fact_of(request.user, returned.pk)
    if fact.state != State.PENDING:
        return result(request, fact, "Taken back", replaced=fact)
    others = queue.with_details(waits.filter(pk__in=members).exclude(pk=fact.pk))
    return show(request, fact, again=[card(other) for other in others], counted=True)


@require_GET
@desk
def snoozed(request: DeskRequest) -> HttpResponse:
    facts = queue.snoozed(request.user, timezone.now())[: queue.PAGE + 1]
    context = {"facts": facts[: queue.PAGE], "more": len(facts) > queue.PAGE}
    return render(request, "memory/snoozed.html", context | {"here": request.get_full_path()})


@require_GET
@desk
def recent(request: DeskRequest) -> HttpResponse:
    """What was decided lately, each with its Undo while that is possible."""
    rows, after = decided.decisions(request.user), request.GET.get("after", "")
    listing = newest_first(rows, "reviewed_at", after)
    context = {
        "answered": [] if after else answered.answered(request),
        "decisions": [decided.decision(fact) for fact in listing.rows],
        "next_key": listing.next_key,
        **place(request),
        "here": request.get_full_path(),
    }
    return render(request, "memory/decided.html", context)


def _decide(
    request: DeskRequest,
    fact: Fact,
    done: str,
    step: Callable[[], Fact],
    form: EditForm | None = None,
) -> HttpResponse:
    try:
        outcome = step()
    except lifecycle.LifecycleError as refusal:
        return refused_step(request, fact, refusal, form)
    return settled(request, outcome, done, replaced=fact)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _seen(request: HttpRequest) -> str:
    return request.POST.get("seen", "")


def _actor(request: DeskRequest) -> audit.Actor:
    return audit.person(request.user)
