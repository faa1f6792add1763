"""Recall over HTTP, field by field."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import BaseModel, Field

from conversations.schemas import Content, Id, Slug, Source, Strict
from memory.models import Fact
from memory.recall.service import Item, Recall
from memory.recall.trace import Leg, LegReport, NearMiss, Standing, Trace

# Fewer tokens hold no fact beside the fence.
LEAST_BUDGET = 150
LARGEST_BUDGET = 20_000
RECENT = 20  # only the last few are read


class RecallIn(Strict):
    """`recent` are the owner's turns before the message, oldest first."""

    message: Content
    recent: Annotated[list[Content], Field(max_length=RECENT)] = []
    agent: Slug | None = None
    conversation: Id | None = None
    source: Source = "api"
    budget: Annotated[int, Field(ge=LEAST_BUDGET, le=LARGEST_BUDGET)] | None = None


class StandingOut(BaseModel):
    """`score` is on the leg's own scale; `matched` is what of the message it rests on."""

    rank: int
    score: float
    matched: tuple[str, ...]


Legs = dict[Leg, StandingOut]


class FactOut(BaseModel):
    id: UUID
    statement: str
    kind: str
    confidence: float
    observed_at: datetime
    last_confirmed_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    legs: Legs


class ItemOut(FactOut):
    """`score` is what it is ordered by: `fused` times `decay`, weight of the kind and confidence.
    Zero where only its pin brought it."""

    pinned: bool
    fused: float
    decay: float
    score: float

    @classmethod
    def of(cls, item: Item) -> Self:
        found = item.candidate
        return cls(
            **_told(item.fact),
            legs=_legs(found.legs if found else {}),
            pinned=item.pinned,
            fused=found.fused if found else 0.0,
            decay=found.decay if found else 1.0,
            score=found.score if found else 0.0,
        )


class NearMissOut(FactOut):
    why: str

    @classmethod
    def of(cls, miss: NearMiss) -> Self:
        return cls(**_told(miss.fact), legs=_legs(miss.legs), why=miss.why)


class LegOut(BaseModel):
    leg: Leg
    outcome: str
    detail: str
    found: int
    refused: int
    milliseconds: float

    @classmethod
    def of(cls, report: LegReport) -> Self:
        return cls(
            leg=report.leg,
            outcome=report.outcome,
            detail=report.detail,
            found=len(report.found.hits),
            refused=len(report.found.refused),
            milliseconds=round(report.milliseconds, 2),
        )


class TraceOut(BaseModel):
    """`recorded`: the conversation is known, so that an echo of this block is not learned."""

    legs: list[LegOut]
    near_misses: list[NearMissOut]
    empty_because: str | None
    milliseconds: dict[str, float]
    recorded: bool

    @classmethod
    def of(cls, trace: Trace, recorded: bool) -> Self:
        return cls(
            legs=[LegOut.of(report) for report in trace.legs],
            near_misses=[NearMissOut.of(miss) for miss in trace.near_misses],
            empty_because=trace.empty_because,
            milliseconds={name: round(value, 2) for name, value in trace.timings.items()},
            recorded=recorded,
        )


class RecallOut(BaseModel):
    """Put `block` into the prompt as it is. It is empty text where there is nothing to tell; pinned
    facts ride even where nothing was found, which is what `empty` says."""

    block: str
    tokens: int
    empty: bool
    items: list[ItemOut]
    trace: TraceOut

    @classmethod
    def of(cls, recall: Recall, *, recorded: bool) -> Self:
        return cls(
            block=recall.block,
            tokens=recall.tokens,
            empty=recall.is_empty,
            items=[ItemOut.of(item) for item in recall.items],
            trace=TraceOut.of(recall.trace, recorded),
        )


def _told(fact: Fact) -> dict[str, object]:
    names = set(FactOut.model_fields) - {"legs"}
    return {name: getattr(fact, name) for name in names}


def _legs(standings: Mapping[Leg, Standing]) -> Legs:
    return {
        leg: StandingOut(rank=at.rank, score=round(at.score, 4), matched=at.matched)
        for leg, at in standings.items()
    }
