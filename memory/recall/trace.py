"""What happened on the way to a block: values that pages and API show. They hold no row that the
agent may not read, because legs only ever see those."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from memory.models import Fact


class Leg(StrEnum):
    VECTOR = "vector"
    TEXT = "full_text"
    ENTITY = "entity"
    TIME = "time"
    RECENCY = "recency"


class Outcome(StrEnum):
    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"


class Why(StrEnum):
    """Why nothing was recalled, or why a fact that a leg saw is not in the block."""

    MEMORY_OFF = "memory is off"
    SMALL_TALK = "the message asks for nothing"
    NOTHING_RELEVANT = "nothing relevant was found"
    GATE = "not relevant enough for the leg that saw it"
    ONLY_SUPPORTS = "seen only by a leg that supports others"
    FLOOR = "below the floor"
    BUDGET = "over the budget"
    PINNED_BUDGET = "pinned, but over the budget of pinned facts"


@dataclass(frozen=True)
class Hit:
    """`score` is on the leg's own scale; `matched` is what of the message it rests on."""

    fact_id: UUID
    score: float
    matched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """Best first. `refused` did not pass the leg's gate; `alone`: whether a fact that no other leg
    saw may count."""

    hits: tuple[Hit, ...]
    refused: tuple[Hit, ...] = ()
    alone: bool = True


@dataclass(frozen=True)
class LegReport:
    leg: Leg
    outcome: Outcome
    found: Found = Found(())
    # Why it was skipped, or the class of what it failed with; never text of the message.
    detail: str = ""
    milliseconds: float = 0.0


@dataclass(frozen=True)
class Standing:
    rank: int
    score: float
    matched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A fact that legs saw. `fused` is their sum, `score` what it is ordered by."""

    fact: Fact
    legs: Mapping[Leg, Standing]
    fused: float
    decay: float
    score: float


@dataclass(frozen=True)
class NearMiss:
    fact: Fact
    legs: Mapping[Leg, Standing]
    why: Why


@dataclass(frozen=True)
class Trace:
    legs: tuple[LegReport, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    # Why there is no unpinned item, where there is none.
    empty_because: Why | None = None
    # Milliseconds by step.
    timings: Mapping[str, float] = field(default_factory=dict)
