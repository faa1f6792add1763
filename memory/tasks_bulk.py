"""Bulk repair in the worker. A hint that was lost is made good by the sweep."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from agents import audit
from conversations.hints import send
from memory.bulk import jobs

# Then another task goes on, so that extraction gets its turn.
SECONDS = 20


@shared_task(name="memory.tasks.work_at_bulk")
def work_at_bulk(job_id: str) -> None:
    token = audit.context.set("task memory.tasks.work_at_bulk")
    try:
        goes_on = not jobs.work(UUID(job_id), seconds=SECONDS)
    finally:
        audit.context.reset(token)
    if goes_on and jobs.is_running(UUID(job_id)):
        hint(UUID(job_id))


def hint(job_id: UUID) -> None:
    send(work_at_bulk.name, "bulk repair", job_id)


@shared_task(name="memory.tasks.sweep_bulk")
def sweep_bulk() -> int:
    found = jobs.abandoned(timezone.now())
    for job_id in found:
        hint(job_id)
    return len(found)
