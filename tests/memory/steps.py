"""What the tests of the lifecycle say often."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from agents.audit import POLICY, Actor, person
from agents.models import Agent, AuditEvent, User
from conversations.models import Message
from memory import lifecycle
from memory.lifecycle import Draft, Edit, Source
from memory.models import Evidence, Fact
from memory.vocabulary import Kind, Origin, State
from tests.factories import MONDAY, FactFactory, MessageFactory

OSLO = "The user lives in Oslo."
HELSINKI = "The user lives in Helsinki."
TURKU = "The user lives in Turku."
SOON = timedelta(days=1)


def draft(statement: str = HELSINKI, **changes: Any) -> Draft:
    fields: dict[str, Any] = {
        "kind": Kind.SEMANTIC,
        "origin": Origin.EXTRACTION,
        "observed_at": MONDAY,
        "language": "english",
    }
    return Draft(statement, **(fields | changes))


def by_hand(statement: str, **changes: Any) -> Draft:
    return draft(statement, **({"origin": Origin.MANUAL} | changes))


def edit(statement: str, **changes: Any) -> Edit:
    return Edit(statement, **({"kind": Kind.SEMANTIC} | changes))


def candidate(
    owner: User, statement: str = HELSINKI, *, agent: Agent | None = None, **changes: Any
) -> Fact:
    return lifecycle.propose(
        owner=owner, agent=agent, draft=draft(statement, **changes), actor=POLICY
    )


def active(owner: User, statement: str = OSLO, **changes: Any) -> Fact:
    return FactFactory.create(owner=owner, statement=statement, state=State.ACTIVE, **changes)


def correction(owner: User, *targets: Fact, statement: str = HELSINKI, **changes: Any) -> Fact:
    return lifecycle.propose(
        owner=owner, agent=None, draft=draft(statement, **changes), actor=POLICY, targets=targets
    )


def confirmed_correction(owner: User, target: Fact, statement: str = HELSINKI) -> Fact:
    waiting = correction(owner, target, statement=statement)
    return lifecycle.confirm(fact=waiting, actor=person(owner))


def said(owner: User, text: str = "I moved to Helsinki.", **changes: Any) -> Source:
    message: Message = MessageFactory.create(
        **({"conversation__owner": owner, "content": text} | changes)
    )
    return Source(message, text)


def soon() -> Any:
    return timezone.now() + SOON


def now_is(fact: Fact) -> Fact:
    """The row as the database has it."""
    return Fact.objects.get(pk=fact.pk)


def state(fact: Fact) -> str:
    return now_is(fact).state


def quotes(fact: Fact) -> set[str]:
    return set(Evidence.objects.filter(fact=fact).values_list("quote", flat=True))


def trail(fact: Fact) -> list[AuditEvent]:
    """Oldest first."""
    return list(AuditEvent.objects.filter(table="memory_fact", row_id=str(fact.pk)).order_by("id"))


def everything(owner: User) -> list[tuple[Any, ...]]:
    """Every fact of the owner with all its columns, and the length of the trail."""
    rows = [tuple(row) for row in Fact.objects.filter(owner=owner).order_by("pk").values_list()]
    return [*rows, (AuditEvent.objects.filter(owner_id=owner.pk).count(),)]


def by(user: User) -> Actor:
    return person(user)
