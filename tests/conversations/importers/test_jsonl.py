"""Our own format: one conversation per line, several people, branches."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.models import User
from conversations.models import Conversation, Message
from tests.conversations.conftest import message
from tests.conversations.importers.conftest import Bring

pytestmark = pytest.mark.django_db

Write = Callable[..., Path]


def talk(*messages: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": "c1", "messages": list(messages)} | fields


def test_it_keeps_everything_a_line_says(write: Write, bring_in: Bring, alice: User) -> None:
    line = talk(
        message(1, zone="Asia/Tokyo"),
        message(2, role="assistant", content="Old", on_branch=False),
        message(3, role="assistant", content="New", parent="m1"),
        title="Bicycles",
        source="notes",
        read_only=True,
        sensitive=True,
    )
    assert bring_in(write(line)).code == 0
    conversation = Conversation.objects.get()
    assert (conversation.source, conversation.external_id) == ("notes", "c1")
    assert (conversation.title, conversation.read_only, conversation.sensitive) == (
        "Bicycles",
        True,
        True,
    )
    rows = conversation.messages.order_by("seq")
    assert [(m.client_id, m.on_branch) for m in rows] == [("m1", True), ("m2", False), ("m3", True)]
    assert rows[0].zone == "Asia/Tokyo"
    assert rows[2].parent == rows[0]


def test_replacements_stay_made_when_it_comes_again(
    write: Write, bring_in: Bring, alice: User
) -> None:
    path = write(talk(message(1), message(2), message(3, replaces="m1", content="Better")))
    for _ in range(2):
        assert bring_in(path).code == 0
        on_branch = Message.objects.filter(on_branch=True)
        assert [m.client_id for m in on_branch] == ["m3"]


def test_a_longer_file_adds_what_is_new(write: Write, bring_in: Bring, alice: User) -> None:
    bring_in(write(talk(message(1))))
    told = bring_in(write(talk(message(1), message(2)), talk(message(1), id="c2")))
    assert "Conversations: 1 new, 1 continued, 0 unchanged" in told.out


def test_a_stored_message_stays_as_it_is(write: Write, bring_in: Bring, alice: User) -> None:
    bring_in(write(talk(message(1))))
    told = bring_in(write(talk(message(1, content="Changed since"), message(2))))
    assert "messages that differ from what is stored, which stays: 1." in told.out
    assert [m.content for m in Message.objects.order_by("seq")] == [
        "I have 1 bicycles.",
        "I have 2 bicycles.",
    ]


class TestSeveralPeople:
    def _talk(self) -> dict[str, Any]:
        return talk(message(1, speaker="Ann"), message(2, speaker="Ben"), message(3, speaker="Ann"))

    def test_it_asks_who_the_owner_is(self, write: Write, bring_in: Bring, alice: User) -> None:
        told = bring_in(write(self._talk()))
        assert told.code == 1
        assert told.err == "Say which of them you are with --me NAME: Ann, Ben."
        assert not Conversation.objects.exists()

    def test_it_refuses_a_name_that_nobody_has(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        told = bring_in(write(self._talk()), "--me", "Cleo")
        assert (told.code, told.err) == (1, "None is 'Cleo': Ann, Ben.")
        assert not Conversation.objects.exists()

    @pytest.mark.parametrize("me", ["Ann", "ann", " ANN "])
    def test_only_the_named_one_is_the_owner(
        self, write: Write, bring_in: Bring, alice: User, me: str
    ) -> None:
        assert bring_in(write(self._talk()), "--me", me).code == 0
        assert [(m.speaker, m.from_owner) for m in Message.objects.order_by("seq")] == [
            ("Ann", True),
            ("Ben", False),
            ("Ann", True),
        ]

    def test_two_people_in_two_conversations_are_several_too(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        lines = talk(message(1, speaker="Ann")), talk(message(1, speaker="Ben"), id="c2")
        assert bring_in(write(*lines)).code == 1

    def test_a_file_that_says_who_is_the_owner_needs_no_name(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        line = talk(
            message(1, speaker="Ann", from_owner=True), message(2, speaker="Ben", from_owner=False)
        )
        assert bring_in(write(line)).code == 0
        assert [m.from_owner for m in Message.objects.order_by("seq")] == [True, False]

    def test_one_person_and_an_assistant_need_no_name(
        self, write: Write, bring_in: Bring, alice: User
    ) -> None:
        line = talk(message(1, speaker="Ann"), message(2, role="assistant", speaker="Kai"))
        assert bring_in(write(line)).code == 0
        assert [m.from_owner for m in Message.objects.order_by("seq")] == [True, False]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": "c2", "messages": [', "line 2: is broken JSON"),
        ("[]", "line 2: : Input should be"),
        ("null", "line 2: : Input should be"),
        ({"id": "c2"}, "line 2: messages: Field required"),
        ({"id": "c2", "messages": []}, "line 2: messages: "),
        ({"id": "c2", "messages": [7]}, "line 2: messages[0]: "),
        (
            {"id": "c2", "source": "outcome", "messages": [message(1)]},
            "line 2: source: is reserved",
        ),
        ({"id": "c2", "colour": "red", "messages": [message(1)]}, "line 2: colour: "),
        (
            {"id": "c2", "messages": [message(1, sent_at="2026-03-02T09:00:00")]},
            "messages[0].sent_at",
        ),
        ({"id": "c2", "messages": [message(1, role="robot")]}, "messages[0].role"),
        (b"[" * 200_000, "line 2: is nested too deeply"),
    ],
)
def test_a_broken_line_costs_only_itself(
    write: Write, bring_in: Bring, alice: User, line: Any, says: str
) -> None:
    told = bring_in(write(talk(message(1)), line, talk(message(1), id="c3")))
    assert told.code == 3
    assert says in told.err
    assert set(Conversation.objects.values_list("external_id", flat=True)) == {"c1", "c3"}


def test_a_broken_message_costs_only_itself(write: Write, bring_in: Bring, alice: User) -> None:
    told = bring_in(write(talk(message(1), message(2, role="robot"), message(3, parent="m2"))))
    assert told.code == 3
    assert "talks.jsonl, line 1: messages[1].role" in told.err
    assert [m.client_id for m in Message.objects.order_by("seq")] == ["m1", "m3"]
    assert Message.objects.get(client_id="m3").parent == Message.objects.get(client_id="m1")


def test_what_is_too_long_is_cut_in_the_middle(write: Write, bring_in: Bring, alice: User) -> None:
    told = bring_in(write(talk(message(1, content="head " + "語" * 400_000 + " tail"))))
    assert "messages shortened to 1 MB: 1." in told.out
    content = Message.objects.get().content
    assert len(content.encode()) < 1_000_000
    assert content.startswith("head ")
    assert content.endswith(" tail")
    assert "characters left out" in content


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(
    write: Write, bring_in: Bring, alice: User
) -> None:
    import json

    line = json.dumps(talk(message(1))).encode()
    assert bring_in(write(b"\xef\xbb\xbf" + line + b"\r", b"\r", b"")).code == 0
    assert Message.objects.get().client_id == "m1"
