"""What every operation refuses before it does anything: a body of another kind, a field in the
address that it does not know, and more than it takes."""

from io import BytesIO
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from agents.models import Agent, OwnerSettings, StoredReply, User
from config.api import api
from config.openapi import operations
from config.problems import BROKEN_OFF
from config.strictness import fields_of
from knowledge.models import Document
from memory.models import Fact
from tests.isolation.test_api import key_of
from tests.knowledge.shelves import shelf

pytestmark = pytest.mark.django_db
ROW = "0190c0de-0000-7000-8000-000000000000"


@pytest.fixture
def client(alice: User) -> Client:
    return Client(headers={"authorization": f"Bearer {key_of(alice).plaintext}"})


def url_of(operation: Any) -> str:
    import re

    return "/api/v1" + re.sub(r"\{[^}]*\}", ROW, operation.path)


def takes_json(operation: Any) -> bool:
    return any(model.__ninja_param_source__ == "body" for model in operation.models)


def test_a_body_of_another_type_is_refused_everywhere(client: Client) -> None:
    asked = 0
    for one in filter(takes_json, operations(api)):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            asked += 1
            answer = client.generic(one.methods[0], url_of(one), b"{}", content_type=kind)
            told = answer.json()
            assert (answer.status_code, told["code"]) == (415, "wrong_type"), one.operation_id
            assert "application/json" in told["detail"]
            assert answer["Content-Type"] == "application/problem+json"
    assert asked > 60


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "APPLICATION/JSON", ""])
def test_json_under_any_of_its_names_is_read(client: Client, kind: str) -> None:
    answer = client.generic("POST", "/api/v1/purge", b"{}", content_type=kind)
    assert answer.json()["detail"] == "Say what: nothing was chosen."


def test_a_form_is_no_file(client: Client) -> None:
    """Its first lines would be taken for what is remembered."""
    answer = client.post("/api/v1/import?format=bullets", {"file": "- The user has a kiln."})
    assert (answer.status_code, answer.json()["code"]) == (415, "wrong_type")


def test_a_field_that_an_address_does_not_know_is_refused_everywhere(client: Client) -> None:
    for one in operations(api):
        body = b"{}" if takes_json(one) else b""
        url = f"{url_of(one)}?stat=active"
        answer = client.generic(one.methods[0], url, body, content_type="application/json")
        assert answer.status_code in {404, 422}, one.operation_id
        keyless = Client().generic(one.methods[0], url, body, content_type="application/json")
        assert keyless.status_code == 401, one.operation_id


@pytest.mark.parametrize("path", ["stats", "facts", "agents", "profile", "settings"])
def test_the_refusal_names_the_field(client: Client, path: str) -> None:
    asked = {"agnt": "work"} | ({"agent": "main"} if path == "profile" else {})
    answer = client.get(f"/api/v1/{path}", asked)
    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"at": "agnt", "message": "There is no such field."}]


def test_what_it_knows_it_takes(client: Client) -> None:
    names = {one.operation_id: fields_of(one) for one in operations(api)}
    assert names["stats"] == {"agent"}
    assert {"agent", "after", "limit", "text"} < names["list_facts"]
    assert names["recall"] == set()
    assert client.get("/api/v1/facts?limit=1&text=tea").status_code == 200


def test_a_refused_field_leaves_no_stored_answer(client: Client) -> None:
    headers = {"Idempotency-Key": "one"}
    body = '{"name": "Garden"}'
    answer = client.post(
        "/api/v1/agents?x=1", body, content_type="application/json", headers=headers
    )
    assert answer.status_code == 422
    assert not StoredReply.objects.exists()


PLACES = (
    "/api/v1/knowledge/collections/{}/files?name=a.txt",
    "/api/v1/import?format=bullets",
)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_a_client_that_hangs_up_has_sent_nothing(
    client: Client, alice: User, place: str, named: bool
) -> None:
    """The web server ends half a body as it ends a whole one."""
    agent = Agent.objects.get(owner=alice, is_default=True)
    path = f"{place.format(shelf(alice).pk)}&agent={agent.slug}"
    body = b"- The user has a kiln.\n- The user has a wheel.\n"
    name = {"idempotency-key": "one"} if named else {}

    def send(length: int) -> Any:
        cut: dict[str, Any] = {"CONTENT_LENGTH": str(length), "wsgi.input": BytesIO(body)}
        return client.generic("POST", path, headers=name, **cut)

    broken = send(len(body) + 1)
    assert (broken.status_code, broken.json()["code"]) == (400, "broken_off")
    assert not Document.objects.exists()
    assert not Fact.objects.exists()
    assert send(len(body)).status_code in (200, 202)
    assert Document.objects.exists() or Fact.objects.exists()


def test_a_body_without_its_length_is_told_to_have_one(client: Client, alice: User) -> None:
    """As `curl -T -` sends it; the web server hands none of it on."""
    path = PLACES[0].format(shelf(alice).pk)
    answer = client.generic("POST", path, headers={"transfer-encoding": "chunked"})
    assert (answer.status_code, answer.json()["code"]) == (411, "length_required")
    assert "Content-Length" in answer.json()["detail"]
    page = client.generic("POST", reverse("login"), headers={"transfer-encoding": "chunked"})
    assert page.status_code == 411


@pytest.mark.parametrize(("path", "shape"), [("/v1/chat/completions", "code"), ("/mcp", "message")])
def test_each_client_is_told_of_a_missing_length_in_its_shape(
    client: Client, path: str, shape: str
) -> None:
    answer = client.generic("POST", path, headers={"transfer-encoding": "chunked"})
    assert answer.status_code == 411
    assert shape in answer.json()["error"]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/mcp"])
def test_what_breaks_off_on_its_way_to_an_assistant_is_told_in_its_shape(
    client: Client, settings: Settings, path: str
) -> None:
    settings.UPSTREAM = {**settings.UPSTREAM, "base_url": "http://127.0.0.1:9/v1"}
    cut: dict[str, Any] = {"CONTENT_LENGTH": "100", "wsgi.input": BytesIO(b"{")}
    answer = client.generic("POST", path, content_type="application/json", **cut)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == BROKEN_OFF


@pytest.mark.parametrize("place", ["field", "header"])
def test_a_form_that_breaks_off_is_not_taken_for_one_without_its_fields(
    alice: User, place: str
) -> None:
    """Django looks into it for the token, and goes on with an empty one where it can't be read."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    page = browser.get(reverse("settings"))
    token = page.context["csrf_token"]
    seen = OwnerSettings.objects.values().get(owner=alice)
    fields = {"memory": "on", "time_zone": "Asia/Tokyo", "pad": "x" * 100}
    fields |= {"csrfmiddlewaretoken": str(token)} if place == "field" else {}
    body = urlencode(fields).encode()
    headers = {"x-csrftoken": str(token)} if place == "header" else {}

    def send(content: bytes) -> Any:
        sent: dict[str, Any] = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(content)}
        sent["CONTENT_TYPE"] = "application/x-www-form-urlencoded"
        return browser.generic("POST", reverse("preferences"), headers=headers, **sent)

    broken = send(body[:-10])
    assert (broken.status_code, broken.content.decode()) == (400, BROKEN_OFF)
    assert OwnerSettings.objects.values().get(owner=alice) == seen
    assert send(body).status_code in (200, 302)
    assert OwnerSettings.objects.get(owner=alice).time_zone == "Asia/Tokyo"


class Endless:
    """A body that claims to be huge, and must not be read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("it was read")

    readline = read


@pytest.mark.parametrize(
    ("path", "largest"),
    [
        ("/accounts/login", 10_000_000),
        ("/api/v1/recall", 10_000_000),
        ("/api/v1/import", 200_000_000),
        ("/nowhere", 10_000_000),
    ],
)
def test_more_than_an_address_takes_is_refused_unread(
    client: Client, path: str, largest: int
) -> None:
    path = reverse("login") if path == "/accounts/login" else path
    claimed: dict[str, Any] = {"CONTENT_LENGTH": str(largest + 1), "wsgi.input": Endless()}
    kind = "multipart/form-data; boundary=x"
    answer = client.generic("POST", path, content_type=kind, **claimed)
    assert answer.status_code == 413
    if path.startswith("/api/"):
        assert answer.json()["code"] == "too_large"
