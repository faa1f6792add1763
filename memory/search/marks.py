"""What is no longer quite so: overridden by a newer fact, or summarised since."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from conversations.models import Passage
from memory.models import Fact
from memory.recall.terms import NAMES_OF_THE_OWNER
from memory.search.words import content_stems

# Content words that a newer fact must share with a passage to be about the same thing.
SHARED = 2
# Facts held against each passage, those that agree most with the question.
FACTS = 30

Stems = dict[UUID, set[str]]


class Mark(StrEnum):
    OVERRIDDEN = "a newer fact says otherwise, or more"
    SUMMARISED = "older than the conversation's last summary"


@dataclass(frozen=True)
class Marked:
    marks: tuple[Mark, ...] = ()
    overridden_by: Fact | None = None


def marked(
    passages: Sequence[Passage], facts: Sequence[Fact], cited: Mapping[UUID, set[UUID]]
) -> dict[UUID, Marked]:
    """`facts` are those that the agent may be told; one that rests on a passage's own message
    overrides nothing of it."""
    newest = sorted(facts[:FACTS], key=lambda fact: fact.observed_at, reverse=True)
    older = [one for one in passages if newest and one.said_at < newest[0].observed_at]
    of_passages, of_facts = _stems(older, newest) if older else ({}, {})
    found = {}
    for passage in passages:
        own = of_passages.get(passage.pk, set())
        by = next(
            (
                fact
                for fact in newest
                if fact.observed_at > passage.said_at
                and passage.message_id not in cited.get(fact.pk, ())
                and len(own & of_facts[fact.pk]) >= SHARED
            ),
            None,
        )
        found[passage.pk] = Marked(tuple(_marks(passage, by)), by)
    return found


def _stems(passages: Sequence[Passage], facts: Sequence[Fact]) -> tuple[Stems, Stems]:
    languages = dict(
        Fact.objects.filter(pk__in=[fact.pk for fact in facts]).values_list("pk", "language")
    )
    texts = [(passage.language, passage.text) for passage in passages]
    texts += [(languages.get(fact.pk, "simple"), fact.statement) for fact in facts]
    stems = content_stems(texts)
    of_facts = {
        fact.pk: said - NAMES_OF_THE_OWNER
        for fact, said in zip(facts, stems[len(passages) :], strict=True)
    }
    return dict(zip((one.pk for one in passages), stems, strict=False)), of_facts


def _marks(passage: Passage, by: Fact | None) -> list[Mark]:
    marks = [Mark.OVERRIDDEN] if by else []
    message = passage.message
    if message is not None and message.seq <= passage.conversation.compacted_seq:
        marks.append(Mark.SUMMARISED)
    return marks
