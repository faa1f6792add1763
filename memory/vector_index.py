"""Approximate indexes over the vectors of one model, for owners with so many that comparing each
takes too long.

One index holds everybody's, and so that a scan meets one owner's alone, each vector lies there with
its owner's sign behind it: a few more numbers, the same for all that is one owner's. Between two
vectors of one owner they change nothing but the scale of the distance; those of another are far.

An index holds half-precision copies, at half the memory: it only chooses candidates, whose
distances are then taken from the whole vectors.
"""

import hashlib
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from psycopg import sql

log = logging.getLogger(__name__)

# Apps above this one add theirs, when they are ready.
TABLES = ["memory_factembedding", "conversations_passageembedding"]
# What pgvector can index of half-precision vectors.
MOST_DIMENSIONS = 4000
# Below so many vectors exact comparison is quicker, or costs next to nothing: 0.4 ms for 1,000, 7
# for 10,000, 160 for 100,000.
EXACT_UP_TO = 2_000
# A scan passes over what of the owner's is out of scope. One that it passes costs as much as this
# many that are compared.
_PASSING = 10
# Candidates that are kept in mind during a scan, and while the index is built: fewer find less,
# more take longer, and the more there are the more it takes. Among 131,000 vectors that lie in
# heaps the 60 nearest of 10,000 are found to 94.3, 95.1 and 95.9 % with 1.5, 1.75 and 2 times the
# root of what the owner has, those of 100,000 to 98.8, 99.4 and 99.96 %.
_EF_SEARCH = 2
_LEAST_EF, _MOST_EF = 100, 1000
# With 128 a scan got stuck for 4 questions of 1,000 of an owner of 100,000, which found less than
# half of their nearest, in four indexes built one after the other; with 256 for none of 1,400 in
# four more. It takes twice the time of building.
EF_CONSTRUCTION = 256
# Numbers of an owner's sign. Its length is that of a vector: half of it and twice of it do as well.
_SIGN = 32

# One expression, which the planner puts in place of the call: a row's place is worked out for each
# that is found.
_PLACE = """
    CREATE OR REPLACE FUNCTION remembrancer_place(vector vector, owner uuid) RETURNS vector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN vector || l2_normalize(ARRAY[{hashes}]::real[]::vector)
""".format(hashes=", ".join(f"uuid_hash_extended(owner, {n})" for n in range(_SIGN)))


def index_name(table: str, model: str) -> str:
    return f"{table.split('_')[1]}_near_own_{hashlib.sha256(model.encode()).hexdigest()[:12]}"


def place(vector: str, owner: str, dimensions: int) -> str:
    """SQL of where a vector lies in the index, from those of the vector and its owner. What is
    sought lies where it would, were it the owner's; `<=>` orders by nearness."""
    return f"remembrancer_place({vector}, {owner})::halfvec({dimensions + _SIGN})"


def ensure_vector_index(
    model: str, dimensions: int, *, using: str = "owner", tables: Sequence[str] = TABLES
) -> list[str]:
    """Makes what is missing for a model, as the tables' owner, while others read and write; the
    names of the indexes made. Minutes for a million vectors.

    Raises ProgrammingError where `using` is not the owner's connection.
    """
    if dimensions + _SIGN > MOST_DIMENSIONS:
        log.info("vectors of %d dimensions can't be indexed and are compared each", dimensions)
        return []
    owner = connections[using if using in connections else DEFAULT_DB_ALIAS]
    return [name for table in tables if (name := _ensure(owner, table, model, dimensions))]


def drop_vector_index(model: str, *, using: str = "owner") -> None:
    """For a model that no row is left of."""
    owner = connections[using if using in connections else DEFAULT_DB_ALIAS]
    with owner.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f'DROP INDEX IF EXISTS "{index_name(table, model)}"')


def exists(table: str, model: str) -> bool:
    """Whether it can be asked."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid",
            [index_name(table, model)],
        )
        return cursor.fetchone() is not None


def is_worth_it(*, rows: int, visible: int, owned: int) -> bool:
    """Whether the index finds `rows` of the `visible` vectors, those in scope of `owned`, sooner
    than comparing all that are owned does."""
    if owned <= EXACT_UP_TO or not visible:
        return False
    return rows * owned / visible * _PASSING < owned


_tuned: "WeakKeyDictionary[Any, str]" = WeakKeyDictionary()


def tune(owned: int) -> None:
    """Scans of an index by this connection go on until enough rows pass the statement's conditions.
    No other statement is touched by it. In a transaction it is said each time, because it goes with
    one that is rolled back."""
    connection.ensure_connection()
    wanted = str(round(min(max(_EF_SEARCH * owned**0.5, _LEAST_EF), _MOST_EF)))
    if _tuned.get(connection.connection) == wanted:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', false),"
            " set_config('hnsw.ef_search', %s, false)",
            [wanted],
        )
    _tuned[connection.connection] = "" if connection.in_atomic_block else wanted


@contextmanager
def approximate(owned: int) -> Iterator[None]:
    """Statements ordered by distance go through the index, and it searches on until enough rows
    pass the statement's conditions. Their order is nearly right."""
    with transaction.atomic(), connection.cursor() as cursor:
        tune(owned)
        cursor.execute("SELECT set_config('enable_sort', 'off', true)")
        yield
        # The caller's transaction, if there is one, goes on.
        cursor.execute("SELECT set_config('enable_sort', 'on', true)")


def _ensure(owner: BaseDatabaseWrapper, table: str, model: str, dimensions: int) -> str | None:
    name = index_name(table, model)
    with owner.cursor() as cursor:
        cursor.execute(
            "SELECT to_regclass(%s) IS NULL,"
            " (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s))",
            [table, f'"{name}"'],
        )
        not_yet, found = cursor.fetchone()
        if not_yet:  # its app's migrations come later, and make the index
            return None
        if found:
            return None
        cursor.execute(_PLACE)
        if found is False:  # what a broken-off attempt left behind
            cursor.execute(f'DROP INDEX "{name}"')
        _create(cursor, name, table, model, dimensions, concurrently=not owner.in_atomic_block)
    return name


def _create(
    cursor: CursorWrapper, name: str, table: str, model: str, dimensions: int, *, concurrently: bool
) -> None:
    """A table's first index may be made in a transaction, and then blocks writers meanwhile."""
    statement = sql.SQL(
        "CREATE INDEX {how} {name} ON {table}"
        " USING hnsw (({place}) halfvec_cosine_ops) WITH (ef_construction = {building})"
        " WHERE model = {model}"
    ).format(
        how=sql.SQL("CONCURRENTLY" if concurrently else ""),
        name=sql.Identifier(name),
        table=sql.Identifier(table),
        place=sql.SQL(place("vector", "owner_id", dimensions)),
        building=sql.Literal(EF_CONSTRUCTION),
        model=sql.Literal(model),
    )
    cursor.execute(statement.as_string())
