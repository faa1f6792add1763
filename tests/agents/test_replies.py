"""A call with an Idempotency-Key is done once, however often it is sent."""

import gc
import json
import threading
import warnings
from collections.abc import Callable
from datetime import timedelta
from io import BytesIO
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client, RequestFactory
from django.utils import timezone

from agents import replies
from agents.audit import person
from agents.models import Agent, ApiKey, OwnerSettings, StoredReply, User
from conversations.models import Message
from memory.purge.execute import purge
from memory.purge.selection import Selection
from tests.factories import ApiKeyFactory, FactFactory, IssuedKey

pytestmark = pytest.mark.django_db
TALK = "/api/v1/conversations/trip/messages"
NAME = {"Idempotency-Key": "one"}


def batch(text: str = "I moved to Oslo.", name: str = "1") -> dict[str, Any]:
    sent_at = "2026-03-02T09:00:00+01:00"
    return {"messages": [{"id": name, "role": "user", "content": text, "sent_at": sent_at}]}


def post(client: Client, body: Any, headers: dict[str, str] = NAME, path: str = TALK) -> Any:
    return client.post(path, json.dumps(body), content_type="application/json", headers=headers)


@pytest.fixture
def client(api: Callable[[IssuedKey], Client], alice_key: IssuedKey) -> Client:
    return api(alice_key)


def test_the_same_call_is_answered_as_before_and_not_done_again(client: Client) -> None:
    first, second = post(client, batch()), post(client, batch())
    assert (first.status_code, first.json()["new"]) == (200, 1)
    assert (second.status_code, second.content) == (200, first.content)
    assert second["Content-Type"] == first["Content-Type"]
    assert (first.get("Idempotent-Replayed"), second["Idempotent-Replayed"]) == (None, "true")
    # Without the header the call is done, and says that the message is known.
    assert post(client, batch(), headers={}).json() == first.json() | {"new": 0, "known": 1}


@pytest.mark.parametrize("change", ["body", "address", "query", "version"])
def test_another_call_under_the_same_name_is_refused(client: Client, change: str) -> None:
    assert post(client, batch()).status_code == 200
    path = {"address": TALK.replace("trip", "other"), "query": f"{TALK}?x=1"}.get(change, TALK)
    headers = NAME | ({"If-Match": '"a"'} if change == "version" else {})
    body = batch("No." if change == "body" else "I moved to Oslo.")
    answer = post(client, body, headers=headers, path=path)
    assert (answer.status_code, answer.json()["code"]) == (422, "other_call")
    assert Message.objects.count() == 1


def test_of_a_file_that_fits_in_no_memory_every_byte_counts(
    alice: User, api: Callable[[IssuedKey], Client], settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    client = api(ApiKeyFactory.create(owner=alice, agent=None, scopes=["review"]))

    def bring(thing: str) -> Any:
        body = f"- The user has a {thing}.\n" * 20
        path = "/api/v1/import?format=bullets&agent=main"
        return client.post(path, body, content_type="text/markdown", headers=NAME)

    first = bring("kiln")
    assert (first.status_code, first.json()["new"]) == (200, {"facts": 1})
    assert bring("kiln")["Idempotent-Replayed"] == "true"
    other = bring("loom")
    assert (other.status_code, other.json()["code"]) == (422, "other_call")


def test_a_large_body_that_breaks_off_leaves_no_file_open(
    alice: User, api: Callable[[IssuedKey], Client], settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    client = api(ApiKeyFactory.create(owner=alice, agent=None, scopes=["review"]))
    body = b"- The user has a kiln.\n" * 20
    path = "/api/v1/import?format=bullets&agent=main"

    def send(length: int) -> Any:
        sent: dict[str, Any] = {"CONTENT_LENGTH": str(length), "wsgi.input": BytesIO(body)}
        return client.generic("POST", path, headers=NAME, **sent)

    gc.collect()
    with warnings.catch_warnings(record=True) as left_open:
        warnings.simplefilter("always", ResourceWarning)
        assert send(len(body) + 1).json()["code"] == "broken_off"
        gc.collect()
    assert not left_open
    assert send(len(body)).status_code == 200


def test_names_are_each_keys_own(
    client: Client, api: Callable[[IssuedKey], Client], bob_key: IssuedKey
) -> None:
    assert post(client, batch()).status_code == 200
    his = post(api(bob_key), batch("I moved to Bergen."))
    assert (his.status_code, his.json()["new"]) == (200, 1)


def test_a_refused_call_may_be_corrected_under_its_name(client: Client) -> None:
    assert post(client, batch("a\0b")).status_code == 422
    assert not StoredReply.objects.exists()
    assert post(client, batch()).status_code == 200


@pytest.mark.parametrize("name", ["", "x" * 256, "Ø", "a\tb"])
def test_a_name_that_is_none_is_refused(client: Client, name: str) -> None:
    answer = post(client, batch(), headers={"Idempotency-Key": name})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert not Message.objects.exists()


def test_what_dies_under_way_is_done_by_the_next(client: Client, alice_key: IssuedKey) -> None:
    """Its claim is there, but nobody holds its lock any more."""
    body = json.dumps(batch())
    request = RequestFactory(headers=NAME).post(TALK, body, content_type="application/json")
    replies.claim(request, ApiKey.objects.get(pk=alice_key.pk))
    replies._unlock(StoredReply.objects.get().pk)
    assert post(client, batch()).json()["new"] == 1


def test_secrets_are_never_stored(alice: User, api: Callable[[IssuedKey], Client]) -> None:
    client = api(ApiKeyFactory.create(owner=alice, agent=None, scopes=["admin", "recall"]))
    wanted = {"name": "Laptop", "scopes": ["recall"]}
    made = post(client, wanted, path="/api/v1/keys")
    assert made.status_code == 201
    reply = StoredReply.objects.get()
    assert (reply.status, reply.kept, reply.body) == (201, False, "")
    again = post(client, wanted, path="/api/v1/keys")
    assert (again.status_code, again.json()["code"]) == (409, "reply_gone")
    assert ApiKey.objects.filter(name="Laptop").count() == 1


def test_a_purge_reaches_the_stored_answers(client: Client, alice: User, bob: User) -> None:
    fact = FactFactory.create(owner=alice)
    post(client, batch())
    his = StoredReply.objects.create(
        owner=bob, client=ApiKeyFactory.create(owner=bob), status=200, kept=True, body="his"
    )
    purge(selection=Selection(owner=alice, facts=(fact.pk,)), actor=person(alice))
    reply = StoredReply.objects.get(owner=alice)
    assert (reply.kept, reply.body, reply.purged) == (False, "", True)
    assert post(client, batch()).json()["code"] == "reply_gone"
    his.refresh_from_db()
    assert his.body == "his"


def test_an_answer_made_before_a_purge_is_not_stored_after_it(
    client: Client, alice_key: IssuedKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = replies._end

    def purged_meanwhile(reply: StoredReply, response: Any) -> None:
        StoredReply.objects.update(purged=True)
        end(reply, response)

    monkeypatch.setattr(replies, "_end", purged_meanwhile)
    assert post(client, batch()).status_code == 200
    reply = StoredReply.objects.get()
    assert (reply.status, reply.kept, reply.body) == (200, False, "")


def test_a_day_later_the_name_is_free_again(client: Client) -> None:
    post(client, batch())
    assert replies.drop_old() == 0
    StoredReply.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert replies.drop_old() == 1
    assert post(client, batch()).json()["known"] == 1


@pytest.mark.django_db(transaction=True)
def test_while_it_runs_the_second_is_told_to_wait(client: Client, alice_key: IssuedKey) -> None:
    body = json.dumps(batch())
    request = RequestFactory(headers=NAME).post(TALK, body, content_type="application/json")
    replies.claim(request, ApiKey.objects.get(pk=alice_key.pk))
    answers: list[Any] = []

    def second() -> None:
        try:
            answers.append(post(client, batch()))
        finally:
            connections.close_all()

    thread = threading.Thread(target=second)
    thread.start()
    thread.join(timeout=30)
    (answer,) = answers
    assert (answer.status_code, answer.json()["code"]) == (409, "still_running")
    assert answer["Retry-After"] == "1"
    assert not Message.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock_all()")


def test_what_is_read_is_read_anew(
    api: Callable[[IssuedKey], Client], alice: User, agent: Agent
) -> None:
    """The answer of before would tell what was forgotten since, or with memory off."""
    FactFactory.create(agent=agent, statement="The user rows.", state="active")
    client = api(ApiKeyFactory.create(agent=agent, scopes=["search"]))
    asked = {"query": "rows", "scope": "facts"}
    assert "The user rows." in post(client, asked, path="/api/v1/search").content.decode()
    OwnerSettings.objects.filter(owner=alice).update(memory_enabled=False)
    assert "rows" not in post(client, asked, path="/api/v1/search").content.decode()
    assert not StoredReply.objects.exists()
