"""How a fact is born: proposed, or put in the place of others by a person."""

from collections.abc import Iterable, Sequence
from dataclasses import replace as altered
from datetime import datetime

from agents.audit import Actor
from agents.gate import require_on
from agents.models import Agent, User
from memory.lifecycle.corrections import (
    aim,
    check_text_rule,
    common_scope,
    defer_text_rule,
    overtaken_by,
    replace,
)
from memory.lifecycle.returns import refuse_purged_facts, refuse_purged_sources
from memory.lifecycle.rows import (
    LIVE,
    copy_sources,
    fresh,
    insert,
    need_person,
    refuse_above_cap,
    refuse_return,
    refuse_twin,
    transition,
)
from memory.lifecycle.values import AtCap, Draft, NotAllowed
from memory.models import Fact
from memory.scope import facts_readable_by
from memory.vocabulary import Kind, Origin, State, Withheld


def propose(
    *,
    owner: User,
    agent: Agent | None,
    draft: Draft,
    actor: Actor,
    state: State = State.PENDING,
    targets: Sequence[Fact] = (),
    reason: str = "",
) -> Fact:
    """A new fact, pending, or active by policy's rule. With targets it is a correction: pending, in
    the scope of its targets, which `agent` must be able to read.

    A target that was superseded meanwhile stands for its active successor; without any left it is a
    plain candidate. At the cap, what policy would have activated waits; a person is told (AtCap).
    Raises MemoryOff, NotAllowed, Duplicate, Tombstoned, AtCap.
    """
    with transition(owner, actor, reason) as now:
        require_on(owner)
        refuse_purged_sources(draft.sources)
        _check_birth(owner, agent, draft, actor, state, targets)
        aims = _heads(targets)
        if aims:
            agent = _scope_of(aims, owner, agent)
        elif targets:
            draft = _withheld(draft, Withheld.TARGET_GONE)
        refuse_twin(owner, agent, draft.statement)
        if draft.origin != Origin.MANUAL:
            refuse_return(owner, agent, draft.statement)
        if state == State.ACTIVE:
            state, draft = _within_cap(owner, agent, draft, actor)
        reviewer = actor.person if state == State.ACTIVE else None
        fact = insert(owner=owner, agent=agent, draft=draft, at=now, reviewer=reviewer, state=state)
        aim(fact, aims)
        return fact


def _check_birth(
    owner: User,
    agent: Agent | None,
    draft: Draft,
    actor: Actor,
    state: State,
    targets: Sequence[Fact],
) -> None:
    if state not in LIVE:
        raise NotAllowed("A fact is born pending or active.")
    if state == State.ACTIVE and targets:
        raise NotAllowed("A correction waits for the owner.")
    if agent is not None and agent.owner_id != owner.pk:
        raise NotAllowed("That assistant belongs to another owner.")
    by_rule = draft.origin == Origin.REMEMBER or (
        draft.origin == Origin.EXTRACTION and draft.kind == Kind.EPISODIC
    )
    by_person = draft.origin == Origin.MANUAL or (
        state == State.ACTIVE and (actor.person is not None or not by_rule)
    )
    if by_person:
        need_person(actor, owner)


def _heads(targets: Iterable[Fact]) -> list[Fact]:
    refuse_purged_facts(targets)
    heads = (overtaken_by(fresh(target)) for target in targets)
    return [fresh(head) for head in {head.pk: head for head in heads if head}.values()]


def _scope_of(aims: Sequence[Fact], owner: User, agent: Agent | None) -> Agent | None:
    first = common_scope(aims)
    mine = first.owner_id == owner.pk
    seen = [fact.pk for fact in aims]
    if agent is not None and mine:
        mine = facts_readable_by(agent).filter(pk__in=seen).count() == len(seen)
    if not mine:
        raise NotAllowed("A correction is only for facts that its assistant may read.")
    return first.agent


def _withheld(draft: Draft, why: Withheld) -> Draft:
    return altered(draft, withheld_for=(why, *(w for w in draft.withheld_for if w != why)))


def _within_cap(
    owner: User, agent: Agent | None, draft: Draft, actor: Actor
) -> tuple[State, Draft]:
    try:
        refuse_above_cap(owner, agent)
    except AtCap:
        if actor.person is not None:
            raise
        return State.PENDING, _withheld(draft, Withheld.CAP_REACHED)
    return State.ACTIVE, draft


def supersede(*, targets: Sequence[Fact], draft: Draft, actor: Actor, reason: str = "") -> Fact:
    """A person's correction: a new active fact in the place of one or more active ones.

    Raises NotAllowed, Conflict, Duplicate.
    """
    if not targets:
        raise NotAllowed("There is nothing to replace; add the fact instead.")
    owner = targets[0].owner
    with transition(owner, actor, reason) as now:
        need_person(actor, owner)
        rows = [fresh(target) for target in {target.pk: target for target in targets}.values()]
        return take_place(targets=rows, agent=rows[0].agent, draft=draft, actor=actor, at=now)


def take_place(
    *,
    targets: Sequence[Fact],
    agent: Agent | None,
    draft: Draft,
    actor: Actor,
    at: datetime,
    restated: bool = True,
) -> Fact:
    """Inside a transition: the successor of active facts, in their scope or in another.

    A copy that moves (`restated` false) is as old as what it replaces, and a merge as the oldest.
    """
    owner = common_scope(targets).owner
    refuse_twin(owner, agent, draft.statement, *targets)
    defer_text_rule()
    fresh_word = restated and len(targets) == 1
    successor = insert(
        owner=owner,
        agent=agent,
        draft=draft,
        at=at,
        reviewer=need_person(actor, owner),
        state=State.ACTIVE,
        confirmed_at=None if fresh_word else oldest(targets),
    )
    for target in targets:
        copy_sources(target, successor)
    replace(targets, successor)
    check_text_rule()
    return successor


def oldest(targets: Iterable[Fact]) -> datetime:
    return min(target.last_confirmed_at for target in targets)
