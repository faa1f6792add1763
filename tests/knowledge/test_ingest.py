"""Documents come in, are read by the job in steps, fail in plain words, and are tried again."""

import hashlib
import io
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks
from pytest_django.fixtures import Settings

from agents.audit import key_holder, person
from agents.gate import MemoryOff
from agents.models import AuditEvent, OwnerSettings, User
from knowledge import indexing, ingest, storage, tasks
from knowledge.ingest import claims, job
from knowledge.ingest.claims import Taken
from knowledge.models import (
    Collection,
    Document,
    DocumentEmbedding,
    DocumentFile,
    DocumentPassage,
    DocumentTerm,
    DocumentText,
)
from knowledge.splitting import split
from tests.factories import IssuedKey
from tests.knowledge import files
from tests.knowledge.shelves import added, shelf
from tests.web_server import Page, WebServer, serving

pytestmark = pytest.mark.django_db

KILN = (
    "# Kilns\n\nA kiln fires clay in a strong and steady heat, so that it becomes stone.\n\n"
    "## Cones\n\nCone six melts at 1222 degrees, and tells the potter when to stop.\n"
)


@pytest.fixture
def papers(alice: User) -> Collection:
    return shelf(alice)


def add(collection: Collection, content: bytes, name: str = "kilns.md") -> Document:
    return added(collection, content, name)


def fresh(document: Document) -> Document:
    return Document.objects.get(pk=document.pk)


def counts() -> list[int]:
    tables = (DocumentPassage, DocumentTerm, DocumentEmbedding, DocumentText, DocumentFile)
    return [table.objects.count() for table in tables]


# In


def test_the_original_stands_in_the_database_in_pieces(papers: Collection) -> None:
    content = Random(7).randbytes(2 * storage.PIECE + 5)
    document = add(papers, content, "../noise\x00.bin")
    assert (document.file_name, document.title) == ("noise .bin", "noise")
    assert (document.size, document.digest) == (len(content), hashlib.sha256(content).hexdigest())
    pieces = list(storage.read_original(document))
    assert [len(piece) for piece in pieces] == [storage.PIECE, storage.PIECE, 5]
    assert b"".join(pieces) == content


def test_the_same_file_is_there_once_in_each_collection(papers: Collection) -> None:
    first = add(papers, KILN.encode())
    again = ingest.add_file(
        owner=papers.owner, collection=papers, file_name="other.md",
        stream=io.BytesIO(KILN.encode()), actor=person(papers.owner),
    )  # fmt: skip
    assert (again.document, again.is_new) == (first, False)
    assert add(shelf(papers.owner, "Others"), KILN.encode()).pk != first.pk


def test_the_worker_is_told_once_it_is_committed(
    papers: Collection, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    from config.celery import app

    with app.connection_for_read() as broker:
        queue = broker.SimpleQueue(app.conf.task_default_queue)
        queue.clear()  # what other tests left there
        with django_capture_on_commit_callbacks(execute=True):
            document = add(papers, KILN.encode())
        message = queue.get(timeout=5)
        assert message.headers["task"] == "knowledge.tasks.ingest"
        assert message.payload[0] == [str(document.pk)]
        queue.clear()


class Endless:
    """A stream that counts how much of it was wanted."""

    def __init__(self) -> None:
        self.given = 0

    def read(self, size: int) -> bytes:
        self.given += size
        return b"x" * size


def test_what_is_too_large_is_refused_while_it_comes(
    papers: Collection, settings: Settings
) -> None:
    settings.KNOWLEDGE_MAX_BYTES = 3_000_000
    stream = Endless()
    with pytest.raises(ingest.Refused, match="The file is larger than 3 MB"):
        ingest.add_file(
            owner=papers.owner, collection=papers, file_name="x", stream=stream,
            actor=person(papers.owner),
        )  # fmt: skip
    assert stream.given <= 3_000_000 + storage.PIECE
    with pytest.raises(ingest.Refused, match="The text is larger than 3 MB"):
        ingest.add_text(
            owner=papers.owner, collection=papers, title="x", text="x" * 3_000_001,
            actor=person(papers.owner),
        )  # fmt: skip
    assert not Document.objects.exists()


@pytest.mark.parametrize("content", ["", " \n "])
def test_nothing_is_refused(papers: Collection, content: str) -> None:
    actor = person(papers.owner)
    with pytest.raises(ingest.Refused):
        ingest.add_text(owner=papers.owner, collection=papers, title="x", text=content, actor=actor)
    with pytest.raises(ingest.Refused):
        add(papers, b"")
    assert not Document.objects.exists()


def test_nobody_adds_to_a_strangers_collection(papers: Collection, bob: User) -> None:
    with pytest.raises(ingest.Refused):
        ingest.add_text(owner=bob, collection=papers, title="x", text="words", actor=person(bob))
    assert not Document.objects.exists()


def test_while_memory_is_off_nothing_is_stored(papers: Collection) -> None:
    waiting = add(papers, KILN.encode())
    OwnerSettings.objects.filter(owner=papers.owner).update(memory_enabled=False)
    with pytest.raises(MemoryOff):
        add(papers, b"other words")
    with pytest.raises(MemoryOff):
        ingest.add_address(
            owner=papers.owner, collection=papers, address="https://example.org/",
            actor=person(papers.owner),
        )  # fmt: skip
    assert job.sweep() == []
    job.work(waiting.pk)
    assert counts() == [0, 0, 0, 0, 1]
    OwnerSettings.objects.filter(owner=papers.owner).update(memory_enabled=True)
    assert job.sweep() == [waiting.pk]


def test_memory_switched_off_while_a_document_is_read(papers: Collection) -> None:
    document = add(papers, KILN.encode())
    claim = claims.claim(document.pk, timezone.now())
    assert claim is not None
    text = job._text(claim)
    OwnerSettings.objects.filter(owner=papers.owner).update(memory_enabled=False)
    with pytest.raises(MemoryOff):
        indexing.index(claim, text.markdown)
    assert counts()[:3] == [0, 0, 0]


# Read


def test_a_document_is_read_and_found(papers: Collection) -> None:
    document = add(papers, KILN.encode(), "notes.txt")
    assert job.work(document.pk) is None
    row = fresh(document)
    assert (row.state, row.stage, row.title, row.language) == ("ready", "", "Kilns", "english")
    assert (row.media_type, row.generation, row.attempts) == ("text/markdown", 1, 0)
    assert (row.token, row.busy_until, row.failure) == (None, None, "")
    passages = DocumentPassage.objects.filter(document=row)
    assert row.passages == passages.count() > 0
    terms = DocumentTerm.objects.filter(document_id=row.pk, term="potter")
    assert [term.passage.text.count("potter") for term in terms] == [1]
    assert row.length == sum(
        passage.terms.values_list("length", flat=True)[0] for passage in passages
    )
    assert {v.passage_id for v in DocumentEmbedding.objects.all()} == {p.pk for p in passages}
    assert indexing.missing().count() == 0


def test_reading_it_twice_adds_nothing(papers: Collection) -> None:
    document = add(papers, KILN.encode())
    job.work(document.pk)
    before = counts()
    assert job.work(document.pk) is None
    assert (counts(), job.sweep()) == (before, [])


def test_a_title_that_somebody_gave_stays(papers: Collection) -> None:
    document = ingest.add_text(
        owner=papers.owner, collection=papers, title="My kilns", text=KILN,
        actor=person(papers.owner),
    ).document  # fmt: skip
    job.work(document.pk)
    assert fresh(document).title == "My kilns"


def test_one_after_the_other(papers: Collection, bob: User) -> None:
    """One document of an owner at a time, and the owners take turns: the job says which is next."""
    first, second = add(papers, KILN.encode()), add(papers, b"%PDF-1.7 broken")
    other = add(shelf(bob), KILN.encode())
    assert set(job.sweep()) == {first.pk, other.pk}
    held = claims.claim(first.pk, timezone.now())
    assert held is not None
    assert claims.claim(second.pk, timezone.now()) is None
    assert job.sweep() == [other.pk]
    claims.release(held, state="waiting")
    assert job.work(first.pk) == other.pk
    assert job.work(other.pk) == second.pk
    assert job.work(second.pk) is None


def test_the_task_reads_it_and_the_trail_says_so(papers: Collection) -> None:
    document = add(papers, KILN.encode())
    tasks.ingest(str(document.pk))
    assert fresh(document).state == "ready"
    trail = AuditEvent.objects.filter(table="knowledge_document", row_id=str(document.pk))
    event = trail.latest("pk")
    assert (event.actor, event.context) == ("ingest", "task knowledge.tasks.ingest")
    assert {"state", "generation"} <= set(event.after or {})
    assert trail.count() < 8  # progress is nothing for the trail
    assert tasks.sweep() == 0


# Broken off


def test_a_job_that_was_killed_is_taken_up_where_it_stopped(
    papers: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "AT_ONCE", 1)
    text = "\n\n".join(f"## Part {n}\n\n{'Clay and water make it. ' * 80}" for n in range(3))
    document = add(papers, text.encode())
    lost = claims.claim(document.pk, timezone.now())
    assert lost is not None
    kept = job._text(lost)
    monkeypatch.setattr(indexing, "_answer", lambda claim: None)  # the worker dies here
    indexing.index(lost, kept.markdown)
    done = set(DocumentPassage.objects.values_list("pk", flat=True))
    DocumentPassage.objects.filter(ordinal=1).delete()
    monkeypatch.undo()

    assert job.work(document.pk) is None
    assert fresh(document).state == "indexing"
    Document.objects.update(busy_until=timezone.now() - timedelta(seconds=1))
    assert job.sweep() == [document.pk]
    job.work(document.pk)
    row = fresh(document)
    assert (row.state, row.passages) == ("ready", len(done))
    assert len(done & set(DocumentPassage.objects.values_list("pk", flat=True))) == len(done) - 1
    assert DocumentText.objects.get().pk == kept.pk
    with pytest.raises(Taken):
        lost.update(progress=7)
    with pytest.raises(Taken), lost.writing():
        pass


def test_what_an_earlier_try_wrote_is_looked_up_once(papers: Collection) -> None:
    """Once for each passage, a long document would take hours and lose its worker meanwhile."""

    def queries(sections: int) -> int:
        text = "\n\n".join(
            f"## Part {n}\n\n{'Clay and water make it. ' * 80}" for n in range(sections)
        )
        claim = claims.claim(add(papers, text.encode(), f"{sections}.md").pk, timezone.now())
        assert claim is not None
        kept = job._text(claim)
        with CaptureQueriesContext(connection) as made:
            indexing.index(claim, kept.markdown)
        assert claim.document.passages >= sections
        return len(made)

    assert queries(2) == queries(10)


def test_a_document_that_takes_long_stays_with_its_worker(papers: Collection) -> None:
    document = add(papers, KILN.encode())
    claim = claims.claim(document.pk, timezone.now())
    assert claim
    until = fresh(document).busy_until
    claim.keep()
    assert fresh(document).busy_until == until
    claim.renewed -= claims.LEASE.total_seconds() / 6
    claim.keep()
    assert (fresh(document).busy_until or timezone.now()) > (until or timezone.now())
    Document.objects.update(token=None)
    claim.renewed -= claims.LEASE.total_seconds() / 6
    with pytest.raises(Taken):
        claim.keep()


def test_what_kills_every_worker_is_given_up(papers: Collection) -> None:
    document = add(papers, KILN.encode())
    for _ in range(1 + len(claims.RETRIES)):
        assert claims.claim(document.pk, timezone.now()) is not None
        Document.objects.update(busy_until=timezone.now() - timedelta(seconds=1))
    assert claims.claim(document.pk, timezone.now()) is None
    row = fresh(document)
    assert (row.state, row.failure, row.failure_detail) == ("failed", "broken_off", claims.GAVE_UP)
    assert ingest.retry(document=row, actor=person(papers.owner))
    assert claims.claim(document.pk, timezone.now()) is not None


# Failures


def test_what_will_never_be_readable_fails_at_once(papers: Collection) -> None:
    document = add(papers, files.locked_pdf(), "secret.pdf")
    job.work(document.pk)
    row = fresh(document)
    assert (row.state, row.failure, row.next_attempt_at) == ("failed", "protected", None)
    assert "Save it without one" in row.failure_detail
    assert job.sweep() == []
    assert counts() == [0, 0, 0, 0, 1]
    assert ingest.retry(document=row, actor=person(papers.owner))
    assert job.sweep() == [document.pk]


@pytest.fixture
def web(settings: Settings) -> Iterator[WebServer]:
    settings.OUTBOUND_NETWORKS = [ip_network("127.0.0.0/8")]
    with serving() as server:
        yield server


def page(words: str) -> Page:
    html = f"<!doctype html><title>Kilns today</title><h1>Kilns</h1><p>{words}</p>"
    return Page(html.encode(), headers={"content-type": "text/html"})


def from_web(papers: Collection, address: str) -> Document:
    return ingest.add_address(
        owner=papers.owner, collection=papers, address=address, actor=person(papers.owner)
    ).document


def test_a_site_that_is_down_is_tried_after_2_10_and_30_minutes(
    papers: Collection, web: WebServer
) -> None:
    web.script("/kilns", *[Page(status=503)] * 5, page("They are hot these days."))
    document = from_web(papers, web.url("/kilns"))
    for minutes in (2, 10, 30):
        job.work(document.pk)
        row = fresh(document)
        assert (row.state, row.failure) == ("waiting", "unreachable")
        assert "503" in row.failure_detail
        assert row.next_attempt_at is not None
        wait = row.next_attempt_at - timezone.now()
        assert timedelta(minutes=minutes - 1) < wait <= timedelta(minutes=minutes)
        assert job.sweep() == []
        Document.objects.update(next_attempt_at=timezone.now())
        assert job.sweep() == [document.pk]
    job.work(document.pk)
    assert (fresh(document).state, job.sweep()) == ("failed", [])

    assert ingest.retry(document=fresh(document), actor=person(papers.owner))
    job.work(document.pk)
    assert fresh(document).attempts == 1
    assert ingest.retry(document=fresh(document), actor=person(papers.owner))
    job.work(document.pk)
    row = fresh(document)
    assert (row.state, row.title, row.failure) == ("ready", "Kilns today", "")


def test_a_page_that_says_what_is_there_already(papers: Collection, web: WebServer) -> None:
    web.script("/a", page("They are hot."))
    web.script("/b", page("They are hot."))
    first, second = from_web(papers, web.url("/a")), from_web(papers, web.url("/b"))
    assert from_web(papers, web.url("/a")) == first
    job.work(first.pk)
    job.work(second.pk)
    row = fresh(second)
    assert (row.state, row.failure) == ("failed", "duplicate")
    assert "Kilns today" not in row.failure_detail  # it would outlive the other one


def test_a_private_address_is_refused(papers: Collection) -> None:
    document = from_web(papers, "http://127.0.0.1:9000/admin")
    job.work(document.pk)
    assert (fresh(document).state, fresh(document).failure) == ("failed", "refused")


# Anew


def test_the_old_passages_answer_until_the_new_ones_are_complete(
    papers: Collection, web: WebServer
) -> None:
    web.script("/kilns", page("They burn wood, as they always did."), page("They take current."))
    document = from_web(papers, web.url("/kilns"))
    job.work(document.pk)
    first = fresh(document)
    assert ingest.reingest(document=first, actor=person(papers.owner))
    claim = claims.claim(document.pk, timezone.now())
    assert claim is not None
    markdown = job._text(claim).markdown
    pieces = list(enumerate(split(markdown)))
    indexing._store(claim, pieces)
    assert "wood" in answering(document)
    assert "current" not in answering(document)
    # It is being read just now.
    assert not ingest.reingest(document=fresh(document), actor=person(papers.owner))
    indexing.index(claim, markdown)
    assert "current" in answering(document)
    row = fresh(document)
    assert (row.generation, row.passages) == (2, len(pieces))
    assert not DocumentPassage.objects.filter(text__contains="wood").exists()
    assert not DocumentTerm.objects.filter(term="wood").exists()
    assert DocumentText.objects.filter(document=row).count() == 1
    assert row.digest != first.digest
    assert b"current" in b"".join(storage.read_original(row))


def test_a_reading_that_fails_leaves_what_answered(papers: Collection, web: WebServer) -> None:
    web.script("/kilns", page("They burn wood."), Page(status=404))
    document = from_web(papers, web.url("/kilns"))
    job.work(document.pk)
    assert ingest.reingest(document=fresh(document), actor=person(papers.owner))
    job.work(document.pk)
    assert fresh(document).state == "failed"
    assert "wood" in answering(document)


def test_unfinished_work_goes_when_it_is_read_anew(papers: Collection) -> None:
    document = add(papers, KILN.encode())
    claim = claims.claim(document.pk, timezone.now())
    assert claim is not None
    text = job._text(claim)
    claims.release(claim, state="failed", failure="internal")
    assert ingest.reingest(document=fresh(document), actor=person(papers.owner))
    assert not DocumentText.objects.filter(pk=text.pk).exists()


def answering(document: Document) -> str:
    row = fresh(document)
    assert row.generation is not None
    rows = DocumentPassage.objects.filter(document=row, generation=row.generation)
    return "\n".join(rows.values_list("text", flat=True))


def test_a_model_that_was_changed_gets_its_vectors(papers: Collection) -> None:
    document = add(papers, KILN.encode())
    job.work(document.pk)
    before = DocumentEmbedding.objects.count()
    assert not indexing.is_behind()
    DocumentEmbedding.objects.update(model="an older one")
    assert indexing.is_behind()
    tasks.sweep()
    assert not indexing.is_behind()
    assert DocumentEmbedding.objects.exclude(model="an older one").count() == before


def test_a_key_may_add_and_its_name_stays(papers: Collection, alice_key: IssuedKey) -> None:
    document = ingest.add_text(
        owner=papers.owner, collection=papers, title="Kilns", text=KILN,
        actor=key_holder(alice_key), client=alice_key,
    ).document  # fmt: skip
    assert (document.client_id, document.origin) == (alice_key.pk, "api")
