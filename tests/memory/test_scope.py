from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils.functional import SimpleLazyObject

from agents.models import Agent, User
from memory.models import Fact
from memory.scope import facts_of, facts_readable_by, recallable
from memory.vocabulary import State
from tests.factories import MONDAY, FactFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(alice: User, bob: User, agent: Agent, second_agent: Agent, bobs_agent: Agent) -> None:
    for owner, scope, statement in (
        (alice, None, "alice, global"),
        (alice, agent, "alice, main"),
        (alice, second_agent, "alice, work"),
        (bob, None, "bob, global"),
        (bob, bobs_agent, "bob, main"),
    ):
        FactFactory.create(owner=owner, agent=scope, statement=statement)


def statements(facts: Any) -> set[str]:
    return set(facts.values_list("statement", flat=True))


@pytest.mark.parametrize(
    ("reads", "seen"),
    [
        (Agent.Reads.OWN, {"alice, main"}),
        (Agent.Reads.OWN_AND_GLOBAL, {"alice, main", "alice, global"}),
        (Agent.Reads.ALL, {"alice, main", "alice, global", "alice, work"}),
    ],
)
def test_an_agent_reads_what_its_owner_lets_it(
    world: None, agent: Agent, reads: str, seen: set[str]
) -> None:
    agent.reads = reads
    agent.save()
    assert statements(facts_readable_by(agent)) == seen


def test_an_agent_reads_its_own_and_the_global_facts_unless_told_otherwise(
    world: None, second_agent: Agent
) -> None:
    assert statements(facts_readable_by(second_agent)) == {"alice, work", "alice, global"}


def test_an_unknown_way_of_reading_reads_no_more_than_its_own(world: None, agent: Agent) -> None:
    agent.reads = "everything"
    assert statements(facts_readable_by(agent)) == {"alice, main"}


def test_an_owner_sees_all_of_their_own(world: None, alice: User, stranger: User) -> None:
    seen = {"alice, main", "alice, global", "alice, work"}
    assert statements(facts_of(alice)) == seen
    # As a request carries it.
    assert statements(facts_of(SimpleLazyObject(lambda: alice))) == seen  # type: ignore[arg-type]
    assert not facts_of(stranger).exists()


def test_nobody_is_no_owner(world: None, alice: User, agent: Agent) -> None:
    nobodies: list[Any] = [None, "", "alice", str(alice.pk), alice.pk, AnonymousUser(), User, agent]
    for nobody in nobodies:
        with pytest.raises(TypeError, match="An owner is needed"):
            facts_of(nobody)


def test_nothing_is_no_agent(world: None, alice: User, agent: Agent) -> None:
    for nothing in (None, "", "main", agent.slug, agent.pk, alice, Agent):
        with pytest.raises(TypeError, match="An agent is needed"):
            facts_readable_by(nothing)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", [State.PENDING, State.REJECTED, State.ARCHIVED])
def test_only_active_facts_steer_the_assistant(alice: User, state: State) -> None:
    FactFactory.create(owner=alice, statement="held back", state=state)
    FactFactory.create(owner=alice, statement="told", state=State.ACTIVE)
    assert statements(recallable(facts_of(alice), MONDAY)) == {"told"}


def test_what_has_expired_steers_nothing(alice: User) -> None:
    minute = timedelta(minutes=1)
    for statement, until in (
        ("until a minute ago", MONDAY - minute),
        ("until now", MONDAY),  # the end itself is outside
        ("for another minute", MONDAY + minute),
        ("for good", None),
    ):
        FactFactory.create(owner=alice, statement=statement, valid_until=until, state=State.ACTIVE)
    told = statements(recallable(facts_of(alice), MONDAY))
    assert told == {"for another minute", "for good"}


def test_recallable_widens_nothing(world: None, alice: User, agent: Agent) -> None:
    FactFactory.create(statement="a stranger's", state=State.ACTIVE)
    FactFactory.create(owner=alice, agent=agent, statement="mine", state=State.ACTIVE)
    assert statements(recallable(facts_readable_by(agent), MONDAY)) == {"mine"}
    assert not recallable(Fact.objects.none(), MONDAY).exists()
