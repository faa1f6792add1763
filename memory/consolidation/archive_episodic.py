"""Events that nobody has asked about for half a year leave recall."""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from agents.audit import POLICY, Actor
from agents.models import User
from memory import lifecycle
from memory.consolidation.journal import MOST_HELD, carry_out, journal_of
from memory.consolidation.values import Change
from memory.models import ConsolidationChange, Fact
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason, Kind, State

STAGE = "archive_episodic"
UNUSED = timedelta(days=180)
WHY = "An event that was neither recorded, confirmed nor retrieved in 180 days."


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """active → archived, the longest unused first."""
    most = MOST_HELD + (journal_of(owner, now).budget.run or 0)
    rows = unused(owner, now).order_by("last_confirmed_at", "pk")[:most]
    planned = [_change(pk) for pk in rows.values_list("pk", flat=True)]
    return resume(owner=owner, now=now, planned=planned, dry_run=dry_run)


def resume(
    *, owner: User, now: datetime, planned: list[Change], dry_run: bool = False
) -> list[Change]:
    """What was planned, as far as it still holds."""

    def still(change: Change) -> bool:
        return unused(owner, now).filter(pk=change.facts[0]).exists()

    def do(change: Change) -> Change:
        fact = facts_of(owner).get(pk=change.facts[0])
        lifecycle.archive(fact=fact, why=ArchivedReason.STALE, actor=POLICY, reason=WHY)
        return change

    return carry_out(owner=owner, now=now, planned=planned, still=still, do=do, dry_run=dry_run)


def undo(change: ConsolidationChange, actor: Actor) -> None:
    """Raises LifecycleError. A person's decision keeps it for another half year."""
    fact = facts_of(change.owner).get(pk=change.facts[0])
    lifecycle.restore(fact=fact, actor=actor, reason="consolidation undone")


def unused(owner: User, now: datetime) -> QuerySet[Fact]:
    """A pinned one is wanted, and one whose day is yet to come may be asked about then."""
    since = now - UNUSED
    return facts_of(owner).filter(
        Q(usage__isnull=True) | Q(usage__last_retrieved_at__lte=since),
        Q(reviewed_at__isnull=True) | Q(reviewed_at__lte=since),
        Q(valid_from__isnull=True) | Q(valid_from__lte=now),
        state=State.ACTIVE,
        kind=Kind.EPISODIC,
        pinned=False,
        created_at__lte=since,
        last_confirmed_at__lte=since,
    )


def _change(fact: object) -> Change:
    return Change(STAGE, "archive", WHY, facts=(fact,), archives=1)  # type: ignore[arg-type]
