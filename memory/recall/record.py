"""What a recall leaves behind. Recall itself only reads; a preview on a page leaves nothing."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from agents.models import Agent
from conversations.models import Conversation
from memory.models import RecalledAhead, RecalledFact
from memory.recall.service import Recall
from memory.search import automatic

log = logging.getLogger(__name__)

COUNT = "memory.tasks.count_recalled"
# A conversation that was recalled into and never stored will not come any more.
GIVEN_UP_AFTER = timedelta(days=180)
# The answer waits for no broker.
IMPATIENT = {"max_retries": 0, "socket_connect_timeout": 1}

_COUNT = """
    INSERT INTO memory_factusage AS known (fact_id, owner_id, last_retrieved_at, retrieval_hits)
    SELECT id, owner_id, %s, 1 FROM memory_fact WHERE id = ANY(%s) AND owner_id = %s ORDER BY id
    ON CONFLICT (fact_id) DO UPDATE SET
        last_retrieved_at = greatest(known.last_retrieved_at, excluded.last_retrieved_at),
        retrieval_hits = known.retrieval_hits + 1
"""


@dataclass(frozen=True)
class Talk:
    """A conversation by the names that its client gives it, whether it has begun or not."""

    agent: Agent
    source: str
    external_id: str

    def found(self) -> Conversation | None:
        return Conversation.objects.filter(
            owner=self.agent.owner,
            agent=self.agent,
            source=self.source,
            external_id=self.external_id,
        ).first()


def told(
    *,
    recall: Recall,
    talk: Talk | None,
    conversation: Conversation | None,
    now: datetime | None = None,
    noted: bool = False,
) -> bool:
    """Remembers what an assistant was told where, and has the worker count it. `conversation` is
    the talk's, if it has begun; `noted`, if it is remembered for it already. What recall tells of
    an earlier day counts as no use of it. False if it could not be remembered, which costs nobody
    the answer.

    The first is one statement of ids in the request, because the gate against recalled echoes must
    not depend on a broker; the second is a mere counter, and its hint may be lost.
    """
    now = now or timezone.now()
    try:
        _remember(recall, talk, conversation, now, noted=noted)
        is_remembered = True
    except DatabaseError as error:
        log.warning("what recall told is not remembered (%s)", type(error).__qualname__)
        is_remembered = False
    ids = [item.fact.pk for item in recall.items]
    if ids and recall.trace.as_of is None:
        _hint(recall.items[0].fact.owner_id, ids, now)
    return is_remembered


def _remember(
    recall: Recall,
    talk: Talk | None,
    conversation: Conversation | None,
    now: datetime,
    *,
    noted: bool,
) -> None:
    """Facts first: what was told of them must not be learned again."""
    ids = [item.fact.pk for item in recall.items]
    if ids and not noted:
        if conversation is not None:
            remember(conversation=conversation, fact_ids=ids, now=now)
        elif talk is not None:
            remember_ahead(talk=talk, fact_ids=ids, now=now)
    if conversation is not None:
        automatic.told(conversation, recall.excerpts)


def remember(*, conversation: Conversation, fact_ids: Sequence[UUID], now: datetime) -> None:
    """A crash of the database may take the last half second; a reply may not wait for the disk."""
    with _without_waiting_for_the_disk():
        note(conversation=conversation, fact_ids=fact_ids, now=now)


def note(*, conversation: Conversation, fact_ids: Sequence[UUID], now: datetime) -> None:
    """In the caller's transaction. In one order of rows, so that two recalls into one conversation
    can't lock each other out."""
    rows = [
        RecalledFact(
            owner_id=conversation.owner_id,
            conversation=conversation,
            fact_id=fact_id,
            recalled_at=now,
        )
        for fact_id in sorted(fact_ids)
    ]
    RecalledFact.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["conversation", "fact", "owner"],
        update_fields=["recalled_at"],
    )


def remember_ahead(*, talk: Talk, fact_ids: Sequence[UUID], now: datetime) -> None:
    """As `remember`, for a conversation whose first message is yet to come. The rows stay under its
    names, so that one that begins in this very moment loses none."""
    rows = [
        RecalledAhead(
            owner_id=talk.agent.owner_id,
            agent=talk.agent,
            source=talk.source,
            external_id=talk.external_id,
            fact_id=fact_id,
            recalled_at=now,
        )
        for fact_id in sorted(fact_ids)
    ]
    with _without_waiting_for_the_disk():
        RecalledAhead.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["owner", "agent", "source", "external_id", "fact"],
            update_fields=["recalled_at"],
        )


def statements_told(*, conversation: Conversation, most: int) -> tuple[str, ...]:
    """What recall put into a conversation, before its first message and since; the last first."""
    since = RecalledFact.objects.filter(conversation=conversation)
    before = RecalledAhead.objects.filter(
        owner=conversation.owner_id,
        agent=conversation.agent_id,
        source=conversation.source,
        external_id=conversation.external_id,
    )
    columns = ("recalled_at", "fact__statement")
    rows = since.values_list(*columns).union(before.values_list(*columns))
    return tuple(statement for _, statement in rows.order_by("-recalled_at")[:most])


@contextmanager
def _without_waiting_for_the_disk() -> Iterator[None]:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = off")
        yield


def count(*, owner_id: UUID, fact_ids: Sequence[UUID], now: datetime) -> None:
    """Being retrieved is not being confirmed: nothing but the counters changes."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [now, list(fact_ids), owner_id])
    stale = RecalledAhead.objects.filter(owner=owner_id, recalled_at__lt=now - GIVEN_UP_AFTER)
    stale.delete()


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
