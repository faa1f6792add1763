"""Whom a message names, and the facts about them."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from memory.recall.names import says_name
from memory.recall.nearest import Condition, fetched
from memory.recall.query import Query
from memory.recall.statements import OneRow, ask_together
from memory.text.words import words

# At most 5000 that begin like any word of the message.
_NAMES = """
    SELECT array_agg(entity_id), array_agg(normal_name) FROM (
        SELECT entity_id, normal_name FROM memory_entityalias
        WHERE owner_id = %(owner)s AND left(normal_name, 2) = ANY(%(starts)s::text[])
        ORDER BY id LIMIT 5000
    ) AS known
"""
_ABOUT = """
    SELECT memory_fact.id, fe.entity_id
    FROM memory_fact JOIN memory_factentity fe ON fe.fact_id = memory_fact.id
    WHERE fe.owner_id = %(owner)s AND fe.entity_id = ANY(%(entities)s::uuid[]) AND {condition}
    ORDER BY memory_fact.last_confirmed_at DESC, memory_fact.id LIMIT {rows}
"""
# Shorter names are taken only letter by letter.
_FORGIVEN_FROM = 4


def like(owner: UUID, query: Query) -> OneRow:
    """The owner's names that may be meant, and whose they are."""
    starts = sorted({name[:2] for name in query.names})
    return OneRow(_NAMES, 2, {"owner": owner, "starts": starts})


def entities(
    owner: UUID, query: Query, known: Sequence[Any] | None = None
) -> dict[UUID, list[str]]:
    """Every entity of the owner that the message names, and by which names. `known`: the row of
    `like`, where it was asked for."""
    exact = set(query.names)
    said = words(query.text)
    found: dict[UUID, list[str]] = {}
    if known is None:
        [known] = ask_together([like(owner, query)])
    for entity, name in zip(*(column or () for column in known), strict=True):
        forgiven = len(name) >= _FORGIVEN_FROM and says_name(said, words(name))
        if name in exact or forgiven:
            found.setdefault(entity, []).append(name)
    return found


def about(
    found: Iterable[UUID], asked: Condition, owner: UUID, rows: int
) -> list[tuple[UUID, UUID]]:
    """Facts and which of the entities each is about."""
    statement = _ABOUT.format(condition=asked.sql, rows=rows)
    values = {**asked.values, "owner": owner, "entities": list(found)}
    return fetched(statement, values, kept=asked.kept)
