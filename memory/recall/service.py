"""Recall: from a message to the block of memory for the assistant's next turn. Only reads."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from agents.gate import allowed
from agents.models import Agent, OwnerSettings
from conversations.models import Conversation
from memory import tokens
from memory.models import Fact
from memory.recall import block, legs, scoring
from memory.recall.legs import Reader
from memory.recall.query import read
from memory.recall.trace import Candidate, LegReport, NearMiss, Trace, Why
from memory.recall.tuning import tuning

# Columns of a fact that recall, its page and its API show.
_SHOWN = (
    "id", "owner_id", "agent_id", "kind", "statement", "state", "confidence", "pinned",
    "valid_from", "valid_until", "valid_precision", "observed_at", "last_confirmed_at",
)  # fmt: skip


@dataclass(frozen=True)
class Item:
    """A fact in the block. Without a candidate only its pin brought it."""

    fact: Fact
    pinned: bool
    candidate: Candidate | None


@dataclass(frozen=True)
class Recall:
    """`block` is the empty text where there is nothing to tell; `tokens` is what it costs at most.
    `items` are the pinned ones, then those found, best first."""

    block: str
    tokens: int
    items: tuple[Item, ...]
    trace: Trace

    @property
    def is_empty(self) -> bool:
        """Nothing was found; pinned facts ride all the same."""
        return all(item.pinned for item in self.items)


@dataclass(frozen=True)
class _Seen:
    """All that the legs saw: what may be told, best first, and what of the rest fell out why."""

    told: list[Candidate]
    left: list[tuple[Candidate, Why]]
    pinned: list[Fact]


def recall(
    *,
    agent: Agent,
    message: str,
    recent: Sequence[str] = (),
    conversation: Conversation | None = None,
    now: datetime | None = None,
    budget: int | None = None,
) -> Recall:
    """What `agent` is told for `message`; `recent` are the owner's turns before it, oldest first.

    Raises ValueError for a conversation of another agent.
    """
    if conversation is not None and conversation.agent_id != agent.pk:
        raise ValueError("The conversation belongs to another agent.")
    clock = _Clock()
    choice, zone = OwnerSettings.objects.values_list("memory_enabled", "time_zone").get(
        owner=agent.owner_id
    )
    if not allowed(settings.MEMORY_MODE, choice):
        return Recall("", 0, (), Trace(empty_because=Why.MEMORY_OFF))
    now = (now or timezone.now()).astimezone(ZoneInfo(zone))
    reader = Reader(agent, read(message, tuple(recent), now), tuning())
    reports = () if reader.query.is_small_talk else legs.run(reader)
    clock.step("legs")
    seen = _look_up(reader, reports)
    clock.step("facts")
    packed = _pack(reader, seen, reader.tuning.budget if budget is None else budget)
    clock.step("block")
    return _told(reader, reports, seen, packed, clock)


def ranking(
    *, agent: Agent, message: str, now: datetime | None = None, rows: int = 200
) -> list[Candidate]:
    """The facts that agree most with a message, best first, relevant or not. For search, which
    leaves the judgement to whoever asks; the gate of memory is the caller's."""
    zone = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=agent.owner_id)
    now = (now or timezone.now()).astimezone(ZoneInfo(zone))
    reader = Reader(agent, read(message, (), now), replace(tuning(), rows_per_leg=rows))
    seen = _look_up(reader, legs.run(reader))
    return scoring.in_order([*seen.told, *(candidate for candidate, _ in seen.left)])[:rows]


def _look_up(reader: Reader, reports: tuple[LegReport, ...]) -> _Seen:
    ids = {hit.fact_id for report in reports for hit in report.found.hits}
    facts = _facts(reader, ids)
    pinned = sorted((fact for fact in facts.values() if fact.pinned), key=lambda fact: fact.pk)
    # Archived since its leg saw it: gone.
    found = [facts[key] for key in ids if key in facts]
    if not found:
        return _Seen([], [], pinned)
    seen = legs.measure(reader, reports, ids)
    scorer = scoring.Scorer(seen, reader.query.now, reader.tuning)
    told, left = scoring.judge(map(scorer.candidate, found), reader.tuning)
    return _Seen(told, left, pinned)


def _facts(reader: Reader, ids: Iterable[UUID]) -> dict[UUID, Fact]:
    """One look for all; scope, state and validity are asked again."""
    rows = reader.facts.filter(Q(pk__in=list(ids)) | Q(pinned=True)).only(*_SHOWN)
    return {fact.pk: fact for fact in rows}


def _pack(reader: Reader, seen: _Seen, budget: int) -> block.Block:
    return block.pack(
        pinned=seen.pinned,
        found=[candidate.fact for candidate in seen.told],
        budget=budget,
        pinned_budget=reader.tuning.pinned_budget,
        now=reader.query.now,
        nonce=block.new_nonce(),
        count=tokens.count,
    )


def _told(
    reader: Reader,
    reports: tuple[LegReport, ...],
    seen: _Seen,
    packed: block.Block,
    clock: "_Clock",
) -> Recall:
    by_id = {candidate.fact.pk: candidate for candidate in seen.told}
    items = (
        *(Item(fact, True, by_id.get(fact.pk)) for fact in packed.pinned),
        *(Item(fact, False, by_id[fact.pk]) for fact in packed.found),
    )
    because = None
    if not packed.found:
        because = Why.SMALL_TALK if reader.query.is_small_talk else Why.NOTHING_RELEVANT
    trace = Trace(
        legs=reports,
        near_misses=tuple(_misses(seen, items)[: reader.tuning.near_misses]),
        empty_because=because,
        timings=clock.steps,
    )
    return Recall(packed.text, packed.tokens, items, trace)


def _misses(seen: _Seen, items: Iterable[Item]) -> list[NearMiss]:
    told = {item.fact.pk for item in items}
    found = {candidate.fact.pk for candidate in seen.told}
    over = [
        NearMiss(candidate.fact, Why.BUDGET, candidate)
        for candidate in seen.told
        if candidate.fact.pk not in told
    ]
    pinned = [
        NearMiss(fact, Why.PINNED_BUDGET)
        for fact in seen.pinned
        if fact.pk not in told and fact.pk not in found
    ]
    rest = [
        NearMiss(candidate.fact, why, candidate)
        for candidate, why in seen.left
        if candidate.fact.pk not in told
    ]
    return over + pinned + rest


class _Clock:
    """Milliseconds between steps, for the trace."""

    def __init__(self) -> None:
        self.last = time.perf_counter()
        self.steps: dict[str, float] = {}

    def step(self, name: str) -> None:
        now = time.perf_counter()
        self.steps[name] = 1000 * (now - self.last)
        self.last = now
