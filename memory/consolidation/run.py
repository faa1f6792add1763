"""One run over one owner's store: stage by stage, each for itself, all of it listed."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.audit import Actor
from agents.gate import MemoryOff, require_on
from agents.models import User
from memory import llm
from memory.consolidation import due
from memory.consolidation.breaker import Budget, unlimited
from memory.consolidation.journal import Journal, keeping
from memory.consolidation.registry import STAGES, Stage, stage_named
from memory.consolidation.values import Change
from memory.extraction.lease import LeaseLost, LeaseTaken, leased
from memory.lifecycle import NotAllowed
from memory.models import ConsolidationChange, ConsolidationRun, ConsolidationSchedule

Trigger = ConsolidationRun.Trigger
State = ConsolidationRun.State

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Plan:
    """What a run would do now."""

    changes: list[Change] = field(default_factory=list)
    stopped_by: str = ""


def consolidate(
    *, owner: User, now: datetime, trigger: Trigger, stages: Sequence[Stage] = STAGES
) -> ConsolidationRun:
    """Raises MemoryOff and LeaseTaken, before anything is done."""
    with leased(owner):
        run = _begin(owner, now, trigger, stages)
        journal = Journal(owner, now, Budget.of(owner, now), run)
        for stage in stages:
            if not _survives(stage.name, journal, partial(_run, stage, journal)):
                break
        _end(journal, stages)
    return run


def plan(*, owner: User, now: datetime, stages: Sequence[Stage] = STAGES) -> Plan:
    """The same code up to the point where it would write. Raises MemoryOff."""
    with transaction.atomic():
        require_on(owner)
    with keeping(Journal(owner, now, Budget.of(owner, now))) as journal:
        changes = [
            change for stage in stages for change in stage.run(owner=owner, now=now, dry_run=True)
        ]
    return Plan(changes, journal.budget.stopped_by)


def consolidate_if_due(owner_id: UUID) -> ConsolidationRun | None:
    """A worker's share of one hint."""
    now = timezone.now()
    owner = User.objects.filter(pk=owner_id).first()
    if owner is None or not due.is_due(owner, now):
        return None
    trigger = Trigger.REQUEST if due.is_asked_for(owner) else Trigger.DAILY
    try:
        return consolidate(owner=owner, now=now, trigger=trigger)
    except (MemoryOff, LeaseTaken):
        return None


def go_on(*, run: ConsolidationRun, now: datetime, actor: Actor) -> ConsolidationRun:
    """A person looked at what the breaker held back, and wants it done.

    Raises NotAllowed, MemoryOff, LeaseTaken.
    """
    if actor.person is None or actor.person.pk != run.owner_id:
        raise NotAllowed("Only the owner can lift the breaker.")
    held = run.changes.filter(held=True)
    names = list(held.order_by("stage").values_list("stage", flat=True).distinct())
    stages = [stage for name in names if (stage := stage_named(name)) and stage.resume]
    with leased(run.owner):
        new = _begin(run.owner, now, Trigger.CONTINUE, stages)
        journal = Journal(run.owner, now, unlimited(), new)
        for stage in stages:
            planned = [_as_planned(row) for row in held.filter(stage=stage.name)]
            if not _survives(stage.name, journal, partial(_resume, stage, journal, planned)):
                break
        _end(journal, stages)
    return new


def _begin(
    owner: User, now: datetime, trigger: Trigger, stages: Sequence[Stage]
) -> ConsolidationRun:
    """Whoever holds the lease knows that a run still marked as running has no worker any more."""
    with transaction.atomic():
        require_on(owner)
        lost = ConsolidationRun.objects.filter(owner=owner, state=State.RUNNING)
        lost.update(state=State.LOST, finished_at=now)
        if _is_whole(stages):
            ConsolidationSchedule.objects.update_or_create(
                owner=owner, defaults={"last_started_at": now, "requested_at": None}
            )
        return ConsolidationRun.objects.create(
            owner=owner,
            trigger=trigger,
            started_at=now,
            stages=[stage.name for stage in stages],
        )


def _run(stage: Stage, journal: Journal) -> list[Change]:
    return stage.run(owner=journal.owner, now=journal.now)


def _resume(stage: Stage, journal: Journal, planned: list[Change]) -> list[Change]:
    assert stage.resume is not None  # noqa: S101 - chosen for having one
    return stage.resume(owner=journal.owner, now=journal.now, planned=planned)


def _survives(name: str, journal: Journal, work: Callable[[], list[Change]]) -> bool:
    """One stage; another one's failure is none of its business. False: the run ends here."""
    run, before = journal.run, len(journal.noted)
    assert run is not None  # noqa: S101 - a run's journal has one
    try:
        with keeping(journal):
            _note_others(journal, work(), before)
    except MemoryOff:
        run.state = State.SWITCHED_OFF
    except (LeaseLost, LeaseTaken):
        run.state = State.LOST
    except llm.LlmError as error:
        run.errors[name] = str(error)
    except Exception as error:
        logger.exception("Stage %s of consolidation %s failed.", name, run.pk)
        run.errors[name] = f"An unexpected error ({type(error).__qualname__})."
    return run.state == State.RUNNING


def _note_others(journal: Journal, changes: list[Change], before: int) -> None:
    """What a stage tells of without having written it down itself."""
    noted = journal.noted[before:]
    with transaction.atomic():
        for change in changes:
            if change not in noted:
                journal.note(change)


def _end(journal: Journal, stages: Sequence[Stage]) -> None:
    run = journal.run
    assert run is not None  # noqa: S101 - a run's journal has one
    if run.state == State.RUNNING:
        run.state = State.FAILED if run.errors else State.DONE
    run.finished_at = max(timezone.now(), journal.now)
    run.stopped_by = journal.budget.stopped_by
    run.counts = _counts(journal)
    with transaction.atomic():
        run.save(update_fields=["state", "errors", "finished_at", "stopped_by", "counts"])
        if run.state in (State.DONE, State.FAILED):
            _settle(run, journal, stages)


def _settle(run: ConsolidationRun, journal: Journal, stages: Sequence[Stage]) -> None:
    """The newest list of what is held back stands for the older ones."""
    older = ConsolidationChange.objects.filter(owner=run.owner, held=True, stage__in=run.stages)
    older.exclude(run=run).delete()
    if _is_whole(stages):
        ConsolidationSchedule.objects.filter(owner=run.owner).update(last_run_at=journal.now)


def _is_whole(stages: Sequence[Stage]) -> bool:
    return {stage.name for stage in stages} >= {stage.name for stage in STAGES}


def _counts(journal: Journal) -> dict[str, dict[str, int]]:
    counts: dict[str, Counter[str]] = {}
    for change in journal.noted:
        action = f"{change.action}_held" if change.held else change.action
        counts.setdefault(change.stage, Counter())[action] += 1
    told = {stage: dict(actions) for stage, actions in counts.items()}
    if journal.usage.calls:
        told["llm"] = {
            "calls": journal.usage.calls,
            "input_tokens": journal.usage.input_tokens,
            "output_tokens": journal.usage.output_tokens,
        }
    return told


def _as_planned(row: ConsolidationChange) -> Change:
    return Change(
        stage=row.stage,
        action=row.action,
        reason=row.reason,
        facts=tuple(row.facts),
        sources=tuple(row.sources),
        reversible=row.reversible,
        detail=row.detail,
        archives=row.archived,
    )
