"""What stands around a candidate: the messages before and after its source, and the facts that
say the like."""

from collections.abc import Iterable
from dataclasses import dataclass

from agents.access import agents_of
from agents.models import Agent
from conversations.models import Message
from memory.models import Fact
from memory.recall.finding import ranking
from memory.review.masking import masked
from memory.scope import facts_of

NEXT_TO = 2  # messages on each side
LONGEST = 600  # characters of each
NEAREST = 5


@dataclass(frozen=True, slots=True)
class Said:
    message: Message
    text: str
    is_source: bool


@dataclass(frozen=True, slots=True)
class Around:
    said: list[Said]
    nearest: list[Fact]


def around(fact: Fact) -> Around:
    sources = [row.message for row in fact.evidence.select_related("message")]
    return Around(said=_said(sources), nearest=nearest(fact))


def nearest(fact: Fact, rows: int = NEAREST) -> list[Fact]:
    """Active facts that the assistant of this one may read, the most alike first."""
    agent = fact.agent or _default_agent(fact)
    if agent is None:
        return []
    hits = ranking(agent=agent, message=fact.statement, rows=rows + 1)
    ids = [hit.fact.pk for hit in hits if hit.fact.pk != fact.pk][:rows]
    found = facts_of(fact.owner).select_related("agent").in_bulk(ids)
    return [found[pk] for pk in ids if pk in found]


def _default_agent(fact: Fact) -> Agent | None:
    return agents_of(fact.owner).order_by("-is_default", "pk").first()


def _said(sources: Iterable[Message]) -> list[Said]:
    """The neighbourhoods of all sources in the order of the conversation, none twice."""
    found: dict[int, Said] = {}
    for source in sources:
        near = Message.objects.filter(
            owner=source.owner_id,
            conversation=source.conversation_id,
            seq__range=(source.seq - NEXT_TO, source.seq + NEXT_TO),
        ).order_by("seq")
        for message in near:
            is_source = message.pk == source.pk or (
                message.seq in found and found[message.seq].is_source
            )
            found[message.seq] = Said(message, _short(message.content), is_source)
    return [found[seq] for seq in sorted(found)]


def _short(text: str) -> str:
    (shown,) = masked(text[: 2 * LONGEST])
    return shown if len(text) <= LONGEST else shown[:LONGEST].rsplit(None, 1)[0] + " …"
