"""What happened on the way to a block: values that pages and API show. They hold no row that the
agent may not read, because legs only ever see those. Tuples are what there are hundreds of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from memory.models import Fact


class Leg(StrEnum):
    VECTOR = "vector"
    TEXT = "full_text"
    ENTITY = "entity"
    TIME = "time"
    RECENCY = "recency"
    # Excerpts of the conversation; looked for only once it was summarised.
    RAW = "raw"
    # Cases; looked for only where the owner has confirmed any.
    CASES = "cases"


class Part(StrEnum):
    """What a score is the sum of."""

    MEANING = "meaning"
    WORDS = "words"
    LENGTH = "length"
    WHEN = "when"
    NAME = "name"
    PERIOD = "period"


class Outcome(StrEnum):
    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"


class Why(StrEnum):
    """Why nothing was recalled, or why a fact that a leg saw is not in the block."""

    MEMORY_OFF = "memory is off"
    SMALL_TALK = "the message asks for nothing"
    NOTHING_RELEVANT = "nothing relevant was found"
    NOTHING_YET = "nothing was known yet"
    GATE = "not relevant enough"
    CUT = "far behind the best"
    BUDGET = "over the budget"
    PINNED_BUDGET = "pinned, but over the budget of pinned facts"
    # What recall never looks at.
    PENDING = "waits for review"
    REJECTED = "rejected"
    ARCHIVED = "archived"
    EXPIRED = "expired"
    SCOPE = "another assistant's"


class Hit(NamedTuple):
    """`score` is on the leg's own scale; `matched` is what of the message it rests on."""

    fact_id: UUID
    score: float
    matched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """Best first. `opens`: whether being found by this leg is enough to be told."""

    hits: tuple[Hit, ...]
    opens: bool = False


@dataclass(frozen=True)
class LegReport:
    leg: Leg
    outcome: Outcome
    found: Found = Found(())
    # Why it was skipped, or the class of what it failed with; never text of the message.
    detail: str = ""
    milliseconds: float = 0.0


class Standing(NamedTuple):
    rank: int
    score: float
    matched: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """A fact that legs saw. `parts` add up to `relevance`, in nats: exp of it is odds, up to a
    constant. `score`, which it is ordered by, is that plus ln of decay, kind and confidence."""

    fact: Fact
    legs: Mapping[Leg, Standing]
    parts: Mapping[Part, float]
    # None where there is no vector, or none that means anything.
    cosine: float | None
    # How much of the message its statement meets, 0 to 1.
    cover: float
    decay: float
    score: float
    opens: bool = False
    follows: bool = False

    @property
    def relevance(self) -> float:
        return sum(self.parts.values())


@dataclass(frozen=True)
class NearMiss:
    """Without a candidate only its pin was seen."""

    fact: Fact
    why: Why
    candidate: Candidate | None = None


@dataclass(frozen=True)
class Trace:
    legs: tuple[LegReport, ...] = ()
    # Looks for what is of interest to few: see `near_misses`.
    missed: Callable[[], tuple[NearMiss, ...]] = field(default=tuple, compare=False, repr=False)
    # Why there is no unpinned item, where there is none.
    empty_because: Why | None = None
    # The moment that it is of, where that is not now.
    as_of: datetime | None = None
    # Milliseconds by step.
    timings: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def near_misses(self) -> tuple[NearMiss, ...]:
        """Best first."""
        return self.missed()
