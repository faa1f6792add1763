"""One fact or run of an owner, for pages and API. What belongs to another does not exist: 404."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from agents.models import User
from memory.models import ExtractionRun, Fact
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason


def fact_of(owner: User, fact_id: UUID) -> Fact:
    """Of a purged fact nothing is left to look at."""
    facts = facts_of(owner).select_related("owner", "agent", "conversation", "run")
    fact = facts.exclude(archived_reason=ArchivedReason.PURGED).filter(pk=fact_id).first()
    if fact is None:
        raise Http404("There is no such fact.")
    return fact


def was_purged(owner: User, fact_id: UUID) -> bool:
    shells = facts_of(owner).filter(archived_reason=ArchivedReason.PURGED)
    return shells.filter(pk=fact_id).exists()


def runs_of(owner: User) -> QuerySet[ExtractionRun]:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return ExtractionRun.objects.filter(owner=owner).select_related("conversation", "agent")


def run_of(owner: User, run_id: UUID) -> ExtractionRun:
    run = runs_of(owner).filter(pk=run_id).first()
    if run is None:
        raise Http404("There is no such run.")
    return run
