"""Counts for the dashboard and the API, over rows that the caller has scoped. Each is one query
and reads no text.

Plans at a million facts are in docs/query-plans.md.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.db.models import BigIntegerField, Count, F, FloatField, Q, QuerySet, Sum
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Floor, Least, TruncDay
from django.utils import timezone

from agents.models import AuditEvent, User
from conversations.models import Conversation
from memory.models import ConsolidationRun, DroppedCandidate, ExtractionRun, Fact
from memory.vocabulary import Gate, State

# Upper ends in days of the groups by how long a candidate waits; the last has none.
AGES = (1, 7, 30, 90)


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that one pass over the owner's facts tells. `kinds` and `sureness` are of active
    ones; sureness is by tenths, from 0 to 9. `prompts` is by version, then state."""

    states: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    sureness: Counter[int] = field(default_factory=Counter)
    prompts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


@dataclass(frozen=True, slots=True)
class Use:
    told: int
    never: int


@dataclass(frozen=True, slots=True)
class Tokens:
    day: date
    input: int
    output: int
    runs: int


# Tokens that other apps took of an owner's since then, by day; each adds its own when it starts.
TokensSince = Callable[[User, datetime], list[Tokens]]
further_tokens: list[TokensSince] = []


def facts(rows: QuerySet[Fact]) -> Facts:
    tenth = Least(Floor(F("confidence") * 10.0, output_field=FloatField()), 9.0)
    groups = (
        rows.order_by()
        .annotate(tenth=tenth)
        .values_list("state", "kind", "prompt_version", "tenth")
        .annotate(Count("pk"))
    )
    found = Facts()
    for state, kind, prompt, sure, count in groups:
        found.states[state] += count
        found.prompts[prompt][state] += count
        if state == State.ACTIVE:
            found.kinds[kind] += count
            found.sureness[int(sure)] += count
    return found


def waiting_by_age(rows: QuerySet[Fact], now: datetime) -> list[int]:
    """How many candidates wait for at most each of AGES, and longer; snoozed ones too."""
    bounds = [now - timedelta(days=days) for days in AGES]
    groups = {}
    for number, (newest, oldest) in enumerate(zip([None, *bounds], [*bounds, None], strict=True)):
        within = Q() if newest is None else Q(created_at__lte=newest)
        within &= Q() if oldest is None else Q(created_at__gt=oldest)
        groups[f"g{number}"] = Count("pk", within)
    sums = rows.filter(state=State.PENDING).order_by().aggregate(**groups)
    return [sums[f"g{number}"] for number in range(len(groups))]


def use(rows: QuerySet[Fact], active: int) -> Use:
    """Of so many active facts, those that recall has put into a block at least once."""
    count = rows.filter(state=State.ACTIVE, usage__isnull=False).order_by().count()
    return Use(told=count, never=max(active - count, 0))


def drops(rows: QuerySet[DroppedCandidate]) -> dict[str, int]:
    """By gate, the most frequent first."""
    groups = rows.order_by().values_list("gate")
    found = groups.annotate(count=Count("pk")).order_by("-count")
    return {gate: count for gate, count in found if gate in Gate.values}


def tokens_by_day(rows: QuerySet[ExtractionRun], since: datetime) -> list[Tokens]:
    """Days on the clock that is in force, oldest first; days that asked no model are left out."""
    groups = (
        rows.filter(started_at__gte=since, llm_calls__gt=0)
        .order_by()
        .annotate(day=TruncDay("started_at"))
        .values_list("day")
        .annotate(Sum("input_tokens"), Sum("output_tokens"), Count("pk"))
        .order_by("day")
    )
    return [Tokens(timezone.localdate(day), *sums) for day, *sums in groups]


def upkeep_by_day(rows: QuerySet[ConsolidationRun], since: datetime) -> list[Tokens]:
    """The same of consolidation: its merges, insights, cases and profiles."""
    groups = (
        rows.filter(started_at__gte=since, counts__has_key="llm")
        .order_by()
        .annotate(day=TruncDay("started_at"))
        .values_list("day")
        .annotate(i=_sum_of("input_tokens"), o=_sum_of("output_tokens"), n=Count("pk"))
        .order_by("day")
    )
    return [Tokens(timezone.localdate(day), *sums) for day, *sums in groups]


def elsewhere_by_day(owner: User, since: datetime) -> list[Tokens]:
    """The same of what other apps asked, such as of pictures in documents."""
    return [day for count in further_tokens for day in count(owner, since)]


def _sum_of(name: str) -> Sum:
    return Sum(Cast(KT(f"counts__llm__{name}"), BigIntegerField()), default=0)


def states_over_time(
    owner: User, now: datetime, days: int, states: Counter[str]
) -> list[tuple[date, dict[str, int]]]:
    """How many facts were in each state at the end of each day, the last one today. Counted back
    from what there is now by what the audit trail says has changed."""
    since = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    since -= timedelta(days=days - 1)
    moves = _moves(owner, since)
    counts = {state.value: states[state] for state in State}
    timeline = []
    for back in range(days):
        day = timezone.localdate(now) - timedelta(days=back)
        timeline.append((day, dict(counts)))
        for state, moved in moves[day].items():
            counts[state] = max(counts[state] - moved, 0)
    return timeline[::-1]


def _moves(owner: User, since: datetime) -> dict[date, Counter[str]]:
    """For each day by how much each state grew."""
    changed = AuditEvent.objects.filter(
        owner_id=owner.pk, table="memory_fact", after__has_key="state", at__gte=since
    )
    groups = (
        changed.order_by()
        .annotate(day=TruncDay("at"), old=KT("before__state"), new=KT("after__state"))
        .values_list("day", "old", "new")
        .annotate(Count("pk"))
    )
    moves: dict[date, Counter[str]] = defaultdict(Counter)
    for day, old, new, count in groups:
        moves[timezone.localdate(day)][new] += count
        if old is not None:
            moves[timezone.localdate(day)][old] -= count
    return moves


def stuck_count(rows: QuerySet[Conversation]) -> int:
    return rows.filter(stuck_at__isnull=False).count()


def unread_count(rows: QuerySet[Conversation]) -> int:
    return rows.filter(cursor_seq__lt=F("last_seq"), read_only=False).count()
