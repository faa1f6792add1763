"""What a profile is written from, and which of its sentences may stand. No model, no writing."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from django.db.models import QuerySet

from agents.models import Agent
from memory import llm
from memory.models import Fact
from memory.policy.activation import sensitive_reasons
from memory.private import route_for_facts
from memory.profile.schema import Sentence
from memory.scope import facts_readable_by, recallable
from memory.sensitive import credentials
from memory.vocabulary import Withheld

# Facts in one call: pinned ones, then durable ones, each the last confirmed first.
SHOWN = 150
# Nobody reviews a profile, so these don't get into it. Contact data may: its owner confirmed it.
_NEVER = {Withheld.DIRECTIVE, Withheld.ADDRESSES_ASSISTANT, Withheld.HIDDEN_TEXT}


@dataclass(frozen=True)
class Material:
    """Facts by the handles that exist only in one call. No route: nothing may be asked."""

    agent: Agent
    facts: Mapping[int, Fact]
    route: llm.Route | None

    @property
    def digest(self) -> str:
        """Of everything that a sentence could come from: another digest, another profile."""
        lines = sorted(_version(fact) for fact in self.facts.values())
        if language := self.agent.owner.settings.language:
            lines.append(language)
        return sha256("\n".join(lines).encode()).hexdigest()


def readable(agent: Agent, now: datetime) -> QuerySet[Fact]:
    """What the agent may be told, in the order in which a profile takes it."""
    facts = recallable(facts_readable_by(agent), now)
    return facts.order_by("-pinned", "-kind", "-last_confirmed_at", "-pk")


def material_for(agent: Agent, now: datetime) -> Material:
    facts = list(readable(agent, now).defer("search")[:SHOWN])
    route, shown = route_for_facts(agent.owner, facts)
    return Material(agent, dict(enumerate(shown, start=1)), route)


def may_stand(sentence: Sentence, facts: Mapping[int, Fact]) -> bool:
    """It names facts that were shown, and says nothing that a reader should have looked at, nor a
    number that none of them has."""
    if not sentence.facts or not all(handle in facts for handle in sentence.facts):
        return False
    if credentials(sentence.text):
        return False
    if any(reason in _NEVER for reason, _ in sensitive_reasons((sentence.text,))):
        return False
    return _numbers([sentence.text]) <= _numbers(facts[n].statement for n in sentence.facts)


def _numbers(texts: Iterable[str]) -> set[str]:
    return {number for text in texts for number in re.findall(r"\d+", text)}


def _version(fact: Fact) -> str:
    moments = (fact.valid_from, fact.valid_until)
    parts = [fact.pk, fact.pinned, *sorted(fact.tags), *(m and m.isoformat() for m in moments)]
    return " ".join(map(str, parts))
