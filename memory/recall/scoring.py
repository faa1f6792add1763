"""From what the legs found to one order, and to what may be told. Pure.

A score is absolute: it depends on the message and the fact, not on what else was found. All are
computed at once, in arrays with a place a fact: they are a hundred, of which few are told.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np

from memory.models import Fact
from memory.recall.dates import Period
from memory.recall.sheets import Sheets
from memory.recall.terms import Postings, Reading, Word, is_telling_pair
from memory.recall.trace import Candidate, Leg, LegReport, Part, Standing, Why
from memory.recall.tuning import Tuning

_DAY = 86_400
_LEAST = 0.01  # confidence 0 is unlikely, not impossible
# A message of so few words of content opens by one of them.
_FEW_WORDS = 2
# Of one number a fact.
Array = Any


class Standings:
    """Where facts stand in the legs. Put together for those that are asked for: the legs have seen
    a hundred, of which few are told."""

    def __init__(self, reports: Iterable[LegReport] = ()) -> None:
        self._seen = [
            (report.leg, hits, {hit.fact_id: place for place, hit in enumerate(hits)})
            for report in reports
            if (hits := report.found.hits)
        ]

    def of(self, fact_id: UUID) -> dict[Leg, Standing]:
        found = {}
        for leg, hits, places in self._seen:
            if (place := places.get(fact_id)) is not None:
                found[leg] = Standing(place + 1, hits[place].score, hits[place].matched)
        return found

    def by(self, leg: Leg) -> Collection[UUID]:
        """Those that it has seen."""
        return next((places for name, _, places in self._seen if name == leg), ())


@dataclass(frozen=True)
class Measures:
    """All that is known of the candidates; the columns of `sheets` are theirs. What comes from a
    leg that failed is empty."""

    facts: Sequence[Fact]
    legs: Standings
    opened: Collection[UUID] = frozenset()
    cosines: Mapping[UUID, float] = field(default_factory=dict)
    sheets: Sheets | None = None
    postings: Postings | None = None
    periods: Sequence[Period] = ()
    # And of nothing else.
    asks_of_periods: bool = False
    asks_when: bool = False


class Scores:
    """Of all the candidates, by their places among the measured."""

    def __init__(self, seen: Measures, now: datetime, limits: Tuning) -> None:
        self.seen, self.now, self.limits = seen, now, limits
        none = np.full(len(seen.facts), np.nan)
        known = [seen.cosines.get(fact.id, np.nan) for fact in seen.facts]
        self.cosines: Array = np.array(known, float) if seen.cosines else none
        self.is_near: Array = ~np.isnan(self.cosines)
        named = seen.legs.by(Leg.ENTITY)
        self.named: Array = np.array([fact.id in named for fact in seen.facts], bool)
        # By each reading of the message, which is all of it first.
        self._covers = self._shares()
        self.cover: Array = np.maximum.reduce(self._covers)
        self.parts: dict[Part, Array] = dict(self._parts())
        self.relevance: Array = sum(self.parts.values(), np.zeros(len(seen.facts)))
        self.decay: Array = decay([fact.last_confirmed_at for fact in seen.facts], now, limits)
        self.score: Array = self.relevance + np.log(self.decay * self._weights())
        self.opens: Array = self._opens()
        self.follows: Array = self.opens | self._follow()

    def in_order(self) -> list[int]:
        """Places, best first; equals by id, so that the same question gets the same block."""
        scores, facts = self.score.tolist(), self.seen.facts
        return sorted(range(len(facts)), key=lambda place: (-scores[place], facts[place].id.int))

    def candidate(self, place: int) -> Candidate:
        cosine, *numbers = self._numbers[place]
        parts = zip(self.parts, self._worths[place], strict=True)
        fact = self.seen.facts[place]
        return Candidate(
            fact,
            self.seen.legs.of(fact.id),
            {part: worth for part, worth in parts if worth},
            None if math.isnan(cosine) else cosine,
            *numbers,
        )

    # One number of an array costs as much as a list of all of them.
    @cached_property
    def _numbers(self) -> list[tuple[Any, ...]]:
        """Of each place, in the order of a candidate's fields."""
        columns = (self.cosines, self.cover, self.decay, self.score, self.opens, self.follows)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    @cached_property
    def _worths(self) -> list[list[float]]:
        """Of each place, in the order of `parts`."""
        return np.stack(list(self.parts.values()), axis=1).tolist()  # type: ignore[no-any-return]

    def _shares(self) -> list[Array]:
        """How much each fact states of each reading."""
        seen = self.seen
        if seen.sheets is None or seen.postings is None:
            return [np.zeros(len(seen.facts))]
        return [seen.sheets.shares(said) for said in seen.postings.said(self.limits.prior)]

    def _parts(self) -> Iterator[tuple[Part, Array]]:
        seen, limits = self.seen, self.limits
        yield Part.MEANING, limits.meaning * np.where(self.is_near, self.cosines, 0.0)
        if seen.sheets is not None and seen.postings is not None:
            asked, average = seen.postings.asked(limits.prior), seen.postings.average
            yield Part.WORDS, limits.words * seen.sheets.met(asked, average)
            yield Part.LENGTH, limits.length * np.log1p(seen.sheets.sizes)
            if seen.asks_when:
                yield Part.WHEN, limits.when * seen.sheets.dates
        yield Part.NAME, limits.name * self.named
        if seen.periods:
            is_then = [any(is_of(fact, p, self.now) for p in seen.periods) for fact in seen.facts]
            worth = limits.period_alone if seen.asks_of_periods else limits.period
            yield Part.PERIOD, worth * np.array(is_then, bool)

    def _weights(self) -> Array:
        kinds = self.limits.kind_weight
        weights = [kinds[fact.kind] * max(fact.confidence, _LEAST) for fact in self.seen.facts]
        return np.array(weights)

    def _opens(self) -> Array:
        limits, opened = self.limits, self.seen.opened
        of_all = (self._covers[0] >= limits.opens_cover) & (
            self.cosines >= limits.opens_cover_cosine
        )
        of_topic = (self.cover >= limits.opens_cover) & (self.cosines >= limits.opens_topic_cosine)
        opens = (self.cosines >= limits.opens_cosine) | of_all | of_topic
        if limits.name:
            opens |= self.named
        if opened:
            opens |= np.array([fact.id in opened for fact in self.seen.facts], bool)
        for place in np.flatnonzero(~(self.is_near | opens)).tolist():
            opens[place] = self._opens_by_words(place)
        return opens

    def _opens_by_words(self, place: int) -> bool:
        """Where no distance speaks for it: by one reading alone, whatever it has of the others."""
        if self.seen.sheets is None or not self.cover[place]:
            return False
        stated = self.seen.sheets.sheet(place).stated
        pairs = zip(self._readings, self._covers, strict=True)
        return any(self._opens_reading(reading, cover[place], stated) for reading, cover in pairs)

    def _opens_reading(self, reading: Reading, cover: float, stated: Collection[int]) -> bool:
        met = [number for number in stated if number in reading.words]
        if self._opens_by_pairs(met, cover):
            return True
        met = [number for number in met if not self._words[number].is_pair]
        is_short = reading.asks and len(reading.words) <= _FEW_WORDS
        return bool(len(met) > 1 or (met and is_short)) and cover >= self.limits.opens_cover

    def _opens_by_pairs(self, met: Sequence[int], cover: float) -> bool:
        """Pairs overlap, so that what they cover is little: two of them say enough, or a rare one
        that can be a word."""
        found, words = self.seen.postings, self._words
        pairs = [number for number in met if words[number].is_pair]
        if found is None or cover < self.limits.follows_cover or not pairs:
            return False
        rare = max(3, found.facts / 50)
        telling = (is_telling_pair(words[n]) and found.counts[n] <= rare for n in pairs)
        return len(pairs) > 1 or any(telling)

    @cached_property
    def _readings(self) -> Sequence[Reading]:
        return self.seen.postings.readings if self.seen.postings else ()

    @cached_property
    def _words(self) -> Sequence[Word]:
        return self.seen.postings.words if self.seen.postings else ()

    def _follow(self) -> Array:
        limits = self.limits
        by_words = self.cover >= limits.follows_cover
        beside = by_words & (self.cosines >= limits.follows_cover_cosine)
        near = (self.cosines >= limits.follows_cosine) | beside
        return np.where(self.is_near, near, by_words)


def judge(scores: Scores, limits: Tuning) -> tuple[list[int], list[tuple[int, Why]]]:
    """The places of what may be told and why the rest may not, both best first. Age is no reason.

    A pinned fact rides anyway, so it opens the door to no other.
    """
    opens, follows = scores.opens.tolist(), scores.follows.tolist()
    relevance: list[float] = scores.relevance.tolist()
    pinned = [fact.pinned for fact in scores.seen.facts]
    openers = [place for place, does in enumerate(opens) if does and not pinned[place]]
    best = max((relevance[place] for place in openers), default=math.inf)
    told, left = [], []
    for place in scores.in_order():
        if not (opens[place] or (follows[place] and openers)):
            left.append((place, Why.GATE))
        elif not opens[place] and relevance[place] < best - limits.cut:
            left.append((place, Why.CUT))
        else:
            told.append(place)
    return told, left


def decay(last_confirmed: Sequence[datetime], now: datetime, limits: Tuning) -> Array:
    """What is left of the odds, 0 to 1."""
    days = np.array([(now - moment).total_seconds() for moment in last_confirmed], float) / _DAY
    return 0.5 ** (np.maximum(days, 0.0) / limits.half_life_days)


def is_of(fact: Fact, period: Period, now: datetime) -> bool:
    """What begins then. What was only said then is of then too, but of no future."""
    if fact.valid_from is not None:
        return period.start <= fact.valid_from < period.end
    return period.end <= now and period.start <= fact.observed_at < period.end
