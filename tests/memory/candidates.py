"""A candidate as extraction leaves it: in a conversation, citing a message."""

from typing import Any

from agents.models import Agent
from memory.models import Fact
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
