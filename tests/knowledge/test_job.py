"""Documents through the whole of the job: where their passages stand, and how they fail."""

import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from ipaddress import ip_network

import psutil
import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.audit import Actor, key_holder, person
from agents.models import User
from knowledge import ingest
from knowledge.ingest import job
from knowledge.models import Collection, Document, DocumentFile, DocumentPassage
from tests.factories import IssuedKey
from tests.knowledge import files
from tests.knowledge.readers import readers
from tests.knowledge.shelves import added, shelf
from tests.web_server import Page, WebServer, serving

pytestmark = pytest.mark.django_db

CLAY = "Der Ton besteht aus Erde und Wasser und wird langsam im Ofen gebrannt."
GLAZE = "The glaze is a glass that melts on the clay in a great and steady heat."


@pytest.fixture
def papers(alice: User) -> Collection:
    return shelf(alice)


def fresh(document: Document) -> Document:
    return Document.objects.get(pk=document.pk)


def test_passages_know_their_pages_headings_and_language(papers: Collection) -> None:
    clay, glaze = "\n".join([CLAY] * 12), "\n".join([GLAZE] * 20)
    pages = [f"Clay\n{clay}", f"{clay}\nGlaze\n{glaze}"]
    outline = [("Clay", 0), ("Glaze", 1)]
    document = added(papers, files.pdf(pages, outline=outline), "clay.pdf")
    job.work(document.pk)
    row = fresh(document)
    assert (row.state, row.pages, row.language) == ("ready", 2, "german")
    stored = DocumentPassage.objects.filter(document=row, generation=1)
    told = stored.values_list("headings", "page_from", "page_to", "language")
    assert [*told.order_by("ordinal")] == [
        (["Clay"], 1, 2, "german"), (["Glaze"], 2, 2, "english"),
    ]  # fmt: skip


def test_what_goes_wrong_on_our_side_is_tried_after_2_10_and_30_minutes(
    papers: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder for temporary files is gone."""
    document = added(papers, CLAY.encode(), "clay.md")
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    for minutes in (2, 10, 30):
        job.work(document.pk)
        row = fresh(document)
        assert (row.state, row.failure) == ("waiting", "internal")
        assert row.failure_detail == f"{job.OURS} (FileNotFoundError)"
        assert row.next_attempt_at is not None
        wait = row.next_attempt_at - timezone.now()
        assert timedelta(minutes=minutes - 1) < wait <= timedelta(minutes=minutes)
        assert job.sweep() == []
        Document.objects.update(next_attempt_at=timezone.now())
        assert job.sweep() == [document.pk]
    job.work(document.pk)
    assert (fresh(document).state, fresh(document).failure) == ("failed", "internal")
    assert job.sweep() == []

    monkeypatch.undo()
    assert ingest.retry(document=fresh(document), actor=person(papers.owner))
    job.work(document.pk)
    assert (fresh(document).state, fresh(document).failure) == ("ready", "")


@pytest.fixture
def web(settings: Settings) -> Iterator[WebServer]:
    settings.OUTBOUND_NETWORKS = [ip_network("127.0.0.0/8")]
    with serving() as server:
        yield server


def from_web(
    papers: Collection, address: str, actor: Actor, client: IssuedKey | None = None
) -> Document:
    added = ingest.add_address(
        owner=papers.owner, collection=papers, address=address, actor=actor, client=client
    )
    job.work(added.document.pk)
    return fresh(added.document)


def test_a_deleted_page_does_not_come_back_under_another_address(
    papers: Collection, web: WebServer, alice_key: IssuedKey
) -> None:
    owner = person(papers.owner)
    page = Page(f"<!doctype html><p>{CLAY}</p>".encode(), headers={"content-type": "text/html"})
    for path in ("/a", "/b", "/c"):
        web.script(path, page)
    first = from_web(papers, web.url("/a"), owner)
    assert first.state == "ready"
    ingest.delete(document=first, actor=owner)

    row = from_web(papers, web.url("/b"), key_holder(alice_key), alice_key)
    assert (row.state, row.failure, row.next_attempt_at) == ("failed", "refused", None)
    assert row.failure_detail == "The owner deleted this page, so it is not stored."
    assert not DocumentFile.objects.exists()
    # The owner may bring it back.
    assert from_web(papers, web.url("/c"), owner).state == "ready"


@contextmanager
def the_next_reader_is_killed() -> Iterator[list[int]]:
    """The numbers of the readers that were."""
    over, killed = threading.Event(), list[int]()

    def kill() -> None:
        while not over.wait(0.01):
            try:
                [reader] = readers()
                os.kill(reader.pid, signal.SIGKILL)
            except (ValueError, psutil.NoSuchProcess):  # not yet begun
                continue
            killed.append(reader.pid)
            return

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def test_a_reader_that_is_killed_fails_its_document_and_no_other(papers: Collection) -> None:
    scan = added(papers, files.long_scan(), "scan.tif")
    text = added(papers, CLAY.encode(), "clay.md")
    with the_next_reader_is_killed() as killed:
        assert job.work(scan.pk) == text.pk
    assert len(killed) == 1
    row = fresh(scan)
    assert (row.state, row.failure, row.next_attempt_at) == ("failed", "too_heavy", None)
    assert (row.stage, row.token, row.busy_until) == ("", None, None)
    assert "more memory than one document may use" in row.failure_detail
    assert job.work(text.pk) is None
    assert fresh(text).state == "ready"
