"""Two at a time, on connections of their own."""

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import close_old_connections, connection
from django.utils import timezone

from agents.audit import person
from agents.models import User
from knowledge import indexing, ingest
from knowledge.ingest import claims, job
from knowledge.ingest.claims import Taken
from knowledge.models import Collection, Document
from knowledge.splitting import split
from tests.knowledge.shelves import shelf

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
