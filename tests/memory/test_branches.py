import pytest

from agents.models import Agent, User
from conversations.models import Message
from conversations.signals import branch_left
from memory.models import Evidence
from memory.vocabulary import State
from tests.factories import ConversationFactory, FactFactory, MessageFactory

pytestmark = pytest.mark.django_db


def _leave(owner: User, *messages: Message) -> None:
    for message in messages:
        message.on_branch = False
        message.save(update_fields=["on_branch"])
    branch_left.send(None, owner=owner, message_ids=[message.pk for message in messages])


def test_a_fact_waits_again_once_all_its_evidence_left_the_branch(
    alice: User, agent: Agent
) -> None:
    conversation = ConversationFactory.create(agent=agent)
    first, second = MessageFactory.create_batch(2, conversation=conversation)
    fact = FactFactory.create(agent=agent, state=State.ACTIVE, message=first)
    Evidence.objects.create(owner=alice, fact=fact, message=second, quote=second.content)

    _leave(alice, first)
    fact.refresh_from_db()
    assert fact.state == State.ACTIVE

    _leave(alice, second)
    fact.refresh_from_db()
    assert fact.state == State.PENDING
    assert fact.reviewer is None


def test_a_fact_without_evidence_or_of_another_owner_stays(
    alice: User, agent: Agent, bob: User
) -> None:
    message = MessageFactory.create(conversation=ConversationFactory.create(agent=agent))
    by_hand = FactFactory.create(agent=agent, state=State.ACTIVE)
    FactFactory.create(agent=agent, state=State.ACTIVE, message=message)

    _leave(bob, message)
    assert agent.facts.filter(state=State.ACTIVE).count() == 2

    _leave(alice, message)
    assert list(agent.facts.filter(state=State.ACTIVE)) == [by_hand]
