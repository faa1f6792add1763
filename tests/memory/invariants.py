"""What must be true of an owner's facts after every step, whoever took it."""

import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models import AuditEvent, User
from memory.vocabulary import State

Row = dict[str, Any]


@dataclass(frozen=True)
class Memory:
    """An owner's facts as the database has them: rows by id, and (correction, target, open)."""

    facts: dict[str, Row]
    targets: list[tuple[str, str, bool]]
    evidence: int

    def state(self, fact: str) -> str:
        return str(self.facts[fact]["state"])

    @property
    def active(self) -> set[str]:
        return {key for key in self.facts if self.state(key) == State.ACTIVE}


def memory_of(owner: User) -> Memory:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id::text, to_jsonb(f) - 'search' FROM memory_fact f WHERE owner_id = %s",
            [owner.pk],
        )
        facts = {key: _parsed(row) for key, row in cursor.fetchall()}
        cursor.execute(
            "SELECT fact_id::text, target_id::text, open FROM memory_correctiontarget"
            " WHERE owner_id = %s ORDER BY id",
            [owner.pk],
        )
        targets = [(str(a), str(b), bool(c)) for a, b, c in cursor.fetchall()]
        cursor.execute("SELECT count(*) FROM memory_evidence WHERE owner_id = %s", [owner.pk])
        return Memory(facts, targets, int(cursor.fetchone()[0]))


def _parsed(row: Any) -> Row:
    parsed: Row = json.loads(row) if isinstance(row, str) else row
    return parsed


def check(memory: Memory) -> None:
    _chains(memory)
    _one_version(memory)
    _targets(memory)
    texts = Counter(
        (row["agent_id"], row["text_hash"])
        for row in memory.facts.values()
        if row["state"] in (State.ACTIVE, State.PENDING)
    )
    assert not [text for text, times in texts.items() if times > 1], "one live text per scope"
    for row in memory.facts.values():
        if row["state"] == State.REJECTED:
            assert row["reviewer_id"], "only a person rejects"
        if row["state"] == State.PENDING:
            assert not row["reviewer_id"]
            assert not row["archived_reason"]


def _chains(memory: Memory) -> None:
    """Every chain is straight, ends in a fact, and joins no two active ones."""
    for start in memory.facts:
        walked = [start]
        while successor := memory.facts[walked[-1]]["superseded_by_id"]:
            assert memory.state(walked[-1]) == State.ARCHIVED, "only an archived fact has one"
            assert successor in memory.facts, "nothing vanished"
            assert successor not in walked, "no circle"
            walked.append(successor)
        assert len([fact for fact in walked if fact in memory.active]) <= 1


def _one_version(memory: Memory) -> None:
    """Of what replaced a fact, however many steps ago, and the fact itself, one is active."""
    below = defaultdict(set)
    for correction, target, _ in memory.targets:
        below[correction].add(target)
    stood_for: dict[str, str] = {}
    for fact in sorted(memory.active):
        todo, seen = [fact], {fact}
        while todo:
            step = todo.pop()
            assert stood_for.setdefault(step, fact) == fact, "two versions of one fact"
            todo.extend(below[step] - seen)
            seen |= below[step]


def _targets(memory: Memory) -> None:
    for correction, target, is_open in memory.targets:
        meet = memory.state(correction) == State.PENDING and target in memory.active
        assert is_open == meet, "a target is open while both can meet"
        scopes = {memory.facts[fact]["agent_id"] for fact in (correction, target)}
        assert len(scopes) == 1, "a correction keeps its target's scope"
    times = Counter(target for _, target, is_open in memory.targets if is_open)
    assert not [target for target, count in times.items() if count > 1]


def check_trail(memory: Memory, owner: User) -> list[AuditEvent]:
    """Folded from its beginning, the trail tells every fact as it is. All events, oldest first."""
    told: dict[str, Row] = {}
    events = list(AuditEvent.objects.filter(owner_id=owner.pk, table="memory_fact").order_by("id"))
    for event in events:
        assert event.actor
        assert event.after is not None
        if event.action == AuditEvent.Action.INSERT:
            assert event.before is None
            assert event.row_id not in told
            told[event.row_id] = dict(event.after)
        else:
            assert event.before is not None
            row = told[event.row_id]
            assert event.before == {name: row[name] for name in event.after}
            assert all(event.before[name] != value for name, value in event.after.items())
            row.update(event.after)
    assert told == memory.facts
    return events


def ids(memory: Memory) -> list[UUID]:
    return [UUID(key) for key in sorted(memory.facts)]
