from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from celery import shared_task

from memory.recall import record


@shared_task(name=record.COUNT)
def count_recalled(owner_id: str, fact_ids: Sequence[str], told_at: str) -> None:
    """A hint that is lost, or came twice, changes no more than a counter."""
    record.count(
        owner_id=UUID(owner_id),
        fact_ids=[UUID(fact_id) for fact_id in fact_ids],
        now=datetime.fromisoformat(told_at),
    )
