"""Several facts that say one thing become one, by a person's word."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from agents.audit import Actor
from memory.lifecycle.births import take_place
from memory.lifecycle.corrections import open_targets
from memory.lifecycle.decisions import let_in
from memory.lifecycle.rows import (
    LIVE,
    draft_of,
    in_state,
    need_person,
    refuse_above_cap,
    scope_for,
    transition,
)
from memory.lifecycle.values import Draft, Edit, NotAllowed
from memory.models import Fact
from memory.vocabulary import Origin, State


def merge(
    *,
    facts: Sequence[Fact],
    edit: Edit,
    actor: Actor,
    reason: str = "",
    seen: Mapping[UUID, str] | None = None,
) -> Fact:
    """One active fact in the place of several candidates and active facts of one scope, with the
    evidence and the entities of all. It counts as confirmed when the oldest of them was.

    `seen` are the versions that the person looked at, by fact. Raises NotAllowed, Conflict, Stale,
    AtCap, Duplicate.
    """
    chosen = {fact.pk: fact for fact in facts}
    if len(chosen) < 2:
        raise NotAllowed("Choose at least two facts to merge.")
    owner = facts[0].owner
    with transition(owner, actor, reason) as now:
        need_person(actor, owner)
        rows = [in_state(fact, *LIVE, seen=(seen or {}).get(pk, "")) for pk, fact in chosen.items()]
        _check_scope(rows)
        agent = scope_for(owner, edit.scope) if edit.scope else rows[0].agent
        if agent != rows[0].agent or not any(_holds_a_place(row) for row in rows):
            refuse_above_cap(owner, agent)
        return take_place(
            targets=_all_active(rows, actor, now),
            agent=agent,
            draft=_draft(rows, edit),
            actor=actor,
            at=now,
        )


def _check_scope(rows: Sequence[Fact]) -> None:
    if len({(row.owner_id, row.agent_id) for row in rows}) > 1:
        raise NotAllowed("Only facts that the same assistants may read can be merged.")


def _holds_a_place(row: Fact) -> bool:
    """It counts against the cap already, or takes the place of one that does."""
    return row.state == State.ACTIVE or bool(open_targets(row))


def _all_active(rows: Sequence[Fact], actor: Actor, at: datetime) -> list[Fact]:
    """The candidates are let in first, as in a confirmation with an edit. One that would replace
    another member does so here, and drops out."""
    for row in rows:
        if row.state == State.PENDING:
            let_in(row, actor, at, restated=False)
    now = [in_state(row, State.ACTIVE, State.ARCHIVED) for row in rows]
    return [row for row in now if row.state == State.ACTIVE]


def _draft(rows: Sequence[Fact], edit: Edit) -> Draft:
    return draft_of(
        rows[0],
        statement=edit.statement,
        kind=edit.kind,
        origin=Origin.MERGE,
        confidence=max(row.confidence for row in rows),
        observed_at=max(row.observed_at for row in rows),
        tags=edit.tags,
        valid_from=edit.valid_from,
        valid_until=edit.valid_until,
        valid_precision=edit.valid_precision,
        pinned=edit.pinned,
    )
