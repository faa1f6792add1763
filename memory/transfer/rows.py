"""Rows on their way into the database, each with its line, so that a refusal can name it."""

from collections.abc import Sequence
from typing import Literal, TypeVar

import psycopg
from django.db import DatabaseError, connection, models, transaction

from memory.models import Case, Fact
from memory.transfer.reading import BadFile

Row = TypeVar("Row", bound=models.Model)
Numbered = tuple[int, Row]


def create(model: type[Row], numbered: Sequence[Numbered[Row]]) -> None:
    """All of them. Raises BadFile with the line of the first that the database's rules refuse."""
    try:
        with transaction.atomic():
            model._default_manager.bulk_create(row for _, row in numbered)
    except DatabaseError as error:
        for number, row in numbered:
            _create_one(model, number, row)
        raise BadFile(numbered[0][0], _why(error)) from None


def reviewer_of(row: Fact | Case) -> Literal["owner", "administrator"] | None:
    """Never a name: accounts are of one server."""
    if row.reviewer_id is None:
        return None
    return "owner" if row.reviewer_id == row.owner_id else "administrator"


def _create_one(model: type[Row], number: int, row: Row) -> None:
    try:
        with transaction.atomic():
            model._default_manager.bulk_create([row])
    except DatabaseError as error:
        raise BadFile(number, _why(error)) from None


def _why(error: DatabaseError) -> str:
    """The name of the rule or its own words, which hold nothing of the row."""
    cause = error.__cause__
    if not isinstance(cause, psycopg.Error):
        return "the database refuses it."
    rule = cause.diag.constraint_name
    said = rule or (cause.diag.message_primary if cause.sqlstate == "23514" else "") or "its rules"
    return f"the database refuses it: {said}."


# These may lead to rows that come later in the file.
_POINTERS = "memory_fact_superseded_by_id_same_owner, memory_fact_similar_to_id_same_owner"


def wait_with_pointers() -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET CONSTRAINTS {_POINTERS} DEFERRED")


def check_pointers() -> None:
    """Raises BadFile."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET CONSTRAINTS {_POINTERS} IMMEDIATE")
    except DatabaseError as error:
        raise BadFile(1, _why(error)) from None
