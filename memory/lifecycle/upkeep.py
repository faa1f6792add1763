"""What happens to a fact after its decision: restated, archived, restored, moved, taken back."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from agents.audit import Actor
from agents.gate import require_on
from agents.models import Agent
from memory.lifecycle.births import draft_of, take_place
from memory.lifecycle.corrections import head_of, release, settle
from memory.lifecycle.rows import (
    attach_sources,
    fresh,
    move,
    move_sources,
    need_person,
    refuse_above_cap,
    refuse_twin,
    set_aside,
    transition,
)
from memory.lifecycle.values import Conflict, NotAllowed, Source
from memory.models import Fact
from memory.vocabulary import ArchivedReason, Origin, State


def reinforce(*, fact: Fact, sources: Iterable[Source], actor: Actor, reason: str = "") -> Fact:
    """An active fact was said again by its owner. Inserts nothing but evidence.

    Raises Conflict (no longer active), NotAllowed (somebody else said it), MemoryOff.
    """
    said = list(sources)
    if not said or not any(source.message.from_owner for source in said):
        raise NotAllowed("Only what the owner says reinforces a fact.")
    with transition(fact.owner, actor, reason):
        require_on(fact.owner)
        row = fresh(fact)
        if row.state != State.ACTIVE:
            raise Conflict(row)
        attach_sources(row, said)
        newest = max(source.message.sent_at for source in said if source.message.from_owner)
        # A clock that runs ahead confirms nothing in the future.
        newest = min(newest, timezone.now())
        if newest > row.last_confirmed_at:
            row.last_confirmed_at = newest
            row.save(update_fields=["last_confirmed_at"])
        return row


def add_evidence(*, fact: Fact, sources: Iterable[Source], actor: Actor, reason: str = "") -> int:
    """The number of messages that became evidence. Raises Conflict (no longer live), MemoryOff."""
    with transition(fact.owner, actor, reason):
        require_on(fact.owner)
        row = fresh(fact)
        if row.state not in (State.PENDING, State.ACTIVE):
            raise Conflict(row)
        return attach_sources(row, sources)


# What code may archive by itself, and what only a person may.
BY_CODE = {
    ArchivedReason.STALE: State.ACTIVE,
    ArchivedReason.DUPLICATE: State.PENDING,
    ArchivedReason.AGED_OUT: State.PENDING,
}


def archive(*, fact: Fact, why: ArchivedReason, actor: Actor, reason: str = "") -> Fact:
    """active or pending → archived. Forgetting needs a person and blocks re-extraction.

    Superseding and merging archive in steps of their own. Raises Conflict, NotAllowed.
    """
    with transition(fact.owner, actor, reason):
        row = fresh(fact)
        if why == ArchivedReason.FORGOTTEN:
            need_person(actor)
            if row.state not in (State.PENDING, State.ACTIVE):
                raise Conflict(row)
        elif why not in BY_CODE:
            raise NotAllowed(f"A fact is not archived as {why} by itself.")
        elif row.state != BY_CODE[why]:
            raise Conflict(row)
        release(row)
        return set_aside(row, why)


def restore(*, fact: Fact, actor: Actor, reason: str = "") -> Fact:
    """archived → the state it was archived from.

    Where an active fact has taken its place, a copy supersedes that one and is returned.
    Raises Conflict, Duplicate, AtCap, NotAllowed.
    """
    with transition(fact.owner, actor, reason):
        reviewer = need_person(actor)
        row = fresh(fact)
        if row.state != State.ARCHIVED:
            raise Conflict(row)
        head = head_of(row)
        if head is not None:
            return _copy_over(row, head, actor)
        refuse_twin(row.owner, row.agent, row.statement)
        if row.archived_from == State.PENDING:
            settle(row)
            return move(row, to=State.PENDING)
        refuse_above_cap(row.owner, row.agent)
        return move(row, to=State.ACTIVE, reviewer=reviewer, reviewed_at=timezone.now())


def promote(*, fact: Fact, agent: Agent | None, actor: Actor, reason: str = "") -> Fact:
    """Moves an active fact to another scope: a copy there supersedes it. None: every assistant.

    Raises NotAllowed, Conflict, Duplicate, AtCap.
    """
    with transition(fact.owner, actor, reason):
        need_person(actor)
        row = fresh(fact)
        if agent is not None and agent.owner_id != row.owner_id:
            raise NotAllowed("That assistant belongs to another owner.")
        if (agent.pk if agent else None) == row.agent_id:
            raise NotAllowed("The fact already has this scope.")
        refuse_above_cap(row.owner, agent)
        return take_place(
            targets=[row], agent=agent, draft=draft_of(row), actor=actor, keep_confirmation=True
        )


def undo(*, fact: Fact, actor: Actor, reason: str = "") -> Fact:
    """Takes back what made a fact active; whatever it replaced is active again.

    A candidate waits once more; a wording of the owner's own is archived as undone.
    Raises Conflict (not active), NotAllowed.
    """
    with transition(fact.owner, actor, reason):
        reviewer = need_person(actor)
        row = fresh(fact)
        if row.state != State.ACTIVE:
            raise Conflict(row)
        replaced = [fresh(old) for old in row.predecessors.filter(state=State.ARCHIVED)]
        release(row)
        if row.origin == Origin.MANUAL:
            set_aside(row, ArchivedReason.UNDONE)
        for old in replaced:
            # Before the candidate waits again, for then it needs its targets active.
            if row.state == State.ACTIVE and old.text_hash == row.text_hash:
                set_aside(row, ArchivedReason.UNDONE)
            move(old, to=State.ACTIVE, reviewer=reviewer, reviewed_at=timezone.now())
        return move(row, to=State.PENDING) if row.state == State.ACTIVE else row


def quarantine(*, facts: QuerySet[Fact], actor: Actor, reason: str) -> int:
    """Sends active facts back to the queue. The number that went; each can be confirmed again."""
    need_person(actor)
    moved = 0
    for fact in facts.filter(state=State.ACTIVE).select_related("owner").order_by("pk"):
        with transition(fact.owner, actor, reason):
            row = fresh(fact)
            if row.state == State.ACTIVE:
                release(row)
                settle(row)
                move(row, to=State.PENDING)
                moved += 1
    return moved


def unsay(*, fact: Fact, actor: Actor, reason: str) -> Fact:
    """active → pending because nothing it rests on stands in its conversation's branch any more."""
    with transition(fact.owner, actor, reason):
        row = fresh(fact)
        if row.state == State.ACTIVE:
            release(row)
            settle(row)
            move(row, to=State.PENDING)
        return row


def set_pinned(*, fact: Fact, pinned: bool, actor: Actor, reason: str = "") -> Fact:
    with transition(fact.owner, actor, reason):
        need_person(actor)
        row = fresh(fact)
        row.pinned = pinned
        row.save(update_fields=["pinned"])
        return row


def snooze(*, fact: Fact, until: datetime, actor: Actor, reason: str = "") -> Fact:
    """Leaves the queue until then. Raises Conflict when it no longer waits."""
    with transition(fact.owner, actor, reason):
        need_person(actor)
        row = fresh(fact)
        if row.state != State.PENDING:
            raise Conflict(row)
        row.snoozed_until = until
        row.save(update_fields=["snoozed_until"])
        return row


def _copy_over(row: Fact, head: Fact, actor: Actor) -> Fact:
    """The old wording comes back as a new fact, so that the chain still reads forward."""
    copy = take_place(targets=[fresh(head)], agent=head.agent, draft=draft_of(row), actor=actor)
    move_sources(row, copy)
    return copy
