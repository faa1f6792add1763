"""What of two years is right in the store: read from the database, held against the script."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from agents.models import Agent, AuditEvent, User
from bench.years_world import Truth, World
from memory.consolidation import reconfirm
from memory.models import Fact
from memory.recall.record import count
from memory.recall.service import recall
from memory.review import queue
from memory.vocabulary import ArchivedReason, Kind, State

# A truth counts as told this many days after it was said: the owner sits down once a week.
TOLD = 14
_BY_CODE = "policy"


@dataclass
class Row:
    """One quarter's state."""

    quarter: int
    true: int
    captured: int
    stale: int
    duplicates: int
    queue: int
    wrongly_archived: int
    wrongly_activated: int
    events: int
    set_aside: int


@dataclass
class Counts:
    user: User
    agent: Agent
    world: World
    told: int = 0
    stale_told: int = 0
    silent_told: int = 0
    probes: int = 0
    max_queue: int = 0
    unseen: set[UUID] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    # Truths that a person let in, and those of them that no active fact tells any more.
    confirmed: set[Truth] = field(default_factory=set)
    rows: list[Row] = field(default_factory=list)

    def after_reading(self) -> None:
        """What became active without a person, told once."""
        new = Fact.objects.filter(
            owner=self.user, state=State.ACTIVE, reviewer__isnull=True
        ).exclude(pk__in=self.unseen)
        for fact in new:
            self.unseen.add(fact.pk)
            truth = self.world.meaning.get(fact.statement)
            if truth is None or truth.event is None:
                self.wrong.append(fact.statement)

    def waits(self, now: datetime) -> int:
        waiting = queue.waiting(self.user, now).count()
        waiting += reconfirm.waiting(owner=self.user, now=now).count()
        self.max_queue = max(self.max_queue, waiting)
        return waiting

    def probe(self, slot: str, question: str, now: datetime, day: int) -> None:
        """Asks as an assistant would before a turn, and counts the use as the worker would."""
        answer = recall(agent=self.agent, message=question, now=now)
        facts = [item.fact for item in answer.items]
        count(owner_id=self.user.pk, fact_ids=[fact.pk for fact in facts], now=now)
        self.probes += 1
        self.told += len(facts)
        for fact in facts:
            truth = self.world.meaning.get(fact.statement)
            if truth is None or (truth.event is None and not truth.holds(day)):
                # What nobody said is over can only be asked about, once a year.
                never_mentioned = truth is not None and truth.silent
                self.silent_told += never_mentioned
                self.stale_told += not never_mentioned

    def quarter(self, number: int, now: datetime, day: int) -> Row:
        active = self._active()
        by_truth: dict[Truth, list[Fact]] = defaultdict(list)
        for fact in active:
            truth = self.world.meaning.get(fact.statement)
            if truth is not None:
                by_truth[truth].append(fact)
                if fact.reviewer_id is not None:
                    self.confirmed.add(truth)
        told = [t for t in self.world.durable if t.holds(day) and t.since <= day - TOLD]
        row = Row(
            quarter=number,
            true=len(told),
            captured=sum(truth in by_truth for truth in told),
            stale=sum(t.event is None and not t.holds(day) for t in by_truth for _ in by_truth[t]),
            duplicates=sum(len(facts) - 1 for facts in by_truth.values()),
            queue=self.waits(now),
            wrongly_archived=len(self.lost(by_truth, day)),
            wrongly_activated=len(self.wrong),
            events=sum(fact.kind == Kind.EPISODIC for fact in active),
            set_aside=Fact.objects.filter(
                owner=self.user, archived_reason=ArchivedReason.STALE
            ).count(),
        )
        self.rows.append(row)
        return row

    def lost(self, there: dict[Truth, list[Fact]], day: int) -> list[Truth]:
        """Durable truths that a person confirmed, that hold, and that code alone took away."""
        gone = [t for t in self.confirmed if t.event is None and t.holds(day) and t not in there]
        return [truth for truth in gone if self._by_code(truth)]

    def _by_code(self, truth: Truth) -> bool:
        facts = Fact.objects.filter(owner=self.user, statement__in=truth.statements)
        ids = [str(pk) for pk in facts.values_list("pk", flat=True)]
        last = (
            AuditEvent.objects.filter(table="memory_fact", row_id__in=ids, before__state="active")
            .exclude(after__state="active")
            .order_by("-id")
            .first()
        )
        return last is not None and last.actor == _BY_CODE

    def _active(self) -> list[Fact]:
        return list(Fact.objects.filter(owner=self.user, state=State.ACTIVE))

    def uncaptured(self, day: int) -> Counter[str]:
        """Where the truths went that no active fact tells: for the eye."""
        active = {self.world.meaning.get(fact.statement) for fact in self._active()}
        missing: Counter[str] = Counter()
        for truth in self.world.durable:
            if truth.holds(day) and truth.since <= day - TOLD and truth not in active:
                states = Fact.objects.filter(owner=self.user, statement__in=truth.statements)
                known = sorted(set(states.values_list("state", "archived_reason")))
                missing[", ".join(" ".join(filter(None, pair)) for pair in known) or "never"] += 1
        return missing
