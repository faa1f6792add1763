"""What the pages of imports say each kind of import brought."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from agents import audit
from agents.models import Agent, User
from conversations.models import Import
from memory.rules import imports as rules
from memory.transfer.export import export
from tests.factories import ApiKeyFactory, FactFactory

pytestmark = pytest.mark.django_db
BULLETS = b"- The user has a kiln.\n- The user has a wheel.\n"


@pytest.fixture
def desk(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def brought(desk: Client, path: str, content: bytes, owner: User) -> None:
    key = ApiKeyFactory.create(owner=owner, agent=None, scopes=["review"]).plaintext
    answer = desk.generic("POST", path, content, headers={"authorization": f"Bearer {key}"})
    assert answer.status_code == 200


def talk(*texts: str) -> bytes:
    time = "2026-03-02T09:00:00+02:00"
    rows = [
        {"id": str(number), "role": "user", "content": text, "sent_at": time}
        for number, text in enumerate(texts)
    ]
    return json.dumps({"id": "trip", "title": "The trip", "messages": rows}).encode()


def send(desk: Client, content: bytes, agent: Agent) -> str:
    data: dict[str, Any] = {
        "file": SimpleUploadedFile("talk.jsonl", content),
        "agent": str(agent.pk),
    }
    return words(desk.post(reverse("import-new"), data, follow=True))


def send_as(owner: User, content: bytes, agent: Agent) -> None:
    other = Client()
    other.force_login(owner)
    send(other, content, agent)


def words(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def listed(desk: Client) -> str:
    return words(desk.get(reverse("imports")))


def page(desk: Client) -> str:
    return words(desk.get(reverse("import", args=[Import.objects.latest("started_at").pk])))


def test_a_list_is_told_by_its_facts(desk: Client, alice: User) -> None:
    path = "/api/v1/import?format=bullets&agent=main"
    brought(desk, path, BULLETS, alice)
    assert "<li>2 facts</li>" in listed(desk)
    assert "new conversation" not in listed(desk)
    assert "<dt>New</dt> <dd> 2 facts </dd>" in page(desk)
    assert "Left out" not in page(desk)
    assert "Conversations it brought" not in page(desk)
    brought(desk, path, BULLETS + b"- The user has a loom.\n", alice)
    assert "<li>1 fact</li>" in listed(desk)
    assert "<dt>Left out</dt> <dd> here already: 2 </dd>" in page(desk)


@pytest.mark.parametrize("approve", ["false", "true"])
def test_a_memory_file_is_told_by_what_was_new(
    desk: Client, alice: User, bob: User, approve: str
) -> None:
    main = Agent.objects.get(owner=bob, is_default=True)
    FactFactory.create(owner=bob, agent=main, statement="The user has a kiln.")
    send_as(bob, talk("I moved to Oslo."), main)
    lines = "".join(export(owner=bob, agent=None, conversations=True))
    desk.force_login(alice)
    brought(desk, f"/api/v1/import?approve={approve}", lines.encode(), alice)
    told = "1 fact, 1 conversation, 1 message" if approve == "true" else "1 fact"
    assert f"<dt>New</dt> <dd> {told} </dd>" in page(desk)
    assert f"<li>{told}</li>" in listed(desk)
    assert ("Conversations it brought" in page(desk)) is (approve == "true")


def test_rules_are_told_as_rules(desk: Client, alice: User) -> None:
    texts = ["Answer in English.", "Answer in English.", "Use metric units."]
    rules.bring_in(
        owner=alice, agent=None, name="CLAUDE.md", texts=texts, actor=audit.person(alice)
    )
    assert "<li>2 rules</li>" in listed(desk)
    assert "<dt>New</dt> <dd> 2 rules </dd>" in page(desk)
    assert "<dt>Left out</dt> <dd> 1 rule </dd>" in page(desk)
    assert "Conversations it brought" not in page(desk)


def test_conversations_are_told_in_words_without_what_is_none(desk: Client, agent: Agent) -> None:
    send(desk, talk("I moved to Oslo."), agent)
    assert "<li>1 new conversation</li>" in listed(desk)
    assert "<dt>New</dt> <dd> 1 conversation, 1 message </dd>" in page(desk)
    assert "Conversations it brought" in page(desk)
    for none in ("On other", "Known", "Continued", "Unchanged", "Left out", "Adjusted"):
        assert f"<dt>{none}" not in page(desk)
    send(desk, talk("I moved to Oslo.", "In May.") + b"\n{broken\n", agent)
    said = page(desk)
    assert "<dt>New</dt> <dd> 1 message </dd>" in said
    assert "<dt>Continued</dt> <dd> 1 conversation </dd>" in said
    assert "<dt>Known already</dt> <dd> 1 message </dd>" in said
    assert "broken or refused: 1" in said


def test_an_import_that_never_ended_is_told_by_its_conversations(desk: Client, alice: User) -> None:
    with audit.acting(audit.person(alice), "test"):
        Import.objects.create(owner=alice, format="chatgpt", file_name="export.zip")
    assert "<li>0 new conversations</li>" in listed(desk)
    assert "<dt>New</dt>" not in page(desk)
