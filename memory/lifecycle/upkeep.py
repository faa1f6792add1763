"""What happens to a fact after its decision: restated, archived, restored, moved, taken back."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from agents.audit import Actor
from agents.gate import require_on
from agents.models import Agent
from memory.lifecycle.births import take_place
from memory.lifecycle.corrections import (
    await_end_of_chain,
    bring_back,
    check_text_rule,
    defer_text_rule,
    end_of_chain,
    in_place_of,
    leave_one_correction,
    let_go,
    open_correction_of,
    overtaken_by,
    release,
    replace,
    retarget,
    send_back,
    settle,
)
from memory.lifecycle.heirs import come_back
from memory.lifecycle.returns import note_forgotten
from memory.lifecycle.rows import (
    LIVE,
    attach_sources,
    copy_sources,
    draft_of,
    fresh,
    in_state,
    move,
    need_person,
    refuse_above_cap,
    refuse_twin,
    scope_for,
    set_aside,
    transition,
)
from memory.lifecycle.values import NotAllowed, Scope, Source
from memory.models import Fact
from memory.vocabulary import ArchivedReason, Origin, State


def reinforce(*, fact: Fact, sources: Iterable[Source], actor: Actor, reason: str = "") -> Fact:
    """An active fact was said again by its owner. Inserts nothing but evidence.

    Raises Conflict (no longer active), NotAllowed (somebody else said it), MemoryOff.
    """
    said = list(sources)
    spoken = [source.message.sent_at for source in said if source.message.from_owner]
    if not spoken:
        raise NotAllowed("Only what the owner says reinforces a fact.")
    with transition(fact.owner, actor, reason) as now:
        require_on(fact.owner)
        row = in_state(fact, State.ACTIVE)
        attach_sources(row, said)
        # A clock that runs ahead confirms nothing in the future.
        newest = min(max(spoken), now)
        if newest > row.last_confirmed_at:
            row.last_confirmed_at = newest
            row.save(update_fields=["last_confirmed_at"])
        return row


def add_evidence(*, fact: Fact, sources: Iterable[Source], actor: Actor, reason: str = "") -> int:
    """The number of messages that became evidence. Raises Conflict (no longer live), MemoryOff."""
    with transition(fact.owner, actor, reason):
        require_on(fact.owner)
        return attach_sources(in_state(fact, *LIVE), sources)


# What code may archive by itself; forgetting is for a person.
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
        if why == ArchivedReason.FORGOTTEN:
            need_person(actor, fact.owner)
            row = in_state(fact, *LIVE)
        elif why in BY_CODE:
            row = in_state(fact, BY_CODE[why])
        else:
            raise NotAllowed(f"A fact is not archived as {why} by itself.")
        release(row)
        if why == ArchivedReason.FORGOTTEN:
            note_forgotten(row)
        return set_aside(row, why)


def restore(*, fact: Fact, actor: Actor, reason: str = "") -> Fact:
    """archived → the state it was archived from.

    Where an active fact has taken its place, a copy supersedes that one and is returned; where what
    it had itself replaced is active again, it takes that place once more.
    Raises Conflict, Duplicate, AtCap, NotAllowed.
    """
    with transition(fact.owner, actor, reason) as now:
        need_person(actor, fact.owner)
        row = in_state(fact, State.ARCHIVED)
        if row.archived_reason == ArchivedReason.ENDED:  # it holds after all
            row.valid_until = None
            row.save(update_fields=["valid_until"])
        if row.archived_from == State.PENDING:
            refuse_twin(row.owner, row.agent, row.statement)
            settle(row)
            return come_back(move(row, to=State.PENDING), actor)
        head = overtaken_by(row)
        if head is not None:
            return _copy_over(row, fresh(head), actor, now)
        end = end_of_chain(row)
        _reactivate(row, actor, now)
        await_end_of_chain(row, end)
        return come_back(row, actor)


def _copy_over(row: Fact, head: Fact, actor: Actor, at: datetime) -> Fact:
    """The old wording comes back as a new fact, so that the chain still reads forward."""
    copy = take_place(targets=[head], agent=head.agent, draft=draft_of(row), actor=actor, at=at)
    copy_sources(row, copy)
    return copy


def _reactivate(row: Fact, actor: Actor, at: datetime) -> None:
    targets = in_place_of(row)
    refuse_twin(row.owner, row.agent, row.statement, *targets)
    if not targets:
        refuse_above_cap(row.owner, row.agent)
    leave_one_correction(row)
    defer_text_rule()
    reviewer = need_person(actor, row.owner)
    move(row, to=State.ACTIVE, reviewer=reviewer, reviewed_at=at)
    replace(targets, row)
    check_text_rule()


def promote(*, fact: Fact, agent: Agent | None, actor: Actor, reason: str = "") -> Fact:
    """Moves an active fact to another scope: a copy there supersedes it. None: every assistant.

    Raises NotAllowed, Conflict, Duplicate, AtCap.
    """
    with transition(fact.owner, actor, reason) as now:
        need_person(actor, fact.owner)
        row = in_state(fact, State.ACTIVE)
        scope_for(row.owner, Scope(agent))
        if (agent.pk if agent else None) == row.agent_id:
            raise NotAllowed("The fact already has this scope.")
        refuse_above_cap(row.owner, agent)
        return take_place(
            targets=[row], agent=agent, draft=draft_of(row), actor=actor, at=now, restated=False
        )


def undo(*, fact: Fact, actor: Actor, reason: str = "") -> Fact:
    """Takes back what made a fact active; whatever it replaced is active again.

    A candidate waits once more; what a person's own step made is archived as undone. Of a
    confirmation with an edit both halves are taken back, and the candidate is returned; of a merge
    every member is as it was, and the first candidate among them is returned.
    Raises Conflict (not active), NotAllowed.
    """
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        return _take_back(in_state(fact, State.ACTIVE))


def _take_back(row: Fact) -> Fact:
    decided_at, waiting = row.reviewed_at, open_correction_of(row)
    replaced = list(row.predecessors.filter(state=State.ARCHIVED))
    if _made_by_person(row) or any(old.text_hash == row.text_hash for old in replaced):
        set_aside(row, ArchivedReason.UNDONE)
        back = bring_back(row)
        _return_correction(waiting, row, back)
    else:
        send_back(row)
        back = bring_back(row)
    # What was let in by the same decision waits again too.
    waits = [_take_back(old) for old in back if decided_at and old.reviewed_at == decided_at]
    return waits[0] if waits else row


def _return_correction(waiting: Fact | None, row: Fact, back: Sequence[Fact]) -> None:
    """What had followed a fact to its new wording follows it back."""
    if waiting is None:
        return
    if len(back) == 1 and back[0].agent_id == row.agent_id and not open_correction_of(back[0]):
        retarget(waiting, row, back[0])
    else:
        let_go(waiting, row)


def _made_by_person(row: Fact) -> bool:
    """It was never a candidate: its birth was the decision."""
    return row.origin == Origin.MANUAL or row.created_at == row.reviewed_at


def set_pinned(*, fact: Fact, pinned: bool, actor: Actor, reason: str = "", seen: str = "") -> Fact:
    """Raises Conflict when the fact is neither pending nor active, NotAllowed, Stale."""
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        row = in_state(fact, *LIVE, seen=seen)
        row.pinned = pinned
        row.save(update_fields=["pinned"])
        return row


def snooze(
    *, fact: Fact, until: datetime | None, actor: Actor, reason: str = "", seen: str = ""
) -> Fact:
    """Leaves the queue until then; None brings it back now. Raises Conflict when it no longer
    waits, NotAllowed, Stale."""
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        row = in_state(fact, State.PENDING, seen=seen)
        row.snoozed_until = until
        row.save(update_fields=["snoozed_until"])
        return row
