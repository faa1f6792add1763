"""Messages come in while facts of the same conversation are decided over."""

import pytest

from agents.audit import POLICY
from agents.models import Agent
from conversations.record import Into, opened
from memory import lifecycle
from tests.factories import ConversationFactory
from tests.memory.sessions import Session, waits
from tests.memory.steps import draft

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_write_to_a_conversation_does_not_hold_up_a_fact_from_it(agent: Agent) -> None:
    """If it did, each could wait for the other: leaving a branch takes the owner's lock second,
    and a birth takes it first."""
    conversation = ConversationFactory.create(agent=agent)
    into = Into(agent=agent, source="api", external_id=conversation.external_id)
    ingest, birth = Session(), Session()
    try:
        ingest.begin()
        ingest.do(lambda: opened(into))
        proposed = birth.start(
            lambda: lifecycle.propose(
                owner=agent.owner,
                agent=agent,
                draft=draft(conversation=conversation),
                actor=POLICY,
            )
        )
        held_up = waits(proposed)
        ingest.commit()
        assert proposed.result(timeout=30).conversation == conversation
        assert not held_up
    finally:
        ingest.close()
        birth.close()
