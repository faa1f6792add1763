"""Facts as keys to the passages that they came from: only what the agent may be told anyway."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from uuid import UUID

from agents.models import Agent
from memory.models import Evidence, Fact
from memory.recall.finding import ranking
from memory.recall.legs import Reader
from memory.recall.trace import Candidate, Part
from memory.recall.tuning import tuning
from memory.search.failures import Failures

# Facts that are looked at for one question.
ROWS = 200
# Of them: those whose passages become candidates.
LEADING = 30
_MEANING, _WORDS = 4.5, 6.0


@dataclass(frozen=True)
class Keys:
    """The facts that agree with a question, best first, and the messages that they cite."""

    candidates: Sequence[Candidate] = ()
    cited: dict[UUID, set[UUID]] = field(default_factory=dict)

    @property
    def lifts(self) -> dict[UUID, float]:
        """By message: how well the best fact that cites it agrees."""
        lifts: dict[UUID, float] = {}
        for candidate, lift in zip(self.candidates, self._agreements, strict=True):
            for message in self.cited.get(candidate.fact.pk, ()):
                lifts[message] = max(lift, lifts.get(message, 0.0))
        return lifts

    @property
    def leading(self) -> set[UUID]:
        agreements, candidates = self._agreements, self.candidates
        best = sorted(range(len(candidates)), key=agreements.__getitem__, reverse=True)[:LEADING]
        return {m for place in best for m in self.cited.get(candidates[place].fact.pk, ())}

    @property
    def facts(self) -> list[Fact]:
        """Those that bear on the question."""
        return [one.fact for one in self.candidates if one.follows]

    @cached_property
    def _agreements(self) -> list[float]:
        """Of the candidates: meaning, and the share of the words that they meet."""
        whole = tuning().words or 1.0
        return [
            _MEANING * (one.cosine or 0.0) + _WORDS * one.parts.get(Part.WORDS, 0.0) / whole
            for one in self.candidates
        ]


def find(
    agent: Agent,
    question: str,
    now: datetime | None,
    reader_at: Callable[[Reader], Reader] = lambda reader: reader,
    failures: Failures | None = None,
) -> Keys:
    heard = (failures or Failures()).heard
    found = ranking(
        agent=agent, message=question, now=now, rows=ROWS, reader_at=reader_at, heard=heard
    )
    return of(agent, found)


def of(agent: Agent, candidates: Sequence[Candidate]) -> Keys:
    """`candidates`: facts that the agent may be told, best first."""
    cited: dict[UUID, set[UUID]] = defaultdict(set)
    pairs = Evidence.objects.filter(
        owner=agent.owner, fact__in=[candidate.fact.pk for candidate in candidates]
    ).values_list("fact_id", "message_id")
    for fact, message in pairs:
        cited[fact].add(message)
    return Keys(candidates, dict(cited))
