"""Each bad input is answered with one clear 4xx, and nothing of its batch is stored."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from agents.models import User
from conversations.models import Conversation, Message
from tests.conversations.conftest import Answer, Send, message
from tests.factories import ApiKeyFactory, IssuedKey

pytestmark = pytest.mark.django_db

URL = "/api/v1/conversations/c1/messages"


def _is_problem(answer: Answer, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    problem: dict[str, Any] = json.loads(answer.content)
    assert problem["status"] == status
    assert problem["title"]
    assert problem["code"]
    assert not Message.objects.filter(client_id__in=["good", "bad"]).exists()
    assert not Conversation.objects.exists()
    return problem


BAD_FIELDS: list[tuple[dict[str, Any], str, str]] = [
    ({"role": "robot"}, "role", "'user', 'assistant', 'system' or 'tool'"),
    ({"role": None}, "role", "'user'"),
    ({"sent_at": "2026-03-02T09:00:00"}, "sent_at", "timezone"),
    ({"sent_at": "2026-03-02"}, "sent_at", "timezone"),
    ({"sent_at": "yesterday"}, "sent_at", "with its offset"),
    ({"sent_at": "2026-13-02T09:00:00Z"}, "sent_at", "month"),
    ({"sent_at": 1772440000}, "sent_at", "with its offset"),
    ({"sent_at": "1772440000"}, "sent_at", "with its offset"),
    ({"sent_at": None}, "sent_at", "with its offset"),
    ({"sent_at": "0001-01-01T00:00:00+14:00"}, "sent_at", "before 1970"),
    ({"sent_at": (datetime.now(UTC) + timedelta(hours=2)).isoformat()}, "sent_at", "future"),
    ({"zone": "Mars/Olympus"}, "zone", "IANA"),
    ({"zone": "+25:00"}, "zone", "IANA"),
    ({"zone": "../../etc/passwd"}, "zone", "IANA"),
    ({"content": "x" * 1_000_000}, "content", "1 MB"),
    ({"content": "語" * 340_000}, "content", "1 MB"),
    ({"content": "a\x00b"}, "content", "NUL"),
    ({"content": "a\ud800b"}, "content", "surrogate"),
    ({"content": 7}, "content", "string"),
    ({"content": None}, "content", "string"),
    ({"id": ""}, "id", "at least 1"),
    ({"id": "x" * 201}, "id", "at most 200"),
    ({"id": 17}, "id", "string"),
    ({"id": "a\x00"}, "id", "NUL"),
    ({"speaker": "x" * 121}, "speaker", "at most 120"),
    ({"speaker": "\udfff"}, "speaker", "surrogate"),
    ({"parent": "nobody"}, "parent", "names no message"),
    ({"replaces": "nobody"}, "replaces", "names no message"),
    ({"replaces": "bad"}, "replaces", "names no message"),
    ({"parent": "good", "replaces": "good"}, "parent", "replaces"),
    ({"mood": "good"}, "mood", "not permitted"),
    ({"from_owner": "perhaps"}, "from_owner", "boolean"),
]


@pytest.mark.parametrize(("change", "field", "says"), BAD_FIELDS)
def test_it_names_the_message_and_the_field(
    send: Send, change: dict[str, Any], field: str, says: str
) -> None:
    answer = send(message(1, id="good"), message(2, id="bad") | change)
    problem = _is_problem(answer, 422)
    assert f"messages[1].{field}" in problem["detail"]
    assert says in problem["detail"]


def test_a_missing_field_is_named(send: Send) -> None:
    without = message(1)
    del without["sent_at"]
    assert "messages[0].sent_at" in _is_problem(send(without), 422)["detail"]


def test_only_users_can_be_the_owner(send: Send) -> None:
    answer = send(message(1, role="assistant", from_owner=True))
    problem = _is_problem(answer, 422)
    assert problem["detail"] == "messages[0]: only a message of role user can be from the owner"


def test_a_message_just_under_the_limit_is_kept(send: Send) -> None:
    assert send(message(1, content="x" * 999_999)).status_code == 200


def test_a_little_skew_is_forgiven(send: Send) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=10)
    assert send(message(1, sent_at=soon.isoformat())).status_code == 200


def test_an_empty_batch_is_refused(send: Send) -> None:
    assert "messages" in _is_problem(send(), 422)["detail"]


def test_a_batch_has_a_limit(send: Send) -> None:
    _is_problem(send(*(message(1, id=str(i)) for i in range(501))), 422)
    assert send(*(message(1, id=str(i)) for i in range(500))).status_code == 200


def test_one_id_with_two_texts_is_refused(send: Send) -> None:
    answer = send(message(1), message(2), message(3, id="m1"))
    assert _is_problem(answer, 422)["detail"].startswith("messages[2].id: comes twice")


def test_a_parent_must_come_first(send: Send) -> None:
    answer = send(message(1, parent="m2"), message(2))
    assert "messages[0].parent" in _is_problem(answer, 422)["detail"]


def test_problems_do_not_repeat_what_was_sent(send: Send) -> None:
    secret = "my password is hunter2"
    answer = send(message(1, content=secret, role=secret), message(2, content=secret + "\x00"))
    _is_problem(answer, 422)
    assert "hunter2" not in answer.content.decode()


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b'{"messages": [NaN', b"[" * 100_000],
    ids=["empty", "cut", "not utf-8", "cut number", "deep"],
)
def test_malformed_json_is_a_400(client_of_alice: Client, body: bytes) -> None:
    answer = client_of_alice.post(URL, body, content_type="application/json")
    _is_problem(answer, 422 if body == b"" else 400)


@pytest.mark.parametrize("body", [b"[]", b'"x"', b"null", b"7", b'{"messages": {}}', b"{}"])
def test_json_of_another_shape_is_a_422(client_of_alice: Client, body: bytes) -> None:
    _is_problem(client_of_alice.post(URL, body, content_type="application/json"), 422)


def test_raw_surrogates_in_the_body_are_refused(client_of_alice: Client) -> None:
    body = json.dumps({"messages": [message(1, content="#")]}).encode()
    answer = client_of_alice.post(
        URL, body.replace(b"#", b"\xed\xa0\x80"), content_type="application/json"
    )
    assert "messages[0].content" in _is_problem(answer, 422)["detail"]


def test_a_request_beyond_the_limit_is_a_413(client_of_alice: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    body = {"messages": [message(1, content="x" * 2000)]}
    answer = client_of_alice.post(URL, body, content_type="application/json")
    assert _is_problem(answer, 413)["code"] == "too_large"


@pytest.mark.parametrize(
    ("path", "status"),
    [("x" * 201, 422), ("%00", 422), ("a%00b", 422), ("x" * 200, 200), ("a%20b:c~d", 200)],
)
def test_conversation_ids(send: Send, path: str, status: int) -> None:
    assert send(message(1), to=path).status_code == status


@pytest.mark.parametrize("source", ["", "UPPER", "a" * 33, "a b", "a\x00", 3])
def test_bad_sources(send: Send, source: Any) -> None:
    assert "source" in _is_problem(send(message(1), source=source), 422)["detail"]


def test_nobody_may_pose_as_an_outcome(send: Send) -> None:
    assert "source" in _is_problem(send(message(1), source="outcome"), 422)["detail"]


class TestAgents:
    def test_a_bound_key_acts_for_no_other_agent(self, send: Send) -> None:
        for slug in ("work", "nobody"):
            assert _is_problem(send(message(1), agent=slug), 404)["code"] == "not_found"
        assert send(message(1), agent="main").status_code == 200

    def test_an_unbound_key_must_name_an_agent(
        self, api: Callable[[IssuedKey], Client], alice: User, bob: User
    ) -> None:
        client = api(ApiKeyFactory.create(owner=alice))

        def send(**batch: Any) -> Answer:
            body = {"messages": [message(1)], **batch}
            return client.post(URL, body, content_type="application/json")

        assert _is_problem(send(), 422)["code"] == "agent_unnamed"
        bob.agents.filter(slug="work").update(slug="bobs")
        strangers, missing = send(agent="bobs"), send(agent="missing")
        _is_problem(strangers, 404)
        assert strangers.content == missing.content
        assert send(agent="work").status_code == 200
