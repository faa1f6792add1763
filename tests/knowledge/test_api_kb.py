"""Collections, documents, search and pins over HTTP. Who may not is in tests/isolation."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from agents.models import Agent, ApiKey
from knowledge import storage
from knowledge.ingest import job
from knowledge.models import Collection, Document, DocumentFile, DocumentPassage, PinnedCollection
from tests.factories import ApiKeyFactory, ConversationFactory
from tests.knowledge.shelves import document, failed, shelf
from tests.memory.conftest import no_vectors
from tests.memory.recalling import model

__all__ = ["model", "no_vectors"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_vectors")]

KB = "/api/v1/knowledge"
KILN = "Fire the porcelain kiln slowly."
Call = Callable[..., Any]


def caller(agent: Agent | None, owner: Any, *scopes: str) -> Call:
    every = list(scopes) or list(ApiKey.Scope.values)
    key = ApiKeyFactory.create(owner=owner, agent=agent, scopes=every)
    client = Client(headers={"authorization": f"Bearer {key.plaintext}"})

    def call(method: str, path: str, body: Any = None, **headers: str) -> Any:
        content = body if isinstance(body, bytes) else json.dumps(body) if body is not None else ""
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        return client.generic(method, path, content, content_type=kind, headers=headers)

    return call


@pytest.fixture
def call(agent: Agent) -> Call:
    """By a key of that one agent, without review."""
    return caller(agent, agent.owner, "search", "ingest")


def test_a_link_can_be_opened_from_anywhere(call: Call, agent: Agent, settings: Settings) -> None:
    """Behind a proxy the address that was asked is not the one that people use."""
    settings.PUBLIC_URL = "https://memory.example"
    row = document(shelf(agent.owner), "Pottery", KILN)
    [found] = call("POST", f"{KB}/search", {"query": "porcelain kiln"}).json()["results"]
    assert found["link"] == f"https://memory.example/knowledge/documents/{row.pk}/?at=0#passage-0"
    everything = call("POST", "/api/v1/search", {"query": "porcelain kiln"}).json()["hits"]
    assert [hit["place"]["url"] for hit in everything] == [found["link"]]
    reading = call("GET", f"{KB}/passages/{found['passage']}?again=true").json()
    assert found["link"] in reading["text"]


def test_a_collection_is_made_changed_and_deleted(agent: Agent, call: Call) -> None:
    made = call("POST", f"{KB}/collections", {"name": " Manuals ", "description": "House"})
    assert made.status_code == 201
    told = made.json()
    assert (told["name"], told["agent"]) == ("Manuals", agent.slug)
    assert made["ETag"] == f'"{told["version"]}"'
    one = f"{KB}/collections/{told['id']}"
    assert call("GET", one).json() == told
    assert call("POST", f"{KB}/collections", {"name": "Manuals"}).status_code == 422
    stale = call("PATCH", one, {"name": "Books"}, **{"if-match": '"older"'})
    assert (stale.status_code, stale.json()["current"]["version"]) == (409, told["version"])
    changed = call("PATCH", one, {"name": "Books"}, **{"if-match": made["ETag"]}).json()
    assert (changed["name"], changed["description"]) == ("Books", "House")
    assert call("DELETE", one).status_code == 403
    assert Collection.objects.count() == 1
    owner = caller(None, agent.owner, "review", "search")
    assert owner("DELETE", one).status_code == 204
    assert owner("GET", one).status_code == 404
    assert not Collection.objects.exists()


def test_what_other_agents_read_is_not_for_a_key_of_one(agent: Agent, call: Call) -> None:
    everybody = shelf(agent.owner, "Everybody's")
    told = call("POST", f"{KB}/collections", {"name": "x", "everybody": True})
    assert (told.status_code, told.json()["code"]) == (403, "not_allowed")
    one = f"{KB}/collections/{everybody.pk}"
    assert call("GET", one).json()["agent"] is None
    for method, path, body in (
        ("PATCH", one, {"name": "y"}),
        ("POST", f"{one}/documents", {"title": "t", "text": "x"}),
        ("POST", f"{one}/files?name=a.txt", b"x"),
    ):
        assert call(method, path, body).status_code == 403
    assert not Document.objects.exists()
    owner = caller(None, agent.owner, "review", "ingest")
    assert owner("POST", f"{one}/documents", {"title": "t", "text": "x"}).status_code == 202
    both = owner("POST", f"{KB}/collections", {"name": "z", "everybody": True, "agent": agent.slug})
    assert both.status_code == 422


def test_pages_of_lists_hold_everything_once(agent: Agent, call: Call) -> None:
    own = shelf(agent.owner, "Own", agent)
    names = {document(own, f"d{number}", KILN).title for number in range(5)}
    failed(own, "broken")
    seen: list[str] = []
    after = ""
    while True:
        page = call("GET", f"{KB}/documents?limit=2&state=ready{after}").json()
        seen += [one["title"] for one in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert (len(seen), set(seen)) == (5, names)
    assert call("GET", f"{KB}/documents?after=nonsense").status_code == 422
    [broken] = call("GET", f"{KB}/documents?state=failed&collection={own.pk}").json()["items"]
    assert (broken["failure"], broken["failure_detail"]) == (
        "protected",
        "It is protected with a password.",
    )
    assert len(call("GET", f"{KB}/collections").json()["items"]) == 1


def test_a_file_is_taken_in_read_and_searched(agent: Agent, model: None) -> None:
    """All the way: the body as it is sent, the job, the answer."""
    own = shelf(agent.owner, "Own", agent)
    call = caller(agent, agent.owner, "search", "ingest")
    body = b"# Pottery\n\n## Porcelain\n\nFire the porcelain kiln slowly.\n"
    path = f"{KB}/collections/{own.pk}/files?name=..%2Fkiln.md"
    added = call("POST", path, body, **{"idempotency-key": "one"})
    assert added.status_code == 202
    told = added.json()
    assert (told["file_name"], told["state"], told["size"]) == ("kiln.md", "waiting", len(body))
    again = call("POST", path, body, **{"idempotency-key": "one"})
    assert (again.json(), again["Idempotent-Replayed"]) == (told, "true")
    twice = call("POST", path, body)
    assert (twice.status_code, twice.json()["id"]) == (200, told["id"])
    row = Document.objects.get()
    assert b"".join(storage.read_original(row)) == body
    job.work(row.pk)
    one = f"{KB}/documents/{row.pk}"
    assert call("GET", one).json()["state"] == "ready"
    assert "porcelain kiln" in call("GET", f"{one}/text").json()["text"]
    found = call("POST", f"{KB}/search", {"query": "how fast may I fire porcelain?"}).json()
    [result] = found["results"]
    assert result["path"][-2:] == ["Pottery", "Porcelain"]
    assert result["text"] in found["text"]
    assert result["cosine"] > 0.25


def test_a_document_is_read_anew_tried_again_and_deleted(agent: Agent, call: Call) -> None:
    own = shelf(agent.owner, "Own", agent)
    ready, broken = document(own, "Pottery", KILN), failed(own, "Broken")
    again = call("POST", f"{KB}/documents/{ready.pk}/reingest", {})
    assert (again.status_code, again.json()["state"]) == (202, "waiting")
    assert call("POST", f"{KB}/search", {"query": "porcelain kiln"}).json()["results"]
    retried = call("POST", f"{KB}/documents/{broken.pk}/retry", {}).json()
    assert (retried["state"], retried["failure"]) == ("waiting", None)
    assert call("DELETE", f"{KB}/documents/{ready.pk}").status_code == 403
    owner = caller(None, agent.owner)
    assert owner("DELETE", f"{KB}/documents/{ready.pk}").status_code == 204
    assert not DocumentPassage.objects.exists()
    assert not DocumentFile.objects.filter(document_id=ready.pk).exists()
    assert call("POST", f"{KB}/search", {"query": "porcelain kiln"}).json()["results"] == []


def test_bad_input_is_told(agent: Agent, call: Call, settings: Settings) -> None:
    settings.KNOWLEDGE_MAX_BYTES = 100
    own = shelf(agent.owner, "Own", agent)
    one = f"{KB}/collections/{own.pk}"
    for path, body, status, words in (
        ("documents", {"title": "t"}, 422, "either text or address"),
        ("documents", {"text": "t"}, 422, "needs a title"),
        ("documents", {"title": "t", "text": "t", "address": "https://x.example"}, 422, "either"),
        ("documents", {"title": "t", "text": " \n"}, 422, "no text"),
        ("documents", {"address": "ftp://x.example"}, 422, "http"),
        ("documents", {"address": "https://x.example", "outcome": True}, 422, "is a text"),
        ("files?name=a.txt", b"", 422, "nothing in it"),
        ("files", b"x", 422, "name"),
        ("files?name=a.txt", b"x" * 101, 413, ""),
    ):
        told = call("POST", f"{one}/{path}", body)
        assert told.status_code == status, (path, body, told.content)
        assert words in told.json()["detail"], (path, body)
    assert not Document.objects.exists()
    for asked in ({"query": ""}, {"query": "x", "k": 0}, {"query": "x", "k": 51}, {}):
        assert call("POST", f"{KB}/search", asked).status_code == 422


def test_reading_goes_on_and_the_text_comes_in_parts(agent: Agent, call: Call) -> None:
    row = document(shelf(agent.owner), "Pottery", KILN, "Then cool it.", "Then open it.")
    first = DocumentPassage.objects.get(text=KILN)
    on = call("GET", f"{KB}/passages/{first.pk}").json()
    assert (len(on["passages"]), on["after"]) == (2, None)
    assert "Then cool it." in on["text"]
    assert KILN not in on["text"]
    assert KILN in call("GET", f"{KB}/passages/{first.pk}?again=true").json()["text"]
    assert call("GET", f"{KB}/passages/{first.pk}?tokens=10").status_code == 422
    text = ""
    offset: int | None = 0
    while offset is not None:
        part = call("GET", f"{KB}/documents/{row.pk}/text?length=20&offset={offset}").json()
        text, offset = f"{text} {part['text']}", part["next"]
    assert "".join(text.split()) == "".join(f"{KILN} Then cool it. Then open it.".split())


def test_a_secret_is_taken_out_of_every_part(agent: Agent, call: Call) -> None:
    lines = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQ" for _ in range(6))
    key = f"-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----"
    text = f"Kiln door.\n\n{key}\n\nOpen it late. password: Zebrawood-77"
    row = document(shelf(agent.owner), "Notes", text)
    path = f"{KB}/documents/{row.pk}/text"
    for length in (1, 7, 200, 5000):
        told = ""
        offset: int | None = 0
        while offset is not None:
            part = call("GET", f"{path}?length={length}&offset={offset}").json()
            told, offset = f"{told}{part['text']}", part["next"]
        plain = "".join(told.replace("[redacted]", "").split())
        assert "Kilndoor." in plain
        assert "Openitlate." in plain
        assert "MII" not in plain
        assert "brawoo" not in plain


def test_what_an_assistant_worked_out_is_known_for_it(agent: Agent, call: Call) -> None:
    own = shelf(agent.owner, "Own", agent)
    path = f"{KB}/collections/{own.pk}/documents"
    told = call("POST", path, {"title": "Result", "text": KILN, "outcome": True})
    assert (told.status_code, told.json()["origin"]) == (202, "outcome")


def test_a_collection_is_pinned_once_and_taken_away(agent: Agent, call: Call) -> None:
    ConversationFactory.create(agent=agent, external_id="t1")
    papers = shelf(agent.owner)
    pins = "/api/v1/conversations/t1/collections"
    for _ in range(2):
        told = call("PUT", f"{pins}/{papers.pk}", {})
        assert [one["name"] for one in told.json()["items"]] == ["Papers"]
    assert PinnedCollection.objects.count() == 1
    assert call("GET", pins).json() == told.json()
    assert call("DELETE", f"{pins}/{papers.pk}").status_code == 204
    assert call("DELETE", f"{pins}/{papers.pk}").status_code == 404
    assert call("GET", pins).json()["items"] == []
