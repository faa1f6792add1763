"""What became of a rule: its wordings, and who did what to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from agents.models import AuditEvent, User
from memory.models import Rule
from memory.rules.scope import rules_of

LONGEST = 200

# From any wording to the last, then down to all that it took the place of.
_CHAIN = """
    WITH RECURSIVE up AS (
        SELECT id, superseded_by_id FROM memory_rule WHERE owner_id = %(owner)s AND id = %(rule)s
        UNION
        SELECT r.id, r.superseded_by_id FROM memory_rule r JOIN up ON r.id = up.superseded_by_id
        WHERE r.owner_id = %(owner)s
    ), chain AS (
        SELECT id FROM up WHERE superseded_by_id IS NULL
        UNION
        SELECT r.id FROM memory_rule r JOIN chain ON r.superseded_by_id = chain.id
        WHERE r.owner_id = %(owner)s
    )
    SELECT id FROM chain LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Step:
    at: datetime
    who: str
    what: str


def chain_of(rule: Rule) -> list[Rule]:
    """All wordings, the last first."""
    values = {"owner": rule.owner_id, "rule": rule.pk, "limit": LONGEST}
    ids = [row.pk for row in Rule.objects.raw(_CHAIN, values)]
    rows = rules_of(rule.owner).filter(pk__in=ids)
    rows = rows.select_related("owner", "agent", "author", "candidate", "imported_by")
    return sorted(rows, key=lambda row: (row.superseded_by_id is not None, -row.pk.int))


def steps_of(chain: Sequence[Rule]) -> list[Step]:
    """Newest first."""
    rows = AuditEvent.objects.filter(
        owner_id=chain[0].owner_id, table="memory_rule", row_id__in=[str(row.pk) for row in chain]
    )
    events = list(rows.order_by("-id")[:LONGEST])
    names = _names({event.actor for event in events})
    return [Step(event.at, names.get(event.actor, event.actor), _what(event)) for event in events]


def _what(event: AuditEvent) -> str:
    if event.action == AuditEvent.Action.INSERT:
        return f"Written: {event.reason}" if event.reason else "Written"
    after = event.after or {}
    if after.get("superseded_by_id"):
        return "Replaced by a new wording"
    return (event.reason or "Changed").capitalize()


def _names(actors: set[str]) -> dict[str, str]:
    ids = [UUID(actor[7:]) for actor in actors if actor.startswith("person:")]
    return {f"person:{pk}": user.get_username() for pk, user in User.objects.in_bulk(ids).items()}
