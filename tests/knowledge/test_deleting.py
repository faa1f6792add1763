"""Deleting a document leaves keyed hashes and ids; nothing brings it back by itself."""

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import time

import pytest
from django.utils import timezone

from agents.audit import Actor, key_holder, person
from agents.models import AuditEvent, User
from knowledge import indexing, ingest, leftovers, tasks
from knowledge.ingest import claims, job
from knowledge.ingest.claims import Taken
from knowledge.models import Collection, Document, DocumentPassage
from memory.lifecycle import NotAllowed
from memory.purge.account import close_account
from memory.purge.execute import purge
from memory.purge.selection import chosen
from tests.factories import ApiKeyFactory, IssuedKey
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
