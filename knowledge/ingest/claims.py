"""Who reads which document. A job holds its document by a token and for some minutes at a time; one
that was killed is replaced when these are over, and whoever lost the token writes nothing more."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from agents import gate
from agents.audit import Actor, acting
from agents.models import User
from knowledge.models import Document
from knowledge.vocabulary import BUSY, DocumentState, Failure, Stage
from memory.extraction.due import memory_on

ACTOR = Actor(name="ingest")
LEASE = timedelta(minutes=3)
# Minutes before a second, third and fourth try.
RETRIES = (2, 10, 30)
AT_ONCE = 100  # in one sweep
GAVE_UP = "Reading it was broken off again and again. Try again, or split it and add the parts."


class Taken(Exception):
    """The document is somebody else's now: read anew, deleted, or taken over by another worker."""


@dataclass(slots=True)
class Claim:
    """`document` as it was claimed; `generation` is the one to be made."""

    document: Document
    token: UUID
    renewed: float = field(default_factory=monotonic)

    @property
    def generation(self) -> int:
        return (self.document.generation or 0) + 1

    def rows(self) -> QuerySet[Document]:
        return Document.objects.filter(
            pk=self.document.pk, owner=self.document.owner_id, token=self.token
        )

    def holds(self) -> bool:
        return self.rows().exists()

    def update(self, **changes: Any) -> None:
        """Raises Taken."""
        if self.rows().update(busy_until=timezone.now() + LEASE, **changes) != 1:
            raise Taken
        for name, value in changes.items():
            setattr(self.document, name, value)
        self.renewed = monotonic()

    def keep(self) -> None:
        """Over work that takes long; to be called as often as one likes. Raises Taken."""
        if monotonic() - self.renewed >= LEASE.total_seconds() / 6:
            self.update()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A transaction in which the document stays ours and memory stays on.

        Raises Taken, MemoryOff.
        """
        with acting(ACTOR, "document read"):
            if self.rows().select_for_update(no_key=True).values_list("pk").first() is None:
                raise Taken
            gate.require_on(self.document.owner)
            yield


def due(now: datetime) -> QuerySet[Document]:
    waiting = Q(state=DocumentState.WAITING) & (
        Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now)
    )
    left = Q(state__in=BUSY) & (Q(busy_until__isnull=True) | Q(busy_until__lt=now))
    return Document.objects.filter(waiting | left).filter(memory_on())


def sweep(now: datetime) -> list[UUID]:
    """The next document of each owner who has none in hand."""
    return list(_next(now).distinct("owner").values_list("pk", flat=True)[:AT_ONCE])


def following(owner: User, now: datetime) -> UUID | None:
    """Whose turn it is after this owner: each in order, so that whoever brings very many documents
    keeps nobody waiting."""
    rows = _next(now).values_list("pk", flat=True)
    return rows.filter(owner__gt=owner.pk).first() or rows.first()


def _next(now: datetime) -> QuerySet[Document]:
    in_hand = Document.objects.filter(state__in=BUSY, busy_until__gte=now).values("owner")
    return due(now).exclude(owner__in=in_hand).order_by("owner", "created_at", "pk")


def claim(document_id: UUID, now: datetime) -> Claim | None:
    """One document of an owner at a time. None where it is not due, or another one is in hand."""
    with acting(ACTOR, "document read"):
        row = due(now).select_related("owner").filter(pk=document_id).first()
        if row is None or not _alone(row.owner, now):
            return None
        if row.attempts > len(RETRIES):
            _give_up(row)
            return None
        token = uuid.uuid4()
        claimed = (
            due(now)
            .filter(pk=row.pk)
            .update(
                state=DocumentState.CONVERTING,
                stage=Stage.CONVERTING,
                progress=0,
                progress_of=0,
                attempts=F("attempts") + 1,
                token=token,
                busy_until=now + LEASE,
            )
        )
        if claimed != 1:
            return None
        # While it is locked by that change: a moment later it may be deleted.
        row.refresh_from_db()
    return Claim(row, token)


def _alone(owner: User, now: datetime) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('documents ' || %s, 0))", [str(owner.pk)]
        )
    in_hand = Document.objects.filter(owner=owner, state__in=BUSY, busy_until__gte=now)
    return not in_hand.exists()


def _give_up(row: Document) -> None:
    """Whoever held it was killed each time."""
    Document.objects.filter(pk=row.pk, state__in=[*BUSY, DocumentState.WAITING]).update(
        state=DocumentState.FAILED,
        stage=Stage.NONE,
        failure=Failure.BROKEN_OFF,
        failure_detail=GAVE_UP,
        token=None,
        busy_until=None,
    )


def release(claim: Claim, **changes: Any) -> None:
    """Lets go of it; nothing happens where it is somebody else's already."""
    with transaction.atomic(), acting(ACTOR, "document read"):
        claim.rows().update(
            stage=Stage.NONE, progress=0, progress_of=0, token=None, busy_until=None, **changes
        )
