"""Each line of a block says of what kind its source is, and `said` only of a conversation."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.models import Agent
from conversations.models import Message
from memory.extraction.prompts import DOCUMENT, OBSERVER, REFLECTOR
from memory.models import Fact
from memory.recall import legs
from memory.recall.service import recall
from memory.vocabulary import Origin
from tests.factories import ApiKeyFactory, FactFactory, IssuedKey, MessageFactory

pytestmark = pytest.mark.django_db

Api = Callable[[IssuedKey], Client]
MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TEA = "The user likes Zanzibar tea."
ASKED = "what about Zanzibar?"


def notes(block: str) -> str:
    """Of its one line."""
    (line,) = block.split("\n")[2:-1]
    assert line.endswith(f"] {TEA}")
    return line.removeprefix("- [").removesuffix(f"] {TEA}")


def stored(agent: Agent, origin: Origin = Origin.EXTRACTION, **values: Any) -> Fact:
    values = {"observed_at": MONDAY, "last_confirmed_at": timezone.now()} | values
    return FactFactory.create(agent=agent, state="active", statement=TEA, origin=origin, **values)


def told(agent: Agent, **values: Any) -> str:
    return notes(recall(agent=agent, message=ASKED, **values).block)


def post(client: Client, path: str, **body: Any) -> dict[str, Any]:
    answer = client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")
    assert answer.status_code < 300, answer.content
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize(
    ("origin", "prompt", "expected"),
    [
        (Origin.EXTRACTION, "", "said 2026-03-02"),
        (Origin.EXTRACTION, f"{OBSERVER} {REFLECTOR}", "said 2026-03-02"),
        (Origin.EXTRACTION, f"{DOCUMENT} {REFLECTOR}", "read in a document 2026-03-02"),
        (Origin.EXTRACTION, "document-v9 other", "read in a document 2026-03-02"),
        # The owner put it in other words when confirming it.
        (Origin.MANUAL, f"{DOCUMENT} {REFLECTOR}", "written 2026-03-02"),
        (Origin.REMEMBER, "", "assistant noted 2026-03-02"),
        (Origin.IMPORT, "", "imported, noted 2026-03-02"),
        (Origin.MERGE, "merge-v1", "merged 2026-03-02"),
        (Origin.REFLECTION, "reflection-v1", "inferred 2026-03-02"),
    ],
)
@pytest.mark.parametrize("pinned", [False, True])
def test_a_line_names_the_kind_of_its_source(
    agent: Agent, origin: Origin, prompt: str, expected: str, pinned: bool
) -> None:
    stored(agent, origin, prompt_version=prompt, pinned=pinned)
    assert told(agent) == expected


def test_what_the_owner_wrote_by_hand_was_not_said(api: Api, agent: Agent) -> None:
    key = ApiKeyFactory.create(agent=agent, scopes=["review", "recall"])
    post(api(key), "facts", statement=TEA)
    answer = post(api(key), "recall", message=ASKED)
    assert notes(answer["block"]).startswith("written ")
    assert [item["origin"] for item in answer["items"]] == ["manual"]


def test_what_an_assistant_had_remembered_is_its_note(api: Api, agent: Agent) -> None:
    message: Message = MessageFactory.create(
        conversation__owner=agent.owner, conversation__agent=agent, content="I like Zanzibar tea."
    )
    key = ApiKeyFactory.create(agent=agent, scopes=["remember", "recall"])
    told = post(
        api(key),
        "remember",
        statement=TEA,
        cited={
            "conversation": message.conversation.external_id,
            "source": message.conversation.source,
            "message": message.client_id,
            "quote": message.content,
        },
    )
    assert told["outcome"] == "active"
    answer = post(api(key), "recall", message=ASKED)
    assert notes(answer["block"]).startswith("assistant noted ")
    assert [item["origin"] for item in answer["items"]] == ["remember"]


def test_an_earlier_day_tells_it_too(agent: Agent) -> None:
    stored(agent, Origin.IMPORT, created_at=MONDAY)
    assert told(agent, as_of=MONDAY.date()) == "imported, noted 2026-03-02"


def test_near_misses_tell_their_origin(api: Api, alice_key: IssuedKey, agent: Agent) -> None:
    stored(agent, Origin.IMPORT)
    answer = post(
        api(alice_key), "recall", message=f"{ASKED} and where is my passport?", explain=True
    )
    told = [*answer["items"], *answer["trace"]["near_misses"]]
    assert [one["origin"] for one in told] == ["import"]


def test_it_is_told_where_candidates_could_not_be_measured(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    stored(agent, Origin.MANUAL, pinned=True)
    monkeypatch.setattr(legs, "read_rows", fail)
    assert told(agent) == "written 2026-03-02"
