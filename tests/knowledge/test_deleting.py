"""Deleting a document leaves keyed hashes and ids; nothing brings it back by itself."""

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import time
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.audit import Actor, key_holder, person
from agents.models import Agent, AuditEvent, User
from conversations.models import Conversation, Message
from knowledge import indexing, ingest, leftovers, tasks
from knowledge.consequence import consequence
from knowledge.ingest import claims, job
from knowledge.ingest.claims import Taken
from knowledge.models import Collection, Document, DocumentPassage
from knowledge.proposals import propose
from memory import lifecycle
from memory.lifecycle import NotAllowed
from memory.lifecycle.retire import retire
from memory.lifecycle.returns import barred
from memory.models import Evidence, Fact, Rule
from memory.purge.account import close_account
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.rules import from_candidate, writing
from memory.vocabulary import ArchivedReason, State
from tests.factories import ApiKeyFactory, FactFactory, IssuedKey
from tests.knowledge.shelves import shelf
from tests.memory.dumping import dump, found
from tests.memory.raw import refused, sql

pytestmark = pytest.mark.django_db

SECRET = "The zebrawood chest stands behind the quince tree."
# As words, as terms, and as the original's bytes.
LEFT = ("zebrawood", "quince", SECRET.encode().hex(), "Hidden places", "hoard.md")


def add(
    collection: Collection, text: str = SECRET, actor: Actor | None = None, name: str = "hoard.md"
) -> Document:
    return ingest.add_file(
        owner=collection.owner,
        collection=collection,
        file_name=name,
        title="Hidden places" if name == "hoard.md" else "",
        stream=io.BytesIO(text.encode()),
        actor=actor or person(collection.owner),
    ).document


@pytest.fixture
def a_model(settings: Settings) -> None:
    """One that could be asked, and is not."""
    general = {"model": "none", "base_url": "http://127.0.0.1:9", "api_key": "key"}
    settings.LLM_ROUTES = {"general": general, "private": {"model": ""}}


@pytest.fixture
def read(alice: User) -> Document:
    document = add(shelf(alice))
    job.work(document.pk)
    return Document.objects.get(pk=document.pk)


def delete(read: Document) -> None:
    ingest.delete(document=read, actor=person(read.owner))


def delete_collection(read: Document) -> None:
    ingest.delete_collection(collection=read.collection, actor=person(read.owner))


def purge_all(read: Document) -> None:
    purge(selection=chosen(owner=read.owner, everything=True), actor=person(read.owner))


def close(read: Document) -> None:
    close_account(owner=read.owner, actor=person(read.owner))


@pytest.mark.parametrize("step", [delete, delete_collection, purge_all, close])
def test_nothing_is_left_in_a_dump(
    read: Document, bob: User, step: Callable[[Document], None]
) -> None:
    kept = add(shelf(bob, "Kept"), "Bob's words about pomegranates.", name="kept.md")
    assert read.state == "ready"
    assert len({place.split(": ")[1] for place in found(dump(), *LEFT)}) == len(LEFT)
    step(read)
    assert found(dump(), *LEFT) == set()
    assert read.digest not in dump()
    assert list(Document.objects.all()) == [kept]
    trail = AuditEvent.objects.filter(table="knowledge_document", row_id=str(read.pk))
    assert {event.action for event in trail} >= {"insert", "delete"}
    assert trail.latest("pk").actor == f"person:{read.owner_id}"


def test_a_collection_that_is_kept_keeps_its_other_documents(read: Document) -> None:
    other = add(read.collection, "Of plums and pears.")
    delete(read)
    assert list(Document.objects.all()) == [other]


def test_only_a_person_deletes_and_only_what_is_theirs(
    read: Document, bob: User, alice_key: IssuedKey
) -> None:
    for actor in (key_holder(alice_key), person(bob)):
        with pytest.raises(NotAllowed):
            ingest.delete(document=read, actor=actor)
        with pytest.raises(NotAllowed):
            ingest.delete_collection(collection=read.collection, actor=actor)
    assert Document.objects.filter(pk=read.pk).exists()
    reviewer = ApiKeyFactory.create(owner=read.owner, agent=None, scopes=["review"])
    ingest.delete(document=read, actor=key_holder(reviewer))
    assert not Document.objects.exists()


def test_the_database_lets_nothing_else_delete_one(read: Document) -> None:
    for table in ("knowledge_document", "knowledge_collection"):
        with refused("permission denied"):
            sql(f"DELETE FROM {table}")


def test_an_agent_does_not_bring_it_back_and_its_owner_may(
    read: Document, alice_key: IssuedKey, bob: User, bob_key: IssuedKey
) -> None:
    collection = read.collection
    delete(read)
    with pytest.raises(ingest.Refused, match="deleted this document"):
        add(collection, actor=key_holder(alice_key))
    assert add(shelf(bob), actor=key_holder(bob_key)).owner == bob
    assert add(collection).collection == collection


def test_a_job_that_read_it_before_writes_nothing_back(alice: User) -> None:
    document = add(shelf(alice))
    claim = claims.claim(document.pk, timezone.now())
    assert claim is not None
    text = job._text(claim)
    delete(document)
    with pytest.raises(Taken):
        indexing.index(claim, text.markdown)
    claims.release(claim, state="waiting")
    assert not DocumentPassage.objects.exists()
    assert found(dump(), *LEFT) == set()


# --- what was proposed out of it -----------------------------------------------------------------


def read_for(document: Document, agent: Agent) -> Conversation:
    """The passages as extraction reads them."""
    return propose(document=document, agent=agent).conversation


def found_in(talk: Conversation, statement: str, **values: Any) -> Fact:
    fact: Fact = FactFactory.create(
        agent=talk.agent, conversation=talk, message=talk.messages.get(), statement=statement,
        **values,
    )  # fmt: skip
    return fact


NEVER_IN: dict[str, dict[str, Any]] = {
    "pending": {},
    "rejected": {"state": State.REJECTED},
    "aged out": {
        "state": State.ARCHIVED,
        "archived_from": State.PENDING,
        "archived_reason": ArchivedReason.AGED_OUT,
    },
    "forgotten": {"state": State.ARCHIVED, "archived_from": State.PENDING},
}
LET_IN: dict[str, dict[str, Any]] = {
    "active": {"state": State.ACTIVE},
    "forgotten since": {"state": State.ARCHIVED},
}


@pytest.mark.usefixtures("a_model")
def test_candidates_go_whatever_became_of_them(read: Document, agent: Agent) -> None:
    talk = read_for(read, agent)
    for name, values in NEVER_IN.items():
        found_in(talk, f"The user hides a {name} marimba.", **values)
    kept = {
        found_in(talk, f"The user hides an {name} ocarina.", **values).pk
        for name, values in LET_IN.items()
    }
    assert {f"memory_fact: {word}" for word in ("marimba", "ocarina")} <= found(
        dump(), "marimba", "ocarina"
    )
    told = consequence(read.owner, [read.pk])
    assert (told.candidates, told.staying) == (len(NEVER_IN), len(LET_IN))
    assert told.talks == (talk,)
    delete(read)
    assert found(dump(), *LEFT, "marimba") == set()
    staying = Fact.objects.exclude(archived_reason=ArchivedReason.PURGED)
    assert set(staying.values_list("pk", flat=True)) == kept
    assert set(Evidence.objects.values_list("quote", flat=True)) == {Message.PURGED}
    for name in NEVER_IN:
        assert barred(read.owner, [f"The user hides a {name} marimba."])


@pytest.mark.usefixtures("a_model")
def test_what_an_assistant_inherited_goes_too(
    read: Document, agent: Agent, second_agent: Agent
) -> None:
    talk = read_for(read, second_agent)
    found_in(talk, "The user hides a marimba.")
    retire(agent=second_agent, heir=agent, actor=person(read.owner))
    assert Fact.objects.filter(agent=agent, state=State.PENDING).exists()
    delete(read)
    assert found(dump(), *LEFT, "marimba") == set()


@pytest.mark.usefixtures("a_model")
def test_a_rule_that_the_owner_wrote_outlives_the_document(read: Document, agent: Agent) -> None:
    """One was made of its candidate, another says the same as one."""
    talk, owner = read_for(read, agent), person(read.owner)
    made = from_candidate.make(
        fact=found_in(talk, "Always speak of the marimba."), text="Speak of it.",
        agent=None, actor=owner,
    )  # fmt: skip
    same = writing.write(owner=read.owner, agent=None, text="Never hum.", actor=owner)
    found_in(talk, "never hum.", state=State.REJECTED)
    gone = found_in(talk, "The user hides an ocarina.", state=State.REJECTED)
    delete(read)
    assert set(Rule.objects.filter(retired_at=None)) == {made, same}
    gone.refresh_from_db()
    assert gone.statement == Fact.PURGED


@pytest.mark.usefixtures("a_model")
def test_an_earlier_wording_from_elsewhere_is_not_taken_along(read: Document, agent: Agent) -> None:
    """A correction out of the document was let in, and then sent back to the queue."""
    talk = read_for(read, agent)
    later = found_in(talk, "The user owns a marimba.", state=State.ACTIVE)
    own = FactFactory.create(
        agent=agent, state=State.ARCHIVED, superseded_by=later, statement="The user owns a gong."
    )
    rows = Fact.objects.filter(pk=later.pk)
    lifecycle.quarantine(facts=rows, actor=person(read.owner), reason="all of it")
    delete(read)
    own.refresh_from_db()
    assert own.statement == "The user owns a gong."


def test_an_address_that_was_deleted_before_it_was_fetched_stays_out(
    alice: User, alice_key: IssuedKey
) -> None:
    papers, address = shelf(alice), "https://example.org/zebrawood"
    added = ingest.add_address(owner=alice, collection=papers, address=address, actor=person(alice))
    delete(added.document)
    assert found(dump(), "zebrawood") == set()
    with pytest.raises(ingest.Refused, match="deleted this document"):
        ingest.add_address(
            owner=alice, collection=papers, address=address, actor=key_holder(alice_key)
        )
    again = ingest.add_address(owner=alice, collection=papers, address=address, actor=person(alice))
    assert again.is_new


def test_what_killed_workers_left_on_the_machine_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "text.md").write_text(SECRET)
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    for age in ("old", "new"):
        (folder / f"{leftovers.ORIGINAL}{age}").write_text(SECRET)
        (folder / f"{leftovers.READING}{age}").mkdir()
        (folder / f"{leftovers.READING}{age}" / "text.md").write_text(SECRET)
    (folder / f"{leftovers.READING}link").symlink_to(elsewhere)
    (folder / "of another program").write_text("words")
    day_ago = time() - 86_400
    for path in folder.iterdir():
        if not path.name.endswith("new"):
            os.utime(path, (day_ago, day_ago), follow_symlinks=False)
    tasks.sweep()
    left = {path.name for path in folder.iterdir()}
    assert left == {
        f"{leftovers.ORIGINAL}new",
        f"{leftovers.READING}new",
        "of another program",
    }
    assert (elsewhere / "text.md").read_text() == SECRET
