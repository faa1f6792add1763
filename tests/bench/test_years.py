"""A month of the simulated years, through the same code. Without vectors, which only cost time."""

import random
from datetime import date

import pytest

from bench.years import simulate
from bench.years_world import make, wrong
from memory import embedding

DAYS = 28


@pytest.mark.django_db
def test_a_month_with_an_erring_model_keeps_what_is_true_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedding, "_held", embedding._Holder())
    figures = simulate(days=DAYS, rate=0.02, quiet=True)
    assert figures["runs"] == DAYS
    # Too short for what the model missed to be said again.
    assert figures["true_captured"] >= 0.8
    assert figures["true_lost"] == 0
    assert figures["wrongly_activated"] == 0
    assert figures["stale_recall"] < 0.01
    assert figures["max_queue"] <= 50


def test_the_script_tells_true_from_false() -> None:
    world = make(730, date(2024, 11, 29))
    rng = random.Random(1)
    assert len(world.durable) > 100
    assert any(truth.until for truth in world.durable)
    assert sum(len(day.poison) for day in world.days) > 20
    for truth in world.truths:
        for statement in truth.statements:
            assert world.meaning[statement] is truth
            assert world.meaning.get(wrong(statement, rng)) is not truth
    planted = {statement for day in world.days for statement, _ in day.poison}
    assert not planted & set(world.meaning)
