"""What the owner did not want stays away: in other words, other conversations, after years."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.models import Agent
from conversations.models import Conversation
from memory import lifecycle
from memory.extraction import neighbours
from memory.models import DroppedCandidate, ExtractionRun, Fact
from memory.vocabulary import ArchivedReason, State
from tests.factories import ConversationFactory, FactFactory
from tests.llm_server import ScriptedLlm
from tests.memory.extraction_cases import candidate, decided, handle, observed, run_once, say
from tests.memory.steps import by, now_is

pytestmark = pytest.mark.django_db

REFUSED = "The user eats vegetarian food."
REWORDED = "The user follows a vegetarian diet."
SAID = "I follow a vegetarian diet"


@pytest.fixture
def refused(agent: Agent) -> Fact:
    """Years ago, in another conversation."""
    long_ago = timezone.now() - timedelta(days=1500)
    elsewhere = ConversationFactory.create(agent=agent)
    return FactFactory.create(
        agent=agent, conversation=elsewhere, statement=REFUSED, state=State.REJECTED,
        observed_at=long_ago, created_at=long_ago,
    )  # fmt: skip


def said_again(llm: ScriptedLlm, agent: Agent, about: Fact) -> ExtractionRun:
    """In other words; the reflector sees that it is the same."""
    talk: Conversation = ConversationFactory.create(agent=agent)
    say(talk, SAID)
    llm.observer(observed(candidate(REWORDED, SAID)))
    llm.reflector(decided((1, "same", [1])))
    run = run_once(talk)
    assert handle(llm.requests[-1], about) == 1
    return run


def test_a_restatement_in_other_words_is_dropped_after_years(
    llm: ScriptedLlm, agent: Agent, refused: Fact
) -> None:
    for _ in range(2):
        assert said_again(llm, agent, refused).counts["dropped"] == {"same_as_rejected": 1}
    assert Fact.objects.count() == 1


def test_the_same_words_are_dropped_without_a_question(
    llm: ScriptedLlm, agent: Agent, refused: Fact
) -> None:
    talk = ConversationFactory.create(agent=agent)
    say(talk, "I eat vegetarian food")
    llm.observer(observed(candidate("the user eats vegetarian food", "I eat vegetarian food")))
    assert run_once(talk).counts["dropped"] == {"same_as_rejected": 1}


def test_a_person_takes_a_rejection_back(llm: ScriptedLlm, agent: Agent, refused: Fact) -> None:
    lifecycle.reconsider(fact=refused, actor=by(agent.owner))
    run = said_again(llm, agent, now_is(refused))
    assert run.counts["evidence_added"] == 1
    lifecycle.confirm(fact=refused, actor=by(agent.owner))
    assert now_is(refused).state == State.ACTIVE


def test_what_was_forgotten_stays_away_in_other_words_too(llm: ScriptedLlm, agent: Agent) -> None:
    """Of what is dropped then no text is kept."""
    forgotten = FactFactory.create(agent=agent, statement=REFUSED, state=State.ACTIVE)
    lifecycle.archive(fact=forgotten, why=ArchivedReason.FORGOTTEN, actor=by(agent.owner))
    assert said_again(llm, agent, forgotten).counts["dropped"] == {"tombstoned": 1}
    assert 'state="rejected"' in llm.requests[-1].user
    row = DroppedCandidate.objects.get()
    assert (row.statement, row.quote, row.detail) == ("", "", "")


def test_a_purged_fact_is_shown_to_no_model(llm: ScriptedLlm, agent: Agent) -> None:
    from memory.purge.execute import purge
    from memory.purge.selection import chosen

    gone = FactFactory.create(agent=agent, statement=REFUSED, state=State.ACTIVE)
    purge(selection=chosen(owner=agent.owner, facts=(gone.pk,)), actor=by(agent.owner))
    talk = ConversationFactory.create(agent=agent)
    say(talk, "I purged the vegetarian")
    llm.observer(observed(candidate("The user purged it.", "I purged the vegetarian")))
    assert run_once(talk).counts["created"] == 1
    assert len(llm.requests) == 1  # there was nothing to compare with


def test_what_is_wanted_crowds_out_no_rejection(
    llm: ScriptedLlm, agent: Agent, refused: Fact
) -> None:
    for number in range(neighbours.PER_LEG + 2):
        FactFactory.create(
            agent=agent, state=State.ACTIVE,
            statement=f"The user follows a vegetarian diet on day {number}.",
        )  # fmt: skip
    talk = ConversationFactory.create(agent=agent)
    say(talk, SAID)
    llm.observer(observed(candidate(REWORDED, SAID)))
    llm.reflector(decided((1, "create", [])))
    run_once(talk)
    assert handle(llm.requests[-1], refused)
