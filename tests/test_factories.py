"""The factories must make what the database would let the application make."""

import pytest

from agents.models import Agent, AuditEvent, User
from memory.vocabulary import ArchivedReason, State
from tests.factories import (
    AgentFactory,
    ApiKeyFactory,
    ConversationFactory,
    FactFactory,
    MessageFactory,
    UserFactory,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("state", State)
def test_facts_come_in_every_state(state: State) -> None:
    fact = FactFactory.create(state=state)
    fact.refresh_from_db()
    assert fact.state == state
    last = AuditEvent.objects.filter(table="memory_fact", row_id=str(fact.pk)).first()
    assert last is not None
    assert last.actor == f"person:{fact.owner_id}"


def test_archived_facts_name_their_successor() -> None:
    head = FactFactory.create(state=State.ACTIVE)
    old = FactFactory.create(owner=head.owner, state=State.ARCHIVED, superseded_by=head)
    assert old.archived_reason == ArchivedReason.SUPERSEDED
    assert list(head.predecessors.all()) == [old]


def test_candidates_can_be_archived_too() -> None:
    fact = FactFactory.create(
        state=State.ARCHIVED, archived_from=State.PENDING, archived_reason=ArchivedReason.DUPLICATE
    )
    assert (fact.archived_from, fact.reviewer) == (State.PENDING, None)


def test_owners_follow_from_what_a_row_hangs_on() -> None:
    agent = AgentFactory.create()
    conversation = ConversationFactory.create(agent=agent)
    messages = MessageFactory.create_batch(2, conversation=conversation)
    fact = FactFactory.create(conversation=conversation, agent=agent, message=messages[0])
    key = ApiKeyFactory.create(agent=agent)
    owners = {conversation.owner, messages[0].owner, messages[1].owner, fact.owner, key.owner}
    assert owners == {agent.owner}
    assert [message.seq for message in messages] == [1, 2]
    assert fact.evidence.get().quote == messages[0].content


def test_owners_have_settings() -> None:
    assert UserFactory.create(settings__memory_enabled=False).settings.memory_enabled is False
    assert UserFactory.create().settings.memory_enabled is None


def test_alice_and_bob_share_nothing(
    alice: User, bob: User, stranger: User, agent: Agent, bobs_agent: Agent
) -> None:
    assert agent.owner == alice
    assert bobs_agent.owner == bob
    assert not stranger.agents.exists()
