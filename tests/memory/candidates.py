"""A candidate as extraction leaves it, citing a message of a conversation; and a run."""

from typing import Any

from agents.models import Agent
from conversations.models import Conversation
from memory.models import ExtractionRun, Fact
from memory.vocabulary import Trigger
from tests.factories import ConversationFactory, FactFactory, MessageFactory


def candidate(agent: Agent, statement: str, said: str = "", quote: str = "", **values: Any) -> Fact:
    conversation = values.pop("conversation", None) or ConversationFactory.create(agent=agent)
    message = MessageFactory.create(conversation=conversation, content=said or statement)
    return FactFactory.create(
        agent=agent,
        conversation=conversation,
        statement=statement,
        message=message,
        message__quote=quote or message.content,
        **values,
    )


def a_run(conversation: Conversation, **values: Any) -> ExtractionRun:
    fields: dict[str, Any] = {
        "owner": conversation.owner,
        "agent": conversation.agent,
        "conversation": conversation,
        "trigger": Trigger.IDLE,
        "first_seq": 1,
        "last_seq": 2,
        "observer": "rules",
    }
    return ExtractionRun.objects.create(**(fields | values))
