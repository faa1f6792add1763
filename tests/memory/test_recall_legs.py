"""Every leg of recall fails alone."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from agents.models import Agent
from memory import embedding
from memory.models import Fact
from memory.recall import legs, nearest
from memory.recall.legs import Reader
from memory.recall.service import Recall, recall
from memory.recall.trace import Found, Leg, LegReport, Outcome
from tests.memory.recalling import known, model, named

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
QUESTION = "Bobby's concert last month?"
SECRET = "what was asked, which no log may hold"

# A fact for each leg that no other leg finds.
ONLY = {
    Leg.VECTOR: "The user went to watch live music on stage with friends.",
    Leg.TEXT: "Die Nutzerin spielt Bratsche bei concert-o-grosso.",
    Leg.ENTITY: "Der Nutzer mag Robert.",
    Leg.TIME: "Der Nutzer hat im Garten gegraben.",
}


@pytest.fixture
def store(agent: Agent) -> dict[Leg, Fact]:
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    facts = {}
    for leg, statement in ONLY.items():
        language = "english" if leg == Leg.VECTOR else "german"
        said = datetime(2026, 2, 10, tzinfo=UTC) if leg == Leg.TIME else long_ago
        (facts[leg],) = known(agent, statement, language=language, observed_at=said)
    named(facts[Leg.ENTITY], "Robert", "Bobby")
    return facts


def ask(agent: Agent) -> Recall:
    return recall(agent=agent, message=QUESTION, now=NOW)


def report(result: Recall, leg: Leg) -> LegReport:
    return next(one for one in result.trace.legs if one.leg == leg)


def raises(reader: Reader) -> Found:
    raise RuntimeError(SECRET)


def sends_bad_sql(reader: Reader) -> Found:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")
    raise AssertionError


def test_with_all_legs_each_finds_its_own(agent: Agent, store: dict[Leg, Fact]) -> None:
    result = ask(agent)
    found = {item.fact.statement: item.candidate for item in result.items}
    for leg, statement in ONLY.items():
        candidate = found[statement]
        assert candidate is not None
        assert set(candidate.legs) == {leg}


@pytest.mark.parametrize("broken", ONLY)
@pytest.mark.parametrize("how", [raises, sends_bad_sql])
def test_one_broken_leg_leaves_the_others(
    agent: Agent,
    store: dict[Leg, Fact],
    monkeypatch: pytest.MonkeyPatch,
    broken: Leg,
    how: Callable[[Reader], Found],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setitem(legs.LEGS, broken, how)
    result = ask(agent)
    found = {item.fact.statement for item in result.items}
    assert found == {statement for leg, statement in ONLY.items() if leg != broken}
    assert report(result, broken).outcome == Outcome.FAILED
    assert report(result, broken).detail in {"RuntimeError", "DataError"}
    assert SECRET not in caplog.text
    assert SECRET not in str(result.trace)


@pytest.mark.parametrize("how", [raises, sends_bad_sql])
def test_a_broken_leg_of_what_is_new_leaves_the_others(
    agent: Agent,
    store: dict[Leg, Fact],
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    how: Callable[[Reader], Found],
) -> None:
    """It is off unless the server's owner wants it."""
    settings.RECALL = {"recency_leg": True}
    new = "Die Nutzerin hat ein Kanu gekauft."
    today = NOW - timedelta(hours=2)
    known(agent, new, language="german", created_at=today, observed_at=today)
    assert {item.fact.statement for item in ask(agent).items} == {*ONLY.values(), new}
    monkeypatch.setitem(legs.LEGS, Leg.RECENCY, how)
    result = ask(agent)
    assert {item.fact.statement for item in result.items} == set(ONLY.values())
    failed = {one.leg for one in result.trace.legs if one.outcome == Outcome.FAILED}
    assert failed == {Leg.RECENCY}
    assert report(result, Leg.RECENCY).detail in {"RuntimeError", "DataError"}


def test_without_the_model_the_words_still_find_theirs(
    agent: Agent, store: dict[Leg, Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_held", embedding._Holder())
    result = ask(agent)
    assert {item.fact.statement for item in result.items} == set(ONLY.values()) - {ONLY[Leg.VECTOR]}
    assert report(result, Leg.VECTOR).outcome == Outcome.FAILED
    assert report(result, Leg.VECTOR).detail == "The embedding model is not loaded."


def test_with_every_leg_broken_pinned_facts_still_ride(
    agent: Agent, store: dict[Leg, Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    known(agent, "The user wants short answers.", pinned=True)
    for leg in list(legs.LEGS):
        monkeypatch.setitem(legs.LEGS, leg, raises)
    result = ask(agent)
    assert [item.fact.statement for item in result.items] == ["The user wants short answers."]
    assert {one.outcome for one in result.trace.legs} == {Outcome.FAILED}


def test_where_candidates_can_not_be_measured_what_is_named_is_told(
    agent: Agent, store: dict[Leg, Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    known(agent, "The user wants short answers.", pinned=True)
    monkeypatch.setattr(nearest, "_OF_IDS", "SELECT 1 / 0")
    told = {item.fact.statement for item in ask(agent).items}
    assert {ONLY[Leg.ENTITY], "The user wants short answers."} <= told


def test_a_failing_model_leaves_the_other_legs(
    agent: Agent, store: dict[Leg, Fact], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def encode(self, texts: Sequence[str]) -> list[list[float]]:
            raise RuntimeError(SECRET)

    monkeypatch.setattr(embedding._held, "encoder", Broken())
    monkeypatch.setattr(embedding, "known", embedding.Known(0))
    result = ask(agent)
    assert {item.fact.statement for item in result.items} == set(ONLY.values()) - {ONLY[Leg.VECTOR]}
    assert report(result, Leg.VECTOR).detail == "RuntimeError"


# What really breaks: a table that is not what it was, and the legs that can't go without it.
BROKEN: dict[str, set[Leg]] = {
    "memory_factembedding": {Leg.VECTOR},
    "memory_factterm": {Leg.TEXT},
    "memory_factcount": {Leg.TEXT},
    "memory_entityalias": {Leg.ENTITY},
    "memory_rule": set(),
    "memory_case": {Leg.CASES},
}


@pytest.mark.parametrize("table", BROKEN)
def test_a_broken_table_takes_no_leg_with_it_that_could_go_without(
    agent: Agent, store: dict[Leg, Fact], table: str
) -> None:
    known(agent, "The user wants short answers.", pinned=True)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {table} (nothing integer) ON COMMIT DROP")
    result = ask(agent)
    failed = {one.leg for one in result.trace.legs if one.outcome == Outcome.FAILED}
    assert failed == BROKEN[table]
    found = {item.fact.statement for item in result.items}
    left = {statement for leg, statement in ONLY.items() if leg not in failed}
    assert {*left, "The user wants short answers."} <= found
