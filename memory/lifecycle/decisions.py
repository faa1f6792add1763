"""What a person decides over a candidate."""

from typing import Any

from django.utils import timezone

from agents.audit import Actor
from memory.lifecycle.births import draft_of, take_place
from memory.lifecycle.corrections import open_targets, replace, settle
from memory.lifecycle.rows import (
    fresh,
    move,
    need_person,
    refuse_above_cap,
    refuse_twin,
    transition,
    version,
)
from memory.lifecycle.values import Conflict, Edit, Stale
from memory.models import Fact
from memory.vocabulary import ArchivedReason, Origin, State


def confirm(*, fact: Fact, actor: Actor, reason: str = "", seen: str = "") -> Fact:
    """pending → active; a correction takes the place of its targets in the same transaction.

    `seen` is the version that the person looked at. Raises NotAllowed, Conflict, Stale, AtCap.
    """
    with transition(fact.owner, actor, reason):
        return _confirm(_waiting(fact, seen), actor)


def confirm_with_edit(
    *, fact: Fact, edit: Edit, actor: Actor, reason: str = "", seen: str = ""
) -> Fact:
    """Confirms the candidate and puts the owner's wording in its place, so that the chain shows
    both: target → candidate → edited.

    Raises NotAllowed, Conflict, Stale, AtCap, Duplicate.
    """
    with transition(fact.owner, actor, reason):
        return _reword(_confirm(_waiting(fact, seen), actor), edit, actor)


def correct(*, fact: Fact, edit: Edit, actor: Actor, reason: str = "", seen: str = "") -> Fact:
    """The owner's new wording of an active fact: a supersede, or only new tags, dates and pin."""
    with transition(fact.owner, actor, reason):
        need_person(actor)
        return _reword(_in_state(fact, State.ACTIVE, seen), edit, actor)


def reject(*, fact: Fact, actor: Actor, reason: str = "", seen: str = "") -> Fact:
    """pending → rejected: later proposals of the same are dropped until it is reconsidered."""
    with transition(fact.owner, actor, reason):
        reviewer = need_person(actor)
        return move(
            _waiting(fact, seen), to=State.REJECTED, reviewer=reviewer, reviewed_at=timezone.now()
        )


def reconsider(*, fact: Fact, actor: Actor, reason: str = "") -> Fact:
    """rejected → pending. Raises Duplicate when the same text is live by now."""
    with transition(fact.owner, actor, reason):
        need_person(actor)
        row = _in_state(fact, State.REJECTED)
        refuse_twin(row.owner, row.agent, row.statement)
        settle(row)
        return move(row, to=State.PENDING)


def _waiting(fact: Fact, seen: str) -> Fact:
    return _in_state(fact, State.PENDING, seen)


def _in_state(fact: Fact, state: State, seen: str = "") -> Fact:
    row = fresh(fact)
    if row.state != state:
        raise Conflict(row)
    if seen and seen != version(row):
        raise Stale(row)
    return row


def _confirm(row: Fact, actor: Actor) -> Fact:
    reviewer = need_person(actor)
    targets = open_targets(row)
    if not targets:
        refuse_above_cap(row.owner, row.agent)
    now = timezone.now()
    move(row, to=State.ACTIVE, reviewer=reviewer, reviewed_at=now, last_confirmed_at=now)
    why = ArchivedReason.SUPERSEDED if len(targets) <= 1 else ArchivedReason.MERGED
    replace(targets, row, why)
    return row


def _reword(row: Fact, edit: Edit, actor: Actor) -> Fact:
    changes: dict[str, Any] = {
        "tags": edit.tags,
        "valid_from": edit.valid_from,
        "valid_until": edit.valid_until,
        "valid_precision": edit.valid_precision,
        "pinned": edit.pinned,
    }
    if (edit.statement, edit.kind) == (row.statement, row.kind):
        for name, value in changes.items():
            setattr(row, name, list(value) if name == "tags" else value)
        row.save(update_fields=list(changes))
        return row
    draft = draft_of(row, statement=edit.statement, kind=edit.kind, origin=Origin.MANUAL, **changes)
    return take_place(targets=[row], agent=row.agent, draft=draft, actor=actor)
