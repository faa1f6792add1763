"""While memory is off nothing comes in, by whichever way, and the caller is told so."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from agents.audit import acting, person
from agents.models import OwnerSettings, User
from conversations.models import Conversation, Message, Passage
from tests.conversations.conftest import Answer, Send, message

pytestmark = pytest.mark.django_db


def _switch(owner: User, choice: bool | None) -> None:
    with acting(person(owner)):
        OwnerSettings.objects.filter(owner=owner).update(memory_enabled=choice)


@pytest.mark.parametrize(
    ("mode", "choice", "stored"),
    [
        ("disabled", None, False),
        ("disabled", True, False),
        ("disabled", False, False),
        ("default_off", None, False),
        ("default_off", True, True),
        ("default_off", False, False),
        ("default_on", None, True),
        ("default_on", True, True),
        ("default_on", False, False),
    ],
)
def test_ingest_obeys_both_gates(
    send: Send, alice: User, settings: Any, mode: str, choice: bool | None, stored: bool
) -> None:
    settings.MEMORY_MODE = mode
    _switch(alice, choice)
    answer = send(message(1))
    assert answer.status_code == 200
    assert answer.json()["stored"] is stored
    assert bool(answer.json()["why"]) is not stored
    assert Conversation.objects.exists() is stored
    assert Message.objects.exists() is stored
    assert Passage.objects.exists() is stored


def test_switching_on_later_never_learns_what_was_said_meanwhile(send: Send, alice: User) -> None:
    send(message(1))
    _switch(alice, False)
    send(message(2))
    _switch(alice, True)
    send(message(3))
    assert [row.client_id for row in Message.objects.order_by("seq")] == ["m1", "m3"]


def test_the_switch_of_one_owner_is_not_that_of_another(send: Send, bob: User) -> None:
    _switch(bob, False)
    assert send(message(1)).json()["stored"] is True


def test_bad_input_is_told_all_the_same(send: Send, alice: User) -> None:
    _switch(alice, False)
    assert send(message(1, role="robot")).status_code == 422


def test_compaction_and_outcomes_store_nothing(
    send: Send, client_of_alice: Client, alice: User
) -> None:
    send(message(1))
    _switch(alice, False)
    post: Callable[..., Answer] = client_of_alice.post
    compacted = post(
        "/api/v1/conversations/c1/compact",
        {"up_to": "m1", "summary": "x"},
        content_type="application/json",
    )
    digest = {"id": "o1", "header": "H", "discoveries": ["D"], "sent_at": "2026-03-02T09:00:00Z"}
    outcome = post("/api/v1/agents/main/outcomes", digest, content_type="application/json")
    assert [compacted.json()["stored"], outcome.json()["stored"]] == [False, False]
    assert Message.objects.count() == 1
    assert Conversation.objects.get().compacted_seq == 0


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "conversations"),
        ("GET", "conversations/c1"),
        ("GET", "conversations/c1/messages"),
        ("POST", "conversations/c1/extract"),
    ],
)
def test_nothing_is_read_or_extracted(
    send: Send, client_of_alice: Client, alice: User, method: str, path: str
) -> None:
    send(message(1))
    _switch(alice, False)
    answer = client_of_alice.generic(method, f"/api/v1/{path}", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "memory_off")
    assert "bicycles" not in answer.content.decode()
    assert Conversation.objects.get().due_trigger == ""
