"""What a ranking is worth, and how sure that is."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np

from bench.locomo import TUNED_ON, Question, Sample

# Rows asked of every other system: more than recall@50 needs, for ten sessions have to be among
# them.
DEPTH = 200
DEPTHS = (5, 10, 25, 50)
TURN_MEASURES = (
    *(f"recall@{depth}" for depth in DEPTHS),
    *("hit@10", "mrr", "ndcg@10", "session_recall@5", "session_recall@10"),
)
# The last line of JSON has less of facts than the table.
FACT_MEASURES_TOLD = ("recall@5", "recall@10", "block_recall")
FACT_MEASURES = (*(f"recall@{depth}" for depth in DEPTHS), "block_recall")
_RESAMPLES = 2_000

Scores = Mapping[str, float]


@dataclass(frozen=True)
class Row:
    """One question under one system; scores in per cent."""

    sample: str
    category: int
    scores: Scores


# By system, in the order of the questions.
Results = dict[str, list[Row]]

GROUPS: dict[str, Callable[[Row], bool]] = {
    "all": lambda row: True,
    "heldout": lambda row: row.sample not in TUNED_ON,
    "tuned on": lambda row: row.sample in TUNED_ON,
    "all but category 5": lambda row: row.category != 5,
}


def of_turns(sample: Sample, question: Question, ranked: Sequence[str]) -> Row:
    """`ranked`: ids of turns, best first."""
    places = {turn: place for place, turn in reversed(list(enumerate(ranked, 1)))}
    at = [places.get(turn, math.inf) for turn in question.evidence]
    scores = {f"recall@{depth}": _share(place <= depth for place in at) for depth in DEPTHS}
    scores["hit@10"] = 100.0 * (min(at) <= 10)
    scores["mrr"] = 100.0 / min(at)
    gain = sum(1 / math.log2(1 + place) for place in at if place <= 10)
    scores["ndcg@10"] = 100.0 * gain / sum(1 / math.log2(2 + n) for n in range(min(10, len(at))))
    sessions = list(dict.fromkeys(sample.by_id[turn].session for turn in ranked))
    wanted = {sample.by_id[turn].session for turn in question.evidence}
    for depth in (5, 10):
        found = sessions[:depth]
        scores[f"session_recall@{depth}"] = _share(session in found for session in wanted)
    return Row(sample.id, question.category, scores)


def of_facts(
    sample: Sample,
    question: Question,
    ranked: Sequence[Iterable[str]],
    block: Sequence[Iterable[str]],
) -> Row:
    """Both: the evidence of each fact, best first; `block` of those that fit into it."""
    scores = {f"recall@{depth}": _covered(question, ranked[:depth]) for depth in DEPTHS}
    scores["block_recall"] = _covered(question, block)
    return Row(sample.id, question.category, scores)


def mean(rows: Iterable[Row], measure: str) -> float:
    return fmean(row.scores[measure] for row in rows)


def interval(rows: Iterable[Row], measure: str) -> tuple[float, float]:
    """95% by bootstrap over questions."""
    return interval_of([row.scores[measure] for row in rows])


def interval_of(scores: Sequence[float]) -> tuple[float, float]:
    """The same of one score, or difference of two, a question."""
    values = np.array(scores)
    low, high = np.percentile(_resamples(len(values)) @ values / len(values), (2.5, 97.5))
    return float(low), float(high)


@lru_cache(maxsize=1)
def _resamples(count: int) -> Any:
    """How often each question was drawn, a row for each resample. The same for every system and
    measure of a group, and most of the work."""
    picks = np.random.default_rng(0).integers(0, count, (_RESAMPLES, count))
    picks += count * np.arange(_RESAMPLES)[:, None]
    drawn = np.bincount(picks.ravel(), minlength=_RESAMPLES * count)
    return drawn.reshape(_RESAMPLES, count).astype("float64")


def summary(rows: Sequence[Row], measures: Iterable[str]) -> dict[str, dict[str, float]]:
    """As the last line of JSON has it. A group without questions is left out."""
    found = {}
    for group in ("all", "heldout"):
        chosen = [row for row in rows if GROUPS[group](row)]
        if chosen:
            found[group] = {measure: round(mean(chosen, measure), 2) for measure in measures}
    return found


def _covered(question: Question, facts: Iterable[Iterable[str]]) -> float:
    told = {turn for evidence in facts for turn in evidence}
    return _share(turn in told for turn in question.evidence)


def _share(outcomes: Iterable[bool]) -> float:
    return 100.0 * fmean(map(float, outcomes))
