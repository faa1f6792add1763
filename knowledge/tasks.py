"""What the worker does for the knowledge base. Thin: the database knows what is due."""

from uuid import UUID

from celery import shared_task

from agents import audit
from knowledge import indexing, leftovers
from knowledge.ingest import job

# The next sweep finds again what nobody took up.
EXPIRES = 55
# Of making vectors that a change of the model left missing.
SWEEP_SECONDS = 20


@shared_task(name="knowledge.tasks.ingest")
def ingest(document_id: str) -> None:
    """Then goes on with the next one, so that many documents are one chain of short tasks."""
    token = audit.context.set("task knowledge.tasks.ingest")
    try:
        following = job.work(UUID(document_id))
    finally:
        audit.context.reset(token)
    if following is not None:
        ingest.delay(str(following))


@shared_task(name="knowledge.tasks.sweep")
def sweep() -> int:
    """Each minute: what is due, what a killed worker left, and vectors that are missing."""
    leftovers.remove()
    found = job.sweep()
    for document_id in found:
        ingest.apply_async((str(document_id),), expires=EXPIRES)
    if indexing.is_behind():
        indexing.embed_backlog(seconds=SWEEP_SECONDS)
    return len(found)
