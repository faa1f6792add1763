"""Rows that no rule would have let in: pointers to nothing, and lives of facts that can't be."""

from collections.abc import Iterator
from typing import Any

from config.doctor.database import pointers
from config.doctor.values import Finding, ok, some, trouble

SHOWN = 100
MEND = (
    "They came in past the rules (a session that switched triggers off, or a restore of parts). "
    "Look at them by these ids in the admin and mend them there, or restore a backup of before."
)

# Each gives the ids of facts that must not be so.
IMPOSSIBLE = {
    "active facts with a successor":
        "SELECT id FROM memory_fact WHERE state = 'active' AND superseded_by_id IS NOT NULL",
    "archived facts without a reason":
        "SELECT id FROM memory_fact WHERE (state = 'archived') = (archived_reason = '')",
    "facts that nobody rejected":
        "SELECT id FROM memory_fact WHERE state = 'rejected' AND reviewer_id IS NULL",
    "candidates that were decided over":
        "SELECT id FROM memory_fact WHERE state = 'pending' AND reviewer_id IS NOT NULL",
    "active facts that nobody let in":
        "SELECT id FROM memory_fact WHERE state = 'active' AND reviewer_id IS NULL"
        " AND origin <> 'remember' AND NOT (origin = 'extraction' AND kind = 'episodic')",
    "live facts with the same text in one scope":
        "SELECT min(id::text) FROM memory_fact WHERE state IN ('pending', 'active')"
        " GROUP BY owner_id, agent_id, text_hash HAVING count(*) > 1",
    "facts whose successors go in a circle":
        "WITH RECURSIVE walk AS ("
        " SELECT id, superseded_by_id AS next FROM memory_fact WHERE superseded_by_id IS NOT NULL"
        " UNION ALL SELECT walk.id, f.superseded_by_id FROM walk JOIN memory_fact f ON f.id = next"
        " WHERE f.superseded_by_id IS NOT NULL) CYCLE next SET circle USING path"
        " SELECT DISTINCT id FROM walk WHERE circle",
    "corrections that are active beside what they replaced":
        "SELECT c.id FROM memory_correctiontarget p JOIN memory_fact c ON c.id = p.fact_id"
        " JOIN memory_fact t ON t.id = p.target_id WHERE c.state = 'active' AND t.state = 'active'",
    "corrections whose targets are wrongly open or closed":
        "SELECT c.id FROM memory_correctiontarget p JOIN memory_fact c ON c.id = p.fact_id"
        " JOIN memory_fact t ON t.id = p.target_id"
        " WHERE p.open <> (c.state = 'pending' AND t.state = 'active')",
    "corrections of another scope":
        "SELECT c.id FROM memory_correctiontarget p JOIN memory_fact c ON c.id = p.fact_id"
        " JOIN memory_fact t ON t.id = p.target_id WHERE c.agent_id IS DISTINCT FROM t.agent_id",
}  # fmt: skip
UNINDEXED = """
    SELECT id FROM memory_fact f WHERE state = 'active' AND NOT EXISTS (
        SELECT FROM memory_factterm t WHERE t.owner_id = f.owner_id AND t.fact_id = f.id)
"""


def examine(cursor: Any) -> Iterator[Finding]:
    yield orphans(cursor)
    yield invariants(cursor)
    yield index_of_words(cursor)


def orphans(cursor: Any) -> Finding:
    found: list[str] = []
    for table, column, target in pointers():
        cursor.execute(
            f'SELECT count(*) FROM "{table}" r WHERE r."{column}" IS NOT NULL AND NOT EXISTS ('  # noqa: S608
            f' SELECT FROM "{target}" t WHERE t.id = r."{column}" AND t.owner_id = r.owner_id)'
        )
        (number,) = cursor.fetchone()
        if number:
            found.append(f"{number} in {table}.{column}")
    if found:
        return trouble("orphan rows", f"They point at nothing of their owner: {some(found)}.", MEND)
    return ok("orphan rows", "None.")


def invariants(cursor: Any) -> Finding:
    found: list[str] = []
    for what, query in IMPOSSIBLE.items():
        cursor.execute(f"{query} LIMIT {SHOWN}")
        if ids := [str(fact) for (fact,) in cursor.fetchall()]:
            found.append(f"{what} ({some(ids, 3)})")
    if found:
        return trouble("lives of facts", f"There are {'; '.join(found)}.", MEND)
    return ok("lives of facts", "All are as the rules have them.")


def index_of_words(cursor: Any) -> Finding:
    cursor.execute(f"SELECT count(*) FROM ({UNINDEXED}) AS found")  # noqa: S608
    (number,) = cursor.fetchone()
    if number:
        return trouble(
            "index of facts",
            f"{number} active facts can't be found by their words.",
            f"In psql: SELECT remembrancer_index_facts(ARRAY({' '.join(UNINDEXED.split())}));",
        )
    return ok("index of facts", "Every active fact can be found by its words.")
