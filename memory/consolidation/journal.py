"""How stages carry out what they planned, and where that is written down.

A change of the store, and the line that says so, are one transaction. Each is checked again inside
it, so that a plan that has gone stale meanwhile does nothing.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from agents.audit import POLICY, acting
from agents.gate import require_on
from agents.models import User
from memory.consolidation.breaker import Budget
from memory.consolidation.values import Change
from memory.extraction.lease import hold, leased
from memory.lifecycle import LifecycleError
from memory.llm import Completion, LlmError, R, Usage
from memory.models import ConsolidationChange, ConsolidationRun

# Listed of what a breaker held back; the next run lists what follows.
MOST_HELD = 500


@dataclass
class Journal:
    """Of one run, or of a stage that was called by itself (no `run`: nothing is listed)."""

    owner: User
    now: datetime
    budget: Budget
    run: ConsolidationRun | None = None
    noted: list[Change] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    def note(self, change: Change) -> None:
        """Inside the transaction that made the change."""
        self.noted.append(change)
        if self.run is None:
            return
        ConsolidationChange.objects.create(
            owner=self.owner,
            run=self.run,
            stage=change.stage,
            action=change.action,
            facts=list(change.facts),
            others=list(change.objects),
            sources=list(change.sources),
            reason=change.reason[:300],
            detail=change.detail,
            reversible=change.reversible,
            archived=change.archives,
            held=change.held,
            at=self.now,
        )

    @contextmanager
    def step(self, reason: str) -> Iterator[None]:
        """One transaction of policy's, while memory is on and the lease is ours.

        Raises MemoryOff, LeaseLost, LeaseTaken.
        """
        with leased(self.owner) as lease, acting(POLICY, self._told(reason)):
            require_on(self.owner)
            hold(lease)
            yield

    def count(self, ask: Callable[[], Completion[R]]) -> R:
        """The model's reply; what it cost is on the run, that of a failed call included."""
        try:
            completion = ask()
        except LlmError as error:
            self.usage += error.usage
            raise
        self.usage += completion.usage
        return completion.reply

    def _told(self, reason: str) -> str:
        return f"consolidation {self.run.pk}: {reason}" if self.run else f"consolidation: {reason}"


_current: ContextVar[Journal | None] = ContextVar("consolidation_journal", default=None)


@contextmanager
def keeping(journal: Journal) -> Iterator[Journal]:
    """Stages called inside write into this one."""
    token = _current.set(journal)
    try:
        yield journal
    finally:
        _current.reset(token)


def journal_of(owner: User, now: datetime) -> Journal:
    current = _current.get()
    if current is not None and current.owner.pk == owner.pk:
        return current
    return Journal(owner, now, Budget.of(owner, now))


def carry_out(
    *,
    owner: User,
    now: datetime,
    planned: Iterable[Change],
    still: Callable[[Change], bool],
    do: Callable[[Change], Change],
    dry_run: bool,
) -> list[Change]:
    """`do` runs in a transaction of its own and only where `still` says that the plan holds. What
    lies past a breaker is listed as held. Raises MemoryOff, LeaseLost, LeaseTaken."""
    journal = journal_of(owner, now)
    done: list[Change] = []
    held = 0
    for change in planned:
        if not journal.budget.take(change.archives):
            held += 1
            if held <= MOST_HELD:
                done.append(_hold_back(journal, change, dry_run))
        elif dry_run:
            done.append(change)
        elif made := _make(journal, change, still, do):
            done.append(made)
    return done


def _hold_back(journal: Journal, change: Change, dry_run: bool) -> Change:
    change = replace(change, held=True)
    if not dry_run:
        with journal.step(change.reason):
            journal.note(change)
    return change


def _make(
    journal: Journal,
    change: Change,
    still: Callable[[Change], bool],
    do: Callable[[Change], Change],
) -> Change | None:
    try:
        with journal.step(change.reason):
            if not still(change):
                return None
            made = do(change)
            journal.note(made)
            return made
    except LifecycleError:  # decided elsewhere meanwhile
        return None


def taken_back(owner: User, stage: str) -> set[frozenset[UUID]]:
    """The facts of each change of a stage that a person undid: it is not done again."""
    undone = ConsolidationChange.objects.filter(owner=owner, stage=stage, undone_at__isnull=False)
    return {frozenset(facts) for facts in undone.values_list("facts", flat=True)}
