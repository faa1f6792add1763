"""An export that is brought in through the page."""

import io
import json
import tempfile
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from agents.audit import acting, person
from agents.models import Agent, OwnerSettings, User
from config.sizes import largest
from conversations.importers.upload import LARGEST
from conversations.models import Conversation, Import, Message
from tests.factories import AgentFactory

pytestmark = pytest.mark.django_db

SAID = "I moved to Oslo in May."


@pytest.fixture
def desk(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def talk(*speakers: str) -> bytes:
    rows = [
        {
            "id": str(number),
            "role": "user",
            "content": f"{SAID} {number}",
            "sent_at": "2026-03-02T09:00:00+02:00",
        }
        | ({"speaker": speaker} if speaker else {})
        for number, speaker in enumerate(speakers or ("",))
    ]
    return json.dumps({"id": "trip", "title": "The trip", "messages": rows}).encode()


def send(desk: Client, content: bytes, agent: Agent, name: str = "talk.jsonl", **more: Any) -> Any:
    data = {"file": SimpleUploadedFile(name, content), "agent": str(agent.pk), **more}
    return desk.post(reverse("import-new"), data, follow=True)


def test_a_file_and_the_same_in_an_archive_come_in_once(
    desk: Client, alice: User, agent: Agent, folder: Path
) -> None:
    assert 'enctype="multipart/form-data"' in desk.get(reverse("imports")).content.decode()
    page = send(desk, talk(), agent, sensitive="on").content.decode()
    assert "1 new message in 1 conversation" in page
    assert "talk.jsonl" in page
    conversation = Conversation.objects.get()
    assert (conversation.owner, conversation.agent, conversation.sensitive) == (alice, agent, True)
    assert conversation.imported_by is not None
    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr("inner/talk.jsonl", talk())
    page = send(desk, packed.getvalue(), agent, "talk.zip", sensitive="on").content.decode()
    assert "Nothing in it is new" in page
    assert Message.objects.count() == 1
    assert list(folder.iterdir()) == []


def test_what_holds_no_message_is_not_called_known(desk: Client, agent: Agent) -> None:
    talk = {"uuid": "1", "name": "", "created_at": "2026-03-02T09:00:00Z", "chat_messages": []}
    page = send(desk, json.dumps([talk]).encode(), agent, "conversations.json").content.decode()
    assert "No message was found in it." in page
    assert "Nothing in it is new" not in page


def test_what_is_refused_is_not_said_to_hold_no_message(
    desk: Client, alice: User, agent: Agent
) -> None:
    send(desk, talk(), agent)
    page = send(desk, talk(), AgentFactory.create(owner=alice)).content.decode()
    assert "belongs to another agent" in page
    assert "Nothing of it came in." in page
    assert "No message was found in it." not in page
    assert "Nothing in it is new" not in page


def test_rules_from_a_file_are_counted_as_rules(desk: Client, alice: User, agent: Agent) -> None:
    with acting(person(alice), "test"):
        Import.objects.create(
            owner=alice,
            format="rules",
            file_name="CLAUDE.md",
            counts={"rules": 3, "left_out": 0},
        )
    send(desk, talk(), agent)
    page = " ".join(desk.get(reverse("imports")).content.decode().split())
    assert "3 rules" in page
    assert "1 new conversation" in page
    assert "0 new conversations" not in page


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b'{"what": "else"}', "other.json", "no format that I know, of which there are: "),
        (b"PK\x03\x04 broken", "export.zip", "export.zip is a damaged ZIP archive"),
        (talk("Ann", "Ben"), "group.jsonl", "Say which of them you are: Ann, Ben."),
        (b"", "empty.json", "empty"),
    ],
)
def test_what_cannot_come_in_is_said_on_the_page(
    desk: Client, agent: Agent, folder: Path, content: bytes, name: str, said: str
) -> None:
    answer = send(desk, content, agent, name)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert str(folder) not in answer.content.decode()
    assert not Message.objects.exists()
    assert list(folder.iterdir()) == []


def test_a_name_says_who_of_several_is_the_owner(desk: Client, agent: Agent) -> None:
    page = send(desk, talk("Ann", "Ben"), agent, me="Zoe").content.decode()
    assert "Nobody in it is called “Zoe”. There is: Ann, Ben." in page
    send(desk, talk("Ann", "Ben"), agent, me="ben")
    assert set(Message.objects.filter(from_owner=True).values_list("speaker", flat=True)) == {"Ben"}


def test_what_is_broken_in_it_is_named_and_the_rest_comes_in(desk: Client, agent: Agent) -> None:
    page = send(desk, talk() + b"\n{broken <b>\n", agent).content.decode()
    assert "1 new message" in page
    assert "Could not be read: talk.jsonl, line 2" in page


def test_while_memory_is_off_nothing_comes_in(desk: Client, alice: User, agent: Agent) -> None:
    OwnerSettings.objects.filter(owner=alice).update(memory_enabled=False)
    answer = send(desk, talk(), agent)
    assert answer.status_code == 422
    assert "Memory is off" in answer.content.decode()
    assert not Message.objects.exists()
    assert not Import.objects.exists()


def test_it_is_nobody_elses_and_for_nobody_elses_assistant(
    desk: Client, agent: Agent, bob: User
) -> None:
    theirs = AgentFactory.create(owner=bob)
    assert send(desk, talk(), theirs).status_code == 422
    assert not Message.objects.exists()
    send(desk, talk(), agent)
    desk.force_login(bob)
    assert "talk.jsonl" not in desk.get(reverse("imports")).content.decode()


def test_a_stranger_sends_nothing_and_a_large_one_is_refused_unread(
    client: Client, alice: User, agent: Agent
) -> None:
    answer = send(client, talk(), agent)
    assert "Sign in" in answer.content.decode()
    assert not Message.objects.exists()
    assert largest(reverse("import-new")) == LARGEST
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    assert send(strict, talk(), agent).status_code == 403
    assert not Message.objects.exists()
