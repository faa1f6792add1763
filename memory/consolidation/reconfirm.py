"""The reconfirm queue: facts that nobody has confirmed for long, and a person's answers to them.

A fact waits from the day on which its confidence faded (decay) until its owner says something.
"""

from datetime import datetime

from django.db.models import F, Q, QuerySet

from agents.audit import Actor
from agents.models import User
from memory import lifecycle
from memory.lifecycle import Edit, NotAllowed
from memory.models import Fact
from memory.scope import facts_of
from memory.vocabulary import Precision, State

# At most so many are asked about at a time; the others follow as these are answered.
SHOWN = 25


def waiting(*, owner: User, now: datetime) -> QuerySet[Fact]:
    """Whoever has waited longest first; never more than SHOWN, however many there are behind."""
    first = unanswered(owner=owner, now=now).order_by("decayed_at", "pk")
    shown = facts_of(owner).filter(pk__in=first.values("pk")[:SHOWN])
    return shown.select_related("agent", "conversation").order_by("decayed_at", "pk")


def unanswered(*, owner: User, now: datetime) -> QuerySet[Fact]:
    """All that faded and were not confirmed since; expired and put-off ones are not asked about."""
    awake = Q(snoozed_until__isnull=True) | Q(snoozed_until__lte=now)
    holds = Q(valid_until__isnull=True) | Q(valid_until__gt=now)
    return facts_of(owner).filter(
        awake, holds, state=State.ACTIVE, decayed_at__gt=F("last_confirmed_at")
    )


def still_true(*, fact: Fact, actor: Actor, seen: str = "") -> Fact:
    """Confirmed now. Raises NotAllowed, Conflict, Stale."""
    return lifecycle.reconfirm(fact=fact, actor=actor, reason="still true", seen=seen)


def no_longer_true(
    *, fact: Fact, when: datetime | None = None, actor: Actor, seen: str = ""
) -> Fact:
    """It held until `when`, or now, and is archived. Raises NotAllowed, Conflict, Stale."""
    return lifecycle.end(fact=fact, at=when, actor=actor, reason="no longer true", seen=seen)


def changed_to(
    *, fact: Fact, statement: str, when: datetime | None = None, actor: Actor, seen: str = ""
) -> Fact:
    """The new fact in its place, which holds from `when` on where that is known.

    Raises NotAllowed, Conflict, Stale, Duplicate.
    """
    text = " ".join(statement.split())
    if not any(character.isalnum() for character in text):
        raise NotAllowed("Say what is true now.")
    if text == fact.statement:
        return still_true(fact=fact, actor=actor, seen=seen)
    edit = Edit.of(
        fact, statement=text, valid_from=when, valid_until=None, valid_precision=Precision.DAY
    )
    return lifecycle.correct(fact=fact, edit=edit, actor=actor, reason="changed", seen=seen)


def ask_later(*, fact: Fact, until: datetime, actor: Actor) -> Fact:
    """Raises NotAllowed, Conflict."""
    return lifecycle.ask_later(fact=fact, until=until, actor=actor, reason="asked for later")
