"""What a person decides over a candidate, or over the wording of a fact."""

from datetime import datetime
from typing import Any

from agents.audit import Actor
from memory.lifecycle.births import oldest, take_place
from memory.lifecycle.corrections import bring_back, open_targets, replace, settle
from memory.lifecycle.heirs import come_back
from memory.lifecycle.rows import (
    copy_sources,
    draft_of,
    in_state,
    move,
    need_person,
    refuse_above_cap,
    refuse_twin,
    scope_for,
    transition,
)
from memory.lifecycle.values import Edit
from memory.models import Fact
from memory.vocabulary import Origin, State


def confirm(*, fact: Fact, actor: Actor, reason: str = "", seen: str = "") -> Fact:
    """pending → active; a correction takes the place of its targets in the same transaction.

    `seen` is the version that the person looked at. Raises NotAllowed, Conflict, Stale, AtCap.
    """
    with transition(fact.owner, actor, reason) as now:
        need_person(actor, fact.owner)
        return accept(in_state(fact, State.PENDING, seen=seen), actor, now)


def confirm_with_edit(
    *, fact: Fact, edit: Edit, actor: Actor, reason: str = "", seen: str = ""
) -> Fact:
    """Confirms the candidate and puts the owner's wording, or its copy in another scope, in its
    place, so that the chain shows both: target → candidate → edited.

    Raises NotAllowed, Conflict, Stale, AtCap, Duplicate.
    """
    with transition(fact.owner, actor, reason) as now:
        need_person(actor, fact.owner)
        row = in_state(fact, State.PENDING, seen=seen)
        let = let_in if _moves(row, edit) else accept
        return _reword(let(row, actor, now), edit, actor, now)


def correct(*, fact: Fact, edit: Edit, actor: Actor, reason: str = "", seen: str = "") -> Fact:
    """The owner's new wording of an active fact: a supersede, or only new tags, dates and pin.

    Raises NotAllowed, Conflict, Stale, Duplicate, and AtCap where it goes to another scope.
    """
    with transition(fact.owner, actor, reason) as now:
        need_person(actor, fact.owner)
        return _reword(in_state(fact, State.ACTIVE, seen=seen), edit, actor, now)


def reject(*, fact: Fact, actor: Actor, reason: str = "", seen: str = "") -> Fact:
    """pending → rejected: later proposals of the same are dropped until it is reconsidered.

    What it had replaced before it was sent back to the queue is active again.
    Raises NotAllowed, Conflict, Stale.
    """
    with transition(fact.owner, actor, reason) as now:
        reviewer = need_person(actor, fact.owner)
        row = in_state(fact, State.PENDING, seen=seen)
        move(row, to=State.REJECTED, reviewer=reviewer, reviewed_at=now)
        bring_back(row, but_text=row.text_hash)
        return row


def reconsider(*, fact: Fact, actor: Actor, reason: str = "") -> Fact:
    """rejected → pending. Raises NotAllowed, Conflict, Duplicate: the same text is live by now."""
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        row = in_state(fact, State.REJECTED)
        refuse_twin(row.owner, row.agent, row.statement)
        settle(row)
        return come_back(move(row, to=State.PENDING), actor)


def accept(row: Fact, actor: Actor, at: datetime, *, restated: bool = True) -> Fact:
    """Inside a transition: a pending fact is active, in the place of its targets.

    `restated`: the person says that it holds now; a merge stays as old as its oldest member.
    """
    if not open_targets(row):
        refuse_above_cap(row.owner, row.agent)
    return let_in(row, actor, at, restated=restated)


def let_in(row: Fact, actor: Actor, at: datetime, *, restated: bool = True) -> Fact:
    """As `accept`, where the fact gives its place to another before the transaction ends."""
    targets = open_targets(row)
    changes: dict[str, Any] = {"reviewer": need_person(actor, row.owner), "reviewed_at": at}
    if len(targets) > 1:
        changes["last_confirmed_at"] = oldest(targets)
        for target in targets:
            copy_sources(target, row)
    elif restated:
        changes["last_confirmed_at"] = at
    move(row, to=State.ACTIVE, **changes)
    replace(targets, row)
    return row


def _moves(row: Fact, edit: Edit) -> bool:
    return edit.scope is not None and edit.scope.agent != row.agent


def _reword(row: Fact, edit: Edit, actor: Actor, at: datetime) -> Fact:
    moves = _moves(row, edit)
    changes: dict[str, Any] = {
        "tags": edit.tags,
        "valid_from": edit.valid_from,
        "valid_until": edit.valid_until,
        "valid_precision": edit.valid_precision,
        "pinned": edit.pinned,
    }
    if (edit.statement, edit.kind) == (row.statement, row.kind) and not moves:
        for name, value in changes.items():
            setattr(row, name, list(value) if name == "tags" else value)
        row.save(update_fields=list(changes))
        return row
    agent = scope_for(row.owner, edit.scope) if edit.scope else row.agent
    if moves:
        refuse_above_cap(row.owner, agent)
    draft = draft_of(row, statement=edit.statement, kind=edit.kind, origin=Origin.MANUAL, **changes)
    return take_place(targets=[row], agent=agent, draft=draft, actor=actor, at=at)
