"""What a recall leaves behind. Recall itself only reads; a preview on a page leaves nothing."""

import logging
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from conversations.models import Conversation
from memory.models import RecalledFact
from memory.recall.service import Recall

log = logging.getLogger(__name__)

COUNT = "memory.tasks.count_recalled"
# The answer waits for no broker.
IMPATIENT = {"max_retries": 0, "socket_connect_timeout": 1}

_COUNT = """
    INSERT INTO memory_factusage AS known (fact_id, owner_id, last_retrieved_at, retrieval_hits)
    SELECT id, owner_id, %s, 1 FROM memory_fact WHERE id = ANY(%s) AND owner_id = %s ORDER BY id
    ON CONFLICT (fact_id) DO UPDATE SET
        last_retrieved_at = greatest(known.last_retrieved_at, excluded.last_retrieved_at),
        retrieval_hits = known.retrieval_hits + 1
"""


def told(*, recall: Recall, conversation: Conversation | None, now: datetime | None = None) -> None:
    """Remembers what an assistant was told where, and has the worker count it.

    The first is one statement of ids in the request, because the gate against recalled echoes must
    not depend on a broker; the second is a mere counter, and its hint may be lost.
    """
    ids = [item.fact.pk for item in recall.items]
    if not ids:
        return
    now = now or timezone.now()
    if conversation is not None:
        remember(conversation=conversation, fact_ids=ids, now=now)
    _hint(recall.items[0].fact.owner_id, ids, now)


def remember(*, conversation: Conversation, fact_ids: Sequence[UUID], now: datetime) -> None:
    """In one order of rows, so that two recalls into one conversation can't lock each other out.

    A crash of the database may take the last half second; a reply may not wait for the disk.
    """
    rows = [
        RecalledFact(
            owner_id=conversation.owner_id,
            conversation=conversation,
            fact_id=fact_id,
            recalled_at=now,
        )
        for fact_id in sorted(fact_ids)
    ]
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = off")
        RecalledFact.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["conversation", "fact", "owner"],
            update_fields=["recalled_at"],
        )


def count(*, owner_id: UUID, fact_ids: Sequence[UUID], now: datetime) -> None:
    """Being retrieved is not being confirmed: nothing but the counters changes."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [now, list(fact_ids), owner_id])


def _hint(owner_id: UUID, fact_ids: Sequence[UUID], now: datetime) -> None:
    """Through a connection that is kept: making one anew costs more than the recall's queries."""
    from celery import current_app
    from kombu.pools import producers

    values = [str(owner_id), [str(fact_id) for fact_id in fact_ids], now.isoformat()]
    try:
        with producers[_broker()].acquire(block=False) as producer:
            current_app.send_task(COUNT, values, producer=producer, retry=False)
    except Exception as error:  # a broker fails in as many ways as there are brokers
        log.warning("no count of a recall (%s)", type(error).__qualname__)


@cache
def _broker() -> Any:
    from celery import current_app

    return current_app.connection_for_write(transport_options=IMPATIENT)
