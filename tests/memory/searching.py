"""A record that search can find things in."""

from datetime import timedelta
from typing import Any

from agents.models import Agent
from conversations.ingest import store_messages
from conversations.models import Conversation, Message
from conversations.record import Incoming, Into
from memory.search import vectors
from memory.search.hits import Hit
from memory.search.service import search
from tests.factories import MONDAY


def said(
    agent: Agent, *texts: str, to: str = "c1", after: timedelta = timedelta(0), **values: Any
) -> Conversation:
    """By the owner, a minute apart, with vectors if the model is loaded."""
    done = Message.objects.filter(owner=agent.owner, conversation__external_id=to).count()
    messages = [
        Incoming(
            client_id=f"m{number}",
            role=Message.Role.USER,
            content=text,
            sent_at=MONDAY + after + timedelta(minutes=number),
            **values,
        )
        for number, text in enumerate(texts, done + 1)
    ]
    into = Into(agent=agent, source="api", external_id=to)
    return store_messages(into=into, messages=messages).conversation


def understood() -> None:
    """The worker has been by."""
    vectors.embed_backlog(seconds=60)


def texts(agent: Agent, query: str, **how: Any) -> list[str]:
    return [hit.text for hit in found(agent, query, **how)]


def found(agent: Agent, query: str, **how: Any) -> list[Hit]:
    return search(agent=agent, query=query, **({"scope": "raw"} | how))
