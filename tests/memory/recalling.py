"""Facts that recall can find, for its tests."""

from collections.abc import Callable
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from agents.models import Agent
from memory import embedding
from memory.models import Entity, EntityAlias, Fact, FactEmbedding, FactEntity
from memory.text import normalise
from memory.vocabulary import State
from tests.factories import FactFactory


@pytest.fixture(scope="module")
def model() -> None:
    """The real weights, once per process."""
    embedding.warm_up()


def in_each_thread(do: Callable[[], Any]) -> list[Any]:
    """In each of the model's, behind what is under way."""
    pool = embedding._threads()
    together = Barrier(pool._max_workers)

    def once() -> Any:
        together.wait()
        return do()

    return [done.result() for done in [pool.submit(once) for _ in range(pool._max_workers)]]


def end_threads() -> None:
    """With their connections; others begin anew."""
    in_each_thread(lambda: connection.close())
    embedding._threads().shutdown()
    embedding._threads.cache_clear()


def known(speaker: Agent, /, *statements: str, **values: Any) -> list[Fact]:
    """Facts with their vectors: active and the agent's own, unless the values say otherwise."""
    values = {"owner": speaker.owner, "agent": speaker, "state": State.ACTIVE} | values
    facts = [FactFactory.create(statement=statement, **values) for statement in statements]
    vectors = embedding.embed_blocking(statements)
    FactEmbedding.objects.bulk_create(
        FactEmbedding(owner=fact.owner, fact=fact, model=embedding.MODEL, vector=vector)
        for fact, vector in zip(facts, vectors, strict=True)
    )
    return facts


def named(fact: Fact, name: str, *aliases: str) -> Entity:
    entity = Entity.objects.create(
        owner=fact.owner, type="person", name=name, normal_name=normalise(name)
    )
    EntityAlias.objects.bulk_create(
        EntityAlias(owner=fact.owner, entity=entity, name=alias, normal_name=normalise(alias))
        for alias in (name, *aliases)
    )
    FactEntity.objects.create(owner=fact.owner, fact=fact, entity=entity)
    return entity
