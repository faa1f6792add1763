"""One run or change of an owner. What belongs to another does not exist: 404."""

from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from agents.models import User
from memory.consolidation import merge
from memory.models import ConsolidationChange, ConsolidationRun, Fact
from memory.scope import facts_of
from memory.vocabulary import State


def runs_of(owner: User) -> QuerySet[ConsolidationRun]:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return ConsolidationRun.objects.filter(owner=owner).select_related("owner")


def run_of(owner: User, run_id: UUID) -> ConsolidationRun:
    run = runs_of(owner).filter(pk=run_id).first()
    if run is None:
        raise Http404("There is no such run.")
    return run


def change_of(owner: User, change_id: UUID) -> ConsolidationChange:
    changes = ConsolidationChange.objects.filter(run__in=runs_of(owner), owner=owner)
    change = changes.select_related("owner", "run").filter(pk=change_id).first()
    if change is None:
        raise Http404("There is no such change.")
    return change


def offers_to(owner: User, now: datetime) -> list[ConsolidationChange]:
    """Groups to merge by hand, of which every member is still there, newest first."""
    offers = ConsolidationChange.objects.filter(
        owner=owner, stage=merge.STAGE, action=merge.OFFER, undone_at__isnull=True,
        at__gt=now - merge.OPEN_FOR,
    ).order_by("-id")[: merge.WAITING]  # fmt: skip
    found = list(offers)
    wanted = {pk for offer in found for pk in offer.sources}
    active = facts_of(owner).filter(pk__in=wanted, state=State.ACTIVE)
    there = set(active.values_list("pk", flat=True))
    return [offer for offer in found if set(offer.sources) <= there]


def members_of(offer: ConsolidationChange) -> list[Fact]:
    """The active facts of a group, oldest first. Raises Http404 where it is no group any more."""
    facts = facts_of(offer.owner).filter(pk__in=offer.sources, state=State.ACTIVE)
    found = list(facts.select_related("owner", "agent").order_by("created_at", "pk"))
    if offer.action != merge.OFFER or len(found) < 2:
        raise Http404("There is nothing to merge here any more.")
    return found
