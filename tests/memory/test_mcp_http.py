"""What `/mcp` takes and refuses before the protocol begins."""

import json
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent, User
from memory.mcp.http import LARGEST
from tests.factories import AgentFactory, ApiKeyFactory, IssuedKey

pytestmark = pytest.mark.django_db
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
BOTH = "application/json, text/event-stream"


@pytest.fixture
def agent() -> Agent:
    return AgentFactory.create()


@pytest.fixture
def key(agent: Agent) -> IssuedKey:
    return ApiKeyFactory.create(agent=agent, scopes=["recall"])


def send(key: str | None, body: Any = PING, client: Client | None = None, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    bearer = {"Authorization": f"Bearer {key}"} if key is not None else {}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return (client or Client()).generic(
        "POST",
        "/mcp",
        content,
        content_type=named.pop("type", "application/json"),
        headers={"Accept": BOTH, **bearer, **named},
    )


def test_a_request_gets_one_json_document_and_no_cookie(key: IssuedKey) -> None:
    answer = send(key.plaintext)
    assert (answer.status_code, answer.json()["result"]) == (200, {})
    assert answer["Content-Type"] == "application/json"
    assert not answer.cookies
    assert "Mcp-Session-Id" not in answer


def test_a_notification_is_taken(key: IssuedKey) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = send(key.plaintext, note)
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS"])
def test_there_is_no_stream_and_no_session(key: IssuedKey, method: str) -> None:
    headers = {"Authorization": f"Bearer {key.plaintext}", "Accept": BOTH}
    answer = Client().generic(method, "/mcp", headers=headers)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")


def test_only_a_key_opens_it(key: IssuedKey, agent: Agent) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(pk=agent.owner_id))
    for token in (None, "", "rmb_nonsense", key.plaintext[:-1]):
        answer = send(token, client=browser)
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
        assert "valid key" in answer.json()["error"]["message"]
    assert send(None, Authorization=f"Basic {key.plaintext}").status_code == 401
    assert send(key.plaintext, client=browser).status_code == 200


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://localhost", 200),
        ("https://trusted.example", 200),
        ("http://evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("http://localhost:3000", 403),
        ("null", 403),
        ("http://[", 403),
    ],
)
def test_pages_of_other_sites_stay_out(
    key: IssuedKey, settings: Any, origin: str, status: int
) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://trusted.example"]
    assert send(key.plaintext, Host="localhost", Origin=origin).status_code == status


def test_a_name_that_was_rebound_to_us_is_no_host_of_ours(key: IssuedKey) -> None:
    assert send(key.plaintext, Host="rebound.example").status_code == 400


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b'{"jsonrpc": "2.0"}', 400),
        (json.dumps([PING, PING]).encode(), 400),
        (b'"' + b"x" * LARGEST + b'"', 413),
    ],
)
def test_broken_and_oversized_bodies_are_refused(key: IssuedKey, body: bytes, status: int) -> None:
    assert send(key.plaintext, body).status_code == status


def test_what_is_not_json_is_refused(key: IssuedKey) -> None:
    assert send(key.plaintext, type="text/plain").status_code in {400, 415}
    assert send(key.plaintext, Accept="text/html").status_code == 406
    assert send(key.plaintext, Accept="application/json").status_code == 200
