"""The statements that every recall makes. The server keeps them planned, because to plan one takes
about as long as to run it, and answers in binary, which takes less time to read. What can be asked
at once is asked in one: to send one and read its answer costs more than most of the answers do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
import psycopg
from django.db import DatabaseError, connection, transaction
from psycopg.adapt import Dumper
from psycopg.pq import Format

# Runs of a statement until it is kept.
_KEPT_AFTER = 2
# What the server says where an answer would have other columns than a kept statement's, since a
# migration; and where it keeps the statement no more.
_STALE = {"0A000", "26000"}
_TOGETHER = "SELECT * FROM {}"
_ready: "WeakSet[psycopg.Connection[Any]]" = WeakSet()


class Point:
    """A vector, as a value that pgvector reads without parsing: `%(name)s::vector`."""

    def __init__(self, vector: Any) -> None:
        numbers = np.asarray(vector, ">f4")
        self.packed = len(numbers).to_bytes(2, "big") + b"\0\0" + numbers.tobytes()


class _PointDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Point) -> bytes:
        return obj.packed


class OneRow(NamedTuple):
    """A statement that answers in one row of so many columns, or in none."""

    sql: str
    columns: int
    values: Mapping[str, Any]


@contextmanager
def apart() -> Iterator[None]:
    """A failed statement must not take the caller's transaction with it. Where there is none, each
    statement is one of its own, and a savepoint would only cost two more."""
    if not connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        yield


def ask_together(statements: Sequence[OneRow]) -> list[Sequence[Any]]:
    """The row of each; nothing where one of them has none. A value of one name is the same in all
    of them."""
    parts = (f"({one.sql}) AS part{number}" for number, one in enumerate(statements))
    values = {name: value for one in statements for name, value in one.values.items()}
    rows = ask(_TOGETHER.format(" CROSS JOIN ".join(parts)), values)
    if not rows:
        return []
    columns = iter(rows[0])
    return [tuple(islice(columns, one.columns)) for one in statements]


def ask(statement: str, values: Mapping[str, Any]) -> list[Any]:
    """Rows. Values are bound by the server, so that each needs a type or a cast; what the plan
    depends on, such as a limit, stands in the text."""
    try:
        return _asked(statement, values)
    except DatabaseError as error:
        # In a transaction nothing more can be asked, and its rollback has all planned anew.
        if connection.in_atomic_block or not _is_stale(error):
            raise
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    return _asked(statement, values)


def _is_stale(error: DatabaseError) -> bool:
    """The library would ask for it again and again."""
    return getattr(error.__cause__, "sqlstate", None) in _STALE


def _asked(statement: str, values: Mapping[str, Any]) -> list[Any]:
    with _cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[Any] = cursor.fetchall()
    return rows


@contextmanager
def _cursor() -> Iterator[Any]:
    """Beside those of Django's, which bind values themselves and so can keep nothing. Through its
    wrappers, so that they see each statement."""
    connection.ensure_connection()
    raw = connection.connection
    if raw not in _ready:
        if raw.prepare_threshold is None:  # nobody said otherwise
            raw.prepare_threshold = _KEPT_AFTER
        raw.adapters.register_dumper(Point, _PointDumper)
        _ready.add(raw)
    plain = psycopg.Cursor(raw)
    plain.format = Format.BINARY
    with connection._prepare_cursor(plain) as cursor:  # type: ignore[attr-defined]
        yield cursor
