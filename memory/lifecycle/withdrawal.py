"""Takes back what an import brought."""

from agents.audit import Actor
from memory.lifecycle.corrections import check_text_rule, defer_text_rule, release
from memory.lifecycle.rows import fresh, move, need_person, set_aside, transition
from memory.lifecycle.upkeep import undo
from memory.models import Fact
from memory.vocabulary import ArchivedReason, State


def withdraw(*, fact: Fact, actor: Actor, reason: str = "") -> Fact:
    """Archives it as undone, whatever state the import gave it; one that is archived stays so.

    What an active one had replaced here is active again. Raises NotAllowed.
    """
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        row = fresh(fact)
        if row.state == State.ARCHIVED:
            return row
        if row.state == State.ACTIVE and _replaced_others(row):
            undo(fact=row, actor=actor, reason=reason)
            row = fresh(fact)
        if row.state != State.ARCHIVED:
            _set_aside(row)
        return row


def _replaced_others(row: Fact) -> bool:
    """Facts that were here before: those of the same import go with it."""
    before = row.predecessors.filter(state=State.ARCHIVED)
    return before.exclude(imported_by=row.imported_by_id).exists()


def _set_aside(row: Fact) -> None:
    release(row)
    if row.state == State.REJECTED:
        # Only a candidate is archived; another live one of its text may stand by now.
        defer_text_rule()
        move(row, to=State.PENDING)
    set_aside(row, ArchivedReason.UNDONE)
    check_text_rule()
