"""Statements that the server keeps planned, and how many a recall asks."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from agents.models import Agent
from memory.recall.service import recall
from memory.recall.statements import Point, ask
from tests.memory.recalling import known, model, named

__all__ = ["model"]

# In a block, as when another session does it: this one's library is not told.
CHANGES = {
    "a column has another type": ("ALTER TABLE kept ALTER n TYPE text", [("1",)]),
    "the server keeps it no more": ("DEALLOCATE ALL", [(1,)]),
}


def execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def elsewhere(step: Callable[[], Any]) -> Any:
    """By a connection of its own, in no transaction."""

    def run() -> Any:
        try:
            execute("CREATE TEMPORARY TABLE kept AS SELECT 1 AS n")
            return step()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


@pytest.mark.django_db
@pytest.mark.parametrize(("change", "after"), CHANGES.values(), ids=CHANGES.keys())
def test_a_kept_statement_outlives_a_change_of_what_it_reads(change: str, after: Any) -> None:
    def step() -> Any:
        before = [ask("SELECT n FROM kept", {}) for _ in range(4)]
        execute(f"DO $$ BEGIN EXECUTE '{change}'; END $$")
        return before, [ask("SELECT n FROM kept", {}) for _ in range(4)]

    assert elsewhere(step) == ([[(1,)]] * 4, [after] * 4)


@pytest.mark.django_db
def test_in_a_transaction_it_is_made_anew_after_the_rollback() -> None:
    def step() -> Any:
        for _ in range(4):
            ask("SELECT n FROM kept", {})
        execute("DO $$ BEGIN EXECUTE 'ALTER TABLE kept ALTER n TYPE text'; END $$")
        with pytest.raises(Exception, match="cached plan"), transaction.atomic():
            ask("SELECT n FROM kept", {})
        with transaction.atomic():
            return ask("SELECT n FROM kept", {})

    assert elsewhere(step) == [("1",)]


@pytest.mark.django_db
def test_an_operator_may_say_when_statements_are_kept() -> None:
    """DATABASE_URL=postgres://…?prepare_threshold=5"""

    def step() -> Any:
        connection.connection.prepare_threshold = 5
        found = ask("SELECT vector_dims(%(at)s::vector)", {"at": Point([1.0, 0.0])})
        return found, connection.connection.prepare_threshold

    assert elsewhere(step) == ([(2,)], 5)


@pytest.mark.parametrize(
    ("message", "statements"),
    [
        ("Hello!", 2),
        ("where do I live", 4),
        ("where did I live last month", 5),
        ("where does Anna live", 5),
        ("where did Anna live last month", 6),
    ],
)
def test_periods_and_names_are_asked_for_only_where_a_message_has_any(
    model: None, agent: Agent, message: str, statements: int
) -> None:
    fact, _ = known(agent, "The user's sister Anna lives in Turku.", "The user lives in Oulu.")
    named(fact, "Anna")
    with CaptureQueriesContext(connection) as asked:
        recall(agent=agent, message=message)
    # Savepoints are for the transaction around the test.
    read = [query["sql"] for query in asked.captured_queries if "SAVEPOINT" not in query["sql"]]
    assert len(read) == statements
