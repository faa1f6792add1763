"""What forgetting or purging a selection would come to, before anybody does it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.db.models import Count, Q

from conversations.models import Message
from memory.models import Fact
from memory.purge import further
from memory.purge.reach import Reach, reach_of
from memory.purge.selection import Selection
from memory.scope import facts_of
from memory.vocabulary import State

EXAMPLES = 10
LIVE = (State.PENDING, State.ACTIVE)


class Deed(StrEnum):
    FORGET = "forget"
    PURGE = "purge"


class OtherPlan(Exception):
    def __init__(self) -> None:
        super().__init__("What would go has changed since you looked; look at it again.")


@dataclass(frozen=True, slots=True)
class Plan:
    """Counts, and some of the facts. `documents`: titles of rows of other apps that go whole, among
    `others`. `kept`: facts that stay although they rest on the same messages, or stand in the place
    of what goes. `staying`: what else stays, in sentences. `seen` changes with what would go."""

    deed: Deed
    facts: Mapping[str, int]
    derived: int = 0
    messages: int = 0
    titles: int = 0
    others: int = 0
    documents: tuple[str, ...] = ()
    examples: tuple[Fact, ...] = ()
    kept: tuple[Fact, ...] = ()
    staying: tuple[str, ...] = ()
    seen: str = ""

    @property
    def facts_in_all(self) -> int:
        return sum(self.facts.values())

    @property
    def further(self) -> int:
        """Without the documents, which are told by their titles."""
        return self.others - len(self.documents)

    @property
    def is_empty(self) -> bool:
        return not (self.facts_in_all or self.messages or self.titles or self.others)

    @property
    def total(self) -> int:
        return self.facts_in_all + self.messages + self.titles + self.others


def plan_of(selection: Selection, deed: Deed) -> Plan:
    if deed == Deed.FORGET:
        return _plan_to_forget(selection)
    owner, others = selection.owner, selection.chosen_others()
    along = further.hanging(owner, others)
    reach = reach_of(
        owner,
        [*selection.chosen_facts().values_list("pk", flat=True), *along.facts],
        [*selection.chosen_messages().values_list("pk", flat=True), *along.messages],
    )
    titles = sorted({*_titles(selection), *along.talks})
    facts = facts_of(owner)
    return Plan(
        deed=deed,
        facts=_by_state(selection, reach.facts),
        derived=len(reach.derived),
        messages=len(reach.messages),
        titles=len(titles),
        others=len(others),
        documents=tuple(further.titles(owner, others)),
        examples=tuple(facts.filter(pk__in=reach.facts).order_by("-pk")[:EXAMPLES]),
        kept=_kept(selection, reach),
        staying=tuple(further.staying(owner, selection.pattern, others)),
        seen=_seen(deed, [*reach.facts, *reach.messages, *titles, *others]),
    )


def _plan_to_forget(selection: Selection) -> Plan:
    live = selection.chosen_facts().filter(state__in=LIVE)
    ids = list(live.values_list("pk", flat=True))
    return Plan(
        deed=Deed.FORGET,
        facts=_by_state(selection, ids),
        examples=tuple(live.order_by("-pk")[:EXAMPLES]),
        seen=_seen(Deed.FORGET, ids),
    )


def _by_state(selection: Selection, ids: "tuple[UUID, ...] | list[UUID]") -> dict[str, int]:
    rows = facts_of(selection.owner).filter(pk__in=ids).order_by()
    return dict(rows.values_list("state").annotate(Count("pk")).order_by("state"))


def _titles(selection: Selection) -> list[UUID]:
    found = selection.chosen_conversations().exclude(title__in=["", Message.PURGED])
    return list(found.values_list("pk", flat=True))


def _kept(selection: Selection, reach: Reach) -> tuple[Fact, ...]:
    rows = facts_of(selection.owner).exclude(pk__in=reach.facts)
    beside = Q(evidence__message__in=reach.messages) | Q(predecessors__in=reach.facts)
    found = rows.filter(beside, state__in=LIVE).distinct().order_by("-pk")
    return tuple(found[:EXAMPLES])


def _seen(deed: Deed, ids: list[UUID]) -> str:
    told = "|".join([deed.value, *sorted(map(str, ids))])
    return hashlib.sha256(told.encode()).hexdigest()[:16]
