"""What deleting documents would take along, before anybody does it."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Sum

from agents.models import User
from conversations.models import Conversation
from knowledge.proposals import born_in, hanging, talks_of
from knowledge.scope import documents_of
from memory.purge.reach import reach_of

# Of conversations that hold passages, linked to.
TALKS = 5


@dataclass(frozen=True, slots=True)
class Consequence:
    """`candidates` go: they rest on nothing else; `concluded` facts were made from such. `staying`
    facts lose their quotes; `talks` lead to where they are purged with all that was read."""

    documents: int
    passages: int
    size: int
    candidates: int
    concluded: int
    staying: int
    talks: tuple[Conversation, ...]


def consequence(owner: User, documents: Sequence[UUID]) -> Consequence:
    rows = documents_of(owner).filter(pk__in=documents)
    sums = rows.order_by().aggregate(passages=Sum("passages"), size=Sum("size"))
    found = hanging(owner, documents)
    staying = born_in(owner, found.talks).exclude(pk__in=found.facts)
    talks = talks_of(owner, documents).filter(pk__in=staying.values("conversation"))
    return Consequence(
        documents=len(documents),
        passages=sums["passages"] or 0,
        size=sums["size"] or 0,
        candidates=len(found.facts),
        concluded=len(reach_of(owner, found.facts, ()).derived),
        staying=staying.count(),
        talks=tuple(talks.select_related("agent").order_by("pk")[:TALKS]),
    )
