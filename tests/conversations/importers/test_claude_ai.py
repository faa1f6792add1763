"""Claude.ai exports: what was said is in `content`, reasoning and documents stay out."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.models import User
from conversations.models import Conversation, Message
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db

Write = Callable[..., Path]


def said(name: str = "m1", sender: str = "human", **fields: Any) -> dict[str, Any]:
    return {
        "uuid": name,
        "sender": sender,
        "text": "",
        "content": [],
        "created_at": "2026-01-02T03:04:05.123456Z",
    } | fields


def talk(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {
        "uuid": "c1",
        "name": "A talk",
        "created_at": "2026-01-01T00:00:00Z",
        "chat_messages": list(messages),
    } | fields


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_an_empty_text_is_no_empty_message(write: Write, bring_in: Bring, alice: User) -> None:
    bring_in(write([talk(said(content=[text("I live in Turku.")]))]))
    found = Message.objects.get()
    assert (found.content, found.role, found.from_owner) == ("I live in Turku.", "user", True)
    assert found.sent_at == datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC)
    assert Conversation.objects.get().title == "A talk"


def test_without_content_the_text_counts(write: Write, bring_in: Bring, alice: User) -> None:
    bring_in(write([talk(said(text="I live in Turku."))]))
    assert Message.objects.get().content == "I live in Turku."


def test_reasoning_stays_out_and_tools_are_tools(
    write: Write, bring_in: Bring, alice: User
) -> None:
    answer = said(
        "m2",
        "assistant",
        content=[
            {"type": "thinking", "thinking": "Secret thoughts"},
            text("Let me look."),
            {"type": "tool_use", "name": "web_search", "input": {"query": "Turku"}},
            {"type": "tool_result", "content": [text("A town")]},
            text("It is a town."),
        ],
    )
    told = bring_in(write([talk(said(text="What is Turku?"), answer)]))
    assert "Left out: pieces of reasoning: 1." in told.out
    rows = Message.objects.order_by("seq").values_list("role", "speaker", "content")
    assert list(rows) == [
        ("user", "", "What is Turku?"),
        ("assistant", "", "Let me look."),
        ("tool", "to web_search", '{"query": "Turku"}'),
        ("tool", "", "A town"),
        ("assistant", "", "It is a town."),
    ]


def test_what_a_document_says_is_not_what_the_user_says(
    write: Write, bring_in: Bring, alice: User
) -> None:
    attached = [{"file_name": "cv.pdf", "extracted_content": "I am a pilot."}]
    told = bring_in(write([talk(said(text="Read this.", attachments=attached))]))
    assert Message.objects.get().content == "Read this.\n[file]"
    assert "Left out: texts of attached files: 1." in told.out


def test_empty_conversations_and_names_do_no_harm(
    write: Write, bring_in: Bring, alice: User
) -> None:
    whole = [talk(name=""), talk(said(text="Hello."), uuid="c2", name=""), talk(said(), uuid="c3")]
    told = bring_in(write(whole))
    assert told.code == 0
    assert "Left out: empty conversations: 2." in told.out
    assert Conversation.objects.get().external_id == "c2"


def test_one_broken_conversation_costs_only_itself(
    write: Write, bring_in: Bring, alice: User
) -> None:
    path = write("[", talk(said(text="Hello.")), ",{bro ken},", {"uuid": "c3"}, "]", name="c.json")
    told = bring_in(path)
    assert told.code == 3
    assert "c.json, item 2 (line 3): is broken JSON in line 3" in told.err
    assert "c.json, item 3 (line 4): has no list of messages (chat_messages)" in told.err
    assert Message.objects.get().content == "Hello."
