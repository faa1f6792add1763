"""The index of the raw record: kept by the database, whatever writes."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from importlib import import_module
from typing import Any

import psycopg
import pytest
from django.db import connection

from agents.models import Agent
from conversations import passages
from conversations.ingest import store_messages
from conversations.models import (
    Conversation,
    IndexedPassage,
    Message,
    Passage,
    PassageEmbedding,
    PassageTerm,
)
from conversations.record import Incoming, Into
from tests.factories import MONDAY

pytestmark = pytest.mark.django_db


AsOwner = Callable[..., None]


@pytest.fixture
def as_owner(database_urls: dict[str, str]) -> Iterator[AsOwner]:
    """As the purge function and a migration do: by the role that owns the tables. Nothing that a
    test left uncommitted is seen."""
    with psycopg.connect(database_urls["MIGRATION_DATABASE_URL"]) as owner:

        def run(statement: str, *values: Any) -> None:
            owner.execute("SELECT set_config('remembrancer.purging', 'on', true)")
            owner.execute(statement.encode(), values or None)
            owner.commit()

        yield run


def say(agent: Agent, *texts: str, after: timedelta = timedelta(0), **values: Any) -> Conversation:
    """A minute apart, `after` Monday morning."""
    speaker = values.pop("speaker", "")
    into = Into(agent=agent, source="api", external_id=values.pop("to", "c1"))
    done = Message.objects.filter(owner=agent.owner).count()
    messages = [
        Incoming(
            client_id=f"m{done + number}",
            role=Message.Role.USER,
            content=text,
            sent_at=MONDAY + after + timedelta(minutes=number),
            speaker=speaker,
            **values,
        )
        for number, text in enumerate(texts, 1)
    ]
    return store_messages(into=into, messages=messages).conversation


def terms_of(passage: Passage) -> set[str]:
    return set(PassageTerm.objects.filter(passage=passage).values_list("term", flat=True))


def test_a_passage_is_found_by_its_words_its_speaker_and_its_date(agent: Agent) -> None:
    say(agent, "The running shoes are red.", speaker="Caroline")
    passage = Passage.objects.get()
    english = {"run", "running", "shoe", "shoes", "red"}
    assert {"caroline", "@y2026", "@m03", "@d02"} < terms_of(passage)
    if passage.language == "english":
        assert terms_of(passage) == english | {"caroline", "@y2026", "@m03", "@d02"}
    row = IndexedPassage.objects.get()
    assert row.owner == agent.owner
    assert row.words == len(terms_of(passage))


def test_the_date_is_of_the_owners_clock(agent: Agent) -> None:
    agent.owner.settings.time_zone = "Pacific/Kiritimati"
    agent.owner.settings.save()
    say(agent, "Good night.", after=timedelta(hours=3))
    assert "@d03" in terms_of(Passage.objects.get())


def test_a_clock_that_nobody_knows_is_utc(agent: Agent) -> None:
    agent.owner.settings.time_zone = "Mars/Olympus"
    agent.owner.settings.save()
    say(agent, "Good night.")
    assert "@d02" in terms_of(Passage.objects.get())


def test_a_stretch_ends_with_a_pause(agent: Agent) -> None:
    say(agent, "One.", "Two.")
    say(agent, "Three.", after=timedelta(hours=6))
    say(agent, "Four.", after=timedelta(hours=13))
    assert placed() == [("One.", 1, 0), ("Two.", 1, 1), ("Three.", 1, 2), ("Four.", 2, 0)]


def test_a_stretch_ends_when_it_is_long(agent: Agent) -> None:
    say(agent, *(f"Message {number}." for number in range(passages.STRETCH + 2)))
    assert placed()[-3:] == [
        ("Message 59.", 1, 59),
        ("Message 60.", 2, 0),
        ("Message 61.", 2, 1),
    ]


def placed() -> list[tuple[str, int, int]]:
    return list(
        Passage.objects.order_by("stretch", "place").values_list("text", "stretch", "place")
    )


def test_what_leaves_the_branch_leaves_the_index_and_comes_back_with_it(agent: Agent) -> None:
    say(agent, "I moved to Turku.", "And it is cold.")
    kept, gone = Passage.objects.order_by("place")
    PassageEmbedding.objects.create(owner=agent.owner, passage=gone, model="m", vector=[1.0])
    before = terms_of(gone)
    messages = Message.objects.filter(passages=gone)
    messages.update(on_branch=False)
    assert not terms_of(gone)
    assert not PassageEmbedding.objects.exists()
    assert [row.passage_id for row in IndexedPassage.objects.all()] == [kept.pk]
    messages.update(on_branch=True)
    assert terms_of(gone) == before
    assert IndexedPassage.objects.count() == 2


def test_text_that_was_taken_back_and_said_again_is_found(agent: Agent) -> None:
    say(agent, "I moved to Turku.")
    say(agent, "I moved to Turku.", replaces="m1")
    found = IndexedPassage.objects.get().passage
    assert found.message is not None
    assert found.message.client_id == "m2"
    assert Passage.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_purging_takes_all_of_it_out_and_the_vector_of_what_came_next(
    agent: Agent, as_owner: AsOwner
) -> None:
    say(agent, "My secret is xylophone.", "I see.", "And then?")
    first, second, third = Passage.objects.order_by("place")
    for passage in (first, second, third):
        PassageEmbedding.objects.create(owner=agent.owner, passage=passage, model="m", vector=[1.0])
    as_owner(
        "UPDATE conversations_message SET content = '[purged]' WHERE id = %s", first.message_id
    )
    as_owner("UPDATE conversations_passage SET text = '[purged]' WHERE id = %s", first.pk)
    assert not terms_of(first)
    assert not IndexedPassage.objects.filter(passage=first).exists()
    assert [row.passage for row in PassageEmbedding.objects.all()] == [third]
    assert terms_of(second)


def test_storing_again_adds_nothing_to_the_index(agent: Agent) -> None:
    say(agent, "I moved to Turku.")
    before = list(PassageTerm.objects.values_list("term", "tf").order_by("term"))
    passages.store(list(Message.objects.all()))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT remembrancer_index_passages(ARRAY(SELECT id FROM conversations_passage))"
        )
    assert list(PassageTerm.objects.values_list("term", "tf").order_by("term")) == before


@pytest.mark.django_db(transaction=True)
def test_older_passages_are_placed_and_indexed_by_the_migration(
    agent: Agent, as_owner: AsOwner
) -> None:
    say(agent, *(f"Message {number}." for number in range(passages.STRETCH + 2)))
    say(agent, "After a pause.", after=timedelta(hours=20))
    say(agent, "Elsewhere.", to="c2")
    rows = sorted(Passage.objects.values_list("text", "stretch", "place"))
    terms = set(PassageTerm.objects.values_list("passage_id", "term", "tf", "place", "stretch"))
    as_owner("UPDATE conversations_passage SET stretch = 0, place = 0")
    as_owner("DELETE FROM conversations_passageterm")
    as_owner("DELETE FROM conversations_indexedpassage")
    as_owner(import_module("conversations.migrations.0003_index_what_was_said").BACKFILL)
    assert sorted(Passage.objects.values_list("text", "stretch", "place")) == rows
    found = set(PassageTerm.objects.values_list("passage_id", "term", "tf", "place", "stretch"))
    assert found == terms
