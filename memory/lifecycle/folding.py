"""Two active facts in the same words become one, and come apart again."""

from datetime import datetime
from uuid import UUID

from agents.audit import Actor
from agents.gate import require_on
from memory.lifecycle.corrections import follow, open_correction_of, open_targets
from memory.lifecycle.rows import (
    copy_sources,
    fresh,
    in_state,
    move,
    need_person,
    refuse_above_cap,
    refuse_twin,
    set_aside,
    transition,
)
from memory.lifecycle.values import Conflict, NotAllowed
from memory.models import Fact
from memory.text.literal import same_words
from memory.vocabulary import ArchivedReason, State


def fold(*, twin: Fact, into: Fact, actor: Actor, reason: str = "") -> Fact:
    """Archives the twin as merged into the other, which takes its evidence and entities along and
    is as old as the older of the two. Code may do this because no word is lost.

    Raises NotAllowed (not the same words, scope or kind), Conflict (not active), MemoryOff.
    """
    with transition(into.owner, actor, reason):
        require_on(into.owner)
        kept, row = in_state(into, State.ACTIVE), in_state(twin, State.ACTIVE)
        if not are_twins(kept, row):
            raise NotAllowed("Only the same words about the same thing are folded.")
        copy_sources(row, kept)
        kept.last_confirmed_at = min(kept.last_confirmed_at, row.last_confirmed_at)
        kept.pinned = kept.pinned or row.pinned
        kept.save(update_fields=["last_confirmed_at", "pinned"])
        waiting = open_correction_of(row)
        set_aside(row, ArchivedReason.MERGED, kept)
        if waiting is not None:
            follow(waiting, row, kept)
        return kept


def absorb(*, twin: Fact, into: Fact, actor: Actor, reason: str = "") -> Fact:
    """The same among candidates: the twin is archived as a duplicate.

    Raises NotAllowed (not the same words, scope or kind), Conflict (no longer pending), MemoryOff.
    """
    with transition(into.owner, actor, reason):
        require_on(into.owner)
        kept, row = in_state(into, State.PENDING), in_state(twin, State.PENDING)
        if not are_twins(kept, row) or _aims(kept) != _aims(row):
            raise NotAllowed("Only the same words about the same thing are folded.")
        copy_sources(row, kept)
        set_aside(row, ArchivedReason.DUPLICATE)
        return kept


def unfold(*, twin: Fact, confirmed_at: datetime, actor: Actor, reason: str = "") -> Fact:
    """The twin is active again beside the fact that it was folded into, which was confirmed then.

    Raises NotAllowed, Conflict (something happened to either), Duplicate, AtCap.
    """
    with transition(twin.owner, actor, reason):
        need_person(actor, twin.owner)
        row = in_state(twin, State.ARCHIVED)
        if row.archived_reason != ArchivedReason.MERGED or row.superseded_by is None:
            raise Conflict(row)
        kept = in_state(row.superseded_by, State.ACTIVE)
        refuse_twin(row.owner, row.agent, row.statement)
        refuse_above_cap(row.owner, row.agent)
        # A predecessor is never active while its successor is, so the one steps aside for a moment.
        reviewer, reviewed_at = kept.reviewer, kept.reviewed_at
        move(kept, to=State.PENDING)
        move(row, to=State.ACTIVE)
        move(
            kept,
            to=State.ACTIVE,
            reviewer=reviewer,
            reviewed_at=reviewed_at,
            last_confirmed_at=max(kept.last_confirmed_at, confirmed_at),
        )
        return fresh(row)


def _aims(correction: Fact) -> set[UUID]:
    return {target.pk for target in open_targets(correction)}


def are_twins(one: Fact, other: Fact) -> bool:
    same_place = (one.owner_id, one.agent_id, one.kind) == (
        other.owner_id,
        other.agent_id,
        other.kind,
    )
    same_time = (one.valid_from, one.valid_until) == (other.valid_from, other.valid_until)
    return (
        same_place
        and same_time
        and one.pk != other.pk
        and same_words(one.statement, other.statement, one.language)
    )
