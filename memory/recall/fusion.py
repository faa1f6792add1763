"""From what the legs found to one order. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.models import Fact
from memory.recall.trace import Candidate, Leg, LegReport, Standing
from memory.recall.tuning import Tuning

_DAY = 86_400


@dataclass(frozen=True)
class Fused:
    legs: Mapping[Leg, Standing]
    score: float
    # Seen by a leg that may speak for itself.
    counts: bool


def fuse(reports: Iterable[LegReport], tuning: Tuning) -> dict[UUID, Fused]:
    """Reciprocal ranks, summed over the legs that found a fact."""
    standings: dict[UUID, dict[Leg, Standing]] = {}
    count: set[UUID] = set()
    for report in reports:
        for rank, hit in enumerate(report.found.hits, 1):
            legs = standings.setdefault(hit.fact_id, {})
            legs[report.leg] = Standing(rank, hit.score, hit.matched)
            if report.found.alone:
                count.add(hit.fact_id)
    return {
        fact_id: Fused(legs, _score(legs.values(), tuning), counts=fact_id in count)
        for fact_id, legs in standings.items()
    }


def refused(reports: Iterable[LegReport]) -> dict[UUID, dict[Leg, Standing]]:
    """What a leg saw and its gate kept back."""
    kept_back: dict[UUID, dict[Leg, Standing]] = {}
    for report in reports:
        for rank, hit in enumerate(report.found.refused, len(report.found.hits) + 1):
            standing = Standing(rank, hit.score, hit.matched)
            kept_back.setdefault(hit.fact_id, {})[report.leg] = standing
    return kept_back


def weigh(fact: Fact, fused: Fused, now: datetime, tuning: Tuning) -> Candidate:
    """Decay reorders, it does not hide: an old fact can still be asked for and reconfirmed."""
    fading = decay(fact.last_confirmed_at, now, tuning)
    score = fused.score * fading * tuning.kind_weight[fact.kind] * fact.confidence
    return Candidate(fact, fused.legs, fused.score, fading, score)


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Best first; equals by id, so that the same question gets the same block."""
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.fact.pk))


def decay(last_confirmed_at: datetime, now: datetime, tuning: Tuning) -> float:
    days = max(0.0, (now - last_confirmed_at).total_seconds() / _DAY)
    return float(0.5 ** (days / tuning.half_life_days))


def _score(standings: Iterable[Standing], tuning: Tuning) -> float:
    return sum(1 / (tuning.rank_offset + standing.rank) for standing in standings)
