"""Recall over HTTP, field by field."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import BaseModel, Field

from conversations.schemas import Content, Day, Id, Slug, Source, Strict
from memory.cases.relevance import Relevant
from memory.models import Fact, Rule
from memory.recall.service import Item, Recall
from memory.recall.trace import Candidate, Leg, LegReport, NearMiss, Part, Standing
from memory.search.automatic import Excerpt
from memory.vocabulary import Origin

# Fewer tokens hold no fact beside the fence.
LEAST_BUDGET = 150
LARGEST_BUDGET = 20_000
RECENT = 20  # only the last few are read


class RecallIn(Strict):
    """`recent` are the owner's turns before the message, oldest first. `explain` asks for what each
    item is worth and why, and for what nearly came. `as_of`: what the answer would have been when
    that day ended on the owner's clock."""

    message: Content
    recent: Annotated[list[Content], Field(max_length=RECENT)] = []
    agent: Slug | None = None
    conversation: Id | None = None
    source: Source = "api"
    budget: Annotated[int, Field(ge=LEAST_BUDGET, le=LARGEST_BUDGET)] | None = None
    explain: bool = False
    as_of: Day | None = None


class StandingOut(BaseModel):
    """`score` is on the leg's own scale; `matched` is what of the message it rests on."""

    rank: int
    score: float
    matched: tuple[str, ...]


Legs = dict[Leg, StandingOut]


class Worth(BaseModel):
    """`parts` add up to `relevance`, in nats. `score`, which items are ordered by, is that plus ln
    of `decay`, the kind's weight and confidence. `cover`: how much of the message it states."""

    parts: dict[Part, float]
    relevance: float
    cosine: float | None
    cover: float
    decay: float
    score: float
    opens: bool
    legs: Legs

    @classmethod
    def of(cls, found: Candidate) -> Self:
        return cls(
            parts={part: round(value, 3) for part, value in found.parts.items()},
            relevance=round(found.relevance, 3),
            cosine=None if found.cosine is None else round(found.cosine, 4),
            cover=round(found.cover, 3),
            decay=round(found.decay, 4),
            score=round(found.score, 3),
            opens=found.opens,
            legs=_legs(found.legs),
        )


class FactOut(BaseModel):
    """`origin`: what it came by, a conversation or document being `extraction`. `worth` only where
    it was asked for, and not where only a pin brought the fact."""

    id: UUID
    statement: str
    kind: str
    origin: Origin
    confidence: float
    observed_at: datetime
    last_confirmed_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    worth: Worth | None


class ItemOut(FactOut):
    tier: Literal["fact"] = "fact"
    pinned: bool

    @classmethod
    def of(cls, item: Item, *, explain: bool) -> Self:
        return cls(
            **_told(item.fact),
            worth=Worth.of(item.candidate) if explain and item.candidate else None,
            pinned=item.pinned,
        )


class ExcerptOut(BaseModel):
    """What was said earlier in this conversation, before its last summary. `message` is the id that
    the client gave."""

    tier: Literal["raw"] = "raw"
    passage: UUID
    text: str
    said_at: datetime
    message: str | None
    role: str | None
    speaker: str | None
    from_owner: bool | None
    cosine: float | None

    @classmethod
    def of(cls, excerpt: Excerpt) -> Self:
        message = excerpt.passage.message
        return cls(
            passage=excerpt.passage.pk,
            text=excerpt.text,
            said_at=excerpt.said_at,
            message=message.client_id if message else None,
            role=message.role if message else None,
            speaker=message.speaker if message else None,
            from_owner=message.from_owner if message else None,
            cosine=None if excerpt.cosine is None else round(excerpt.cosine, 4),
        )


class NearMissOut(FactOut):
    why: str

    @classmethod
    def of(cls, miss: NearMiss) -> Self:
        worth = Worth.of(miss.candidate) if miss.candidate else None
        return cls(**_told(miss.fact), worth=worth, why=miss.why)


class WithheldOut(BaseModel):
    """A fact that agrees with the message and may not be told; its text stays where it is."""

    id: UUID
    why: str


class LegOut(BaseModel):
    leg: Leg
    outcome: str
    detail: str
    found: int
    milliseconds: float

    @classmethod
    def of(cls, report: LegReport) -> Self:
        return cls(
            leg=report.leg,
            outcome=report.outcome,
            detail=report.detail,
            found=len(report.found.hits),
            milliseconds=round(report.milliseconds, 2),
        )


class RecalledCaseOut(BaseModel):
    """What came of an earlier exchange, as its owner confirmed it."""

    id: UUID
    goal: str
    outcome: str
    lessons: str
    quality: str
    happened_at: datetime
    cosine: float | None

    @classmethod
    def of(cls, found: Relevant) -> Self:
        case = found.case
        return cls(
            id=case.pk,
            goal=case.goal,
            outcome=case.outcome,
            lessons=case.lessons,
            quality=case.quality,
            happened_at=case.happened_at,
            cosine=None if found.cosine is None else round(found.cosine, 4),
        )


class RecalledRuleOut(BaseModel):
    """A standing instruction of the owner's. `for_all`: every assistant of theirs has it."""

    id: UUID
    text: str
    for_all: bool

    @classmethod
    def of(cls, rule: Rule) -> Self:
        return cls(id=rule.pk, text=rule.text, for_all=rule.agent_id is None)


class TraceOut(BaseModel):
    """`recorded`: the request named its conversation, so that an echo of this block is not learned
    from it. Only with `explain` are there near misses, which the legs saw, and what is withheld,
    which waits, was rejected or archived, or has expired. `as_of`: the moment it is of, if not now.
    `rules_left`: rules that are on and did not fit into their budget.
    """

    legs: list[LegOut]
    near_misses: list[NearMissOut]
    withheld: list[WithheldOut]
    rules_left: list[UUID]
    empty_because: str | None
    as_of: datetime | None
    milliseconds: dict[str, float]
    recorded: bool

    @classmethod
    def of(
        cls,
        recall: Recall,
        recorded: bool,
        *,
        explain: bool,
        withheld: Iterable[NearMiss] = (),
    ) -> Self:
        trace = recall.trace
        return cls(
            legs=[LegOut.of(report) for report in trace.legs],
            near_misses=[NearMissOut.of(miss) for miss in trace.near_misses] if explain else [],
            withheld=[WithheldOut(id=miss.fact.pk, why=miss.why) for miss in withheld],
            rules_left=[rule.pk for rule in recall.ahead.rules_left],
            empty_because=trace.empty_because,
            as_of=trace.as_of,
            milliseconds={name: round(value, 2) for name, value in trace.timings.items()},
            recorded=recorded,
        )


class RecallOut(BaseModel):
    """Put `block` into the prompt as it is. It is empty text where there is nothing to tell; pinned
    facts and the owner's rules ride even where nothing was found, which is what `empty` says. The
    rules stand ahead of the data in a fence of their own, and have a budget of their own."""

    block: str
    tokens: int
    empty: bool
    items: list[ItemOut]
    excerpts: list[ExcerptOut]
    cases: list[RecalledCaseOut]
    rules: list[RecalledRuleOut]
    trace: TraceOut

    @classmethod
    def of(
        cls,
        recall: Recall,
        *,
        recorded: bool,
        explain: bool = False,
        withheld: Iterable[NearMiss] = (),
    ) -> Self:
        return cls(
            block=recall.block,
            tokens=recall.tokens,
            empty=recall.is_empty,
            items=[ItemOut.of(item, explain=explain) for item in recall.items],
            excerpts=[ExcerptOut.of(excerpt) for excerpt in recall.excerpts],
            cases=[RecalledCaseOut.of(found) for found in recall.cases],
            rules=[RecalledRuleOut.of(rule) for rule in recall.ahead.rules],
            trace=TraceOut.of(recall, recorded, explain=explain, withheld=withheld),
        )


def _told(fact: Fact) -> dict[str, object]:
    names = set(FactOut.model_fields) - {"worth"}
    return {name: getattr(fact, name) for name in names}


def _legs(standings: Mapping[Leg, Standing]) -> Legs:
    return {
        leg: StandingOut(rank=at.rank, score=round(at.score, 4), matched=at.matched)
        for leg, at in standings.items()
    }
