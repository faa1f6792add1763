"""Recall: from a message to the block of memory for the assistant's next turn. Only reads."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from itertools import islice
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from agents.gate import DISABLED, allowed
from agents.models import Agent
from conversations.models import Conversation
from memory import tokens
from memory.cases.relevance import Relevant
from memory.models import Fact
from memory.recall import ahead, block, cases, excerpts, legs
from memory.recall.ahead import NOTHING_AHEAD, Ahead
from memory.recall.as_of import at, end_of
from memory.recall.finding import Seen, look_up
from memory.recall.first import look
from memory.recall.legs import Reader
from memory.recall.query import read
from memory.recall.trace import Candidate, LegReport, NearMiss, Trace, Why
from memory.recall.tuning import tuning
from memory.search.automatic import Excerpt


@dataclass(frozen=True)
class Item:
    """A fact in the block. Without a candidate only its pin brought it."""

    fact: Fact
    pinned: bool
    candidate: Candidate | None


@dataclass(frozen=True)
class Recall:
    """`block` is the empty text where there is nothing to tell; `tokens` is what it costs at most.
    `items` are the pinned ones, then those found, best first; `excerpts` what was said earlier in
    the conversation and summarised since; `cases` what came of earlier exchanges; `ahead` what
    stands before the data."""

    block: str
    tokens: int
    items: tuple[Item, ...]
    trace: Trace
    excerpts: tuple[Excerpt, ...] = ()
    cases: tuple[Relevant, ...] = ()
    ahead: Ahead = NOTHING_AHEAD

    @property
    def is_empty(self) -> bool:
        """Nothing was found; pinned facts ride all the same, and what stands ahead."""
        return not (self.excerpts or self.cases) and all(item.pinned for item in self.items)


@dataclass(frozen=True)
class _Beside:
    """What may ride beside facts."""

    said: Sequence[Excerpt]
    cases: Sequence[Relevant]


def recall(
    *,
    agent: Agent,
    message: str,
    recent: Sequence[str] = (),
    conversation: Conversation | None = None,
    now: datetime | None = None,
    budget: int | None = None,
    as_of: date | None = None,
    withdrawn: bool = True,
    nonce: str | None = None,
) -> Recall:
    """What `agent` is told for `message`; `recent` are the owner's turns before it, oldest first.

    `as_of`: what it would have been told when that day ended on the owner's clock, from facts
    alone; with `withdrawn` also by facts that the owner has since forgotten, rejected or sent back
    to the queue. A `nonce` of the caller's has NONCE_CHARACTERS that nobody can guess. Raises
    DayToCome, and ValueError for a conversation of another agent.
    """
    if conversation is not None and conversation.agent_id != agent.pk:
        raise ValueError("The conversation belongs to another agent.")
    clock = _Clock()
    # What it means does not depend on the owner's clock.
    asked = read(message, tuple(recent), now or timezone.now())
    thinking = None if settings.MEMORY_MODE == DISABLED else legs.think(asked)
    owner, first = look(agent, asked, conversation)
    now = (now or timezone.now()).astimezone(ZoneInfo(owner.zone))
    then = None if as_of is None else end_of(as_of, now)
    if not allowed(settings.MEMORY_MODE, owner.choice):
        if thinking is not None:
            thinking.cancel()
        return Recall("", 0, (), Trace(empty_because=Why.MEMORY_OFF))
    reader = Reader(agent, asked.at(then or now), tuning(), thinking=thinking, first=first)
    if then is not None:
        reader = at(reader, then, withdrawn=withdrawn)
        conversation = None
    reports = () if reader.query.is_small_talk else legs.run(reader)
    clock.step("legs")
    seen = look_up(reader, reports)
    clock.step("facts")
    said, report = excerpts.look(reader, conversation, seen.in_order)
    clock.step("excerpts")
    known, looked = cases.look(reader, any_active=owner.has_cases and then is None)
    if looked:
        clock.step("cases")
    beside = _Beside(said, known)
    most = budget if budget is not None else owner.budget or reader.tuning.budget
    nonce = nonce or block.new_nonce()
    packed = _pack(reader, seen, beside, most, then, nonce)
    turn = ahead.Turn(agent, conversation, then, withdrawn, owner.any_rules, owner.any_hints)
    before = ahead.gather(
        turn, rules_budget=reader.tuning.rules_budget, nonce=nonce, count=tokens.count
    )
    clock.step("block")
    told = _told(reader, (*reports, *report, *looked), seen, beside, packed, clock, then)
    return _behind(before, told)


def _behind(before: Ahead, told: Recall) -> Recall:
    """The data behind what stands ahead of it."""
    if before is NOTHING_AHEAD:
        return told
    text = (before.text + told.block).rstrip()
    return replace(told, block=text, tokens=before.tokens + told.tokens, ahead=before)


def _pack(
    reader: Reader,
    seen: Seen,
    beside: _Beside,
    budget: int,
    then: datetime | None,
    nonce: str,
) -> block.Block:
    return block.pack(
        pinned=seen.pinned,
        found=[candidate.fact for candidate in seen.told],
        quotes=excerpts.quotes(beside.said),
        cases=cases.lines(beside.cases),
        budget=budget,
        pinned_budget=reader.tuning.pinned_budget,
        quotes_budget=reader.tuning.quotes_budget,
        cases_budget=reader.tuning.cases_budget,
        now=reader.query.now,
        nonce=nonce,
        count=tokens.count,
        as_of=then,
    )


def _told(
    reader: Reader,
    reports: tuple[LegReport, ...],
    seen: Seen,
    beside: _Beside,
    packed: block.Block,
    clock: "_Clock",
    then: datetime | None,
) -> Recall:
    by_id = {candidate.fact.id: candidate for candidate in seen.told}
    items = (
        *(Item(fact, True, by_id.get(fact.id)) for fact in packed.pinned),
        *(Item(fact, False, by_id[fact.id]) for fact in packed.found),
    )
    because = None
    if not (packed.found or packed.quotes or packed.cases):
        because = _why_nothing(reader, then)
    trace = Trace(
        legs=reports,
        missed=lambda: tuple(islice(_misses(seen, items), reader.tuning.near_misses)),
        empty_because=because,
        as_of=then,
        timings=clock.steps,
    )
    return Recall(
        packed.text,
        packed.tokens,
        items,
        trace,
        excerpts.shown(beside.said, packed.quotes),
        cases.shown(beside.cases, packed.cases),
    )


def _why_nothing(reader: Reader, then: datetime | None) -> Why:
    if reader.query.is_small_talk:
        return Why.SMALL_TALK
    if then is not None and not reader.facts.exists():
        return Why.NOTHING_YET
    return Why.NOTHING_RELEVANT


def _misses(seen: Seen, items: Iterable[Item]) -> Iterator[NearMiss]:
    """Each once. A pinned one needs no relevance: what it lacked is room."""
    told = {item.fact.id for item in items}
    found = {candidate.fact.id for candidate in seen.told}
    for candidate in seen.told:
        if candidate.fact.id not in told:
            yield NearMiss(candidate.fact, Why.BUDGET, candidate)
    left = [(one, why) for one, why in seen.left() if one.fact.id not in told]
    known = {candidate.fact.id: candidate for candidate, _ in left}
    for fact in seen.pinned:
        if fact.id not in told and fact.id not in found:
            yield NearMiss(fact, Why.PINNED_BUDGET, known.get(fact.id))
    for candidate, why in left:
        if not candidate.fact.pinned:
            yield NearMiss(candidate.fact, why, candidate)


class _Clock:
    """Milliseconds between steps, for the trace."""

    def __init__(self) -> None:
        self.last = time.perf_counter()
        self.steps: dict[str, float] = {}

    def step(self, name: str) -> None:
        now = time.perf_counter()
        self.steps[name] = 1000 * (now - self.last)
        self.last = now
