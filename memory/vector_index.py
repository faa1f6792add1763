"""Approximate indexes over the vectors of one model, for owners with so many that comparing each
takes too long.

An index holds half-precision copies, at half the memory: it only chooses candidates, whose
distances are then taken from the whole vectors.
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

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
EXACT_UP_TO = 20_000
# An owner's vectors stand among everybody's, so that a scan of the index passes over those of
# others. One that it passes costs as much as this many that are compared.
_PASSING = 10
# Candidates that are kept in mind during a scan: fewer find less, more take longer.
_EF_SEARCH = 100


def index_name(table: str, model: str) -> str:
    return f"{table.split('_')[1]}_near_{hashlib.sha256(model.encode()).hexdigest()[:12]}"


def ensure_vector_index(model: str, dimensions: int, *, using: str = "owner") -> list[str]:
    """Makes what is missing for a model, as the tables' owner, while others read and write; the
    names of the indexes made. Minutes for a million vectors.

    Raises ProgrammingError where `using` is not the owner's connection.
    """
    if dimensions > MOST_DIMENSIONS:
        log.info("vectors of %d dimensions can't be indexed and are compared each", dimensions)
        return []
    owner = connections[using if using in connections else DEFAULT_DB_ALIAS]
    return [name for table in TABLES if (name := _ensure(owner, table, model, dimensions))]


def drop_vector_index(model: str, *, using: str = "owner") -> None:
    """For a model that no row is left of."""
    owner = connections[using if using in connections else DEFAULT_DB_ALIAS]
    with owner.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f'DROP INDEX IF EXISTS "{index_name(table, model)}"')


def all_rows(table: str, model: str) -> float | None:
    """Rows of a table as the planner knows them, only their order counts; None where there is no
    index for the model."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.reltuples FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid"
            " WHERE i.indexrelid = to_regclass(%s) AND i.indisvalid",
            [index_name(table, model)],
        )
        found = cursor.fetchone()
    return float(found[0]) if found else None


def is_worth_it(*, rows: int, visible: int, owned: int, all_rows: float) -> bool:
    """Whether the index finds `rows` of the `visible` vectors, those in scope of `owned`, sooner
    than comparing all that are owned does. The index stands over everybody's, `all_rows`."""
    if owned <= EXACT_UP_TO or not visible:
        return False
    passed = rows * max(all_rows, owned) / visible
    return passed * _PASSING < owned


@contextmanager
def approximate() -> Iterator[None]:
    """Statements ordered by distance go through the index, and it searches on until enough rows
    pass the statement's conditions. Their order is nearly right."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true),"
            " set_config('hnsw.ef_search', %s, true), set_config('enable_sort', 'off', true)",
            [str(_EF_SEARCH)],
        )
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
        " USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops) WHERE model = {model}"
    ).format(
        how=sql.SQL("CONCURRENTLY" if concurrently else ""),
        name=sql.Identifier(name),
        table=sql.Identifier(table),
        dimensions=sql.Literal(dimensions),
        model=sql.Literal(model),
    )
    cursor.execute(statement.as_string())
