"""From what the legs found to one order, and to what may be told. Pure.

A score is absolute: it depends on the message and the fact, not on what else was found.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from memory.models import Fact
from memory.recall.dates import Period
from memory.recall.lexical import Asked
from memory.recall.sheets import Sheet, Worth
from memory.recall.terms import Postings, is_telling_pair
from memory.recall.trace import Candidate, Leg, LegReport, Part, Standing, Why
from memory.recall.tuning import Tuning

_DAY = 86_400
_LEAST = 0.01  # confidence 0 is unlikely, not impossible
_NONE: Mapping[Leg, Standing] = {}
# A message of so few words of content opens by one of them.
_FEW_WORDS = 2


@dataclass(frozen=True)
class Measures:
    """All that is known of the candidates. What comes from a leg that failed is empty."""

    legs: Mapping[UUID, Mapping[Leg, Standing]]
    opened: Collection[UUID] = frozenset()
    cosines: Mapping[UUID, float] = field(default_factory=dict)
    sheets: Mapping[UUID, Sheet] = field(default_factory=dict)
    postings: Postings | None = None
    periods: Sequence[Period] = ()
    asks_when: bool = False


def standings(reports: Iterable[LegReport]) -> dict[UUID, dict[Leg, Standing]]:
    found: dict[UUID, dict[Leg, Standing]] = {}
    for report in reports:
        for rank, hit in enumerate(report.found.hits, 1):
            legs = found.setdefault(hit.fact_id, {})
            legs[report.leg] = Standing(rank, hit.score, hit.matched)
    return found


class Scorer:
    def __init__(self, seen: Measures, now: datetime, limits: Tuning) -> None:
        self.seen, self.now, self.limits = seen, now, limits
        self.words = seen.postings.words if seen.postings else ()
        self.asked = seen.postings.asked(limits.prior) if seen.postings else Asked({})
        self.contents = seen.postings.contents if seen.postings else []
        self.said = seen.postings.said(limits.prior) if seen.postings else Asked({})

    def candidate(self, fact: Fact) -> Candidate:
        seen, key = self.seen, fact.id
        sheet, cosine = seen.sheets.get(key), seen.cosines.get(key)
        legs = seen.legs.get(key, _NONE)
        worth = self._worth(sheet) if sheet else None
        cover = worth.stated if worth else 0.0
        parts = self._parts(fact, legs, cosine, sheet, worth)
        fading = decay(fact.last_confirmed_at, self.now, self.limits)
        odds = fading * self.limits.kind_weight[fact.kind] * max(fact.confidence, _LEAST)
        let_in = Part.NAME in parts or (seen.opened and key in seen.opened)
        opens = bool(let_in) or self._opens(sheet, cosine, cover)
        return Candidate(
            fact=fact,
            legs=legs,
            parts=parts,
            cosine=cosine,
            cover=cover,
            decay=fading,
            score=sum(parts.values()) + math.log(odds),
            opens=opens,
            follows=opens or self._follows(cosine, cover),
        )

    def _worth(self, sheet: Sheet) -> Worth:
        if sheet.worth is not None:
            return sheet.worth
        average = self.seen.postings.average if self.seen.postings else 0.0
        met = self.asked.score(sheet.times, sheet.length, average)
        return Worth(met, self.said.share(sheet.stated))

    def _parts(
        self,
        fact: Fact,
        legs: Mapping[Leg, Standing],
        cosine: float | None,
        sheet: Sheet | None,
        worth: Worth | None,
    ) -> dict[Part, float]:
        """None of which is 0."""
        limits, parts = self.limits, {}
        if cosine and (value := limits.meaning * cosine):
            parts[Part.MEANING] = value
        if sheet is not None and worth is not None:
            if value := limits.words * worth.met:
                parts[Part.WORDS] = value
            if value := limits.length * math.log1p(sheet.words):
                parts[Part.LENGTH] = value
            if self.seen.asks_when and (value := limits.when * sheet.dates):
                parts[Part.WHEN] = value
        if limits.name and Leg.ENTITY in legs:
            parts[Part.NAME] = limits.name
        for period in self.seen.periods if limits.period else ():
            if is_of(fact, period, self.now):
                parts[Part.PERIOD] = limits.period
        return parts

    def _opens(self, sheet: Sheet | None, cosine: float | None, cover: float) -> bool:
        limits = self.limits
        if cosine is not None:
            return cosine >= limits.opens_cosine or (
                cover >= limits.opens_cover and cosine >= limits.opens_cover_cosine
            )
        if sheet is None:
            return False
        if self._opens_by_pairs(sheet, cover):
            return True
        words = [self.words[n] for n in sheet.stated if not self.words[n].is_pair]
        enough = len(words) > 1 or (words and len(self.contents) <= _FEW_WORDS)
        return bool(enough) and cover >= limits.opens_cover

    def _opens_by_pairs(self, sheet: Sheet, cover: float) -> bool:
        """Pairs overlap, so that what they cover is little: two of them say enough, or a rare one
        that can be a word."""
        pairs = [n for n in sheet.stated if self.words[n].is_pair]
        if cover < self.limits.follows_cover or not pairs:
            return False
        counts, facts = self._counts()
        rare = max(3, facts / 50)
        telling = [n for n in pairs if is_telling_pair(self.words[n]) and counts[n] <= rare]
        return len(pairs) > 1 or bool(telling)

    def _counts(self) -> tuple[Sequence[int], int]:
        postings = self.seen.postings
        return (postings.counts, postings.facts) if postings else ((), 0)

    def _follows(self, cosine: float | None, cover: float) -> bool:
        limits = self.limits
        if cosine is None:
            return cover >= limits.follows_cover
        return cosine >= limits.follows_cosine or (
            cover >= limits.follows_cover and cosine >= limits.follows_cover_cosine
        )


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best first; equals by id, so that the same question gets the same block."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.fact.id.int))


def judge(
    candidates: Iterable[Candidate], limits: Tuning
) -> tuple[list[Candidate], list[tuple[Candidate, Why]]]:
    """What may be told and why the rest may not, both best first. Age is no reason.

    A pinned fact rides anyway, so it opens the door to no other.
    """
    ordered = in_order(candidates)
    openers = [one for one in ordered if one.opens and not one.fact.pinned]
    best = max((one.relevance for one in openers), default=math.inf)
    told, left = [], []
    for one in ordered:
        if not (one.opens or (one.follows and openers)):
            left.append((one, Why.GATE))
        elif not one.opens and one.relevance < best - limits.cut:
            left.append((one, Why.CUT))
        else:
            told.append(one)
    return told, left


def decay(last_confirmed_at: datetime, now: datetime, limits: Tuning) -> float:
    days = max(0.0, (now - last_confirmed_at).total_seconds() / _DAY)
    return float(0.5 ** (days / limits.half_life_days))


def is_of(fact: Fact, period: Period, now: datetime) -> bool:
    """What begins then. What was only said then is of then too, but of no future."""
    if fact.valid_from is not None:
        return period.start <= fact.valid_from < period.end
    return period.end <= now and period.start <= fact.observed_at < period.end
