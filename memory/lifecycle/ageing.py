"""How an active fact ages: confidence fades until a person says whether it still holds."""

from datetime import datetime

from agents.audit import Actor
from agents.gate import require_on
from memory.lifecycle.corrections import release
from memory.lifecycle.rows import in_state, need_person, set_aside, transition
from memory.lifecycle.values import NotAllowed, Stale
from memory.models import Fact
from memory.vocabulary import ArchivedReason, State

FADING = 0.8


def decay(*, fact: Fact, at: datetime, actor: Actor, reason: str = "") -> Fact:
    """Lowers the confidence; from now on the fact waits to be reconfirmed.

    Raises Conflict (not active), MemoryOff.
    """
    with transition(fact.owner, actor, reason):
        require_on(fact.owner)
        row = in_state(fact, State.ACTIVE)
        row.confidence = round(row.confidence * FADING, 6)
        row.decayed_at = at
        row.save(update_fields=["confidence", "decayed_at"])
        return row


def undo_decay(
    *,
    fact: Fact,
    decayed_at: datetime,
    confidence: float,
    before: datetime | None,
    actor: Actor,
    reason: str = "",
) -> Fact:
    """Takes back the decay of that moment; `confidence` and `before` are what it was before.

    Raises Conflict (not active), Stale (confirmed or faded since), NotAllowed.
    """
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        row = in_state(fact, State.ACTIVE)
        if row.decayed_at != decayed_at:
            raise Stale(row)
        row.confidence, row.decayed_at = confidence, before
        row.save(update_fields=["confidence", "decayed_at"])
        return row


def reconfirm(*, fact: Fact, actor: Actor, reason: str = "", seen: str = "") -> Fact:
    """A person says that it still holds: confirmed now, and as sure as can be.

    Who let it in, and when, stays on the fact. Raises NotAllowed, Conflict, Stale.
    """
    with transition(fact.owner, actor, reason) as now:
        need_person(actor, fact.owner)
        row = in_state(fact, State.ACTIVE, seen=seen)
        row.last_confirmed_at = max(row.last_confirmed_at, now)
        row.confidence, row.decayed_at, row.snoozed_until = 1.0, None, None
        row.save(update_fields=["last_confirmed_at", "confidence", "decayed_at", "snoozed_until"])
        return row


def end(
    *, fact: Fact, at: datetime | None = None, actor: Actor, reason: str = "", seen: str = ""
) -> Fact:
    """active → archived: it held until `at` (or now). It may be learned anew.

    Raises NotAllowed (an end in the future, or before its beginning), Conflict, Stale.
    """
    with transition(fact.owner, actor, reason) as now:
        need_person(actor, fact.owner)
        row = in_state(fact, State.ACTIVE, seen=seen)
        row.valid_until = at or now
        if row.valid_until > now:
            raise NotAllowed("It can't have ended in the future.")
        if row.valid_from is not None and row.valid_until <= row.valid_from:
            raise NotAllowed("It can't end before it begins.")
        row.save(update_fields=["valid_until"])
        release(row)
        return set_aside(row, ArchivedReason.ENDED)


def ask_later(*, fact: Fact, until: datetime, actor: Actor, reason: str = "") -> Fact:
    """An active fact leaves the reconfirm queue until then. Raises NotAllowed, Conflict."""
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        row = in_state(fact, State.ACTIVE)
        row.snoozed_until = until
        row.save(update_fields=["snoozed_until"])
        return row
