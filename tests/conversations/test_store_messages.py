"""POST /conversations/{id}/messages: what is kept, and that sending it twice changes nothing."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.audit import acting, person
from agents.models import Agent, OwnerSettings, User
from conversations.models import Conversation, Message, Passage
from conversations.record import Known
from conversations.schemas import MessageIn
from tests.conversations.conftest import Send, message
from tests.factories import ApiKeyFactory, IssuedKey

pytestmark = pytest.mark.django_db


def test_it_stores_a_batch_in_order(send: Send, alice: User, agent: Agent) -> None:
    answer = send(
        message(1),
        message(2, role="assistant", content="Which one is the fastest?"),
        message(3, zone="Europe/Helsinki"),
        title="Bicycles",
    )
    assert answer.status_code == 200
    assert answer.json() == {
        "stored": True, "conversation": "c1", "new": 3, "known": 0, "why": "",
    }  # fmt: skip
    conversation = Conversation.objects.get()
    assert (conversation.owner, conversation.agent, conversation.source) == (alice, agent, "api")
    assert (conversation.title, conversation.last_seq, conversation.cursor_seq) == (
        "Bicycles",
        3,
        0,
    )
    assert (conversation.read_only, conversation.sensitive) == (False, False)
    rows = list(conversation.messages.order_by("seq"))
    assert [(row.seq, row.client_id, row.role, row.from_owner) for row in rows] == [
        (1, "m1", "user", True),
        (2, "m2", "assistant", False),
        (3, "m3", "user", True),
    ]
    assert [row.parent for row in rows] == [None, rows[0], rows[1]]
    assert rows[0].sent_at.isoformat() == "2026-03-02T07:01:00+00:00"
    assert conversation.first_message_at == rows[0].sent_at
    assert conversation.last_message_at == rows[2].sent_at
    assert conversation.client_id is not None


def test_every_message_is_a_passage(send: Send) -> None:
    send(message(1), message(2, role="tool", content="{}"), message(3, content="  "))
    assert {p.text for p in Passage.objects.all()} == {"I have 1 bicycles.", "{}"}


def test_the_same_batch_twice_adds_nothing(send: Send) -> None:
    send(message(1), message(2))
    answer = send(message(1), message(2), message(3), message(3))
    assert (answer.json()["new"], answer.json()["known"]) == (1, 3)
    assert Message.objects.count() == 3
    assert Passage.objects.count() == 3
    assert Conversation.objects.get().last_seq == 3


def test_the_same_id_with_other_text_is_refused_with_the_whole_batch(send: Send) -> None:
    send(message(1))
    answer = send(message(2), message(1, content="I have no bicycle."))
    assert answer.status_code == 409
    assert answer["Content-Type"] == "application/problem+json"
    assert "messages[1].id" in answer.json()["detail"]
    assert "replaces" in answer.json()["detail"]
    assert [row.content for row in Message.objects.all()] == ["I have 1 bicycles."]


def test_the_same_id_in_another_role_is_refused(send: Send) -> None:
    send(message(1))
    assert send(message(1, role="assistant")).status_code == 409


def test_a_purged_message_is_taken_for_what_it_was() -> None:
    purged = Known(uuid4(), None, role="user", content=Message.PURGED)
    kept = Known(uuid4(), None, role="user", content="I have 1 bicycles.")
    again = MessageIn.model_validate(message(1)).incoming()
    other = MessageIn.model_validate(message(1, content="Other")).incoming()
    assert (purged.says(again), purged.says(other)) == (True, True)
    assert (kept.says(again), kept.says(other)) == (True, False)


def test_ids_are_unique_within_a_conversation_only(send: Send) -> None:
    send(message(1))
    assert send(message(1, content="Something else"), to="c2").status_code == 200
    assert send(message(1, content="Else again"), source="slack").status_code == 200
    assert Conversation.objects.count() == 3


def test_owners_do_not_share_conversations(
    send: Send, api: Callable[[IssuedKey], Client], bob_key: IssuedKey, bob: User
) -> None:
    send(message(1))
    answer = api(bob_key).post(
        "/api/v1/conversations/c1/messages",
        {"messages": [message(1, content="Bob's own words")]},
        content_type="application/json",
    )
    assert answer.json()["new"] == 1
    assert Conversation.objects.get(owner=bob).messages.get().content == "Bob's own words"


@pytest.mark.parametrize("promise", ["read_only", "sensitive"])
def test_promises_are_fixed_when_the_conversation_begins(send: Send, promise: str) -> None:
    send(message(1), **{promise: True})
    assert getattr(Conversation.objects.get(), promise) is True
    answer = send(message(2), **{promise: False})
    assert answer.status_code == 409
    assert answer.json()["detail"] == f"{promise} is true; that was fixed when it began."
    assert send(message(2)).status_code == 200
    assert send(message(3), **{promise: True}).status_code == 200


def test_the_agent_is_fixed_when_the_conversation_begins(
    send: Send, api: Callable[[IssuedKey], Client], alice: User
) -> None:
    send(message(1))
    both = api(ApiKeyFactory.create(owner=alice))
    url = "/api/v1/conversations/c1/messages"
    body = {"agent": "work", "messages": [message(2)]}
    answer = both.post(url, body, content_type="application/json")
    assert answer.status_code == 409
    assert "another agent" in answer.json()["detail"]
    body["agent"] = "main"
    assert both.post(url, body, content_type="application/json").status_code == 200


def test_read_only_conversations_are_stored_and_searched(send: Send) -> None:
    send(message(1), read_only=True)
    assert Passage.objects.get().text == "I have 1 bicycles."


@pytest.mark.parametrize(
    ("sent_at", "zone", "kept"),
    [
        ("2026-03-02T09:00:00+05:30", None, "+05:30"),
        ("2026-03-02T09:00:00-08:00", None, "-08:00"),
        ("2026-03-02T09:00:00Z", None, "Europe/Helsinki"),
        ("2026-03-02T09:00:00Z", "UTC", "UTC"),
        ("2026-03-02T09:00:00Z", "America/Lima", "America/Lima"),
        ("2026-03-02T09:00:00+05:30", "-03:00", "-03:00"),
    ],
)
def test_it_keeps_the_speakers_clock(
    send: Send, alice: User, sent_at: str, zone: str | None, kept: str
) -> None:
    with acting(person(alice)):
        OwnerSettings.objects.filter(owner=alice).update(time_zone="Europe/Helsinki")
    assert send(message(1, sent_at=sent_at, zone=zone)).status_code == 200
    assert Message.objects.get().zone == kept


def test_several_people_may_speak(send: Send) -> None:
    send(
        message(1, speaker="Alice"),
        message(2, speaker="Carol", from_owner=False, content="I have a cat."),
    )
    assert [(m.speaker, m.from_owner) for m in Message.objects.order_by("seq")] == [
        ("Alice", True),
        ("Carol", False),
    ]


def test_text_in_every_script_arrives_unharmed(send: Send) -> None:
    texts = ["東京に住んでいます。", "أنا أعيش في القاهرة", "👩‍👩‍👧 und ß", "a\u200bb", "𝔘𝔫𝔦", ""]
    send(*(message(i, content=text) for i, text in enumerate(texts)))
    assert [row.content for row in Message.objects.order_by("seq")] == texts


def test_a_long_batch_costs_no_more_queries_than_a_short_one(send: Send) -> None:
    def queries(count: int, to: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert send(*(message(i) for i in range(count)), to=to).status_code == 200
        return len(captured)

    send(message(1), to="first use of the key")
    assert queries(5, "short") == queries(50, "long")


class TestReplacing:
    def test_the_replaced_message_and_what_followed_leave_the_branch(self, send: Send) -> None:
        send(message(1), message(2), message(3), message(4))
        answer = send(message(5, replaces="m2", content="I have two dogs."), message(6))
        assert answer.status_code == 200
        assert _branch() == ["m1", "m5", "m6"]
        rows = {row.client_id: row for row in Message.objects.all()}
        assert rows["m5"].replaces == rows["m2"]
        assert rows["m5"].parent == rows["m1"]
        assert rows["m6"].parent == rows["m5"]
        assert rows["m2"].content == "I have 2 bicycles."

    def test_the_first_message_may_be_replaced(self, send: Send) -> None:
        send(message(1), message(2))
        send(message(3, replaces="m1"))
        assert _branch() == ["m3"]
        assert Message.objects.get(client_id="m3").parent is None

    def test_within_one_batch(self, send: Send) -> None:
        send(message(1), message(2), message(3, replaces="m2", content="I have two dogs."))
        assert _branch() == ["m1", "m3"]
        assert {p.text for p in Passage.objects.all()} == {"I have 1 bicycles.", "I have two dogs."}

    def test_a_second_regeneration_takes_the_place_of_the_first(self, send: Send) -> None:
        send(message(1), message(2, role="assistant"))
        send(message(3, role="assistant", replaces="m2"))
        send(message(4, role="assistant", replaces="m2"))
        assert _branch() == ["m1", "m4"]

    def test_other_branches_stay(self, send: Send) -> None:
        send(message(1), message(2, parent="m1"), message(3, parent="m1"))
        send(message(4, replaces="m2"))
        assert _branch() == ["m1", "m3", "m4"]

    def test_replacing_twice_adds_nothing(self, send: Send) -> None:
        send(message(1))
        for _ in range(2):
            assert send(message(2, replaces="m1")).status_code == 200
        assert Message.objects.count() == 2
        assert _branch() == ["m2"]

    def test_it_tells_who_listens_what_left(self, send: Send, alice: User) -> None:
        from conversations.signals import branch_left

        heard: list[Any] = []

        def listen(owner: User, message_ids: list[Any], **kwargs: Any) -> None:
            heard.append((owner, set(message_ids), connection.in_atomic_block))

        branch_left.connect(listen)
        try:
            send(message(1), message(2), message(3))
            assert heard == []
            send(message(4, replaces="m2"))
        finally:
            branch_left.disconnect(listen)
        gone = set(Message.objects.filter(client_id__in=["m2", "m3"]).values_list("pk", flat=True))
        assert heard == [(alice, gone, True)]


def _branch() -> list[str]:
    rows = Message.objects.filter(on_branch=True).order_by("seq")
    return list(rows.values_list("client_id", flat=True))
