"""Facts with all that scores and block need of them, in one look: those nearest to a vector, by
comparing each or by an index where an owner has many, and those that were found in another way."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from django.db.models.base import ModelState
from psycopg import sql

from memory import embedding, vector_index
from memory.models import Fact
from memory.recall.census import Census
from memory.recall.sheets import Every
from memory.recall.statements import Point, ask

# Columns of a fact that recall, its page and its API show.
_COLUMNS = frozenset({
    "id", "owner_id", "agent_id", "kind", "statement", "state", "confidence", "pinned",
    "valid_from", "valid_until", "valid_precision", "observed_at", "last_confirmed_at",
    "origin", "prompt_version",
})  # fmt: skip
COLUMNS = tuple(field.attname for field in Fact._meta.concrete_fields if field.attname in _COLUMNS)

_FIELDS = ", ".join(f"memory_fact.{name}" for name in (*COLUMNS, "language"))
# The nearest of all that is the owner's, of which those in scope remain. Joining first would read
# every fact beside every vector, which takes twice as long. What has an offset is looked up by the
# row, and for no more rows than are wanted.
_AMONG_ALL = """
    SELECT near.*, at.tf, at.length, at.words
    FROM (
        SELECT {fields}, {cosine}, NULL::bytea
        FROM (
            SELECT fact_id, vector, vector <=> %(vector0)s::vector AS distance
            FROM memory_factembedding
            WHERE owner_id = %(owner)s AND model = {model} ORDER BY 3 LIMIT {window}
        ) AS e CROSS JOIN LATERAL (
            SELECT {fields} FROM memory_fact
            WHERE memory_fact.id = e.fact_id AND {condition} OFFSET 0
        ) AS memory_fact
        ORDER BY e.distance, e.fact_id LIMIT {rows}
    ) AS near {sizes} near.id
"""
# Of those in scope alone. Adding nothing keeps an index over all owners out of it.
_IN_SCOPE = """
    SELECT {fields}, {cosine_of_scope}, NULL::bytea, at.tf, at.length, at.words
    FROM (
        SELECT {fields}, e.vector
        FROM memory_fact JOIN memory_factembedding e ON e.fact_id = memory_fact.id
        WHERE e.owner_id = %(owner)s AND e.model = {model} AND {condition}
        ORDER BY (e.vector <=> %(vector0)s::vector) + 0, memory_fact.id LIMIT {rows}
    ) AS memory_fact {sizes} memory_fact.id
"""
# The same of vectors and facts alone, where terms or counts can't be read.
_ALONE = """
    SELECT {fields}, {cosine}, NULL::bytea, NULL::float8, NULL::float8, NULL::integer
    FROM memory_fact JOIN memory_factembedding e ON e.fact_id = memory_fact.id
    WHERE e.owner_id = %(owner)s AND e.model = {model} AND {condition}
    ORDER BY (e.vector <=> %(vector0)s::vector) + 0, memory_fact.id LIMIT {rows}
"""
# The planner is left no other way: an owner asked for so can't be looked up in another index, and a
# subquery with an offset is no table that could come first.
_BY_INDEX = """
    SELECT {fields}, {cosine}, NULL::bytea, at.tf, at.length, at.words
    FROM memory_factembedding e CROSS JOIN LATERAL (
        SELECT {fields} FROM memory_fact
        WHERE memory_fact.id = e.fact_id AND {condition} OFFSET 0
    ) AS memory_fact {sizes} e.fact_id
    WHERE (e.owner_id = %(owner)s) IS TRUE AND e.model = {model}
    ORDER BY {here} <=> {sought} LIMIT {rows}
"""
_OF_IDS = """
    SELECT {fields}, NULL::float8, vector_send(e.vector), at.tf, at.length, at.words
    FROM memory_fact
    LEFT JOIN memory_factembedding e
        ON e.fact_id = memory_fact.id AND e.owner_id = %(owner)s AND e.model = {model}
    {sizes} memory_fact.id
    WHERE {condition} AND memory_fact.id = ANY(ARRAY(
        SELECT unnest(%(ids)s::uuid[]) UNION SELECT memory_fact.id FROM memory_fact WHERE {rides}
    ))
"""
_PARTS = {
    "fields": ", ".join(f"memory_fact.{name}" for name in (*COLUMNS, "language")),
    # The term that every fact has tells its size.
    "sizes": "LEFT JOIN memory_factterm at"
    " ON at.owner_id = %(owner)s AND at.term = '@' AND at.fact_id =",
    # Named, so that an index of this model alone answers.
    "model": sql.Literal(embedding.MODEL).as_string().replace("%", "%%"),
}
# Rows of the owner read for one that is wanted, where all of them are in scope: some have expired,
# are pending, or in another language. Where fewer than this share are, the second way is taken.
_SPARE = 4
_LEAST_SHARE = 0.25
# What of `vector_send` stands ahead of the numbers.
_HEAD = 4


class Row(NamedTuple):
    """A fact and what is known of it: the best cosine of what was asked, or its vector, packed as
    `cosines` reads it."""

    fact: Fact
    language: str
    cosine: float | None
    vector: bytes | None
    every: Every | None


class Condition(NamedTuple):
    """What is asked of memory_fact, for statements that the ORM can't make, and values by name.
    `kept`: the text is the same for every message."""

    sql: str
    values: Mapping[str, Any]
    kept: bool = False

    def also(self, sql: str, **values: Any) -> "Condition":
        return Condition(f"{self.sql} AND {sql}", {**self.values, **values}, self.kept)


_numbers = count()


def condition(facts: QuerySet[Fact]) -> Condition:
    """Of a queryset that joins no other table."""
    compiler = facts.query.get_compiler(connection=connection)
    text, values = compiler.compile(facts.query.where)
    # Values of two conditions meet in one statement.
    names = [f"v{next(_numbers)}" for _ in values]
    places = iter(names)
    named = re.sub("%s", lambda _: f"%({next(places)})s", text)
    return Condition(named, dict(zip(names, values, strict=True)))


def nearest(
    vectors: Sequence[Sequence[float]], asked: Condition, census: Census, rows: int
) -> list[Row]:
    """The `rows` nearest to the first vector of the facts asked for, which are one agent's, in no
    order; with the best cosine of all the vectors."""
    if census.by_index(rows):
        vector_index.tune(census.owned)
        found = _near(_BY_INDEX, vectors, asked, census.owner, rows)
        if len(found) == rows:
            return found
    if census.facts > rows * _SPARE and census.facts >= _LEAST_SHARE * census.owned:
        found = _near(_AMONG_ALL, vectors, asked, census.owner, rows)
        if len(found) == rows:
            return found
    return _near(_IN_SCOPE, vectors, asked, census.owner, rows)


def alone(
    vectors: Sequence[Sequence[float]], asked: Condition, owner: UUID, rows: int
) -> list[Row]:
    """The nearest without what their words need: it hangs on no table of another leg's."""
    return _near(_ALONE, vectors, asked, owner, rows)


def of_ids(asked: Condition, owner: UUID, ids: Collection[UUID], rides: Condition) -> list[Row]:
    """Of the facts asked for those that have one of the ids, or ride anyway."""
    statement = _filled(_OF_IDS, asked, rides=rides.sql)
    values = {**asked.values, **rides.values, "owner": owner, "ids": list(ids)}
    return _rows(fetched(statement, values, kept=asked.kept and rides.kept))


def cosines(rows: Iterable[Row], vectors: Sequence[Sequence[float]]) -> dict[UUID, float]:
    """The best of the vectors', of each fact that has one; none without any."""
    if not vectors:
        return {}
    rows = list(rows)
    found = {row.fact.id: row.cosine for row in rows if row.cosine is not None}
    rest = [row for row in rows if row.cosine is None and row.vector is not None]
    if rest:
        best = _best(b"".join(row.vector for row in rest if row.vector), vectors)
        found |= zip((row.fact.id for row in rest), best, strict=True)
    return found


def _best(packed: bytes, vectors: Sequence[Sequence[float]]) -> list[float]:
    asked = np.array(vectors, float).T
    kind = np.dtype([("head", f"V{_HEAD}"), ("numbers", ">f4", len(asked))])
    lying = np.frombuffer(packed, kind)["numbers"].astype(float)
    lengths = np.outer(np.linalg.norm(lying, axis=1), np.linalg.norm(asked, axis=0))
    best: list[float] = (lying @ asked / np.maximum(lengths, 1e-30)).max(axis=1).tolist()
    return best


def _near(
    statement: str,
    vectors: Sequence[Sequence[float]],
    asked: Condition,
    owner: UUID,
    rows: int,
) -> list[Row]:
    size, sought = len(vectors[0]), [f"%(vector{n})s::vector" for n in range(len(vectors))]
    cosine = ", ".join(f"1 - (e.vector <=> {one})" for one in sought)
    cosine = f"greatest({cosine})" if len(vectors) > 1 else cosine
    filled = _filled(
        statement,
        asked,
        rows=str(rows),
        window=str(rows * _SPARE),
        cosine=cosine,
        cosine_of_scope=cosine.replace("e.vector", "memory_fact.vector"),
        here=vector_index.place("e.vector", "e.owner_id", size),
        sought=vector_index.place(sought[0], "%(owner)s::uuid", size),
    )
    values: dict[str, Any] = {**asked.values, "owner": owner}
    for number, vector in enumerate(vectors):
        values[f"vector{number}"] = Point(vector) if asked.kept else str(list(vector))
    return _rows(fetched(filled, values, kept=asked.kept))


def _filled(statement: str, asked: Condition, **parts: str) -> str:
    for name, part in {**_PARTS, **parts, "condition": asked.sql}.items():
        statement = statement.replace(f"{{{name}}}", part)
    return statement


def fetched(statement: str, values: Mapping[str, Any], *, kept: bool) -> list[Any]:
    """Rows of a statement that a condition is part of, `kept` if its text recurs."""
    if kept:
        return ask(statement, values)
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Any] = cursor.fetchall()
    return rows


def _rows(fetched: Iterable[Sequence[Any]]) -> list[Row]:
    alias, found = connection.alias, []
    for *columns, language, cosine, vector, times, length, words in fetched:
        every = None if times is None else Every(times, length, words)
        found.append(Row(_fact(columns, alias), language, cosine, vector, every))
    return found


def _fact(values: Sequence[Any], alias: str) -> Fact:
    """As `Fact.from_db` makes it, which takes longer for a hundred rows than their query does."""
    fact = Fact.__new__(Fact)
    state = ModelState()
    state.adding, state.db = False, alias
    fact.__dict__ = dict(zip(COLUMNS, values, strict=True)) | {"_state": state}
    return fact
