"""Active facts that go back to the queue because of where they came from."""

from django.db.models import QuerySet

from agents.audit import Actor, acting
from memory.lifecycle.corrections import send_back
from memory.lifecycle.decisions import accept
from memory.lifecycle.rows import fresh, need_person, need_some_person, transition
from memory.models import Fact
from memory.vocabulary import State, Withheld


def quarantine(*, facts: QuerySet[Fact], actor: Actor, reason: str) -> int:
    """Sends active facts back to the queue, all or none. The number that went.

    What they had replaced stays archived until each is decided over. Raises NotAllowed.
    """
    need_some_person(actor)
    with acting(actor, reason):
        found = facts.filter(state=State.ACTIVE).select_related("owner").order_by("owner", "pk")
        return sum(_send_back(fact, actor, reason) for fact in found)


def _send_back(fact: Fact, actor: Actor, reason: str) -> bool:
    with transition(fact.owner, actor, reason):
        need_person(actor, fact.owner)
        row = fresh(fact)
        if row.state != State.ACTIVE:
            return False
        send_back(row, withheld_for=[Withheld.QUARANTINED, *row.withheld_for])
        return True


def reinstate(*, facts: QuerySet[Fact], actor: Actor, reason: str) -> int:
    """Takes a quarantine back, all or none: what still waits because of it is active again, no
    newer than it was. The number. Raises NotAllowed, AtCap.
    """
    need_some_person(actor)
    with acting(actor, reason):
        waiting = facts.filter(state=State.PENDING, withheld_for__contains=[Withheld.QUARANTINED])
        found = waiting.select_related("owner").order_by("owner", "created_at", "pk")
        return sum(_let_in(fact, actor, reason) for fact in found)


def _let_in(fact: Fact, actor: Actor, reason: str) -> bool:
    with transition(fact.owner, actor, reason) as now:
        need_person(actor, fact.owner)
        row = fresh(fact)
        if row.state != State.PENDING or Withheld.QUARANTINED not in row.withheld_for:
            return False
        accept(row, actor, now, restated=False)
        return True


def unsay(*, fact: Fact, actor: Actor, reason: str) -> Fact:
    """active → pending because nothing it rests on stands in its conversation's branch any more."""
    with transition(fact.owner, actor, reason):
        row = fresh(fact)
        if row.state == State.ACTIVE:
            send_back(row)
        return row
