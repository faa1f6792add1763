"""What the owner decided lately, and what of it can still be taken back."""

from dataclasses import dataclass

from django.db.models import F, Q, QuerySet

from agents.audit import Actor
from agents.models import User
from memory import lifecycle
from memory.models import Fact
from memory.rules import from_candidate
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason, Origin, State

TAKEN_BACK = "taken back"


@dataclass(frozen=True, slots=True)
class Decision:
    fact: Fact
    what: str
    can_undo: bool


def decisions(owner: User) -> QuerySet[Fact]:
    """Without the candidate behind an edit or a merge: the fact that took its place in the same
    step stands for both."""
    one_step = Q(superseded_by__isnull=False, superseded_by__reviewed_at=F("reviewed_at"))
    decided = facts_of(owner).filter(reviewed_at__isnull=False).exclude(one_step)
    decided = decided.prefetch_related("rules").exclude(
        archived_reason__in=[ArchivedReason.UNDONE, ArchivedReason.PURGED]
    )  # fmt: skip
    return decided.select_related("agent", "superseded_by")


def decision(fact: Fact) -> Decision:
    return Decision(fact, _words(fact), can_undo=fact.state in (State.ACTIVE, State.REJECTED))


def _words(fact: Fact) -> str:
    if fact.state == State.REJECTED:
        return "Made a rule" if fact.rules.all() else "Rejected"
    if fact.state == State.ARCHIVED:
        return f"Archived since: {fact.get_archived_reason_display().lower()}"
    if fact.origin == Origin.MERGE and fact.created_at == fact.reviewed_at:
        return "Merged"
    return "Your wording" if fact.origin == Origin.MANUAL else "Confirmed"


def take_back(*, fact: Fact, actor: Actor) -> Fact:
    """Undo of whatever was decided last over this fact; what waits again, or is active again.

    Raises Conflict, Duplicate, NotAllowed.
    """
    if fact.state == State.REJECTED:
        return from_candidate.take_back(fact=fact, actor=actor, reason=TAKEN_BACK)
    if fact.state == State.PENDING and fact.snoozed_until is not None:
        return lifecycle.snooze(fact=fact, until=None, actor=actor, reason=TAKEN_BACK)
    return lifecycle.undo(fact=fact, actor=actor, reason=TAKEN_BACK)
