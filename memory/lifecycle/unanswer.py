"""Undo of what a person answered about a fact that had faded, from the audit trail."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agents.audit import Actor
from agents.models import AuditEvent
from memory.lifecycle.rows import fresh, need_person, transition
from memory.lifecycle.upkeep import restore
from memory.lifecycle.values import Conflict
from memory.models import Fact
from memory.vocabulary import State

# What an answer may have changed besides the state.
_COLUMNS = ("last_confirmed_at", "confidence", "decayed_at", "snoozed_until", "valid_until")


def unanswer(*, fact: Fact, answer: str, actor: Actor, reason: str = "") -> Fact:
    """As it was before the answer, where that is the last thing that happened to the fact. `answer`
    is the reason that the trail gives for it.

    Raises Conflict (something else happened since), NotAllowed, Duplicate, AtCap.
    """
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        row = fresh(fact)
        events = _events_of(row, answer)
        if not events:
            raise Conflict(row)
        if row.state == State.ARCHIVED:
            row = restore(fact=row, actor=actor, reason=reason)
        before: dict[str, Any] = {}
        for event in events:  # the oldest one has the last word
            before |= event.before or {}
        changes = {name: _value(before[name]) for name in _COLUMNS if name in before}
        for name, value in changes.items():
            setattr(row, name, value)
        row.save(update_fields=list(changes))
        return row


def _events_of(row: Fact, answer: str) -> Sequence[AuditEvent]:
    """Newest first: those of the one answer, which ends the trail."""
    trail = AuditEvent.objects.filter(
        owner_id=row.owner_id, table="memory_fact", row_id=str(row.pk)
    ).order_by("-id")[:3]
    found: list[AuditEvent] = []
    for event in trail:
        is_same = event.reason == answer and event.action == AuditEvent.Action.UPDATE
        if not is_same or (found and event.actor != found[0].actor):
            break
        if found and (event.before or {}).keys() & (found[-1].before or {}).keys():
            break  # the same answer of another time
        found.append(event)
    return found


def _value(value: Any) -> Any:
    return datetime.fromisoformat(value) if isinstance(value, str) else value
