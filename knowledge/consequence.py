"""What deleting documents would take along, before anybody does it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Sum

from agents.models import User
from knowledge.proposals import hanging
from knowledge.scope import documents_of


@dataclass(frozen=True, slots=True)
class Consequence:
    """`candidates` go: they rest on nothing else. `confirmed` facts stay, without quotes."""

    documents: int
    passages: int
    size: int
    candidates: int
    confirmed: int


def consequence(owner: User, documents: Sequence[UUID]) -> Consequence:
    rows = documents_of(owner).filter(pk__in=documents)
    sums = rows.order_by().aggregate(passages=Sum("passages"), size=Sum("size"))
    found = hanging(owner, documents)
    return Consequence(
        documents=len(documents),
        passages=sums["passages"] or 0,
        size=sums["size"] or 0,
        candidates=len(found.facts),
        confirmed=found.confirmed,
    )
