"""The least that recall can cost: one query embedding and one query for the nearest vectors."""

import time
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np
import psycopg
from django.utils import timezone
from pgvector.psycopg import register_vector

from memory import embedding, vector_index
from memory.recall.legs import Reader
from memory.recall.nearest import nearest as our_nearest
from memory.recall.query import as_facts_say, read
from memory.recall.tuning import tuning

if TYPE_CHECKING:
    from bench.seed import Owner

ROWS = 60
# Adding nothing keeps the index out of it.
_EXACT = """
    SELECT fact_id FROM memory_factembedding WHERE owner_id = %s AND model = '{model}'
    ORDER BY (vector <=> %s::vector) + 0 LIMIT {rows}
"""
_INDEX = """
    SELECT fact_id FROM memory_factembedding WHERE owner_id = %s AND model = '{model}'
    ORDER BY {here} <=> {sought} LIMIT {rows}
"""
_EVERYTHING = """
    SELECT f.id, f.owner_id, f.statement, e.vector FROM memory_fact f
    JOIN memory_factembedding e ON e.fact_id = f.id AND e.model = %s
    WHERE f.state = 'active' AND f.owner_id = ANY(%s)
"""
_EF_SEARCH = (60, 80, 100, 120, 160, 200, 300, 400, 640, 1000)
# What two builds of one index differ by, and more: a way that finds so much less is as good.
_AS_GOOD = 0.005
Nearest = Callable[[UUID, str], set[UUID]]


class Way(NamedTuple):
    """What the floor looks for the nearest by."""

    name: str
    look: Nearest
    # Of the nearest that an exact look finds: its own share, and that of recall's look.
    found: float
    found_by_ours: float


class Floor:
    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        register_vector(self.connection)
        self.connection.execute("SET jit = off")
        self.vector: list[float] = []

    def ask(self, owner: UUID, question: str, nearest: Nearest) -> tuple[float, float]:
        """Milliseconds of the embedding and of the query."""
        started = time.perf_counter()
        (self.vector,) = embedding.embed([as_facts_say(question)])
        embedded = time.perf_counter()
        nearest(owner, str(self.vector))
        return 1_000 * (embedded - started), 1_000 * (time.perf_counter() - embedded)

    def choose(self, asked: Sequence[tuple["Owner", str]]) -> Way:
        """The fastest way that finds as much as ours does."""
        probes = [
            (owner, str(embedding.embed([as_facts_say(question)])[0])) for owner, question in asked
        ]
        exact = [self._exact(owner.user.pk, vector) for owner, vector in probes]
        ours = fmean(self._found_by_ours(owner, vector) for owner, vector in probes)
        taken, ways = [self._time(self._exact, probes)], [Way("exact", self._exact, 1.0, ours)]
        for ef_search in _EF_SEARCH:
            look = self._by_index(ef_search)
            found = fmean(
                len(look(owner.user.pk, vector) & wanted) / len(wanted)
                for (owner, vector), wanted in zip(probes, exact, strict=True)
            )
            if found >= ours - _AS_GOOD:
                taken.append(self._time(look, probes))
                ways.append(Way(f"index, ef_search {ef_search}", look, found, ours))
        return ways[taken.index(min(taken))]

    def everything(self, owners: Sequence[UUID]) -> tuple[list[dict[str, str]], Any]:
        """Active facts with their vectors, as a peer is given them."""
        rows: list[dict[str, str]] = []
        vectors: list[Any] = []
        with self.connection.transaction(), self.connection.cursor("everything") as cursor:
            cursor.execute(_EVERYTHING, [embedding.MODEL, list(owners)])
            for fact_id, owner, text, vector in cursor:
                rows.append({"id": str(fact_id), "owner": str(owner), "text": text})
                vectors.append(vector.to_numpy().astype(np.float32))
        return rows, np.array(vectors)

    def _exact(self, owner: UUID, vector: str) -> set[UUID]:
        return self._rows(_EXACT, owner, vector)

    def _by_index(self, ef_search: int) -> Nearest:
        def way(owner: UUID, vector: str) -> set[UUID]:
            if self.tuned != ef_search:
                self._tune(ef_search)
            return self._rows(_INDEX, owner, vector, str(owner))

        return way

    tuned = 0

    def _tune(self, ef_search: int) -> None:
        self.tuned = ef_search
        self.connection.execute("SET hnsw.iterative_scan = relaxed_order")
        self.connection.execute(f"SET hnsw.ef_search = {ef_search}")

    def _rows(self, statement: str, owner: UUID, *sought: str) -> set[UUID]:
        query = statement.format(
            model=embedding.MODEL,
            rows=ROWS,
            here=vector_index.place("vector", "owner_id", 384),
            sought=vector_index.place("%s::vector", "%s::uuid", 384),
        )
        return {row[0] for row in self.connection.execute(query, [owner, *sought])}

    def _time(self, way: Nearest, probes: Sequence[tuple["Owner", str]]) -> float:
        taken = []
        for owner, vector in probes:
            started = time.perf_counter()
            way(owner.user.pk, vector)
            taken.append(time.perf_counter() - started)
        return median(taken)

    def _found_by_ours(self, owner: "Owner", vector: str) -> float:
        reader = Reader(owner.agent, read("", (), timezone.now()), tuning())
        numbers = [float(number) for number in vector.strip("[]").split(",")]
        found = our_nearest([numbers], reader.asked, reader.census, ROWS)
        everything = self.connection.execute(
            "SELECT f.id FROM memory_fact f JOIN memory_factembedding e ON e.fact_id = f.id"
            " WHERE f.owner_id = %s AND f.state = 'active' AND e.model = %s"
            " AND (f.agent_id = %s OR f.agent_id IS NULL)"
            " ORDER BY (e.vector <=> %s::vector) + 0 LIMIT %s",
            [owner.user.pk, embedding.MODEL, owner.agent.pk, vector, ROWS],
        )
        wanted = {row[0] for row in everything}
        return len(wanted & {row.fact.pk for row in found}) / len(wanted)
