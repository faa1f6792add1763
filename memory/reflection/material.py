"""What a reflection goes by: the events of a week in one scope, and what was concluded before."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from uuid import UUID

from django.db.models import Count, QuerySet

from agents.models import Agent, User
from memory import llm
from memory.models import Derivation, Fact, Reflection
from memory.private import route_for_facts, sensitive_among
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason, Kind, Origin, State

RECENT = timedelta(days=7)
ENOUGH = 10
# The newest are shown; so are the newest of the earlier insights.
SHOWN = 60
EARLIER = 30


@dataclass(frozen=True)
class Material:
    """Facts and earlier insights by the handles that exist only in one call."""

    agent: Agent | None
    facts: Mapping[int, Fact]
    earlier: Mapping[int, Fact]
    route: llm.Route

    @property
    def digest(self) -> str:
        ids = sorted(str(fact.pk) for fact in self.facts.values())
        return sha256(" ".join(ids).encode()).hexdigest()


def recent_events(owner: User, now: datetime) -> QuerySet[Fact]:
    """Insights are no events: none is ever built on others."""
    return facts_of(owner).filter(
        kind=Kind.EPISODIC,
        state=State.ACTIVE,
        observed_at__gte=now - RECENT,
        observed_at__lte=now,
    ).exclude(origin=Origin.REFLECTION)  # fmt: skip


def due(owner: User, now: datetime) -> list[Material]:
    """For each scope with enough that was not looked at yet in this composition."""
    scopes = (
        recent_events(owner, now)
        .order_by("agent")
        .values_list("agent", flat=True)
        .annotate(count=Count("pk"))
        .filter(count__gte=ENOUGH)
    )
    found = (_material(owner, agent, now) for agent in list(scopes))
    return [material for material in found if material and not _looked_at(owner, material)]


def still_active(owner: User, facts: Mapping[int, Fact]) -> set[UUID]:
    """Inside a transition: those that nobody has archived or purged meanwhile."""
    rows = facts_of(owner).filter(
        pk__in=[fact.pk for fact in facts.values()], state=State.ACTIVE, kind=Kind.EPISODIC
    )
    return set(rows.values_list("pk", flat=True))


def concluded_upon(owner: User, facts: Mapping[int, Fact]) -> tuple[set[UUID], list[set[UUID]]]:
    """The facts that some insight cites already, and the sets that rejected ones cite."""
    ids = [fact.pk for fact in facts.values()]
    rows = Derivation.objects.filter(owner=owner, source__in=ids)
    cited: set[UUID] = set()
    rejected: dict[UUID, set[UUID]] = {}
    for fact, source, state in rows.values_list("fact", "source", "fact__state"):
        cited.add(source)
        if state == State.REJECTED:
            rejected.setdefault(fact, set()).add(source)
    return cited, list(rejected.values())


def _material(owner: User, agent: UUID | None, now: datetime) -> Material | None:
    events = recent_events(owner, now).filter(agent=agent).select_related("agent__owner", "owner")
    route, shown = route_for_facts(owner, list(events.order_by("-observed_at", "-pk")[:SHOWN]))
    if route is None or len(shown) < ENOUGH:
        return None
    return Material(
        agent=shown[0].agent,
        facts=dict(enumerate(reversed(shown), start=1)),
        earlier=dict(enumerate(_earlier(owner, agent, route), start=1)),
        route=route,
    )


def _earlier(owner: User, agent: UUID | None, route: llm.Route) -> list[Fact]:
    known = facts_of(owner).filter(agent=agent, origin=Origin.REFLECTION)
    known = known.exclude(archived_reason=ArchivedReason.PURGED)
    rows = list(known.order_by("-pk")[:EARLIER])
    hidden = set() if route.name == llm.PRIVATE else sensitive_among(owner, [f.pk for f in rows])
    return [fact for fact in rows if fact.pk not in hidden]


def _looked_at(owner: User, material: Material) -> bool:
    last = Reflection.objects.filter(owner=owner, agent=material.agent).first()
    return last is not None and last.digest == material.digest
