"""What the scripted model says in the tests of cases, and a conversation that holds one."""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from agents.models import Agent
from conversations.models import Conversation
from memory.cases import stage
from memory.consolidation.values import Change
from tests.factories import ConversationFactory, MessageFactory
from tests.llm_server import Reply, ScriptedLlm, answers

NOW = timezone.now()
ASKED = "My bicycle's front tyre loses air overnight, and I want to ride to Turku tomorrow."
ADVISED = "Look for the thorn, patch the tube from the inside and let it dry."
ENDED = "Done: I found the thorn, patched it, and it held air the whole way to Turku."


def exchange(agent: Agent, *said: str, **values: Any) -> Conversation:
    """An owner's and an assistant's words in turn, an hour ago."""
    values.setdefault("last_activity_at", NOW - timedelta(hours=1))
    conversation = ConversationFactory.create(agent=agent, **values)
    for number, text in enumerate(said or (ASKED, ADVISED, ENDED)):
        role = "assistant" if number % 2 else "user"
        MessageFactory.create(conversation=conversation, content=text, role=role)
    return conversation


def found(*exchanges: tuple[int, int]) -> Reply:
    return answers(
        {"exchanges": [{"first": a, "last": b, "goal": "mend a tyre"} for a, b in exchanges]}
    )


def a_case(**changes: Any) -> dict[str, Any]:
    """As a good writer would write it."""
    return {
        "goal": "Mend the front tyre of the bicycle before a ride to Turku",
        "context": "The tyre lost air overnight and the ride was on the next day.",
        "approach": "The thorn was found and the tube patched from the inside.",
        "outcome": "The tyre held air the whole way.",
        "quality": "success",
        "lessons": "Finding the thorn first saved a second patch.",
        "actors": ["the user"],
        "tags": ["bicycle", "Repair"],
        "messages": [1, 3],
        "language": "en",
        "same_as": None,
    } | changes


def written(**changes: Any) -> Reply:
    return answers(a_case(**changes))


def scripted(llm: ScriptedLlm, **changes: Any) -> None:
    """One exchange over the three messages, and its case."""
    llm.script("CaseClassifierReply", found((1, 3)))
    llm.script("CaseWriterReply", written(**changes))


def read(agent: Agent, now: datetime = NOW, **options: Any) -> list[Change]:
    return stage.run(owner=agent.owner, now=now, **options)


def actions(changes: list[Change]) -> list[str]:
    return [change.action for change in changes]
