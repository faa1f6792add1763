"""Weak candidates that nobody wanted in two months leave the queue."""

from datetime import datetime, timedelta

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Cast

from agents.audit import POLICY, Actor
from agents.models import AuditEvent, User
from memory import lifecycle
from memory.consolidation.journal import carry_out
from memory.consolidation.values import Change
from memory.models import ConsolidationChange, Fact
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason, State, Withheld

STAGE = "demote_pending"
WAITED = timedelta(days=60)
SURE = 0.8
AT_ONCE = 500
WHY = "A candidate with a confidence below 0.8 that has waited 60 days for a decision."


def run(*, owner: User, now: datetime, dry_run: bool = False) -> list[Change]:
    """pending → archived. At most AT_ONCE a run; the others follow."""
    rows = faint(owner, now).order_by("created_at", "pk")[:AT_ONCE]
    planned = [
        Change(STAGE, "archive", WHY, facts=(pk,)) for pk in rows.values_list("pk", flat=True)
    ]

    def still(change: Change) -> bool:
        return faint(owner, now).filter(pk=change.facts[0]).exists()

    def do(change: Change) -> Change:
        fact = facts_of(owner).get(pk=change.facts[0])
        lifecycle.archive(fact=fact, why=ArchivedReason.AGED_OUT, actor=POLICY, reason=WHY)
        return change

    return carry_out(owner=owner, now=now, planned=planned, still=still, do=do, dry_run=dry_run)


def undo(change: ConsolidationChange, actor: Actor) -> None:
    """Raises LifecycleError. It waits for another 60 days."""
    fact = facts_of(change.owner).get(pk=change.facts[0])
    lifecycle.restore(fact=fact, actor=actor, reason="consolidation undone")


def faint(owner: User, now: datetime) -> QuerySet[Fact]:
    """What was put off waits until then, and what was accepted once is not lost by waiting."""
    since = now - WAITED
    returned = AuditEvent.objects.filter(
        table="memory_fact",
        row_id=Cast(OuterRef("pk"), CharField()),
        action=AuditEvent.Action.UPDATE,
        at__gt=since,
        after__state=State.PENDING,
    )
    return (
        facts_of(owner)
        .filter(
            Q(snoozed_until__isnull=True) | Q(snoozed_until__lte=now),
            ~Exists(returned),
            state=State.PENDING,
            confidence__lt=SURE,
            created_at__lte=since,
        )
        .exclude(withheld_for__contains=[Withheld.QUARANTINED])
    )
