"""The facts nearest to a vector: exactly, or by an index where an owner has very many."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from django.db.models.base import ModelState

from memory import embedding, vector_index
from memory.models import Fact
from memory.recall.census import Census
from memory.recall.terms import Every

Near = list[tuple[UUID, float]]

# The nearest of all that is the owner's, of which those in scope remain. Joining first would read
# every fact beside every vector, which takes twice as long.
_AMONG_ALL = """
    SELECT near.fact_id, near.distance FROM (
        SELECT fact_id, vector <=> %s::vector AS distance FROM memory_factembedding
        WHERE owner_id = %s AND model = %s ORDER BY 2 LIMIT %s
    ) AS near JOIN memory_fact ON memory_fact.id = near.fact_id AND {condition}
    ORDER BY near.distance, near.fact_id LIMIT %s
"""
# Of those in scope alone. Adding nothing keeps an index over all owners out of it.
_IN_SCOPE = """
    SELECT e.fact_id, (e.vector <=> %s::vector) + 0 AS distance
    FROM memory_fact JOIN memory_factembedding e ON e.fact_id = memory_fact.id
    WHERE e.owner_id = %s AND e.model = %s AND {condition}
    ORDER BY 2, 1 LIMIT %s
"""
# The index has half-precision copies; the distance is taken from the whole vector.
_BY_INDEX = """
    SELECT e.fact_id, e.vector <=> %s::vector
    FROM memory_factembedding e JOIN memory_fact ON memory_fact.id = e.fact_id
    WHERE e.owner_id = %s AND e.model = %s AND {condition}
    ORDER BY e.vector::halfvec({dimensions}) <=> %s::halfvec({dimensions}) LIMIT %s
"""
# Rows of the owner read for one that is wanted, where all of them are in scope: some have expired,
# are pending, or in another language. Where fewer than this share are, the second way is taken.
_SPARE = 4
_LEAST_SHARE = 0.25


# Facts with what scores and block need of each, in one look.
_MEASURED = """
    SELECT {columns}, memory_fact.language, {cosine}, at.tf, at.length, at.words
    FROM memory_fact
    LEFT JOIN memory_factembedding e
        ON e.fact_id = memory_fact.id AND e.owner_id = %s AND e.model = %s
    LEFT JOIN memory_factterm at
        ON at.owner_id = %s AND at.term = '@' AND at.fact_id = memory_fact.id
    WHERE {condition} AND (memory_fact.id = ANY(%s::uuid[]) OR {rides})
"""


class Row(NamedTuple):
    """A fact and what is known of it. `cosine`: the best of the message's vectors."""

    fact: Fact
    language: str
    cosine: float | None
    every: Every | None


class Condition(NamedTuple):
    """What a queryset of facts asks, for statements that the ORM can't make: a condition on
    memory_fact and its values."""

    sql: str
    values: tuple[Any, ...]

    def also(self, sql: str, *values: Any) -> "Condition":
        return Condition(f"{self.sql} AND {sql}", (*self.values, *values))


def condition(facts: QuerySet[Fact]) -> Condition:
    """Of a queryset that joins no other table."""
    compiler = facts.query.get_compiler(connection=connection)
    sql, values = compiler.compile(facts.query.where)
    return Condition(sql, tuple(values))


def nearest(vector: Sequence[float], asked: Condition, census: Census, rows: int) -> Near:
    """The `rows` nearest of the facts asked for, which are one agent's, with their distances."""
    text = str(list(vector))
    if census.by_index(rows):
        found = _by_index(text, len(vector), census.owner, asked, rows)
        if len(found) == rows:
            return found
    head = [text, census.owner, embedding.MODEL]
    window = rows * _SPARE
    if census.facts > window and census.facts >= _LEAST_SHARE * census.owned:
        found = _rows(_AMONG_ALL, asked, [*head, window, *asked.values, rows])
        if len(found) == rows:
            return found
    return _rows(_IN_SCOPE, asked, [*head, *asked.values, rows])


def measured(
    asked: Condition,
    owner: UUID,
    ids: Collection[UUID],
    rides: Condition,
    *,
    columns: Sequence[str],
    vectors: Sequence[Sequence[float]],
) -> list[Row]:
    """Of the facts asked for those that have one of the ids, or ride anyway, with these columns."""
    texts = [str(list(vector)) for vector in vectors]
    cosines = ", ".join("1 - (e.vector <=> %s::vector)" for _ in texts)
    parts = {
        "columns": ", ".join(f"memory_fact.{name}" for name in columns),
        "cosine": f"greatest({cosines})" if texts else "NULL",
        "condition": asked.sql,
        "rides": rides.sql,
    }
    head: list[Any] = [*texts, owner, embedding.MODEL, owner]
    with connection.cursor() as cursor:
        cursor.execute(_MEASURED.format(**parts), [*head, *asked.values, list(ids), *rides.values])
        rows = cursor.fetchall()
    width = len(columns)
    return [_row(columns, row[:width], *row[width:]) for row in rows]


def _row(
    columns: Sequence[str], values: Sequence[Any], language: str, cosine: float | None, *every: Any
) -> Row:
    fact = _fact(columns, values)
    return Row(fact, language, cosine, None if every[0] is None else Every(*every))


def _fact(columns: Sequence[str], values: Sequence[Any]) -> Fact:
    """As `Fact.from_db` makes it, which takes longer for a hundred rows than their query does."""
    fact = Fact.__new__(Fact)
    fact.__dict__.update(zip(columns, values, strict=True))
    fact._state = ModelState()
    fact._state.adding, fact._state.db = False, connection.alias
    return fact


def _by_index(text: str, size: int, owner: UUID, asked: Condition, rows: int) -> Near:
    values = [text, owner, embedding.MODEL, *asked.values, text, rows]
    with vector_index.approximate():
        found = _rows(_BY_INDEX.replace("{dimensions}", str(size)), asked, values)
    return sorted(found, key=lambda pair: (pair[1], pair[0]))


def _rows(statement: str, asked: Condition, values: Sequence[Any]) -> Near:
    with connection.cursor() as cursor:
        cursor.execute(statement.replace("{condition}", asked.sql), values)
        found: Near = cursor.fetchall()
    return found
