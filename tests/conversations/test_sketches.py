"""Working notes of a conversation: written over what was seen, within limits, and not for ever."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from agents.audit import acting, person
from agents.gate import MemoryOff
from agents.models import Agent, OwnerSettings, User
from conversations.ingest import NoSuchConversation
from conversations.models import Conversation, Sketch
from conversations.sketches import limits, reading, writing
from conversations.sketches.expiry import drop_expired
from conversations.sketches.writing import Changed, Kept, TooLong, Written
from tests.factories import ApiKeyFactory, ConversationFactory, IssuedKey

pytestmark = pytest.mark.django_db
URL = "/api/v1/conversations/trip/sketches"


@pytest.fixture
def talk(agent: Agent) -> Conversation:
    return ConversationFactory.create(agent=agent, external_id="trip", title="The trip")


def write(talk: Conversation, text: str, key: str = "plan", seen: str = "") -> Written:
    return writing.write(
        agent=talk.agent,
        source=talk.source,
        external_id=talk.external_id,
        key=key,
        text=text,
        seen=seen,
    )


def written(talk: Conversation, text: str, key: str = "plan") -> Sketch:
    sketch = write(talk, text, key).sketch
    assert sketch is not None
    return sketch


def texts(talk: Conversation) -> dict[str, str]:
    return {row.key: row.text for row in reading.sketches_in(talk)}


def long_ago(talk: Conversation, **since: Any) -> None:
    """Nothing has happened in this conversation for longer than its notes last."""
    then = timezone.now() - limits.IDLE - timedelta(minutes=1)
    moments = {"last_activity_at": then, "updated_at": then} | since
    Conversation.objects.filter(pk=talk.pk).update(last_activity_at=moments["last_activity_at"])
    Sketch.objects.filter(conversation=talk).update(updated_at=moments["updated_at"])
    talk.refresh_from_db()


def test_a_section_is_rewritten_in_place(talk: Conversation) -> None:
    first = written(talk, "Compare hotels.\n")
    second = write(talk, "Book the hotel.", seen=first.version).sketch
    assert second is not None
    assert (second.pk, texts(talk)) == (first.pk, {"plan": "Book the hotel."})
    assert second.version != first.version


def test_writing_the_same_again_changes_nothing(talk: Conversation) -> None:
    first = written(talk, "Compare hotels.")
    again = written(talk, " Compare hotels. ")
    assert (again.version, again.updated_at) == (first.version, first.updated_at)


def test_nothing_is_written_over_what_was_not_seen(talk: Conversation) -> None:
    first = written(talk, "Compare hotels.")
    write(talk, "Book the hotel.", seen=first.version)
    for seen in ("", first.version, "f" * 16):
        with pytest.raises(Changed) as refusal:
            write(talk, "Cancel the trip.", seen=seen)
        there = refusal.value.current
        assert there is not None
        assert there.text == "Book the hotel."
    assert texts(talk) == {"plan": "Book the hotel."}


def test_a_removed_section_is_begun_anew_and_not_by_its_old_version(talk: Conversation) -> None:
    first = written(talk, "Compare hotels.")
    assert write(talk, "", seen=first.version).sketch is None
    assert write(talk, "", seen=first.version).sketch is None
    with pytest.raises(Changed, match="gone") as refusal:
        write(talk, "Book the hotel.", seen=first.version)
    assert refusal.value.current is None
    assert written(talk, "Book the hotel.").version != first.version


def test_a_refusal_says_how_much_room_is_left(talk: Conversation) -> None:
    with pytest.raises(TooLong, match="would have 2,001 characters, and has room for 2,000"):
        write(talk, "x" * 2001)
    for number in range(6):
        assert write(talk, "x" * 1990, f"part-{number}").room == 12_000 - 1990 * (number + 1)
    with pytest.raises(TooLong, match=r"would have 61 characters, and the notes .* room for 60 mo"):
        write(talk, "x" * 61)
    assert write(talk, "x" * 60).room == 0
    version = reading.sketch_in(talk, "part-0").version
    assert write(talk, "x" * 1980, "part-0", version).room == 10
    assert len(texts(talk)) == 7


def test_there_are_only_so_many_sections(talk: Conversation) -> None:
    for number in range(limits.SECTIONS):
        write(talk, "x", f"part-{number}")
    with pytest.raises(TooLong, match=r"24 sections; 11,976 characters are left"):
        write(talk, "x")


@pytest.mark.parametrize(
    "values", [{"text": ""}, {"text": "x" * 2001}, {"key": "No good"}, {"key": ""}, {"key": "plan"}]
)
def test_the_database_holds_the_limits_of_a_section(
    talk: Conversation, values: dict[str, str]
) -> None:
    written(talk, "Compare hotels.")
    with pytest.raises(IntegrityError), transaction.atomic():
        Sketch.objects.create(
            **{"owner": talk.owner, "conversation": talk, "key": "other", "text": "x"} | values
        )


def test_notes_stay_with_their_owner_and_conversation(
    talk: Conversation, bobs_agent: Agent
) -> None:
    sketch = written(talk, "Compare hotels.")
    his = ConversationFactory.create(agent=bobs_agent)
    with pytest.raises(IntegrityError), transaction.atomic():
        Sketch.objects.create(owner=talk.owner, conversation=his, key="plan", text="x")
    with pytest.raises(IntegrityError), transaction.atomic():
        Sketch.objects.filter(pk=sketch.pk).update(conversation=his)


def test_notes_need_a_conversation_of_the_agents_own(
    talk: Conversation, second_agent: Agent, bobs_agent: Agent
) -> None:
    for agent in (second_agent, bobs_agent):
        with pytest.raises(NoSuchConversation):
            writing.write(agent=agent, source="api", external_id="trip", key="plan", text="x")
    assert texts(talk) == {}


@pytest.mark.parametrize(
    ("since", "kept", "there"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"last_activity_at": timezone.now()}, False, True),
        ({"updated_at": timezone.now()}, False, True),
    ],
)
def test_notes_go_when_the_conversation_is_over(
    talk: Conversation, since: dict[str, Any], kept: bool, there: bool
) -> None:
    writing.keep(sketch=written(talk, "Compare hotels."), kept=kept)
    long_ago(talk, **since)
    assert bool(texts(talk)) == there  # whether the sweep has been by or not
    assert drop_expired(timezone.now()) == (not there)
    assert Sketch.objects.count() == there


def test_what_has_expired_gives_its_room_and_its_name_back(talk: Conversation) -> None:
    old = written(talk, "x" * 2000)
    long_ago(talk)
    with pytest.raises(Changed, match="gone"):
        write(talk, "Begin again.", seen=old.version)
    assert write(talk, "Begin again.").room == 12_000 - len("Begin again.")
    assert Sketch.objects.get().pk != old.pk


def test_what_the_owner_lets_go_has_its_whole_time(talk: Conversation) -> None:
    sketch = written(talk, "Compare hotels.")
    writing.keep(sketch=sketch, kept=True)
    long_ago(talk)
    writing.keep(sketch=sketch, kept=False)
    assert (texts(talk), drop_expired(timezone.now())) == ({"plan": "Compare hotels."}, 0)


def test_an_assistant_removes_nothing_that_the_owner_keeps(talk: Conversation) -> None:
    sketch = written(talk, "Compare hotels.")
    writing.keep(sketch=sketch, kept=True)
    with pytest.raises(Kept):
        write(talk, "", seen=sketch.version)
    assert write(talk, "Book the hotel.", seen=sketch.version).sketch is not None
    assert Sketch.objects.get().kept


@pytest.mark.parametrize("choice", [None, False])
def test_while_memory_is_off_nothing_is_written(
    talk: Conversation, alice: User, settings: Any, choice: bool | None
) -> None:
    settings.MEMORY_MODE = "default_on" if choice is False else "disabled"
    with acting(person(alice)):
        OwnerSettings.objects.filter(owner=alice).update(memory_enabled=choice)
    with pytest.raises(MemoryOff):
        write(talk, "Compare hotels.")
    assert not Sketch.objects.exists()


def test_a_read_only_conversation_has_notes_too(agent: Agent) -> None:
    talk = ConversationFactory.create(agent=agent, read_only=True)
    assert written(talk, "Compare hotels.").text == "Compare hotels."


@pytest.mark.django_db(transaction=True)
def test_of_two_writers_at_once_one_wins_and_the_other_is_told(talk: Conversation) -> None:
    seen = written(talk, "Compare hotels.").version

    def attempt(text: str) -> str:
        try:
            write(talk, text, seen=seen)
        except Changed as refusal:
            return str(refusal.current and refusal.current.text)
        finally:
            connection.close()
        return text

    with ThreadPoolExecutor(4) as pool:
        told = set(pool.map(attempt, ["one", "two", "three", "four"]))
    assert told == set(texts(talk).values())


Put = Callable[..., Any]


@pytest.fixture
def put(api: Callable[[IssuedKey], Client], alice_key: IssuedKey) -> Put:
    def call(key: str, text: str, headers: dict[str, str] | None = None, **body: Any) -> Any:
        return api(alice_key).put(
            f"{URL}/{key}",
            json.dumps({"text": text} | body),
            content_type="application/json",
            headers=headers or {},
        )

    return call


def test_the_api_writes_over_the_etag_that_it_gave(
    talk: Conversation, put: Put, api: Callable[[IssuedKey], Client], alice_key: IssuedKey
) -> None:
    answer = put("plan", "Compare hotels.")
    assert (answer.status_code, answer.json()["room"]) == (200, 12_000 - 15)
    assert put("plan", "Book it.", {"If-Match": answer["ETag"]}).status_code == 200
    stale = put("plan", "Cancel it.", {"If-Match": answer["ETag"]})
    assert (stale.status_code, stale.json()["code"]) == (409, "stale")
    assert stale.json()["current"]["text"] == "Book it."
    one = api(alice_key).get(f"{URL}/plan")
    assert (one["ETag"], one.json()["text"]) == (f'"{one.json()["version"]}"', "Book it.")
    assert api(alice_key).get(URL).json() == {"items": [one.json()], "room": 12_000 - 8}
    gone = put("plan", "", version=one.json()["version"])
    assert gone.json() == {"sketch": None, "room": 12_000}
    assert api(alice_key).get(f"{URL}/plan").status_code == 404


@pytest.mark.parametrize(
    ("key", "body", "status", "code", "said"),
    [
        ("Two words", {"text": "x"}, 422, "invalid", "key"),
        ("plan", {}, 422, "invalid", "text"),
        ("plan", {"text": "a\x00b"}, 422, "invalid", "NUL"),
        ("plan", {"text": "x" * 2100}, 422, "too_long", "room for 2,000"),
        ("plan", {"text": "x", "version": "0" * 16}, 409, "stale", "without a version"),
        ("plan", {"text": "x", "agent": "work"}, 404, "not_found", "no such agent"),
        ("plan", {"text": "x", "source": "elsewhere"}, 404, "not_found", "no such conversation"),
    ],
)
def test_bad_input_is_told_what_to_do(
    talk: Conversation, put: Put, key: str, body: dict[str, Any], status: int, code: str, said: str
) -> None:
    answer = put(key, **({"text": None} | body))
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.json()
    assert said in answer.json()["detail"]
    assert not Sketch.objects.exists()


def test_a_key_that_may_not_read_is_not_shown_what_is_there(
    talk: Conversation, agent: Agent, api: Callable[[IssuedKey], Client]
) -> None:
    written(talk, "Compare hotels.")
    key = ApiKeyFactory.create(agent=agent, scopes=["ingest"])
    body = json.dumps({"text": "Book it."})
    answer = api(key).put(f"{URL}/plan", body, content_type="application/json")
    assert (answer.status_code, "Compare" in answer.content.decode()) == (409, False)
