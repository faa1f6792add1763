"""Asking of documents while they are read anew: their passages change places under the question."""

import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import pytest
from django.http import Http404

from agents.audit import person
from agents.models import Agent, User
from knowledge import ingest
from knowledge.ingest import job
from knowledge.models import Collection, Document, DocumentPassage
from knowledge.search import index, reading, search_kb, service
from knowledge.search.reading import read_kb
from tests.factories import AgentFactory
from tests.knowledge.shelves import shelf
from tests.knowledge.test_at_once import together
from tests.memory.recalling import model
from tests.memory.sessions import Session

__all__ = ["model"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("model")]

SAID = {
    "Kilns": "Fire the porcelain kiln slowly, or its glaze cracks.",
    "Boats": "The dinghy lies upside down in the boathouse all winter.",
    "Bees": "Beehives need a windbreak of hazel on their northern side.",
}
ASKED = {"Kilns": "porcelain glaze", "Boats": "dinghy boathouse", "Bees": "hazel beehives"}


@pytest.fixture
def papers(alice: User) -> Collection:
    return shelf(alice)


@pytest.fixture
def reader(papers: Collection) -> Agent:
    return AgentFactory.create(owner=papers.owner)


def read(papers: Collection, title: str) -> Document:
    text = "\n\n".join(f"## Part {n}\n\n{f'{SAID[title]} ' * 30}" for n in range(2))
    actor = person(papers.owner)
    added = ingest.add_text(
        owner=papers.owner, collection=papers, title=title, text=text, actor=actor
    )
    job.work(added.document.pk)
    return added.document


def read_anew(document: Document) -> None:
    row = Document.objects.get(pk=document.pk)
    assert ingest.reingest(document=row, actor=person(row.owner))
    job.work(row.pk)


def deleted(document: Document) -> None:
    ingest.delete(document=document, actor=person(document.owner))


def titles(agent: Agent, query: str) -> set[str]:
    return {one.document.title for one in search_kb(agent, query)}


def interrupted(
    monkeypatch: pytest.MonkeyPatch, place: Any, name: str, step: Callable[[], Any]
) -> list[Any]:
    """What `step` answers that is done on another connection, once, before `place.name` is."""
    answers: list[Any] = []
    whole = getattr(place, name)

    def instead(*given: Any, **named: Any) -> Any:
        if not answers:
            with closing(Session()) as other:
                answers.append(other.do(step))
        return whole(*given, **named)

    monkeypatch.setattr(place, name, instead)
    return answers


STEPS = [
    (index.Index, "nearest"),
    (index.Index, "lexical"),
    (index.Index, "sheets"),
    (service._Search, "_places"),
    (service._Search, "_texts"),
]


@pytest.mark.parametrize(("place", "name"), STEPS)
def test_a_document_that_is_read_anew_during_a_search_is_found(
    papers: Collection, reader: Agent, monkeypatch: pytest.MonkeyPatch, place: Any, name: str
) -> None:
    document = read(papers, "Kilns")
    done = interrupted(monkeypatch, place, name, partial(read_anew, document))
    assert titles(reader, ASKED["Kilns"]) == {"Kilns"}
    assert done == [None]
    assert Document.objects.get().generation == 2


@pytest.mark.parametrize(("place", "name"), STEPS)
def test_a_document_that_is_deleted_during_a_search_is_not_told(
    papers: Collection, reader: Agent, monkeypatch: pytest.MonkeyPatch, place: Any, name: str
) -> None:
    read(papers, "Boats")
    document = read(papers, "Kilns")
    done = interrupted(monkeypatch, place, name, partial(deleted, document))
    assert titles(reader, f"{ASKED['Kilns']} {ASKED['Boats']}") == {"Boats"}
    assert done == [None]


@pytest.mark.parametrize("name", ["_from", "_markdown"])
def test_reading_on_from_a_passage_that_goes_meanwhile_is_no_end_of_the_document(
    papers: Collection, reader: Agent, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    document = read(papers, "Kilns")
    first = DocumentPassage.objects.get(ordinal=0)
    assert read_kb(reader, first.pk).text
    done = interrupted(monkeypatch, reading, name, partial(read_anew, document))
    with pytest.raises(Http404, match="search again"):
        read_kb(reader, first.pk)
    assert done == [None]


def test_whoever_asks_while_documents_are_read_anew_finds_them(
    papers: Collection, reader: Agent
) -> None:
    documents = [read(papers, title) for title in SAID]
    over = threading.Event()
    missed: list[str] = []
    asked: list[str] = []

    def ask(title: str) -> None:
        while not over.is_set():
            asked.append(title)
            if title not in titles(reader, ASKED[title]):
                missed.append(title)

    def go_on() -> None:
        try:
            for _ in range(2):
                for document in documents:
                    read_anew(document)
        finally:
            over.set()

    assert together(go_on, *(partial(ask, title) for title in SAID)) == [None] * 4
    assert missed == []
    assert set(asked) == set(SAID)
    assert {row.generation for row in Document.objects.all()} == {3}
