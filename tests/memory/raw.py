"""Raw SQL as the application's own role: what a bulk repair or a hand at psql would send."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.db import DatabaseError, connection, models, transaction
from django.utils import timezone

from agents.models import User, new_id
from memory.models import Fact
from memory.text import text_hash
from memory.vocabulary import State
from tests.factories import MONDAY


def sql(statement: str, parameters: Sequence[Any] = ()) -> int:
    """The number of rows that it touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)


def value(statement: str, parameters: Sequence[Any] = ()) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return row[0] if row else None


# Integrity, data and missing rights: what rules answer with. A slip in a test's own SQL is none.
RULES = ("22", "23", "42501")


@contextmanager
def refused(why: str = "") -> Iterator[None]:
    """The database refuses, now or where the transaction would end, and `why` is in its words."""
    with pytest.raises(DatabaseError) as refusal, transaction.atomic():  # noqa: PT012
        yield
        sql("SET CONSTRAINTS ALL IMMEDIATE")
    cause = refusal.value.__cause__
    assert isinstance(cause, psycopg.Error)
    assert (cause.sqlstate or "").startswith(RULES), str(cause)
    assert why in str(cause), str(cause)


@contextmanager
def allowed() -> Iterator[None]:
    """A positive control: the same kind of step, without what made it illegal. Taken back."""
    with transaction.atomic():
        yield
        sql("SET CONSTRAINTS ALL IMMEDIATE")
        transaction.set_rollback(True)


def insert(table: str, **columns: Any) -> None:
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join(["%s"] * len(columns))
    sql(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', list(columns.values()))


def update(row: models.Model, **columns: Any) -> int:
    keys = row._meta.pk_fields
    changes = ", ".join(f'"{name}" = %s' for name in columns)
    where = " AND ".join(f'"{key.column}" = %s' for key in keys)
    values = [*columns.values(), *(getattr(row, key.attname) for key in keys)]
    return sql(f'UPDATE "{row._meta.db_table}" SET {changes} WHERE {where}', values)


def fact_columns(owner: User, **changes: Any) -> dict[str, Any]:
    statement = changes.get("statement", "The user has a cat.")
    return {
        "id": new_id(),
        "owner_id": owner.pk,
        "kind": "semantic",
        "statement": statement,
        "text_hash": text_hash(statement),
        "language": "english",
        "state": "pending",
        "confidence": 1.0,
        "tags": [],
        "pinned": False,
        "origin": "extraction",
        "valid_precision": "day",
        "created_at": MONDAY,
        "observed_at": MONDAY,
        "last_confirmed_at": MONDAY,
        "archived_reason": "",
        "archived_from": "",
        "withheld_for": [],
        "withheld_detail": "",
        "prompt_version": "",
    } | changes


def born(owner: User, **changes: Any) -> None:
    insert("memory_fact", **fact_columns(owner, **changes))


def reviewed(owner: User) -> dict[str, Any]:
    return {"reviewer_id": owner.pk, "reviewed_at": timezone.now()}


UNDECIDED = {"reviewer_id": None, "reviewed_at": None}
NOT_ARCHIVED = {"archived_reason": "", "archived_from": "", "superseded_by_id": None}


def superseding(successor: Fact) -> dict[str, Any]:
    return {
        "state": State.ARCHIVED,
        "archived_from": State.ACTIVE,
        "archived_reason": "superseded",
        "superseded_by_id": successor.pk,
    }
