"""Whom a message names, and the facts about them."""

from collections.abc import Iterable
from uuid import UUID

from memory.recall.names import says_name
from memory.recall.nearest import Condition, fetched
from memory.recall.query import Query
from memory.recall.statements import ask
from memory.text.words import words

# At most 5000 that begin like any word of the message.
_NAMES = """
    SELECT entity_id, normal_name FROM memory_entityalias
    WHERE owner_id = %(owner)s AND left(normal_name, 2) = ANY(%(starts)s::text[])
    ORDER BY id LIMIT 5000
"""
_ABOUT = """
    SELECT memory_fact.id, fe.entity_id
    FROM memory_fact JOIN memory_factentity fe ON fe.fact_id = memory_fact.id
    WHERE fe.owner_id = %(owner)s AND fe.entity_id = ANY(%(entities)s::uuid[]) AND {condition}
    ORDER BY memory_fact.last_confirmed_at DESC, memory_fact.id LIMIT {rows}
"""
# Shorter names are taken only letter by letter.
_FORGIVEN_FROM = 4


def entities(owner: UUID, query: Query) -> dict[UUID, list[str]]:
    """Every entity of the owner that the message names, and by which names."""
    exact = set(query.names)
    said = words(query.in_context)
    starts = sorted({name[:2] for name in exact})
    found: dict[UUID, list[str]] = {}
    for entity, name in ask(_NAMES, {"owner": owner, "starts": starts}):
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
