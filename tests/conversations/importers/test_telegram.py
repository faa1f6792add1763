"""Telegram exports: who is the owner, what they wrote, and on which clock."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.models import User
from conversations.importers import telegram
from conversations.models import Conversation, Message
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db

Write = Callable[..., Path]


def said(number: int, who: str = "Ann", text: Any = "Hello.", **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "type": "message",
        "date": "2026-01-02T05:04:05",
        "date_unixtime": "1767323045",
        "from": who,
        "from_id": f"user{ {'Ann': 1, 'Ben': 2}.get(who, 3) }",
        "text": text,
    } | fields


def chat(*messages: Any, kind: str = "private_group", **fields: Any) -> dict[str, Any]:
    return {"name": "Friends", "type": kind, "id": 7, "messages": list(messages)} | fields


def everything(*chats: dict[str, Any]) -> dict[str, Any]:
    return {
        "about": "Here is your data",
        "personal_information": {"user_id": 1, "first_name": "Ann"},
        "contacts": {"about": "x", "list": [{"user_id": 2, "first_name": "Ben"}]},
        "chats": {"about": "x", "list": list(chats)},
    }


def test_a_group_needs_a_name_even_if_one_person_spoke(
    write: Write, bring_in: Bring, alice: User
) -> None:
    path = write(chat(said(1, "Ben")))
    assert bring_in(path).err == "Say which of them you are with --me NAME: Ben."
    assert bring_in(path, "--me", "Ben").code == 0
    assert Message.objects.get().from_owner is True


def test_the_other_one_of_two_is_known_by_the_chats_name(
    write: Write, bring_in: Bring, alice: User
) -> None:
    path = write(chat(said(1, "Ann"), said(2, "Ben"), kind="personal_chat", name="Ben"))
    assert bring_in(path).err == "Say which of them you are with --me NAME: Ann."


def test_an_export_of_everything_says_who_the_owner_is(
    write: Write, bring_in: Bring, alice: User
) -> None:
    group = chat(said(1, "Ann"), said(2, "Ben"))
    own = chat(said(1, "Ann", "Note"), kind="saved_messages", id=8)
    news = chat(said(1, "News"), kind="public_channel", id=9, name="News")
    assert bring_in(write(everything(group, own, news))).code == 0
    found = Message.objects.values_list("conversation__external_id", "speaker", "from_owner")
    assert sorted(found) == [
        ("7", "Ann", True),
        ("7", "Ben", False),
        ("8", "Ann", True),
        ("9", "News", False),
    ]


def test_texts_in_pieces_and_marks(write: Write, bring_in: Bring, alice: User) -> None:
    mixed = ["See ", {"type": "bold", "text": "this"}, {"type": "x"}, 7, "!"]
    bring_in(
        write(
            chat(
                said(1, text=mixed),
                said(2, text="", photo="(File not included)"),
                said(3, text="", media_type="voice_message", file="x"),
                said(4, text="", file="x.pdf", mime_type="application/pdf"),
                said(5, text=""),
            )
        ),
        "--me",
        "Ann",
    )
    contents = list(Message.objects.order_by("seq").values_list("content", flat=True))
    assert contents == ["See this!", "[image]", "[audio]", "[file]"]


def test_the_clock_is_told_by_the_difference_of_two_times(
    write: Write, bring_in: Bring, alice: User
) -> None:
    odd = said(2, date="2026-01-02T03:14:00")
    bring_in(write(chat(said(1), odd)), "--me", "Ann")
    first, second = Message.objects.order_by("seq")
    assert first.sent_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (first.zone, second.zone) == ("+02:00", "UTC")


def test_what_is_forwarded_is_not_the_owners(write: Write, bring_in: Bring, alice: User) -> None:
    bring_in(write(chat(said(1), said(2, forwarded_from="Cleo"))), "--me", "Ann")
    found = Message.objects.get(client_id="2")
    assert (found.speaker, found.from_owner) == ("Cleo", False)


def test_a_bots_answers_are_an_assistants(write: Write, bring_in: Bring, alice: User) -> None:
    bring_in(write(chat(said(1), said(2, "Botty"), kind="bot_chat", name="Botty")))
    roles = Message.objects.order_by("seq").values_list("role", "from_owner")
    assert list(roles) == [("user", True), ("assistant", False)]


def test_a_long_chat_comes_in_pieces_as_one_conversation(
    write: Write, bring_in: Bring, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(telegram, "PIECE", 2)
    path = write(chat(*(said(n, text=f"Text {n}") for n in range(5))))
    told = bring_in(path, "--me", "Ann")
    assert "5 messages.\nConversations: 1 new, 0 continued, 0 unchanged." in told.out
    contents = list(Message.objects.order_by("seq").values_list("content", flat=True))
    assert contents == [f"Text {n}" for n in range(5)]
    assert ": 0 messages." in bring_in(path, "--me", "Ann").out
    assert Conversation.objects.count() == 1


def test_a_broken_message_and_a_cut_end_cost_only_themselves(
    write: Write, bring_in: Bring, alice: User
) -> None:
    whole = json.dumps(chat(said(1), said(2), said(3, text="Cut")))
    broken = whole.replace('"id": 2,', '"id": nonsense,')[:-30]
    told = bring_in(write(broken, name="result.json"), "--me", "Ann")
    assert told.code == 3
    assert "result.json, chat Friends, message 2: is broken JSON in line 1" in told.err
    assert "result.json: the file ends in the middle of item 3, which begins on line 1" in told.err
    assert [m.client_id for m in Message.objects.all()] == ["1"]
