"""Where facts came from, as one thing that can be looked at and sent back whole: a conversation, a
run, an import or a client. What belongs to another does not exist: 404."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.http import Http404

from agents.access import key_of
from agents.models import User
from conversations.access import conversation_of, import_of
from conversations.models import Conversation
from memory.access import run_of
from memory.cases.scope import cases_of
from memory.models import Case, Fact
from memory.scope import facts_of
from memory.vocabulary import Kind, State, Withheld


class SourceKind(StrEnum):
    CONVERSATION = "conversation"
    RUN = "run"
    IMPORT = "import"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class FactSource:
    owner: User
    kind: SourceKind
    id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class Contents:
    """What a quarantine would send back, what still waits because of one, and the rest."""

    active: int
    pinned: int
    kinds: dict[str, int]
    held: int
    others: int
    cases: int
    held_cases: int


def source_of(owner: User, kind: str, source_id: UUID) -> FactSource:
    if kind not in list(SourceKind):
        raise Http404("There is no such source.")
    found = {
        SourceKind.CONVERSATION: conversation_of,
        SourceKind.RUN: run_of,
        SourceKind.IMPORT: import_of,
        SourceKind.CLIENT: key_of,
    }[SourceKind(kind)](owner, source_id)
    return FactSource(owner, SourceKind(kind), source_id, str(found))


def facts_from(source: FactSource) -> QuerySet[Fact]:
    """Those that were born of it. A fact that only rests on it as well stays out."""
    facts = facts_of(source.owner)
    if source.kind == SourceKind.CONVERSATION:
        return facts.filter(conversation=source.id)
    if source.kind == SourceKind.RUN:
        return facts.filter(run=source.id)
    field = "imported_by" if source.kind == SourceKind.IMPORT else "client"
    talks = Conversation.objects.filter(owner=source.owner, **{field: source.id}).order_by()
    # Two look-ups by index, where one condition with OR would read every fact.
    direct = facts.filter(**{field: source.id}).values("pk")
    return facts.filter(pk__in=direct.union(facts.filter(conversation__in=talks).values("pk")))


def cases_from(source: FactSource) -> QuerySet[Case]:
    """A run of extraction writes none."""
    cases = cases_of(source.owner)
    if source.kind == SourceKind.CONVERSATION:
        return cases.filter(conversation=source.id)
    if source.kind == SourceKind.RUN:
        return cases.none()
    field = "imported_by" if source.kind == SourceKind.IMPORT else "client"
    return cases.filter(**{f"conversation__{field}": source.id})


def contents(source: FactSource) -> Contents:
    facts = facts_from(source).order_by()
    active, held = Q(state=State.ACTIVE), _held()
    sums = facts.aggregate(
        active=Count("pk", active),
        pinned=Count("pk", active & Q(pinned=True)),
        held=Count("pk", held),
        others=Count("pk", ~active & ~held),
        **{kind.value: Count("pk", active & Q(kind=kind)) for kind in Kind},
    )
    kinds = {kind.label: sums.pop(kind.value) for kind in Kind}
    return Contents(
        kinds={name: count for name, count in kinds.items() if count},
        cases=cases_from(source).filter(state=State.ACTIVE).count(),
        held_cases=cases_from(source).filter(_held()).count(),
        **sums,
    )


def _held() -> Q:
    return Q(state=State.PENDING, withheld_for__contains=[Withheld.QUARANTINED])
