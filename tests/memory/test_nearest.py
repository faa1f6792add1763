"""The nearest facts: compared one by one, or found through an index over everybody's vectors."""

from datetime import timedelta
from importlib import import_module
from uuid import UUID

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agents.models import Agent, User
from memory import embedding, vector_index
from memory.models import FactCount
from memory.recall import census
from memory.recall.legs import Reader
from memory.recall.nearest import condition, fetched, nearest
from memory.recall.query import read
from memory.recall.tuning import tuning
from memory.vocabulary import State
from tests.factories import AgentFactory, FactFactory
from tests.memory.recalling import known, model

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("model")]
__all__ = ["model"]

ROWS = 4
HOBBIES = ("cycling", "rowing", "chess", "knitting", "sailing", "painting")


@pytest.fixture
def by_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for an owner with very many."""
    monkeypatch.setattr(vector_index, "EXACT_UP_TO", 0)
    monkeypatch.setattr(vector_index, "_PASSING", 0)


@pytest.fixture
def store(agent: Agent, bob: User) -> set[UUID]:
    """What may be found stands among what may not, which is as near."""
    mine = known(agent, *(f"The user's hobby is {hobby}." for hobby in HOBBIES))
    strangers: list[tuple[Agent, dict[str, object]]] = [
        (AgentFactory.create(owner=bob), {}),
        (AgentFactory.create(owner=agent.owner, slug="other"), {}),
        (agent, {"state": State.PENDING}),
        (agent, {"state": State.ARCHIVED}),
        (agent, {"valid_until": timezone.now() - timedelta(days=1)}),
    ]
    for number, (whose, values) in enumerate(strangers):
        known(whose, f"The user's hobby number {number}.", f"The user's hobby: {number}.", **values)
    return {fact.pk for fact in mine}


def found(agent: Agent) -> list[UUID]:
    reader = Reader(agent, read("hobby", (), timezone.now()), tuning())
    vectors = embedding.embed(["the user's hobby"])
    rows = nearest(vectors, reader.asked, reader.census, ROWS)
    cosines = {row.fact.pk: row.cosine or 0 for row in rows}
    return sorted(cosines, key=lambda key: -cosines[key])


def test_the_index_finds_what_comparing_finds_and_nothing_out_of_scope(
    agent: Agent, store: set[UUID], request: pytest.FixtureRequest
) -> None:
    exact = found(agent)
    request.getfixturevalue("by_index")
    with CaptureQueriesContext(connection) as context:
        through_index = found(agent)
    assert any("halfvec" in query["sql"] for query in context.captured_queries)
    assert through_index == exact
    assert set(through_index) <= store


@pytest.mark.usefixtures("by_index")
def test_where_the_index_finds_too_few_each_is_compared(agent: Agent) -> None:
    known(agent, "The user's hobby is chess.")
    assert len(found(agent)) == 1


@pytest.mark.usefixtures("by_index")
def test_the_callers_transaction_keeps_its_settings(agent: Agent, store: set[UUID]) -> None:
    found(agent)
    with connection.cursor() as cursor:
        cursor.execute("SHOW enable_sort")
        assert cursor.fetchone() == ("on",)


@pytest.mark.parametrize(
    ("visible", "owned", "worth_it"),
    [
        (1_000, 1_000, False),
        (10_000, 10_000, True),
        (5_000, 10_000, True),
        # Most of what a scan passes over would be out of scope.
        (500, 10_000, False),
        (0, 100_000, False),
    ],
)
def test_the_index_is_asked_where_it_is_quicker(visible: int, owned: int, worth_it: bool) -> None:
    assert vector_index.is_worth_it(rows=60, visible=visible, owned=owned) is worth_it


@pytest.mark.parametrize("reads", Agent.Reads)
def test_what_is_written_out_asks_what_the_queryset_asks(
    agent: Agent, store: set[UUID], reads: Agent.Reads
) -> None:
    FactFactory.create(owner=agent.owner, agent=None, state=State.ACTIVE, statement="Of all.")
    agent.reads = reads
    reader = Reader(agent, read("hobby", (), timezone.now()), tuning())
    for asked in (reader.asked, condition(reader.facts)):
        rows = fetched(
            f"SELECT id FROM memory_fact WHERE {asked.sql}", asked.values, kept=asked.kept
        )
        assert {key for (key,) in rows} == set(reader.facts.values_list("pk", flat=True))
        assert store <= {key for (key,) in rows}


def test_in_the_index_an_owners_vectors_lie_apart(agent: Agent, bob: User) -> None:
    """One direction of one owner and the opposite are nearer than the same of two."""
    here, there = agent.owner_id, bob.pk
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT remembrancer_place('[1,0]', %s) <=> remembrancer_place('[0,1]', %s),"
            " remembrancer_place('[1,0]', %s) <=> remembrancer_place('[0.8,0.6]', %s),"
            " remembrancer_place('[1,0]', %s) <=> remembrancer_place('[1,0]', %s)",
            [here, here, here, here, here, there],
        )
        square, close, strange = cursor.fetchone()
    assert (square, close) == pytest.approx((0.5, 0.1), abs=1e-6)
    assert strange > close


def test_the_counts_follow_what_is_active(agent: Agent) -> None:
    facts = [FactFactory.create(agent=agent, state=State.ACTIVE) for _ in range(3)]
    FactFactory.create(agent=agent)
    before = census.take(agent)
    assert (before.facts, before.owned) == (3, 3)
    fact = facts[0]
    fact.state, fact.archived_from, fact.archived_reason = State.ARCHIVED, State.ACTIVE, "stale"
    fact.save()
    after = census.take(agent)
    assert (after.facts, after.owned) == (2, 2)
    assert after.length < before.length


def test_folding_the_counts_changes_no_sum(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(census, "_FOLD_ABOVE", 1)
    for _ in range(3):
        FactFactory.create(agent=agent, state=State.ACTIVE)
    before = census.take(agent)
    assert census.fold() > 0
    assert census.take(agent) == before
    assert FactCount.objects.filter(owner=agent.owner).count() == 1


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_the_indexes_of_a_model_are_made_once_and_can_go() -> None:
    made = vector_index.ensure_vector_index("another-model", 8)
    assert len(made) == len(vector_index.TABLES)
    assert vector_index.ensure_vector_index("another-model", 8) == []
    vector_index.drop_vector_index("another-model")
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_indexes WHERE indexname = ANY(%s)", [made])
        assert cursor.fetchone() == (0,)


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_an_index_of_before_connects_what_comes_as_a_new_one_does() -> None:
    [made, *_] = vector_index.ensure_vector_index("another-model", 8)
    migration = import_module("memory.migrations.0023_a_better_connected_index")
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT reloptions FROM pg_class WHERE relname = %s", [made])
        fresh = cursor.fetchone()
        cursor.execute(f'ALTER INDEX "{made}" SET (ef_construction = 128)')
        migration.set_what_is_kept_in_mind(None, connections["owner"].schema_editor())
        cursor.execute("SELECT reloptions FROM pg_class WHERE relname = %s", [made])
        assert cursor.fetchone() == fresh == ([f"ef_construction={vector_index.EF_CONSTRUCTION}"],)
    vector_index.drop_vector_index("another-model")


def test_a_model_of_too_many_dimensions_has_no_index() -> None:
    assert vector_index.ensure_vector_index("huge", vector_index.MOST_DIMENSIONS + 1) == []
