"""What else goes: asked of the database functions that the purge itself follows."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models import User


@dataclass(frozen=True, slots=True)
class Reach:
    """`direct`: the chosen facts, equal texts, and what those had replaced. `derived`: what was
    made from them. `messages`: those with what they draw along."""

    direct: tuple[UUID, ...]
    derived: tuple[UUID, ...]
    messages: tuple[UUID, ...]

    @property
    def facts(self) -> tuple[UUID, ...]:
        return (*self.direct, *self.derived)


def reach_of(owner: User, facts: Collection[UUID], messages: Collection[UUID]) -> Reach:
    rows = _rows("SELECT * FROM remembrancer_purge_reach(%s, %s::uuid[])", owner, facts)
    direct = tuple(fact for fact, is_derived in rows if not is_derived)
    drawn = _rows(
        "SELECT remembrancer_purge_messages(%s, %s::uuid[], %s::uuid[])", owner, direct, messages
    )
    return Reach(
        direct=direct,
        derived=tuple(fact for fact, is_derived in rows if is_derived),
        messages=tuple(message for (message,) in drawn),
    )


def _rows(question: str, owner: User, *ids: Collection[UUID]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question, [owner.pk, *map(list, ids)])
        return list(cursor.fetchall())
