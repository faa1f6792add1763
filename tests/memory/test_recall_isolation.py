"""Whatever recall may not tell is absent from block, items and trace, by its text."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from agents.models import Agent
from memory.models import Fact
from memory.recall.schemas import RecallOut
from memory.recall.service import recall
from memory.vocabulary import ArchivedReason, State
from tests.memory.recalling import known, model, named

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
# Every leg that looks would find them: by meaning, word, name and date.
TEXT = "The user's sister Anna moved to {} in February."
QUESTION = "where did my sister Anna move last month?"
OWN, GLOBAL, OTHER = "Turku", "Oslo", "Bergen"
HIDDEN = ("Lima", "Quito", "Cairo", "Accra", "Dakar", "Tunis", "Sofia", "Minsk")


@dataclass(frozen=True)
class Store:
    agent: Agent
    default: Agent


@pytest.fixture
def store(agent: Agent, second_agent: Agent, bobs_agent: Agent) -> Store:
    """`second_agent` asks; `agent`, the default one, may be granted everything."""
    asking = second_agent
    told = [*_told(asking, OWN), *_told(asking, GLOBAL, agent=None), *_told(agent, OTHER)]
    lima, quito, cairo, accra, dakar, tunis, sofia, minsk = HIDDEN
    told += [
        *_told(asking, lima, state=State.PENDING),
        *_told(asking, quito, state=State.REJECTED),
        *_told(asking, cairo, state=State.ARCHIVED),
        *_told(
            asking,
            accra,
            state=State.ARCHIVED,
            archived_from=State.ACTIVE,
            archived_reason=ArchivedReason.SUPERSEDED,
            superseded_by=told[0],
        ),
        *_told(asking, dakar, valid_until=NOW - timedelta(seconds=1)),
        *_told(asking, tunis, agent=None, state=State.PENDING),
        *_told(bobs_agent, sofia),
        *_told(bobs_agent, minsk, agent=None),
    ]
    for fact in told:
        named(fact, f"Anna {fact.pk}", "Anna")
    return Store(asking, agent)


def _told(asking: Agent, place: str, /, **values: object) -> list[Fact]:
    values = {"observed_at": datetime(2026, 2, 10, tzinfo=UTC), "pinned": False} | values
    return known(asking, TEXT.format(place), **values)


def everything_told(agent: Agent) -> str:
    result = recall(agent=agent, message=QUESTION, now=NOW)
    assert all(report.outcome in {"ok", "skipped"} for report in result.trace.legs)
    return json.dumps(
        RecallOut.of(result, recorded=False, explain=True).model_dump(mode="json")
    ) + str(result)


@pytest.mark.parametrize(
    ("reads", "told"),
    [
        (Agent.Reads.OWN, {OWN}),
        (Agent.Reads.OWN_AND_GLOBAL, {OWN, GLOBAL}),
    ],
)
def test_an_agent_is_told_its_scope_and_nothing_else(
    store: Store, reads: str, told: set[str]
) -> None:
    store.agent.reads = reads
    store.agent.save(update_fields=["reads"])
    text = everything_told(store.agent)
    assert {place for place in (OWN, GLOBAL, OTHER, *HIDDEN) if place in text} == told


def test_the_default_agent_may_be_granted_all_of_its_owner_and_no_more(store: Store) -> None:
    store.default.reads = Agent.Reads.ALL
    store.default.save(update_fields=["reads"])
    text = everything_told(store.default)
    told = {OWN, GLOBAL, OTHER}
    assert {place for place in (*told, *HIDDEN) if place in text} == told


def test_another_owner_hears_only_their_own(store: Store, bobs_agent: Agent) -> None:
    text = everything_told(bobs_agent)
    assert {place for place in (OWN, GLOBAL, OTHER, *HIDDEN) if place in text} == {"Sofia", "Minsk"}


def test_a_pin_opens_nothing(store: Store) -> None:
    Fact.objects.update(pinned=True)
    result = recall(agent=store.agent, message="Hello!", now=NOW)
    assert {place for place in (OWN, GLOBAL, OTHER, *HIDDEN) if place in str(result)} == {
        OWN,
        GLOBAL,
    }


def test_a_fact_leaves_recall_with_its_state(store: Store) -> None:
    assert OWN in everything_told(store.agent)
    Fact.objects.filter(statement=TEXT.format(OWN)).update(
        state=State.PENDING, reviewer=None, reviewed_at=None
    )
    assert OWN not in everything_told(store.agent)


def test_names_are_shown_only_through_facts_that_may_be_read(store: Store) -> None:
    (secret,) = _told(store.default, "Nuuk")
    named(secret, "Secretname")
    result = recall(agent=store.agent, message="who is Secretname?", now=NOW)
    assert "secretname" not in str(result).lower()
    assert "secretname" in str(recall(agent=store.default, message="who is Secretname?", now=NOW))
