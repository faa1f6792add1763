"""How much an owner has, before anything is compared: what a word's rarity is counted among, and
how the nearest vectors are best found."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models import Agent
from memory import embedding, vector_index
from memory.recall.statements import OneRow, ask_together

# Rows of an agent above which the worker makes one of them.
_FOLD_ABOVE = 8

_COUNTS = """
    SELECT coalesce(sum(facts) FILTER (WHERE {scope}), 0)::bigint,
        coalesce(sum(length) FILTER (WHERE {scope}), 0)::bigint,
        coalesce(sum(facts), 0)::bigint,
        EXISTS (
            SELECT FROM pg_index WHERE indexrelid = to_regclass(%(index)s::text) AND indisvalid)
    FROM memory_factcount WHERE owner_id = %(owner)s
"""
# As memory.scope.scope_of has it, over a copy of the fact's agent.
SCOPES = {
    Agent.Reads.OWN: "agent_id = %(agent)s",
    Agent.Reads.OWN_AND_GLOBAL: "(agent_id = %(agent)s OR agent_id IS NULL)",
    Agent.Reads.ALL: "true",
}


@dataclass(frozen=True)
class Census:
    """Active facts that an agent may read and their terms, those of its owner, and whether there is
    an index of vectors."""

    owner: UUID
    facts: int
    length: int
    owned: int
    has_index: bool

    @property
    def average(self) -> float:
        return self.length / self.facts if self.facts else 0.0

    def by_index(self, rows: int) -> bool:
        return self.has_index and vector_index.is_worth_it(
            rows=rows, visible=self.facts, owned=self.owned
        )


def take(agent: Agent) -> Census:
    [row] = ask_together([counts(agent)])
    return Census(agent.owner_id, *row)


def counts(agent: Agent) -> OneRow:
    """What a census is made of, but for its owner."""
    name = vector_index.index_name("memory_factembedding", embedding.MODEL)
    values: dict[str, Any] = {"owner": agent.owner_id, "agent": agent.pk, "index": name}
    return OneRow(_COUNTS.format(scope=SCOPES[Agent.Reads(agent.reads)]), 4, values)


def fold() -> int:
    """The worker's: the rows that are one with others now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT remembrancer_fold_counts(%s)", [_FOLD_ABOVE])
        (folded,) = cursor.fetchone()
    return int(folded)
