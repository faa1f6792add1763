from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from memory.models import Fact
from memory.recall.fusion import Fused, decay, fuse, in_order, refused, weigh
from memory.recall.trace import Found, Hit, Leg, LegReport, Outcome
from memory.recall.tuning import Tuning
from memory.vocabulary import Kind

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
A, B, C = (UUID(int=number) for number in (1, 2, 3))
LIMITS = Tuning()


def report(leg: Leg, *ids: UUID, alone: bool = True, refused: tuple[UUID, ...] = ()) -> LegReport:
    hits = tuple(Hit(fact_id, 0.5) for fact_id in ids)
    kept_back = tuple(Hit(fact_id, 0.1) for fact_id in refused)
    return LegReport(leg, Outcome.OK, Found(hits, kept_back, alone))


def fact(fact_id: UUID, **values: object) -> Fact:
    known: dict[str, object] = {
        "kind": Kind.SEMANTIC,
        "confidence": 1.0,
        "last_confirmed_at": NOW,
    }
    return Fact(pk=fact_id, **known | values)


def test_ranks_of_the_legs_add_up() -> None:
    fused = fuse([report(Leg.VECTOR, A, B), report(Leg.TEXT, B)], LIMITS)
    assert fused[A].score == pytest.approx(1 / 61)
    assert fused[B].score == pytest.approx(1 / 62 + 1 / 61)
    assert {leg: at.rank for leg, at in fused[B].legs.items()} == {Leg.VECTOR: 2, Leg.TEXT: 1}


def test_a_leg_that_only_supports_makes_no_fact_count() -> None:
    fused = fuse([report(Leg.TIME, A, B, alone=False), report(Leg.TEXT, B)], LIMITS)
    assert (fused[A].counts, fused[B].counts) == (False, True)
    assert fused[B].score == pytest.approx(1 / 62 + 1 / 61)


def test_nothing_comes_of_nothing() -> None:
    assert fuse([], LIMITS) == {}
    assert fuse([LegReport(Leg.TEXT, Outcome.FAILED)], LIMITS) == {}


def test_what_a_gate_kept_back_is_known_behind_what_it_let_through() -> None:
    kept_back = refused([report(Leg.VECTOR, A, refused=(B, C))])
    assert {key: legs[Leg.VECTOR].rank for key, legs in kept_back.items()} == {B: 2, C: 3}


@pytest.mark.parametrize(
    ("age", "left"),
    [
        (timedelta(0), 1.0),
        (timedelta(days=90), 0.5),
        (timedelta(days=180), 0.25),
        (timedelta(days=-5), 1.0),
    ],
)
def test_half_is_left_after_ninety_days(age: timedelta, left: float) -> None:
    assert decay(NOW - age, NOW, LIMITS) == pytest.approx(left)


@pytest.mark.parametrize(
    ("values", "factor"),
    [
        ({}, 1.0),
        ({"kind": Kind.PROCEDURAL}, 0.9),
        ({"kind": Kind.EPISODIC}, 0.7),
        ({"confidence": 0.5}, 0.5),
        ({"last_confirmed_at": NOW - timedelta(days=90)}, 0.5),
        (
            {"kind": Kind.EPISODIC, "confidence": 0.5, "last_confirmed_at": NOW - timedelta(90)},
            0.175,
        ),
    ],
)
def test_age_kind_and_confidence_weigh(values: dict[str, object], factor: float) -> None:
    candidate = weigh(fact(A, **values), Fused({}, 0.02, counts=True), NOW, LIMITS)
    assert candidate.score == pytest.approx(0.02 * factor)
    assert candidate.fused == 0.02


def test_the_best_comes_first_and_equals_by_id() -> None:
    candidates = [
        weigh(fact(fact_id), Fused({}, score, counts=True), NOW, LIMITS)
        for fact_id, score in ((C, 0.02), (A, 0.01), (B, 0.02))
    ]
    assert [candidate.fact.pk for candidate in in_order(candidates)] == [B, C, A]
    assert in_order(candidates) == in_order(reversed(candidates))
