"""What the scripted model says in the tests of extraction, and the short way to say it."""

import re
from collections.abc import Sequence
from typing import Any

from conversations.models import Conversation, Message
from memory.extraction.run import extract
from memory.models import ExtractionRun, Fact
from memory.vocabulary import Trigger
from tests.factories import MessageFactory
from tests.llm_server import Recorded, Reply, ScriptedLlm, answers


def route(llm: ScriptedLlm, model: str = "scripted") -> dict[str, str]:
    return {"model": model, "base_url": llm.url, "api_key": "key"}


NO_ROUTE = {"model": ""}


def candidate(statement: str, quote: str, message: int = 1, **changes: Any) -> dict[str, Any]:
    """A durable fact about the owner, as a good observer would propose it."""
    return {
        "statement": statement,
        "kind": "semantic",
        "confidence": 0.9,
        "tags": ["fact"],
        "entities": [],
        "sources": [{"message": message, "quote": quote}],
        "validity": {"start": None, "end": None, "precision": "day"},
        "language": "en",
        "changes_behavior": True,
        "about_owner": True,
        "general_knowledge": False,
    } | changes


def happened(statement: str, quote: str, day: str, message: int = 1) -> dict[str, Any]:
    validity = {"start": day, "end": None, "precision": "day"}
    return candidate(statement, quote, message, kind="episodic", validity=validity)


def observed(*candidates: dict[str, Any]) -> Reply:
    return answers({"candidates": list(candidates)})


def decided(*decisions: tuple[int, str, Sequence[int]]) -> Reply:
    """(candidate, action, handles) each."""
    return answers(
        {
            "decisions": [
                {"candidate": number, "action": action, "handles": list(handles), "reason": "so"}
                for number, action, handles in decisions
            ]
        }
    )


def say(conversation: Conversation, *contents: str, **values: Any) -> list[Message]:
    return [MessageFactory.create(conversation=conversation, content=c, **values) for c in contents]


def run_once(conversation: Conversation, **options: Any) -> ExtractionRun:
    [run] = extract(conversation=conversation, trigger=Trigger.REQUEST, **options)
    return run


def marks(conversation: Conversation) -> tuple[int, int]:
    conversation.refresh_from_db()
    return conversation.cursor_seq, conversation.attempts


def handle(request: Recorded, fact: Fact) -> int:
    """The number under which a reflector call was shown a fact."""
    pattern = rf'<fact-\w+ n="(\d+)"[^>]*>{re.escape(fact.statement)}<'
    found = re.search(pattern, request.user)
    assert found, "not shown"
    return int(found[1])
