"""Passages found by their meaning alone: for whom, of which reading, compared one by one or found
through an index over everybody's vectors."""

from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, User
from knowledge import indexing
from knowledge.models import Collection, Document, DocumentEmbedding, DocumentPassage
from knowledge.scope import collections_readable_by
from knowledge.search import search_kb, service
from knowledge.search.index import Index
from memory import embedding, vector_index
from tests.knowledge.shelves import document, shelf, sights
from tests.memory.recalling import model

__all__ = ["model"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("model")]

# No text has a word of it.
ASKED = "Which food is dangerous for my pets?"
CAT = "Our cat must not eat onions"
# Nearer to the question than any of those.
NEARER = "Toxic meals for cats and dogs"
HOW = pytest.mark.parametrize("how", ["exact", "by_index"])


@pytest.fixture
def by_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for an owner with very many."""
    monkeypatch.setattr(vector_index, "EXACT_UP_TO", 0)
    monkeypatch.setattr(vector_index, "_PASSING", 0)


@pytest.fixture
def exact() -> None:
    """As for an owner with few."""


@pytest.fixture
def papers(agent: Agent) -> Collection:
    return shelf(agent.owner)


def filed(collection: Collection, title: str, *texts: str) -> Document:
    row = document(collection, title, *texts, language="english")
    indexing.embed_backlog(seconds=60)
    return row


def read_anew(row: Document, *texts: str) -> None:
    """With vectors; it does not answer yet."""
    rows = [
        DocumentPassage(
            owner=row.owner, document=row, generation=2, ordinal=number, text=text, start=0, end=9,
            language="english",
        )
        for number, text in enumerate(texts)
    ]  # fmt: skip
    DocumentPassage.objects.bulk_create(rows)
    DocumentEmbedding.objects.bulk_create(indexing._vectors(row, rows))


def found(agent: Agent, k: int = 20) -> list[str]:
    told = search_kb(agent, ASKED, k)
    assert all(one.words == 0 for one in told)
    return [one.passage.text for one in told]


@pytest.fixture
def mine(agent: Agent, second_agent: Agent, papers: Collection, bob: User) -> set[UUID]:
    """What may be found stands among what may not, which is nearer."""
    for number in range(6):
        filed(papers, f"Cat {number}", f"{CAT}, part {number}.")
    ids = set(DocumentPassage.objects.values_list("pk", flat=True))
    for number in range(14):
        filed(shelf(second_agent.owner, f"H{number}", second_agent), "Care", f"{NEARER} {number}.")
    filed(shelf(bob), "Care", *[f"{NEARER}, {number}." for number in range(14)])
    read_anew(filed(papers, "Dog"), *[f"{NEARER}: {number}." for number in range(14)])
    return ids


def nearest(agent: Agent, rows: int) -> list[UUID]:
    seen = Index(agent.owner, [row.pk for row in collections_readable_by(agent)])
    [vector] = embedding.embed([ASKED])
    cosines = seen.nearest(vector, seen.census(), rows)
    return sorted(cosines, key=lambda key: -cosines[key])


def test_the_index_finds_what_comparing_finds_and_nothing_out_of_sight(
    agent: Agent, mine: set[UUID], request: pytest.FixtureRequest
) -> None:
    wanted = nearest(agent, 1)
    assert 0 < len(wanted) < len(mine)
    assert set(wanted) <= mine
    assert set(nearest(agent, 6)) == mine
    request.getfixturevalue("by_index")
    with CaptureQueriesContext(connection) as context:
        assert nearest(agent, 1) == wanted
    asked = [query["sql"] for query in context.captured_queries if "<=>" in query["sql"]]
    assert len(asked) == 1
    assert "halfvec" in asked[0]
    assert set(nearest(agent, 6)) == mine


def test_the_meaning_of_chosen_passages_is_told_of_those_in_sight(
    agent: Agent, mine: set[UUID]
) -> None:
    seen = Index(agent.owner, [row.pk for row in collections_readable_by(agent)])
    [vector] = embedding.embed([ASKED])
    every = list(DocumentPassage.objects.values_list("pk", flat=True))
    assert len(every) > len(mine)
    assert set(seen.cosines(vector, every)) == mine


@HOW
def test_what_is_out_of_sight_takes_no_place(
    agent: Agent,
    second_agent: Agent,
    mine: set[UUID],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    how: str,
) -> None:
    """However much nearer it is."""
    request.getfixturevalue(how)
    monkeypatch.setattr(service, "ROWS", 3)
    told = found(agent)
    assert len(told) >= 3
    assert all(text.startswith(CAT) for text in told)
    assert all(text.startswith(NEARER) for text in found(second_agent, 3))


@HOW
def test_nobody_finds_by_meaning_what_is_not_theirs(
    agent: Agent,
    second_agent: Agent,
    bobs_agent: Agent,
    request: pytest.FixtureRequest,
    how: str,
) -> None:
    """Seeded everywhere; each is found by whom it is for."""
    places = {
        "hers": shelf(agent.owner, "hers", agent),
        "everybody's": shelf(agent.owner, "everybody's"),
        "the other's": shelf(agent.owner, "the other's", second_agent),
        "bob's": shelf(bobs_agent.owner, "bob's"),
    }
    for name, place in places.items():
        filed(place, name, f"{CAT}.")
    request.getfixturevalue(how)
    for who, names in sights(agent, second_agent, bobs_agent):
        assert {one.document.title for one in search_kb(who, ASKED, 20)} == names
        for name in names:
            [one] = search_kb(who, ASKED, collection=places[name])
            assert one.document.title == name


@HOW
def test_only_the_reading_that_answers_is_found(
    agent: Agent,
    papers: Collection,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    how: str,
) -> None:
    row = filed(papers, "Notes", f"{CAT}.")
    read_anew(row, *[f"{NEARER}, {number}." for number in range(8)])
    request.getfixturevalue(how)
    monkeypatch.setattr(service, "ROWS", 2)
    assert found(agent) == [f"{CAT}."]
    Document.objects.filter(pk=row.pk).update(generation=2, passages=8)
    assert len(told := found(agent)) == 2
    assert all(text.startswith(NEARER) for text in told)
