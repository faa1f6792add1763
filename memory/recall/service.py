"""Recall: from a message to the block of memory for the assistant's next turn. Only reads."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils import timezone

from agents.gate import allowed
from agents.models import Agent, OwnerSettings
from conversations.models import Conversation
from memory import tokens
from memory.models import Fact
from memory.recall import block, legs
from memory.recall.finding import Seen, look_up
from memory.recall.legs import Reader
from memory.recall.query import read
from memory.recall.trace import Candidate, LegReport, NearMiss, Trace, Why
from memory.recall.tuning import tuning


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
    seen = look_up(reader, reports)
    clock.step("facts")
    packed = _pack(reader, seen, reader.tuning.budget if budget is None else budget)
    clock.step("block")
    return _told(reader, reports, seen, packed, clock)


def _pack(reader: Reader, seen: Seen, budget: int) -> block.Block:
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
    seen: Seen,
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


def _misses(seen: Seen, items: Iterable[Item]) -> list[NearMiss]:
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
