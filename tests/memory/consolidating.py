"""What the tests of consolidation say often. The clock stands at NOW."""

from datetime import timedelta
from typing import Any

from agents.audit import person
from agents.models import User
from memory.consolidation import registry
from memory.consolidation.run import Trigger, consolidate
from memory.models import ConsolidationChange, ConsolidationRun, Fact
from memory.vocabulary import Kind, State
from tests.factories import MONDAY, FactFactory

NOW = MONDAY
# Those that mend the store; the others write what is derived from it.
STAGES = [stage for stage in registry.STAGES if stage.name in {
    "merge", "dedupe_pending", "archive_episodic", "decay_semantic", "demote_pending",
}]  # fmt: skip
DAY = timedelta(days=1)


def ago(days: float) -> Any:
    return NOW - days * DAY


def event(owner: User, statement: str = "", *, days: float = 181, **changes: Any) -> Fact:
    """An event that policy let in by itself so many days ago."""
    values: dict[str, Any] = {
        "kind": Kind.EPISODIC,
        "state": State.ACTIVE,
        "created_at": ago(days),
        "observed_at": ago(days),
        "reviewer": None,
        "reviewed_at": None,
    }
    if statement:
        values["statement"] = statement
    return FactFactory.create(owner=owner, **(values | changes))


def durable(owner: User, statement: str = "", *, days: float = 366, **changes: Any) -> Fact:
    """Let in by its owner so many days ago."""
    values: dict[str, Any] = {
        "state": State.ACTIVE,
        "created_at": ago(days),
        "observed_at": ago(days),
        "reviewed_at": ago(days),
    }
    if statement:
        values["statement"] = statement
    return FactFactory.create(owner=owner, **(values | changes))


def waiting(owner: User, statement: str = "", *, days: float = 61, **changes: Any) -> Fact:
    values: dict[str, Any] = {"created_at": ago(days), "observed_at": ago(days), "confidence": 0.7}
    if statement:
        values["statement"] = statement
    return FactFactory.create(owner=owner, **(values | changes))


def run(owner: User, *stages: str, now: Any = NOW, **changes: Any) -> ConsolidationRun:
    chosen = [stage for stage in STAGES if not stages or stage.name in stages]
    return consolidate(owner=owner, now=now, trigger=Trigger.REQUEST, stages=chosen, **changes)


def changes(run: ConsolidationRun) -> list[ConsolidationChange]:
    return list(run.changes.order_by("id"))


def states(*facts: Fact) -> list[str]:
    return [Fact.objects.get(pk=fact.pk).state for fact in facts]


def by(owner: User) -> Any:
    return person(owner)
