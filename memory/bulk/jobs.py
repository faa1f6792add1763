"""A step over many facts: chosen, looked at, taken one by one, told row by row.

The draft holds the rows as they were chosen, so what runs is what the preview showed. Each fact is
a transaction of its own: one that is refused stops no other. A job that was cut short goes on where
it was, in the same process or another.
"""

import time
from datetime import datetime, timedelta
from uuid import UUID

from django.db import IntegrityError, InternalError, connection, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from agents.audit import Actor, person
from agents.models import Agent, User
from memory.bulk.steps import STEPS
from memory.lifecycle import Edit, LifecycleError, NotAllowed, merge
from memory.models import BulkItem, BulkJob, Fact
from memory.vocabulary import WARNINGS, Kind, Repair
from memory.vocabulary import State as FactState

AT_ONCE = 100  # facts; more are for the worker
BATCH = 50
ABANDONED = timedelta(minutes=2)
DRAFTS_KEPT = timedelta(days=1)
MERGEABLE = frozenset({FactState.PENDING, FactState.ACTIVE})
MERGED_AT_MOST = 20
FLAGGED = "It is flagged. Confirm it by itself."
Outcome = BulkItem.Outcome
State = BulkJob.State


class SeveralOwners(NotAllowed):
    def __init__(self) -> None:
        super().__init__("Choose the facts of one owner at a time: filter the list by owner.")


class NothingChosen(NotAllowed):
    def __init__(self) -> None:
        super().__init__("No facts were chosen.")


@transaction.atomic
def draft(*, facts: QuerySet[Fact], step: Repair, by: User) -> BulkJob:
    """Nothing changes yet. Raises SeveralOwners, NothingChosen."""
    owners = list(facts.order_by().values_list("owner", flat=True).distinct()[:2])
    if not owners:
        raise NothingChosen
    if len(owners) > 1:
        raise SeveralOwners
    job = BulkJob.objects.create(owner_id=owners[0], started_by=by, step=step)
    job.total = _choose(facts, job)
    job.save(update_fields=["total"])
    return job


def _choose(facts: QuerySet[Fact], job: BulkJob) -> int:
    chosen, parameters = (
        facts.order_by("pk").values("owner_id", "pk", "state").query.sql_with_params()
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_bulkitem (owner_id, job_id, fact_id, seen, outcome, why) "  # noqa: S608
            f"SELECT owner, %s, fact, state, '', '' FROM ({chosen}) AS chosen(owner, fact, state)",
            [job.pk, *parameters],
        )
        return int(cursor.rowcount)


def flagged(job: BulkJob) -> QuerySet[BulkItem]:
    """A bulk confirmation leaves these out: each wants to be looked at by itself."""
    marks = Fact.objects.filter(
        owner=OuterRef("owner"), pk=OuterRef("fact_id"), withheld_for__overlap=list(WARNINGS)
    )
    return job.items.filter(Exists(marks))


@transaction.atomic
def start(
    *, job: BulkJob, reason: str, agent: Agent | None = None, with_flagged: bool = False
) -> bool:
    """draft → running. False when somebody started it already."""
    drafts = BulkJob.objects.filter(pk=job.pk, state=State.DRAFT)
    changes = {"reason": reason[:200], "agent": agent, "touched_at": timezone.now()}
    if not drafts.update(state=State.RUNNING, **changes):
        return False
    if job.step == Repair.CONFIRM and not with_flagged:
        flagged(job).update(outcome=Outcome.REFUSED, why=FLAGGED)
    job.refresh_from_db()
    return True


@transaction.atomic
def merge_all(*, job: BulkJob, statement: str, by: Actor, reason: str) -> Fact:
    """All rows of the draft become one fact of this statement, or nothing happens.

    Raises NotAllowed, Conflict, Duplicate, AtCap.
    """
    if not statement:
        raise NotAllowed("Write the statement that takes the place of all.")
    if job.total > MERGED_AT_MOST:
        raise NotAllowed(f"At most {MERGED_AT_MOST} facts become one.")
    if not start(job=job, reason=reason):
        raise NotAllowed("This was started elsewhere already.")
    chosen = job.items.values_list("fact_id", flat=True)
    facts = Fact.objects.select_related("owner", "agent")
    rows = list(facts.filter(owner=job.owner, pk__in=chosen).order_by("pk"))
    edit = Edit(
        statement=statement, kind=Kind(rows[0].kind), pinned=any(row.pinned for row in rows)
    )
    merged = merge(facts=rows, edit=edit, actor=by, reason=reason)
    job.items.update(outcome=Outcome.DONE)
    _finish(job)
    return merged


def stop(job: BulkJob) -> bool:
    running = BulkJob.objects.filter(pk=job.pk, state=State.RUNNING)
    return bool(running.update(state=State.STOPPED))


def go_on(job: BulkJob) -> bool:
    stopped = BulkJob.objects.filter(pk=job.pk, state=State.STOPPED)
    return bool(stopped.update(state=State.RUNNING, touched_at=timezone.now()))


def work(job_id: UUID, *, seconds: float) -> bool:
    """Takes waiting rows until none is left, it is stopped, or the time is over. True: it is done.

    Two that work at one job share its rows.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        touched = BulkJob.objects.filter(pk=job_id, state=State.RUNNING).update(
            touched_at=timezone.now()
        )
        if not touched:
            return False
        job = BulkJob.objects.select_related("started_by", "agent", "owner").get(pk=job_id)
        waiting = list(
            job.items.filter(outcome=Outcome.WAITING).values_list("pk", flat=True)[:BATCH]
        )
        if not waiting:
            return _finish(job)
        for item_id in waiting:
            _take(job, item_id)
    return False


def _finish(job: BulkJob) -> bool:
    running = BulkJob.objects.filter(pk=job.pk, state=State.RUNNING)
    return bool(running.update(state=State.DONE, touched_at=timezone.now()))


def _take(job: BulkJob, item_id: int) -> None:
    try:
        with transaction.atomic():
            item = _claim(item_id)
            if item is not None:
                _step(job, item)
                item.outcome = Outcome.DONE
                item.save(update_fields=["outcome"])
    except LifecycleError as refusal:
        _refuse(item_id, str(refusal))
    except (IntegrityError, InternalError):
        # The database knows a rule that the steps before it did not.
        _refuse(item_id, "The database refused it.")


def _claim(item_id: int) -> BulkItem | None:
    free = BulkItem.objects.select_for_update(skip_locked=True)
    return free.filter(pk=item_id, outcome=Outcome.WAITING).first()


def _step(job: BulkJob, item: BulkItem) -> None:
    facts = Fact.objects.select_related("owner", "agent", "conversation")
    fact = facts.filter(owner=job.owner, pk=item.fact_id).first()
    if fact is None:
        raise NotAllowed("It was purged meanwhile.")
    STEPS[Repair(job.step)].take(fact, person(job.started_by), job)


def _refuse(item_id: int, why: str) -> None:
    BulkItem.objects.filter(pk=item_id, outcome=Outcome.WAITING).update(
        outcome=Outcome.REFUSED, why=why[:300]
    )


def abandoned(now: datetime) -> list[UUID]:
    """Running jobs that nobody has touched for a while. Drafts that nobody started are cleared."""
    BulkJob.objects.filter(state=State.DRAFT, touched_at__lt=now - DRAFTS_KEPT).delete()
    still = BulkJob.objects.filter(state=State.RUNNING, touched_at__lt=now - ABANDONED)
    return list(still.values_list("pk", flat=True)[:20])


def is_running(job_id: UUID) -> bool:
    return BulkJob.objects.filter(pk=job_id, state=State.RUNNING).exists()
