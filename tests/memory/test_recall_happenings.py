"""Periods that a message names by what happened: they are meant only where that is sure."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, User
from memory.models import Fact
from memory.recall import happenings, terms
from memory.recall.service import Recall, recall
from memory.recall.trace import Leg, LegReport, Outcome, Part
from memory.vocabulary import Kind, Precision, State
from tests.factories import FactFactory, MessageFactory
from tests.memory.recalling import known, model

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
MOVED = datetime(2023, 5, 8, tzinfo=UTC)
MOVE = "The user moved to Turku."
BOAT, FENCE = "The user painted a boat.", "The user painted a fence."


def event(agent: Agent, /, statement: str, day: datetime | None, **values: Any) -> Fact:
    values = {"kind": Kind.EPISODIC, "valid_from": day} | values
    (fact,) = known(agent, statement, **values)
    return fact


@pytest.fixture
def store(agent: Agent) -> Agent:
    """Painted before and after, and said on one day."""
    event(agent, BOAT, MOVED - timedelta(days=400))
    event(agent, FENCE, MOVED + timedelta(days=400))
    return agent


def ask(agent: Agent, message: str, **values: Any) -> Recall:
    return recall(agent=agent, message=message, now=NOW, **values)


def time(found: Recall) -> LegReport:
    return next(report for report in found.trace.legs if report.leg == Leg.TIME)


def of_the_period(found: Recall) -> set[str]:
    pairs = [(item.fact.statement, item.candidate) for item in found.items]
    pairs += [(miss.fact.statement, miss.candidate) for miss in found.trace.near_misses]
    return {statement for statement, one in pairs if one and Part.PERIOD in one.parts}


@pytest.mark.parametrize(
    ("message", "then", "words"),
    [
        ("What did I paint before the move?", BOAT, "before the move"),
        ("Before the move, what did I paint?", BOAT, "Before the move"),
        ("Before we moved what did I paint?", BOAT, "Before we moved"),
        ("What did I paint before I moved to Turku?", BOAT, "before I moved to Turku"),
        ("what had I painted until my move", BOAT, "until my move"),
        ("What did I paint after the move?", FENCE, "after the move"),
        ("What have I painted since the move to Turku?", FENCE, "since the move to Turku"),
        ("Was the boat painted, or the fence, since I moved?", FENCE, "since I moved"),
    ],
)
def test_what_happened_names_a_period(store: Agent, message: str, then: str, words: str) -> None:
    event(store, MOVE, MOVED)
    found = ask(store, message)
    assert time(found).outcome == Outcome.OK
    assert {hit.matched for hit in time(found).found.hits} == {(words,)}
    assert of_the_period(found) & {BOAT, FENCE} == {then}
    assert (
        next(one.fact.statement for one in found.items if "painted" in one.fact.statement) == then
    )


def at(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("precision", "begun", "day", "is_before"),
    [
        (Precision.DAY, "2023-05-08", "2023-05-07", True),
        (Precision.DAY, "2023-05-08", "2023-05-08", False),
        (Precision.MONTH, "2023-12-01", "2023-12-03", False),
        (Precision.MONTH, "2023-12-01", "2024-01-01", False),
        (Precision.YEAR, "2023-01-01", "2022-12-31", True),
        (Precision.YEAR, "2023-01-01", "2023-06-01", False),
    ],
)
def test_it_is_as_long_as_it_is_known(
    agent: Agent, precision: Precision, begun: str, day: str, is_before: bool
) -> None:
    event(agent, MOVE, at(begun), valid_precision=precision)
    event(agent, BOAT, at(day))
    before = of_the_period(ask(agent, "What did I paint before the move?"))
    after = of_the_period(ask(agent, "What did I paint after the move?"))
    assert (BOAT in before) is is_before
    # Of its own day, month or year nobody knows what came first.
    assert (BOAT in after) is not is_before


def test_the_day_after_it_is_a_day(store: Agent) -> None:
    event(store, MOVE, MOVED)
    event(store, "The user painted a door.", MOVED + timedelta(days=1))
    asked = "What did I paint the day after the move?"
    assert of_the_period(ask(store, asked)) == {"The user painted a door."}


def test_the_week_before_it_is_a_week(store: Agent) -> None:
    event(store, MOVE, MOVED)
    event(store, "The user painted a door.", MOVED - timedelta(days=3))
    assert of_the_period(ask(store, "What did I paint the week before the move?")) == {
        "The user painted a door."
    }


@pytest.mark.parametrize(
    ("message", "then"),
    [
        ("Was habe ich vor dem Umzug gestrichen?", "Der Nutzer hat ein Boot gestrichen."),
        ("Was habe ich nach meinem Umzug gestrichen?", "Der Nutzer hat einen Zaun gestrichen."),
    ],
)
def test_it_reads_german(agent: Agent, message: str, then: str) -> None:
    for statement, days in (
        ("Der Nutzer hat ein Boot gestrichen.", -400),
        ("Der Nutzer hat einen Zaun gestrichen.", 400),
        ("Der Umzug des Nutzers nach Turku war im Regen.", 0),
    ):
        event(agent, statement, MOVED + timedelta(days=days), language="german")
    painted = {one for one in of_the_period(ask(agent, message)) if "gestrichen" in one}
    assert painted == {then}


def test_who_asks_for_that_time_alone_is_told_of_it(store: Agent) -> None:
    event(store, MOVE, MOVED)
    told = {item.fact.statement for item in ask(store, "What did I do before the move?").items}
    assert BOAT in told
    assert FENCE not in told


def test_one_word_beside_it_is_what_is_asked(store: Agent) -> None:
    """Not all that ever was before."""
    event(store, MOVE, MOVED)
    event(store, "The user's home was in Oulu.", MOVED - timedelta(days=900))
    event(store, "The user paid 90 euros for a filling.", MOVED - timedelta(days=800))
    told = [item.fact.statement for item in ask(store, "Where did I live before the move?").items]
    assert "The user's home was in Oulu." in told
    assert not {BOAT, FENCE, "The user paid 90 euros for a filling."} & set(told)


def test_several_facts_of_one_day_name_it(store: Agent) -> None:
    event(store, MOVE, MOVED)
    event(store, "Anna helped the user with the move.", MOVED)
    assert of_the_period(ask(store, "What did I paint before the move?")) & {BOAT, FENCE} == {BOAT}


# Where it is not sure


@pytest.mark.parametrize(
    "unsure",
    [
        {"valid_from": None},
        {"valid_from": NOW + timedelta(days=60)},
        {"state": State.PENDING},
        {"state": State.REJECTED},
        {"state": State.ARCHIVED},
        {"valid_until": NOW - timedelta(days=1)},
        {"statement": "The user loves Turku."},
    ],
    ids=str,
)
def test_what_is_not_known_names_nothing(store: Agent, unsure: dict[str, Any]) -> None:
    event(store, unsure.pop("statement", MOVE), unsure.pop("valid_from", MOVED), **unsure)
    found = ask(store, "What did I paint before the move?")
    assert (time(found).outcome, time(found).detail) == (Outcome.SKIPPED, "no date")
    assert of_the_period(found) == set()
    assert {BOAT, FENCE} <= {item.fact.statement for item in found.items}


def test_of_two_moves_neither_is_meant_but_one_can_be_told_apart(store: Agent) -> None:
    event(store, MOVE, MOVED)
    event(store, "The user moved to Oslo.", MOVED - timedelta(days=2000))
    assert time(ask(store, "What did I paint before the move?")).outcome == Outcome.SKIPPED
    found = ask(store, "What did I paint before the move to Oslo?")
    assert time(found).outcome == Outcome.OK
    assert of_the_period(found) == set()  # nothing is that old
    since = of_the_period(ask(store, "What did I paint before the move to Turku?"))
    assert since & {BOAT, FENCE} == {BOAT}


def test_nobody_elses_move_is_meant(
    store: Agent, second_agent: Agent, bobs_agent: Agent, alice: User
) -> None:
    for other in (second_agent, bobs_agent):
        event(other, MOVE, MOVED)
    assert time(ask(store, "What did I paint before the move?")).outcome == Outcome.SKIPPED
    # What is for every assistant is this one's too.
    event(store, "The user's move was wet.", MOVED, owner=alice, agent=None)
    assert time(ask(store, "What did I paint before the move?")).outcome == Outcome.OK


def test_what_was_only_quoted_is_no_name(store: Agent) -> None:
    message = MessageFactory.create(
        conversation__agent=store, conversation__owner=store.owner, content="Since the move, tea."
    )
    FactFactory.create(
        owner=store.owner, agent=store, state=State.ACTIVE, statement="The user drinks tea.",
        message=message, valid_from=MOVED,
    )  # fmt: skip
    assert time(ask(store, "What did I paint before the move?")).outcome == Outcome.SKIPPED


@pytest.mark.parametrize(
    "message",
    [
        "What did I paint before lunch?",
        "Move the fence before you paint the boat.",
        "What did I paint before the move of the moon that nobody has ever seen in daylight?",
        "before " * 300,
    ],
)
def test_other_words_behind_before_name_nothing(store: Agent, message: str) -> None:
    event(store, MOVE, MOVED)
    assert time(ask(store, message)).outcome == Outcome.SKIPPED


def test_a_date_is_what_it_says(store: Agent) -> None:
    event(store, MOVE, MOVED)
    found = ask(store, "What did I paint before the move in 2020?")
    assert {span.matched for span in time(found).found.hits} <= {("in 2020",)}


def test_an_earlier_day_knows_of_it_what_was_recorded_by_then(agent: Agent) -> None:
    for statement, days in ((BOAT, -400), (FENCE, 400)):
        event(agent, statement, MOVED + timedelta(days=days), created_at=MOVED)
    event(agent, MOVE, MOVED)
    asked, day = "What did I paint before the move?", (NOW - timedelta(days=1)).date()
    found = ask(agent, asked, as_of=day)
    assert {BOAT, FENCE} <= {item.fact.statement for item in found.items}
    assert time(found).outcome == Outcome.SKIPPED
    event(agent, "Anna helped the user with the move.", MOVED, created_at=MOVED)
    assert of_the_period(ask(agent, asked, as_of=day)) == {BOAT}


# What it costs, and what it leaves alone


@pytest.mark.parametrize(
    ("message", "looks"),
    [
        ("What did I paint?", 0),
        ("What did I paint before the flood?", 0),
        ("What did I paint before the move?", 2),  # for the move, and for what was before it
    ],
)
def test_it_looks_only_where_a_fact_has_its_words(store: Agent, message: str, looks: int) -> None:
    event(store, MOVE, MOVED)
    with CaptureQueriesContext(connection) as asked:
        ask(store, message)
    read = [query["sql"] for query in asked.captured_queries if "SAVEPOINT" not in query["sql"]]
    assert len(read) == 4 + looks


def test_without_words_dates_still_name_their_periods(
    store: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise DatabaseError

    event(store, MOVE, MOVED)
    monkeypatch.setattr(terms, "postings", fail)
    found = ask(store, "What did I paint in 2022 or before the move?")
    assert {hit.matched for hit in time(found).found.hits} == {("in 2022",)}


def test_no_more_facts_than_a_few_are_looked_at(
    store: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(happenings, "_LOOKED_AT", 1)
    event(store, MOVE, MOVED)
    event(store, "Anna helped the user with the move.", MOVED)
    assert time(ask(store, "What did I paint before the move?")).outcome == Outcome.SKIPPED
