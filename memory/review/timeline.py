"""The life of a fact from the outside: its chain with dates, and where it was told."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from agents.models import AuditEvent
from memory.models import Fact, FactUsage, RecalledFact
from memory.review.history import Step, chain_of, steps
from memory.vocabulary import State

TOLD = 20


@dataclass(frozen=True, slots=True)
class Link:
    """One wording of a chain. `ended`: the step that archived it, as long as it is archived."""

    fact: Fact
    ended: Step | None


@dataclass(frozen=True, slots=True)
class Told:
    """`times` counts every recall; the conversations are those that named themselves."""

    usage: FactUsage | None
    conversations: list[RecalledFact]


def timeline_of(fact: Fact) -> list[Link]:
    """Oldest first."""
    chain = chain_of(fact)
    ends = _ends(fact.owner_id, [link for link in chain if link.state == State.ARCHIVED])
    return [Link(link, ends.get(str(link.pk))) for link in chain]


def _ends(owner_id: UUID, archived: Iterable[Fact]) -> dict[str, Step]:
    ids = [str(fact.pk) for fact in archived]
    events = AuditEvent.objects.filter(
        owner_id=owner_id, table="memory_fact", row_id__in=ids, after__state=State.ARCHIVED
    )
    last = {event.row_id: event for event in events.order_by("id")}
    return dict(zip(last, steps(list(last.values())), strict=True))


def told_of(fact: Fact) -> Told:
    rows = RecalledFact.objects.filter(owner=fact.owner_id, fact=fact)
    return Told(
        usage=FactUsage.objects.filter(owner=fact.owner_id, fact=fact).first(),
        conversations=list(rows.select_related("conversation").order_by("-recalled_at")[:TOLD]),
    )
