"""Where a fact came from and what was done with it: its chain and its audit trail."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.formats import date_format

from agents.models import ApiKey, AuditEvent, User
from memory.models import Fact
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason, State

CHAIN_LIMIT = 200

# From any member to the head of its chain, then down to everything that the head took the place of.
_CHAIN = """
    WITH RECURSIVE up AS (
        SELECT id, superseded_by_id FROM memory_fact WHERE owner_id = %(owner)s AND id = %(fact)s
        UNION
        SELECT f.id, f.superseded_by_id FROM memory_fact f JOIN up ON f.id = up.superseded_by_id
        WHERE f.owner_id = %(owner)s
    ), chain AS (
        SELECT id FROM up WHERE superseded_by_id IS NULL
        UNION
        SELECT f.id FROM memory_fact f JOIN chain ON f.superseded_by_id = chain.id
        WHERE f.owner_id = %(owner)s
    )
    SELECT id FROM chain LIMIT %(limit)s
"""

_NAMED = re.compile(r"(?P<kind>person|key):(?P<id>[0-9a-f-]{36})")

# Columns of the trail that people read; the rest is derived or never changes.
SHOWN = {
    "state": "state",
    "archived_reason": "archived because",
    "superseded_by_id": "replaced by",
    "tags": "tags",
    "pinned": "pinned",
    "confidence": "confidence",
    "valid_from": "holds from",
    "valid_until": "holds until",
    "last_confirmed_at": "last confirmed",
    "snoozed_until": "snoozed until",
    "decayed_at": "confidence lowered",
    "withheld_for": "waits because",
}
_MOMENTS = {column for column in SHOWN if column.endswith(("_at", "_from", "_until"))}


@dataclass(frozen=True, slots=True)
class Change:
    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the trail in words."""

    at: datetime
    who: str
    action: str
    reason: str
    context: str
    changes: list[Change]


def chain_of(fact: Fact) -> list[Fact]:
    """Every fact that a supersede path joins with this one, oldest first."""
    parameters = {"owner": fact.owner_id, "fact": fact.pk, "limit": CHAIN_LIMIT}
    ids = [row.pk for row in Fact.objects.raw(_CHAIN, parameters)]
    return list(facts_of(fact.owner).filter(pk__in=ids).select_related("agent").order_by("pk"))


def trail_of(fact: Fact) -> list[Step]:
    """Newest first."""
    return steps(events_of(fact))


def events_of(fact: Fact) -> list[AuditEvent]:
    """Newest first."""
    rows = AuditEvent.objects.filter(
        owner_id=fact.owner_id, table="memory_fact", row_id=str(fact.pk)
    )
    return list(rows.order_by("-id")[:CHAIN_LIMIT])


def steps(events: Sequence[AuditEvent]) -> list[Step]:
    names = _names(event.actor for event in events)
    return [_step(event, names) for event in events]


def _step(event: AuditEvent, names: dict[str, str]) -> Step:
    changes = [] if event.before is None else _changes(event.before, event.after or {})
    return Step(
        at=event.at,
        who=names.get(event.actor, event.actor),
        action=_action(event),
        reason=event.reason,
        context=event.context,
        changes=changes,
    )


def _action(event: AuditEvent) -> str:
    state = (event.after or {}).get("state")
    if event.action == AuditEvent.Action.INSERT:
        return f"Recorded as {state}"
    if state is None:
        return "Changed"
    if state == State.ARCHIVED:
        why = (event.after or {}).get("archived_reason")
        return f"Archived: {_word(ArchivedReason(why).label) if why else 'no reason given'}"
    return {State.ACTIVE: "Made active", State.REJECTED: "Rejected", State.PENDING: "Sent to wait"}[
        State(state)
    ]


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[Change]:
    return [
        Change(label, _text(column, before.get(column)), _text(column, after.get(column)))
        for column, label in SHOWN.items()
        if column in after and before.get(column) != after[column]
    ]


def _names(actors: Iterable[str]) -> dict[str, str]:
    """ "person:<id>" and "key:<id>" by the name of the person or key."""
    by_kind: dict[str, set[UUID]] = {"person": set(), "key": set()}
    for actor in actors:
        named = _NAMED.fullmatch(actor)
        if named:
            by_kind[named["kind"]].add(UUID(named["id"]))
    people = User.objects.in_bulk(by_kind["person"]) if by_kind["person"] else {}
    keys = ApiKey.objects.in_bulk(by_kind["key"]) if by_kind["key"] else {}
    return {
        "policy": "Policy",
        **{f"person:{pk}": person.get_username() for pk, person in people.items()},
        **{f"key:{pk}": f"key “{key.name}”" for pk, key in keys.items()},
    }


def _text(column: str, value: Any) -> str:
    if value in (None, "", []):
        return "nothing"
    if column in _MOMENTS:
        moment = timezone.localtime(datetime.fromisoformat(value))
        return date_format(moment, "j M Y, H:i")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _word(label: str) -> str:
    return label[0].lower() + label[1:]
