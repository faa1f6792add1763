"""Values that the tests of policy start from and change in one place."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from memory.extraction.schema import Action, Candidate, Decision, SourceQuote, Validity
from memory.policy import Known, Passed, PolicyContext, WindowMessage
from memory.vocabulary import Kind, State, Tag

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
TRIP = "I went to Oslo on 3 May 2024"
REX = UUID(int=7)


def message(handle: int = 1, content: str = TRIP, **changes: Any) -> WindowMessage:
    values: dict[str, Any] = {
        "role": "user",
        "from_owner": True,
        "sent_at": NOW - timedelta(days=10) + timedelta(minutes=handle),
        "kind": "said",
    }
    values |= changes
    if values["role"] != "user" or values["kind"] != "said":
        values["from_owner"] = False
    return WindowMessage(handle=handle, content=content, **values)


def assistant(handle: int, content: str) -> WindowMessage:
    return message(handle, content, role="assistant")


def candidate(statement: str = "The user went to Oslo on 3 May 2024.", **changes: Any) -> Candidate:
    values: dict[str, Any] = {
        "kind": Kind.EPISODIC,
        "confidence": 0.9,
        "tags": [Tag.FACT],
        "entities": [],
        "sources": [(1, TRIP)],
        "validity": Validity(start=date(2024, 5, 3)),
        "language": "en",
        "changes_behavior": True,
        "about_owner": True,
        "general_knowledge": False,
    }
    values |= changes
    values["sources"] = [SourceQuote(message=n, quote=quote) for n, quote in values["sources"]]
    return Candidate(statement=statement, **values)


def context(*messages: WindowMessage, **changes: Any) -> PolicyContext:
    said = messages or (message(),)
    return PolicyContext(messages={m.handle: m for m in said}, now=NOW, **changes)


def passed(statement: str = "The user went to Oslo on 3 May 2024.", **changes: Any) -> Passed:
    withheld = changes.pop("withheld", ())
    return Passed(candidate(statement, **changes), withheld)


def decision(action: Action, *handles: int, reason: str = "because") -> Decision:
    return Decision(candidate=1, action=action, handles=list(handles), reason=reason)


def known(statement: str, state: State = State.ACTIVE, handle: int = 1) -> Known:
    return Known(handle=handle, fact=uuid4(), state=state, statement=statement)
