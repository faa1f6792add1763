"""What nobody has confirmed for a year fades, and its owner is asked whether it still holds.

Being retrieved is not being confirmed: often recalled errors must age too.
"""

from datetime import datetime, timedelta

from django.db.models import Q, QuerySet
from django.db.models.functions import Greatest

from agents.audit import POLICY, Actor
from agents.models import User
from memory import lifecycle
from memory.consolidation.journal import carry_out
from memory.consolidation.values import Change, Detail
from memory.models import ConsolidationChange, Fact
from memory.scope import facts_of
from memory.vocabulary import Kind, State

STAGE = "decay_semantic"
YEAR = timedelta(days=365)
# Runs of one day share its quota; a day may have 23 hours.
DAY = timedelta(hours=20)
LEAST_PER_DAY = 5
WHY = "Nobody has confirmed it for 365 days: it waits to be reconfirmed, and counts for less."


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """Whoever waited longest for a turn goes first, so that every stale fact gets one."""
    due = stale(owner, now).annotate(turn=Greatest("last_confirmed_at", "decayed_at"))
    rows = due.order_by("turn", "pk")[: _left_today(owner, now)]
    planned = [
        Change(STAGE, "decay", WHY, facts=(fact.pk,), detail={"from": fact.confidence})
        for fact in rows
    ]

    def still(change: Change) -> bool:
        return stale(owner, now).filter(pk=change.facts[0]).exists()

    def do(change: Change) -> Change:
        return _decay(owner, change, now)

    return carry_out(owner=owner, now=now, planned=planned, still=still, do=do, dry_run=dry_run)


def undo(change: ConsolidationChange, actor: Actor) -> None:
    """Raises LifecycleError."""
    before = change.detail["before"]
    lifecycle.undo_decay(
        fact=facts_of(change.owner).get(pk=change.facts[0]),
        decayed_at=datetime.fromisoformat(change.detail["decayed_at"]),
        confidence=change.detail["from"],
        before=datetime.fromisoformat(before) if before else None,
        actor=actor,
        reason="consolidation undone",
    )


def stale(owner: User, now: datetime) -> QuerySet[Fact]:
    """What was taken back by a person rests for a year, too."""
    since = now - YEAR
    rests = ConsolidationChange.objects.filter(owner=owner, stage=STAGE, undone_at__gt=since)
    resting = [fact for facts in rests.values_list("facts", flat=True) for fact in facts]
    return (
        facts_of(owner)
        .filter(
            Q(decayed_at__isnull=True) | Q(decayed_at__lte=since),
            Q(valid_until__isnull=True) | Q(valid_until__gt=now),
            state=State.ACTIVE,
            kind=Kind.SEMANTIC,
            last_confirmed_at__lte=since,
        )
        .exclude(pk__in=resting)
    )


def quota(owner: User) -> int:
    """So many a day that each fact gets its turn within a year."""
    active = facts_of(owner).filter(state=State.ACTIVE, kind=Kind.SEMANTIC).count()
    return max(LEAST_PER_DAY, -(-active // 365))


def _left_today(owner: User, now: datetime) -> int:
    today = facts_of(owner).filter(decayed_at__gt=now - DAY, decayed_at__lte=now).count()
    return max(0, quota(owner) - today)


def _decay(owner: User, change: Change, now: datetime) -> Change:
    fact = facts_of(owner).get(pk=change.facts[0])
    before = fact.decayed_at.isoformat() if fact.decayed_at else ""
    row = lifecycle.decay(fact=fact, at=now, actor=POLICY, reason=WHY)
    detail: Detail = {
        "from": fact.confidence,
        "to": row.confidence,
        "before": before,
        "decayed_at": now.isoformat(),
    }
    return Change(STAGE, "decay", WHY, facts=(row.pk,), detail=detail)
