"""How a fact is born: proposed, or put in the place of others by a person."""

from collections.abc import Sequence

from agents.audit import Actor
from agents.gate import require_on
from agents.models import Agent, User
from memory.lifecycle.corrections import (
    aim,
    check_text_rule,
    common_scope,
    defer_text_rule,
    replace,
)
from memory.lifecycle.rows import (
    fresh,
    insert,
    move_sources,
    need_person,
    refuse_above_cap,
    refuse_return,
    refuse_twin,
    transition,
)
from memory.lifecycle.values import Draft, NotAllowed
from memory.models import Fact
from memory.vocabulary import ArchivedReason, Origin, State


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
    the scope of its targets, whatever `agent` says.

    Raises MemoryOff, Duplicate, Tombstoned, AtCap, Conflict (a target is no longer active).
    """
    with transition(owner, actor, reason):
        if draft.origin != Origin.MANUAL:
            require_on(owner)
            refuse_return(owner, agent, draft.statement)
        aims = [fresh(target) for target in targets]
        if aims:
            if state != State.PENDING:
                raise NotAllowed("A correction waits for the owner.")
            agent = common_scope(aims).agent
        refuse_twin(owner, agent, draft.statement)
        if state == State.ACTIVE:
            refuse_above_cap(owner, agent)
        reviewer = actor.person if state == State.ACTIVE else None
        fact = insert(owner=owner, agent=agent, draft=draft, state=state, reviewer=reviewer)
        aim(fact, aims)
        return fact


def supersede(*, targets: Sequence[Fact], draft: Draft, actor: Actor, reason: str = "") -> Fact:
    """A person's correction: a new active fact in the place of one or more active ones.

    Raises NotAllowed, Conflict, Duplicate.
    """
    if not targets:
        raise NotAllowed("There is nothing to replace; add the fact instead.")
    with transition(targets[0].owner, actor, reason):
        need_person(actor)
        rows = [fresh(target) for target in targets]
        return take_place(targets=rows, agent=rows[0].agent, draft=draft, actor=actor)


def take_place(
    *,
    targets: Sequence[Fact],
    agent: Agent | None,
    draft: Draft,
    actor: Actor,
    keep_confirmation: bool = False,
) -> Fact:
    """Inside a transition: the successor of active facts, in their scope or in another.

    `keep_confirmation`: a copy is no restatement, so it stays as old as the oldest it replaces.
    """
    owner = common_scope(targets).owner
    refuse_twin(owner, agent, draft.statement, *targets)
    defer_text_rule()
    successor = insert(
        owner=owner, agent=agent, draft=draft, state=State.ACTIVE, reviewer=need_person(actor)
    )
    if keep_confirmation:
        successor.last_confirmed_at = min(target.last_confirmed_at for target in targets)
        successor.save(update_fields=["last_confirmed_at"])
    for target in targets:
        move_sources(target, successor)
    why = ArchivedReason.SUPERSEDED if len(targets) == 1 else ArchivedReason.MERGED
    replace(targets, successor, why)
    check_text_rule()
    return successor


def draft_of(fact: Fact, **changes: object) -> Draft:
    """A draft that says what the fact says, for its copy. Evidence and entities follow apart."""
    fields = {
        "statement": fact.statement,
        "kind": fact.kind,
        "origin": fact.origin,
        "observed_at": fact.observed_at,
        "confidence": fact.confidence,
        "language": fact.language,
        "tags": tuple(fact.tags),
        "valid_from": fact.valid_from,
        "valid_until": fact.valid_until,
        "valid_precision": fact.valid_precision,
        "pinned": fact.pinned,
        "conversation": fact.conversation,
        "run": fact.run,
        "prompt_version": fact.prompt_version,
        "imported_by": fact.imported_by,
        "client": fact.client,
    }
    return Draft(**(fields | changes))  # type: ignore[arg-type]
