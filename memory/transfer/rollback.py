"""Takes an import back as a unit: all that nobody has decided over since."""

from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q, QuerySet

from agents.audit import Actor, acting
from agents.models import AuditEvent, User
from conversations.models import Conversation, Import
from memory import lifecycle
from memory.cases import lifecycle as cases
from memory.cases.lifecycle import LIVE
from memory.models import Case, Fact
from memory.rules import imports as rules
from memory.vocabulary import CaseOrigin, State

AT_ONCE = 1000


@dataclass
class Rollback:
    """`waiting` had not been decided over, `as_brought` was let in with the import. `decided` was
    decided over since and stays; so do conversations, which only a purge takes. `cases` go as they
    are; one that was rejected elsewhere while the same waits here stays. `rules` that stand as they
    came are taken out."""

    waiting: list[UUID] = field(default_factory=list)
    as_brought: list[UUID] = field(default_factory=list)
    cases: list[UUID] = field(default_factory=list)
    rules: int = 0
    decided: int = 0
    conversations: int = 0

    @property
    def takes(self) -> list[UUID]:
        return [*self.waiting, *self.as_brought]


def import_of(owner: User, name: str) -> Import | None:
    """By its id; another owner's does not exist."""
    try:
        return Import.objects.filter(owner=owner, pk=UUID(name)).first()
    except ValueError:
        return None


def imports_of(owner: User) -> QuerySet[Import]:
    """Of memories and of rules; what an import of conversations brought, a purge takes."""
    of_conversations = Q(counts__has_key="conversations") | Q(finished_at=None)
    return Import.objects.filter(owner=owner).exclude(of_conversations).order_by("-started_at")


def look_at(imported: Import) -> Rollback:
    """What a rollback would do now."""
    found = Rollback(conversations=Conversation.objects.filter(imported_by=imported).count())
    rows = Fact.objects.filter(owner=imported.owner_id, imported_by=imported)
    live = list(rows.exclude(state=State.ARCHIVED).order_by("-created_at", "-pk"))
    moved = _moved(imported, [fact.pk for fact in live])
    for fact in live:
        if fact.pk in moved:
            found.decided += 1
        elif fact.state == State.PENDING:
            found.waiting.append(fact.pk)
        else:
            found.as_brought.append(fact.pk)
    _look_at_cases(imported, found)
    found.rules = len(rules.standing_of(imported))
    return found


def _look_at_cases(imported: Import, found: Rollback) -> None:
    rows = Case.objects.filter(conversation__imported_by=imported, origin=CaseOrigin.IMPORT)
    brought = rows.exclude(state=State.ARCHIVED).order_by("-created_at", "-pk")
    for case in brought.defer("search"):
        twins = Case.objects.filter(
            owner=case.owner_id, agent=case.agent_id, text_hash=case.text_hash, state__in=LIVE
        )
        if case.revision or (case.state == State.REJECTED and twins.exists()):
            found.decided += 1
        else:
            found.cases.append(case.pk)


def roll_back(*, imported: Import, actor: Actor) -> Rollback:
    """All of it or nothing; a second time takes nothing. Raises NotAllowed."""
    with acting(actor, f"rollback of import {imported.pk}"):
        found = look_at(imported)
        for start in range(0, len(found.takes), AT_ONCE):
            some = found.takes[start : start + AT_ONCE]
            for fact in Fact.objects.select_related("owner").in_bulk(some).values():
                reason = f"rollback of import {imported.pk}"
                lifecycle.withdraw(fact=fact, actor=actor, reason=reason)
        for case in Case.objects.select_related("owner").filter(pk__in=found.cases):
            reason = f"rollback of import {imported.pk}"
            cases.withdraw(case=case, actor=actor, reason=reason)
        if found.rules:
            rules.roll_back(imported=imported, actor=actor)
    return found


def _moved(imported: Import, facts: list[UUID]) -> set[UUID]:
    """Those whose state has changed since they were born."""
    found: set[UUID] = set()
    for start in range(0, len(facts), AT_ONCE):
        rows = AuditEvent.objects.filter(
            table="memory_fact",
            row_id__in=[str(fact) for fact in facts[start : start + AT_ONCE]],
            action=AuditEvent.Action.UPDATE,
            after__has_key="state",
        )
        found |= {UUID(row) for row in rows.values_list("row_id", flat=True)}
    return found
