"""Reads what is stored and unread, one window after another, until all of it is read.

The cursor of each conversation is the checkpoint: it moves in the transaction that applies a
window, for the live path and for this alike. So nothing is read twice, and a run that was stopped
anywhere goes on where it was.
"""

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from threading import Event

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum

from agents.models import Agent, User
from conversations.models import Conversation, Message
from memory import llm
from memory.extraction.lease import LeaseTaken
from memory.extraction.run import extract
from memory.extraction.windows import MESSAGES
from memory.models import ExtractionRun
from memory.vocabulary import Trigger

# An endpoint that is down is not asked for every conversation, and none is stuck because of it.
FAILURES_IN_A_ROW = 3
SHOWN = 20


@dataclass(frozen=True)
class Scope:
    """Whose, and what of it. A conversation is read in order: one that was going on at `since` is
    read from its first unread message, and none beyond the first message at or after `until`."""

    owner: User
    agent: Agent | None = None
    external_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Limits:
    """`calls_per_minute` holds on average. `tokens`: with these spent no further window begins."""

    batch: int = 50
    calls_per_minute: int | None = None
    tokens: int | None = None


class _Stopped(Exception):
    """While it waited for a worker."""


class End(StrEnum):
    READ = "read"
    STOPPED = "stopped"
    BUDGET = "budget"
    FAILING = "failing"


@dataclass
class Report:
    conversations: int = 0
    windows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failed: int = 0
    # The first ones, as (external id, why).
    failures: list[tuple[str, str]] = field(default_factory=list)
    end: End = End.READ

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def add(self, run: ExtractionRun) -> None:
        self.windows += 1
        self.dropped.update(run.counts.get("dropped", {}))
        self.counts.update({name: n for name, n in run.counts.items() if name != "dropped"})
        self.calls += run.llm_calls
        self.input_tokens += run.input_tokens
        self.output_tokens += run.output_tokens

    def fail(self, conversation: Conversation, why: str) -> None:
        self.failed += 1
        if len(self.failures) < SHOWN:
            self.failures.append((conversation.external_id, why))


@dataclass
class Pace:
    """Spreads the questions to the model so that no more than so many a minute are asked."""

    calls_per_minute: int | None
    clock: Callable[[], float] = time.monotonic
    free_at: float = 0.0

    def wait(self, stop: Event) -> None:
        if self.calls_per_minute and (seconds := self.free_at - self.clock()) > 0:
            stop.wait(seconds)

    def spent(self, calls: int) -> None:
        if self.calls_per_minute:
            start = max(self.free_at, self.clock())
            self.free_at = start + calls * 60 / self.calls_per_minute


def chosen(scope: Scope) -> QuerySet[Conversation]:
    """What is unread and may be read, earliest first: the newer word then corrects the older."""
    rows = Conversation.objects.filter(
        owner=scope.owner, cursor_seq__lt=F("last_seq"), read_only=False
    )
    if scope.agent is not None:
        rows = rows.filter(agent=scope.agent)
    if scope.external_id is not None:
        rows = rows.filter(external_id=scope.external_id)
    if scope.since is not None:
        rows = rows.filter(last_message_at__gte=scope.since)
    if scope.until is not None:
        rows = rows.exclude(Exists(_next_unread().filter(sent_at__gte=scope.until)))
    return rows.order_by("last_message_at", "pk")


def readable(scope: Scope) -> QuerySet[Conversation]:
    """Without those that wait for the private route, where there is none."""
    rows = chosen(scope)
    return rows if llm.configured(llm.PRIVATE) else rows.filter(sensitive=False)


def windows_in(rows: QuerySet[Conversation]) -> tuple[int, int]:
    """Unread messages, and windows at most: those beyond `until` are counted too."""
    unread = F("last_seq") - F("cursor_seq")
    full_or_not = (unread + MESSAGES - 1) / MESSAGES
    totals = rows.aggregate(messages=Sum(unread), windows=Sum(full_or_not))
    return int(totals["messages"] or 0), int(totals["windows"] or 0)


def backfill(
    *, scope: Scope, limits: Limits, stop: Event, report: Report
) -> Generator[int, None, None]:
    """Yields the number of messages passed after each window. Fills the report as it goes.

    Raises MemoryOff where memory is off or is switched off on the way.
    """
    pace, in_a_row = Pace(limits.calls_per_minute), 0
    for conversation in _one_by_one(scope, limits.batch):
        failed_before = report.failed
        yield from _read(conversation, scope, limits, pace, stop, report)
        if report.end != End.READ:
            return
        in_a_row = in_a_row + 1 if report.failed > failed_before else 0
        if in_a_row == FAILURES_IN_A_ROW:
            report.end = End.FAILING
            return


def _one_by_one(scope: Scope, batch: int) -> Iterator[Conversation]:
    """Each conversation once, also those that fail and so stay unread."""
    rows = readable(scope).select_related("owner", "agent__owner")
    after = Q()
    while found := list(rows.filter(after)[:batch]):
        yield from found
        last = found[-1]
        after = Q(last_message_at__gt=last.last_message_at) | Q(
            last_message_at=last.last_message_at, pk__gt=last.pk
        )


def _read(
    conversation: Conversation,
    scope: Scope,
    limits: Limits,
    pace: Pace,
    stop: Event,
    report: Report,
) -> Iterator[int]:
    while report.end == End.READ:
        pace.wait(stop)
        report.end = _end(limits, stop, report)
        if report.end != End.READ:
            return
        try:
            run = _next_run(conversation, _up_to(conversation, scope.until), stop)
        except _Stopped:
            continue
        if run is None:
            break
        report.add(run)
        pace.spent(run.llm_calls)
        yield run.last_seq - run.first_seq + 1
        if run.state != ExtractionRun.State.APPLIED:
            report.fail(conversation, run.error)
            return
    report.conversations += 1


def _end(limits: Limits, stop: Event, report: Report) -> End:
    if stop.is_set():
        return End.STOPPED
    if limits.tokens is not None and report.tokens >= limits.tokens:
        return End.BUDGET
    return End.READ


def _next_run(conversation: Conversation, up_to: int | None, stop: Event) -> ExtractionRun | None:
    """Waits while a worker reads for the same owner. Raises LeaseTaken after a lease's length."""
    give_up = time.monotonic() + settings.EXTRACTION_LEASE_SECONDS
    while True:
        try:
            runs = extract(
                conversation=conversation, trigger=Trigger.BACKFILL, windows=1, up_to=up_to
            )
            return runs[0] if runs else None
        except LeaseTaken:
            if time.monotonic() > give_up:
                raise
        stop.wait(1)
        if stop.is_set():
            raise _Stopped


def _up_to(conversation: Conversation, until: datetime | None) -> int | None:
    """The last message before the first unread one that is too late."""
    if until is None:
        return None
    unread = Message.objects.filter(conversation=conversation, seq__gt=conversation.cursor_seq)
    late = unread.filter(sent_at__gte=until).order_by("seq").values_list("seq", flat=True).first()
    return None if late is None else late - 1


def _next_unread() -> QuerySet[Message]:
    return Message.objects.filter(conversation=OuterRef("pk"), seq=OuterRef("cursor_seq") + 1)
