"""Two at a time, on connections of their own."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, close_old_connections, connection, transaction
from django.http import Http404
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.audit import person
from agents.models import Agent, User
from knowledge import indexing, ingest, pins, tombstones
from knowledge.collections import Wanted, store
from knowledge.ingest import claims, job
from knowledge.ingest.claims import Taken
from knowledge.models import Collection, Document
from knowledge.proposals import propose
from knowledge.splitting import split
from tests.factories import ConversationFactory
from tests.knowledge.shelves import shelf
from tests.memory.dumping import dump

pytestmark = pytest.mark.django_db(transaction=True)

TEXT = "\n\n".join(f"## Part {n}\n\n{f'Clay number {n} is fired slowly. ' * 20}" for n in range(2))


@pytest.fixture
def papers(alice: User) -> Collection:
    return shelf(alice)


def add(papers: Collection, text: str = TEXT) -> ingest.Added:
    return ingest.add_text(
        owner=papers.owner, collection=papers, title="Clay", text=text, actor=person(papers.owner)
    )


def together(*steps: Callable[[], Any]) -> list[Any]:
    """What each answered, or raised."""
    answers: list[Any] = [None] * len(steps)
    start = threading.Barrier(len(steps))

    def run(number: int) -> None:
        try:
            start.wait(timeout=30)
            answers[number] = steps[number]()
        except Exception as error:
            answers[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(steps))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    close_old_connections()
    return answers


def test_the_same_document_twice_is_there_once(papers: Collection) -> None:
    added = together(lambda: add(papers), lambda: add(papers))
    assert sorted(one.is_new for one in added) == [False, True]
    assert {one.document.pk for one in added} == {Document.objects.get().pk}


def test_one_worker_takes_it(papers: Collection) -> None:
    document = add(papers).document
    claimed = together(*[lambda: claims.claim(document.pk, timezone.now())] * 3)
    assert sorted(claim is not None for claim in claimed) == [False, False, True]
    other = add(papers, "other words").document
    assert claims.claim(other.pk, timezone.now()) is None


def test_while_it_is_read_anew_each_question_finds_one_whole_reading(papers: Collection) -> None:
    document = add(papers).document
    job.work(document.pk)
    whole = Document.objects.get().passages
    assert whole > 1
    over = threading.Event()
    seen: set[tuple[int, ...]] = set()

    def ask() -> None:
        while not over.is_set():
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT p.generation, count(*) FROM knowledge_documentpassage p"
                    " JOIN knowledge_document d ON d.id = p.document_id"
                    " AND d.generation = p.generation GROUP BY 1"
                )
                seen.update(cursor.fetchall() or [(0, 0)])

    def read_anew() -> None:
        try:
            assert ingest.reingest(document=Document.objects.get(), actor=person(papers.owner))
            job.work(document.pk)
        finally:
            over.set()

    assert together(ask, read_anew) == [None, None]
    assert seen <= {(1, whole), (2, whole)}
    assert Document.objects.get().generation == 2


def test_deleting_beside_a_job_that_is_about_to_answer(papers: Collection) -> None:
    """Either goes first, and then nothing is left and nobody fails over a deadlock."""
    for _ in range(2):
        document = add(papers).document
        job.work(document.pk)
        assert ingest.reingest(document=Document.objects.get(), actor=person(papers.owner))
        claim = claims.claim(document.pk, timezone.now() + timedelta(seconds=1))
        assert claim is not None
        indexing._store(claim, list(enumerate(split(job._text(claim).markdown))))
        answers = together(
            partial(indexing._answer, claim),
            partial(ingest.delete, document=document, actor=person(document.owner)),
        )
        assert answers[1] is None
        assert answers[0] is None or isinstance(answers[0], Taken)
        assert not Document.objects.exists()


def delete_collection(papers: Collection) -> Callable[[], Any]:
    return partial(ingest.delete_collection, collection=papers, actor=person(papers.owner))


def delete(document: Document) -> Callable[[], Any]:
    return partial(ingest.delete, document=document, actor=person(document.owner))


@contextmanager
def in_the_middle_of(papers: Collection, step: Callable[[], Any]) -> Iterator[list[Any]]:
    """What `step` answers, or raises, that was begun on another connection within the transaction
    of the block, and waits for its end."""
    answers: list[Any] = []

    def run() -> None:
        answers.append(together(step)[0])

    thread = threading.Thread(target=run)
    with transaction.atomic():
        yield answers
        thread.start()
        await_waiting()
    thread.join(timeout=60)


def await_waiting() -> None:
    """Until another connection waits for a lock."""
    for _ in range(600):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if cursor.fetchone()[0]:
                return
        time.sleep(0.05)
    raise AssertionError("Nobody waits.")


def test_an_upload_that_is_under_way_goes_with_its_collection(papers: Collection) -> None:
    with in_the_middle_of(papers, delete_collection(papers)) as answers:
        add(papers)
    assert answers == [None]
    assert not Document.objects.exists()
    assert not Collection.objects.exists()
    assert tombstones.stands(papers.owner, hashlib.sha256(TEXT.encode()).hexdigest())


def test_an_upload_into_a_collection_that_is_being_deleted_is_told(papers: Collection) -> None:
    with in_the_middle_of(papers, lambda: add(papers)) as answers:
        delete_collection(papers)()
    assert [str(answer) for answer in answers] == ["Its collection was deleted meanwhile."]
    assert not Document.objects.exists()


def test_a_pin_on_a_collection_that_is_being_deleted(papers: Collection, agent: Agent) -> None:
    talk = ConversationFactory.create(agent=agent)
    pin = partial(pins.pin, conversation=talk, collection=papers)
    with in_the_middle_of(papers, pin) as answers:
        delete_collection(papers)()
    assert [type(answer) for answer in answers] == [Http404]


def test_a_collection_that_is_pinned_meanwhile_goes_with_its_pin(
    papers: Collection, agent: Agent
) -> None:
    talk = ConversationFactory.create(agent=agent)
    with in_the_middle_of(papers, delete_collection(papers)) as answers:
        pins.pin(conversation=talk, collection=papers)
    assert answers == [None]
    assert pins.pins_of(talk) == []


def test_a_new_name_does_not_bring_a_deleted_collection_back(papers: Collection) -> None:
    def rename() -> None:
        row = Collection.objects.get(pk=papers.pk)
        barrier.wait(timeout=30)
        barrier.wait(timeout=30)
        store(row=row, wanted=Wanted("Clay"), actor=person(papers.owner), reason="renamed")

    def remove() -> None:
        barrier.wait(timeout=30)
        delete_collection(papers)()
        barrier.wait(timeout=30)

    barrier = threading.Barrier(2)
    answers = together(rename, remove)
    assert (type(answers[0]), answers[1]) == (Http404, None)
    assert not Collection.objects.exists()
    with pytest.raises(DatabaseError):
        papers.save()
    assert not Collection.objects.exists()


def test_what_is_asked_of_a_document_that_is_being_deleted(papers: Collection) -> None:
    for step in (ingest.reingest, ingest.retry):
        document = add(papers).document
        Document.objects.filter(pk=document.pk).update(state="failed", failure="internal")
        again = partial(step, document=document, actor=person(papers.owner))
        with in_the_middle_of(papers, again) as answers:
            delete(document)()
        assert [type(answer) for answer in answers] == [Http404]


def test_a_worker_that_takes_a_document_while_it_is_deleted(papers: Collection) -> None:
    document = add(papers).document
    with in_the_middle_of(papers, partial(job.work, document.pk)) as answers:
        delete(document)()
    assert answers == [None]
    assert not Document.objects.exists()


def test_two_deletions_of_one_document_or_collection(papers: Collection) -> None:
    document = add(papers).document
    assert together(*[delete(document)] * 2) == [None, None]
    add(papers)
    assert together(*[delete_collection(papers)] * 2) == [None, None]
    assert not Collection.objects.exists()


def test_what_is_read_of_a_document_for_facts_does_not_outlive_it(
    papers: Collection, agent: Agent, settings: Settings
) -> None:
    settings.LLM_ROUTES = {
        "general": {"model": "none", "base_url": "http://127.0.0.1:9", "api_key": "key"},
        "private": {"model": ""},
    }
    document = add(papers).document
    job.work(document.pk)
    document.refresh_from_db()
    ask = partial(propose, document=document, agent=agent)
    with in_the_middle_of(papers, ask) as answers:
        delete(document)()
    assert [type(answer) for answer in answers] == [Http404]
    document = add(papers).document
    job.work(document.pk)
    document.refresh_from_db()
    with in_the_middle_of(papers, delete(document)) as answers:
        propose(document=document, agent=agent)
    assert answers == [None]
    assert "Clay number" not in dump()
