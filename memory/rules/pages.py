"""The owner's rules: the list in its order, what of it rides, one rule with its history, and the
steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents import audit
from agents.access import agents_of
from agents.desk import DeskRequest, desk
from agents.gate import memory_on
from agents.models import Agent, User
from conversations.access import import_of, imports_of
from memory import tokens
from memory.lifecycle import LifecycleError
from memory.models import Rule
from memory.purge.execute import erase
from memory.recall import ahead
from memory.recall.block import NONCE_CHARACTERS
from memory.recall.tuning import tuning
from memory.rules import history, imports, writing
from memory.rules.forms import RuleForm
from memory.rules.scope import rule_of, rules_of, standing
from memory.rules.telling import Told

TAKEN_OUT = 50  # shown
UP, DOWN = "up", "down"
RIDES, OVER, OFF, ELSEWHERE = "rides", "over the budget", "off", "not for this assistant"


@dataclass(frozen=True, slots=True)
class Row:
    rule: Rule
    status: str


@require_GET
@desk
def rules(request: DeskRequest) -> HttpResponse:
    """`agent`: the slug of the one that the page says what rides for. `at` and `way`: what was
    moved where, so that the next press of the same key moves it on."""
    return _list(request)


@require_POST
@desk
def new(request: DeskRequest) -> HttpResponse:
    form = RuleForm(request.user, request.POST)
    if not form.is_valid():
        return _list(request, form=form, status=422)
    try:
        writing.write(
            owner=request.user,
            agent=form.agent,
            text=form.cleaned_data["text"],
            actor=audit.person(request.user),
        )
    except LifecycleError as refusal:
        return _list(request, form=form, problem=refusal, status=409)
    messages.success(request, "Added. It rides from the next turn on, as far as the budget goes.")
    return _back(request)


@require_POST
@desk
def switch(request: DeskRequest, rule_id: UUID) -> HttpResponse:
    enabled = request.POST.get("enabled") == "yes"
    return _take(
        request,
        rule_id,
        "",
        lambda rule, actor: writing.switch(rule=rule, enabled=enabled, actor=actor),
    )


@require_POST
@desk
def shift(request: DeskRequest, rule_id: UUID) -> HttpResponse:
    way = request.POST.get("way", "")
    steps = {UP: -1, DOWN: 1}.get(way, 0)
    return _take(
        request,
        rule_id,
        "",
        lambda rule, actor: writing.shift(rule=rule, steps=steps, actor=actor),
        at=str(rule_id),
        way=way,
    )


@require_POST
@desk
def take_out(request: DeskRequest, rule_id: UUID) -> HttpResponse:
    return _take(
        request,
        rule_id,
        "Taken out. It is below the list, to be put back.",
        lambda rule, actor: writing.retire(rule=rule, actor=actor),
    )


@require_POST
@desk
def put_back(request: DeskRequest, rule_id: UUID) -> HttpResponse:
    return _take(
        request, rule_id, "Put back.", lambda rule, actor: writing.restore(rule=rule, actor=actor)
    )


@require_POST
@desk
def take_import_out(request: DeskRequest, import_id: UUID) -> HttpResponse:
    imported = import_of(request.user, import_id)
    gone = imports.roll_back(imported=imported, actor=audit.person(request.user))
    messages.success(request, f"Taken out: {len(gone)} of its rules. They can be put back.")
    return _back(request)


@require_GET
@desk
def rule(request: DeskRequest, rule_id: UUID) -> HttpResponse:
    return _one(request, rule_of(request.user, rule_id))


@require_POST
@desk
def reword(request: DeskRequest, rule_id: UUID) -> HttpResponse:
    row = rule_of(request.user, rule_id)
    form = RuleForm.of(row, request.POST)
    if not form.is_valid():
        return _one(request, row, form=form, status=422)
    try:
        made = writing.reword(
            rule=row,
            text=form.cleaned_data["text"],
            scope=form.chosen_scope,
            actor=audit.person(request.user),
        )
    except LifecycleError as refusal:
        return _one(request, rule_of(request.user, rule_id), form, refusal, status=409)
    messages.success(request, "Saved." if made != row else "Nothing was changed.")
    return redirect("rule", made.pk)


@require_POST
@desk
def purge(request: DeskRequest, rule_id: UUID) -> HttpResponse:
    """Every wording of it, for good."""
    row = rule_of(request.user, rule_id)
    if request.POST.get("sure") != "yes":
        return _one(request, row, unsure=True, status=422)
    erase(owner=request.user, actor=audit.person(request.user), others=[row.pk])
    messages.success(request, "Purged: nothing of the rule and its wordings is left.")
    return redirect("rules")


Step = Callable[[Rule, audit.Actor], Rule]


def _take(request: DeskRequest, rule_id: UUID, done: str, step: Step, **query: str) -> HttpResponse:
    row = rule_of(request.user, rule_id)
    try:
        step(row, audit.person(request.user))
    except LifecycleError as refusal:
        return _list(request, problem=refusal, status=409)
    if done:
        messages.success(request, done)
    return _back(request, **query)


def _back(request: DeskRequest, **query: str) -> HttpResponse:
    """To the list, as it was chosen to be seen."""
    asked = request.POST.get("agent", "")
    query |= {"agent": asked} if asked else {}
    return redirect(f"{reverse('rules')}?{urlencode(query)}" if query else reverse("rules"))


def _list(
    request: DeskRequest,
    *,
    form: RuleForm | None = None,
    problem: LifecycleError | None = None,
    status: int = 200,
) -> HttpResponse:
    owner = request.user
    agents = list(agents_of(owner).order_by("-is_default", "name"))
    chosen = _chosen(agents, request.POST.get("agent") or request.GET.get("agent") or "")
    told = _told(chosen)
    rows = standing(rules_of(owner)).select_related("agent")
    context: dict[str, Any] = {
        "rows": [Row(row, _status(row, told)) for row in rows],
        "told": told,
        "budget": tuning().rules_budget,
        "agents": agents,
        "chosen": chosen,
        "memory_off": not memory_on(owner),
        "form": form or RuleForm(owner, auto_id="new-%s"),
        "problem": problem,
        "gone": rules_of(owner)
        .filter(retired_at__isnull=False)
        .order_by("-retired_at")[:TAKEN_OUT],
        "brought": _brought(owner),
        "at": request.GET.get("at", ""),
        "way": request.GET.get("way", ""),
    }
    return render(request, "memory/rules.html", context, status=status)


def _chosen(agents: list[Agent], slug: str) -> Agent | None:
    named = next((agent for agent in agents if agent.slug == slug), None)
    return named or (agents[0] if agents else None)


def _told(agent: Agent | None) -> Told:
    if agent is None:
        return Told()
    nonce = "0" * NONCE_CHARACTERS
    return ahead.told_now(agent, budget=tuning().rules_budget, nonce=nonce, count=tokens.count)


def _status(rule: Rule, told: Told) -> str:
    if not rule.enabled:
        return OFF
    if rule in told.told:
        return RIDES
    return OVER if rule in told.left else ELSEWHERE


def _brought(owner: User) -> Any:
    """Imports of which a rule stands, with how many."""
    stands = Count(
        "rules", filter=Q(rules__superseded_by__isnull=True, rules__retired_at__isnull=True)
    )
    return imports_of(owner).annotate(stands=stands).filter(stands__gt=0).order_by("-started_at")


def _one(
    request: DeskRequest,
    row: Rule,
    form: RuleForm | None = None,
    problem: LifecycleError | None = None,
    *,
    unsure: bool = False,
    status: int = 200,
) -> HttpResponse:
    chain = history.chain_of(row)
    context = {
        "rule": chain[0],
        "before": chain[1:],
        "steps": history.steps_of(chain),
        "form": form or RuleForm.of(chain[0]),
        "problem": problem,
        "unsure": unsure,
    }
    return render(request, "memory/rule.html", context, status=status)
