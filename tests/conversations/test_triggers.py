"""Compaction, outcomes and "extract now": what makes a conversation due at once."""

from collections.abc import Callable
from typing import Any

import pytest
from celery import Celery, current_app
from django.test import Client
from django.utils import timezone

from agents.models import Agent, User
from conversations import hints
from conversations.models import Conversation, Message, Passage
from memory.vocabulary import Trigger
from tests.conversations.conftest import Answer, Send, message
from tests.factories import ApiKeyFactory, IssuedKey

pytestmark = pytest.mark.django_db

Post = Callable[..., Answer]


@pytest.fixture
def post(client_of_alice: Client) -> Post:
    def call(path: str, **body: Any) -> Answer:
        return client_of_alice.post(f"/api/v1/{path}", body, content_type="application/json")

    return call


@pytest.fixture
def hinted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of conversations that the broker would have been told of."""
    told: list[str] = []
    monkeypatch.setattr(hints, "send", lambda task, what, row_id: told.append(str(row_id)))
    return told


class TestCompact:
    def test_it_marks_what_was_summarised_and_is_due(
        self,
        send: Send,
        post: Post,
        hinted: list[str],
        django_capture_on_commit_callbacks: Callable[..., Any],
    ) -> None:
        send(message(1), message(2), message(3))
        with django_capture_on_commit_callbacks(execute=True):
            answer = post("conversations/c1/compact", up_to="m2")
        assert answer.json() == {"stored": True, "conversation": "c1", "due": True, "why": ""}
        conversation = Conversation.objects.get()
        assert conversation.compacted_seq == 2
        assert conversation.due_trigger == Trigger.COMPACTION
        assert hinted == [str(conversation.pk)]

    def test_the_mark_never_moves_back(self, send: Send, post: Post) -> None:
        send(message(1), message(2))
        post("conversations/c1/compact", up_to="m2")
        post("conversations/c1/compact", up_to="m1")
        assert Conversation.objects.get().compacted_seq == 2

    def test_a_summary_is_kept_once_and_not_searched(self, send: Send, post: Post) -> None:
        send(message(1), message(2))
        for _ in range(2):
            post("conversations/c1/compact", up_to="m2", summary="They spoke of bicycles.")
        summary = Message.objects.get(kind=Message.Kind.SUMMARY)
        assert (summary.content, summary.from_owner) == ("They spoke of bicycles.", False)
        assert not Passage.objects.filter(text__contains="They spoke").exists()
        send(message(3))
        assert Message.objects.get(client_id="m3").parent == Message.objects.get(client_id="m2")

    def test_what_is_not_there(self, send: Send, post: Post) -> None:
        send(message(1))
        assert post("conversations/c2/compact", up_to="m1").status_code == 404
        answer = post("conversations/c1/compact", up_to="m9")
        assert (answer.status_code, answer.json()["at"]) == (422, "up_to")

    def test_read_only_conversations_never_become_due(self, send: Send, post: Post) -> None:
        send(message(1), read_only=True)
        assert post("conversations/c1/compact", up_to="m1").json()["due"] is False
        assert Conversation.objects.get().due_trigger == ""


class TestExtract:
    def test_it_makes_the_conversation_due_now(self, send: Send, post: Post) -> None:
        send(message(1), message(2))
        Conversation.objects.update(next_attempt_at="2030-01-01T00:00:00Z")
        answer = post("conversations/c1/extract")
        assert answer.status_code == 202
        assert answer.json() == {"conversation": "c1", "due": True, "unread": 2}
        conversation = Conversation.objects.get()
        assert conversation.due_trigger == Trigger.REQUEST
        assert conversation.next_attempt_at is None

    def test_without_anything_unread_nothing_is_due(self, send: Send, post: Post) -> None:
        send(message(1))
        Conversation.objects.update(cursor_seq=1)
        answer = post("conversations/c1/extract")
        assert answer.json() == {"conversation": "c1", "due": False, "unread": 0}

    def test_read_only_is_refused(self, send: Send, post: Post) -> None:
        send(message(1), read_only=True)
        answer = post("conversations/c1/extract")
        assert answer.status_code == 409
        assert "read-only" in answer.json()["detail"]

    def test_a_strangers_conversation_looks_missing(
        self, send: Send, api: Callable[[IssuedKey], Client], bob_key: IssuedKey, alice: User
    ) -> None:
        send(message(1))
        other = api(ApiKeyFactory.create(agent=alice.agents.get(slug="work")))
        answers = [
            client.post(f"/api/v1/conversations/{name}/extract", content_type="application/json")
            for client in (api(bob_key), other)
            for name in ("c1", "missing")
        ]
        assert {answer.status_code for answer in answers} == {404}
        assert len({answer.content for answer in answers}) == 1


def _outcome(post: Post, slug: str = "main", **changes: Any) -> Answer:
    digest = {
        "id": "o1",
        "header": "Mission: mirror the archive",
        "discoveries": ["The mirror needs 4 GB.", "It lives in Oslo."],
        "sent_at": "2026-03-02T09:00:00Z",
    }
    return post(f"agents/{slug}/outcomes", **(digest | changes))


class TestOutcomes:
    def test_a_digest_is_a_conversation_of_its_own_and_due(
        self,
        post: Post,
        agent: Agent,
        hinted: list[str],
        django_capture_on_commit_callbacks: Callable[..., Any],
    ) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            answer = _outcome(post)
        assert answer.json()["new"] == 1
        conversation = Conversation.objects.get()
        assert (conversation.agent, conversation.source) == (agent, "outcome")
        assert (conversation.title, conversation.due_trigger) == (
            "Mission: mirror the archive",
            Trigger.OUTCOME,
        )
        digest = conversation.messages.get()
        assert (digest.kind, digest.role, digest.from_owner) == ("outcome", "tool", False)
        assert digest.content == (
            "Mission: mirror the archive\n\n- The mirror needs 4 GB.\n- It lives in Oslo."
        )
        assert hinted == [str(conversation.pk)]

    def test_twice_is_once(self, post: Post) -> None:
        _outcome(post)
        assert (_outcome(post).json()["new"], _outcome(post).json()["known"]) == (0, 1)
        assert _outcome(post, discoveries=["Something else."]).status_code == 409

    def test_discoveries_may_be_one_text(self, post: Post) -> None:
        _outcome(post, discoveries="It needs 4 GB.")
        assert Message.objects.get().content.endswith("archive\n\nIt needs 4 GB.")

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"discoveries": []}, "discoveries"),
            ({"discoveries": ["\x00"]}, "discoveries"),
            ({"header": ""}, "header"),
            ({"sent_at": "2026-03-02"}, "sent_at"),
            ({"id": "x" * 121}, "id"),
        ],
    )
    def test_bad_digests(self, post: Post, change: dict[str, Any], field: str) -> None:
        answer = _outcome(post, **change)
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith(field)
        assert not Message.objects.exists()

    def test_for_another_agent_it_is_a_404(self, post: Post) -> None:
        assert _outcome(post, slug="work").status_code == 404


def test_a_broken_broker_fails_no_request(
    send: Send,
    post: Post,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., Any],
    caplog: pytest.LogCaptureFixture,
) -> None:
    nowhere = Celery("nowhere", broker="redis://127.0.0.1:1/0", set_as_current=False)
    monkeypatch.setattr(current_app, "connection_for_write", nowhere.connection_for_write)
    send(message(1))
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        assert post("conversations/c1/extract").status_code == 202
    assert len(callbacks) == 1
    assert Conversation.objects.get().due_trigger == Trigger.REQUEST
    assert "the sweep will" in caplog.text


def test_asking_again_gives_a_stuck_conversation_its_attempts_back(send: Send, post: Post) -> None:
    send(message(1))
    Conversation.objects.update(attempts=5, stuck_at=timezone.now())
    post("conversations/c1/extract")
    conversation = Conversation.objects.get()
    assert (conversation.attempts, conversation.stuck_at) == (0, None)
    assert conversation.due_trigger == Trigger.REQUEST


class TestExclude:
    def test_what_is_unread_stays_so_for_good(self, send: Send, post: Post) -> None:
        send(message(1))
        post("conversations/c1/extract")
        answer = post("conversations/c1/exclude")
        assert answer.json() == {"conversation": "c1", "excluded": True, "passed_over": 1}
        send(message(2))
        conversation = Conversation.objects.get()
        assert (conversation.read_only, conversation.due_trigger) == (True, "")
        assert (conversation.last_seq, conversation.cursor_seq) == (2, 0)
        assert post("conversations/c1/exclude").json()["passed_over"] == 2
        assert post("conversations/c1/extract").status_code == 409

    def test_what_is_being_read_just_now_is_not_applied(self, send: Send, post: Post) -> None:
        from memory.extraction.windows import next_window, still_stands

        send(message(1))
        window = next_window(Conversation.objects.get())
        assert window is not None
        assert still_stands(window)
        post("conversations/c1/exclude")
        assert not still_stands(window)
        assert next_window(Conversation.objects.get()) is None

    def test_a_client_that_still_means_it_to_be_learned_from_is_told(
        self, send: Send, post: Post
    ) -> None:
        send(message(1))
        post("conversations/c1/exclude")
        assert send(message(2), read_only=False).status_code == 409
        assert send(message(2)).status_code == 200

    def test_there_must_be_one(self, post: Post) -> None:
        assert post("conversations/nowhere/exclude").status_code == 404
