"""The look for what is near, in the model's thread and on a connection of its own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from django.db import connection, connections, transaction
from django.db.backends.postgresql.base import DatabaseWrapper
from pytest_django.fixtures import Settings

from agents.models import Agent
from memory import embedding
from memory.recall.service import recall
from memory.recall.trace import Leg, Outcome
from tests.memory.recalling import end_threads, in_each_thread, known, model

pytestmark = [
    pytest.mark.usefixtures("model"),
    pytest.mark.django_db(transaction=True),
]
__all__ = ["model"]

HOME = "The user's home is in the Kallio district of Helsinki."
NEAR = "<=>"
_PATIENCE = 100
QUESTIONS = (
    "where do I live",
    "which district of Helsinki is my home in",
    "where in Helsinki is my home",
    "is my home in the Kallio district of Helsinki",
    "my home is in which district",
)


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Threads of the test's own, that have no connection yet and leave none behind, and a model
    that remembers nothing."""
    monkeypatch.setattr(embedding, "known", embedding.Known(0))
    end_threads()
    yield
    end_threads()


def _statements(agent: Agent, message: str) -> tuple[list[str], list[str]]:
    """What is told, and what the caller's own connection was asked for."""
    asked: list[str] = []

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(note):
        result = recall(agent=agent, message=message)
    assert {one.outcome for one in result.trace.legs if one.leg == Leg.VECTOR} == {Outcome.OK}
    told = [item.fact.statement for item in result.items]
    return told, asked


def _looked_elsewhere(agent: Agent) -> bool:
    """Whether there is a question for which the caller's connection is not asked for what is near.
    Who would have to wait for the other's start looks alone, which on a busy machine is often."""
    for question in QUESTIONS * _PATIENCE:
        told, statements = _statements(agent, question)
        assert told == [HOME]
        if not any(NEAR in one for one in statements):
            return True
    return False


def _backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    return int(pid)


def test_what_is_near_is_looked_for_on_another_connection(agent: Agent) -> None:
    known(agent, HOME)
    assert _looked_elsewhere(agent)


def test_in_a_transaction_it_is_looked_for_on_the_callers(agent: Agent) -> None:
    with transaction.atomic():
        known(agent, HOME)
        for question in QUESTIONS:
            told, statements = _statements(agent, question)
            assert told == [HOME]
            assert any(NEAR in one for one in statements)


def test_a_connection_that_was_cut_costs_no_answer(agent: Agent) -> None:
    known(agent, HOME)
    assert _looked_elsewhere(agent)
    backends = set(in_each_thread(_backend))
    with connection.cursor() as cursor:
        for pid in backends:
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    assert all(_statements(agent, question)[0] == [HOME] for question in QUESTIONS)
    assert _looked_elsewhere(agent)
    assert not backends & set(in_each_thread(_backend))


def test_without_memory_nothing_is_looked_for(agent: Agent, settings: Settings) -> None:
    known(agent, HOME)
    settings.MEMORY_MODE = "default_off"
    for question in QUESTIONS:
        assert recall(agent=agent, message=question).block == ""
    assert set(in_each_thread(lambda: connection.connection)) == {None}


def test_it_takes_no_connection_of_a_pool(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which the only one is in use."""
    known(agent, HOME)
    options = connections.settings["default"].setdefault("OPTIONS", {})
    pool = {"min_size": 1, "max_size": 1, "timeout": 60}
    monkeypatch.setitem(options, "pool", pool)

    def use() -> DatabaseWrapper:
        connection.ensure_connection()
        return cast(DatabaseWrapper, connections["default"])

    with ThreadPoolExecutor(1) as thread:
        user = thread.submit(use).result()
        try:
            assert _looked_elsewhere(agent)
        finally:
            thread.submit(user.close).result()
            user.close_pool()
