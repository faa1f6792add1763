"""The figures of the benches are only as good as this arithmetic."""

import math
from datetime import UTC, datetime

import numpy as np
import pytest

from bench import measure
from bench.locomo import Question, Sample, Turn, ids_in

THEN = datetime(2023, 5, 8, tzinfo=UTC)


def a_turn(key: str, session: str) -> Turn:
    return Turn(key, session, "Ann", f"text of {key}", THEN, f"8 May, 2023 Ann: text of {key}")


SAMPLE = Sample(
    id="conv-1",
    speakers=("Ann", "Bob"),
    turns=tuple(a_turn(f"D{n}:{turn}", f"session {n}") for n in range(1, 13) for turn in (1, 2)),
    questions=(),
    observations=(),
)


def scores(evidence: tuple[str, ...], ranked: list[str]) -> dict[str, float]:
    row = measure.of_turns(SAMPLE, Question("?", 1, evidence), ranked)
    return dict(row.scores)


def test_recall_is_the_share_of_evidence_within_the_depth() -> None:
    ranked = ["D1:1", "D2:1", "D3:1", "D4:1", "D5:1", "D6:1"]
    found = scores(("D5:1", "D6:1"), ranked)
    assert found["recall@5"] == 50
    assert found["recall@10"] == 100
    assert found["mrr"] == pytest.approx(20)


def test_what_was_not_found_is_worth_nothing() -> None:
    found = scores(("D9:1",), ["D1:1", "D2:1"])
    assert set(found.values()) == {0}


def test_the_first_place_of_a_turn_counts_and_the_best_order_is_100() -> None:
    found = scores(("D1:1", "D2:1"), ["D2:1", "D1:1", "D2:1"])
    assert found["ndcg@10"] == pytest.approx(100)
    lower = scores(("D1:1",), ["D2:1", "D1:1"])
    assert lower["ndcg@10"] == pytest.approx(100 / math.log2(3))


def test_sessions_rank_by_their_first_turn() -> None:
    ranked = [f"D{n}:{turn}" for n in range(1, 12) for turn in (1, 2)]
    found = scores(("D6:2", "D11:1"), ranked)
    assert found["session_recall@5"] == 0
    assert found["session_recall@10"] == 50


def test_facts_are_worth_the_turns_they_rest_on() -> None:
    row = measure.of_facts(
        SAMPLE,
        Question("?", 1, ("D1:1", "D2:1")),
        ranked=[("D3:1",)] * 5 + [("D1:1", "D2:1")],
        block=[("D1:1",)],
    )
    assert row.scores["recall@5"] == 0
    assert row.scores["recall@10"] == 100
    assert row.scores["block_recall"] == 50


def test_held_out_leaves_out_what_was_tuned_on() -> None:
    rows = [
        measure.Row("conv-26", 1, {"mrr": 0.0}),
        measure.Row("conv-41", 1, {"mrr": 50.0}),
    ]
    assert measure.summary(rows, ["mrr"]) == {"all": {"mrr": 25.0}, "heldout": {"mrr": 50.0}}
    assert measure.summary(rows[:1], ["mrr"]) == {"all": {"mrr": 0.0}}


def test_an_interval_holds_the_mean() -> None:
    rows = [measure.Row("conv-41", 1, {"mrr": float(n)}) for n in range(100)]
    low, high = measure.interval(rows, "mrr")
    assert low < 49.5 < high
    assert (low, high) == measure.interval(rows, "mrr")


def test_an_interval_is_that_of_resampled_means() -> None:
    values = np.array([0, 100, 100, 50, 0, 25, 100], dtype=float)
    picks = np.random.default_rng(0).integers(0, len(values), (2_000, len(values)))
    expected = np.percentile(values[picks].mean(axis=1), (2.5, 97.5))
    rows = [measure.Row("conv-41", 1, {"mrr": value}) for value in values]
    assert measure.interval(rows, "mrr") == pytest.approx(tuple(expected))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("D8:6; D9:17", ["D8:6", "D9:17"]),
        (["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"]),
        ("D30:05", ["D30:5"]),
        ("D:11:26", ["D11:26"]),
        ("D", []),
        ([], []),
    ],
)
def test_it_reads_evidence_however_it_is_written(written: object, meant: list[str]) -> None:
    assert list(ids_in(written)) == meant
