"""At most one extraction per owner at a time, whichever worker it runs in.

The lease is a row with a random token. It is renewed before every question to the model, and the
final write happens only while the row still holds the token: a run that was thought dead can't
write after its successor. Times are the database's, since workers' clocks differ.

Beside the row its holder keeps an advisory lock of its database session, which Postgres lets go
the moment the worker dies. So a killed worker's lease can be taken over at once, a hanging one's
when it runs out. The lock only says that somebody lives; the row alone decides who may write.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from agents.models import User
from memory.models import OwnerLease

# Of a row named `held`: has it run out, or is its holder gone?
_FREE = """
    held.expires_at <= statement_timestamp() OR NOT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (classid::bigint << 32 | objid::bigint) = hashtextextended(held.token::text, 0)
    )
"""


class LeaseTaken(Exception):
    def __init__(self) -> None:
        super().__init__("Another extraction is at work for this owner. Try again in a while.")


class LeaseLost(Exception):
    """The lease ran out and went to another; nothing may be written under it."""


@dataclass(frozen=True)
class Lease:
    owner: User
    token: uuid.UUID


_around: ContextVar[Lease | None] = ContextVar("owner_lease", default=None)


@contextmanager
def leased(owner: User) -> Iterator[Lease]:
    """The owner's lease for the length of the block, or the one that a block around this holds.

    Raises LeaseTaken.
    """
    outer = _around.get()
    if outer is not None and outer.owner.pk == owner.pk:
        yield outer
        return
    lease = claim(owner)
    token = _around.set(lease)
    try:
        yield lease
    finally:
        _around.reset(token)
        release(lease)


def claim(owner: User) -> Lease:
    """Takes the lease where there is none, it ran out, or its holder died. Raises LeaseTaken."""
    lease = Lease(owner, uuid.uuid4())
    # Before the row shows: who finds the row must find the lock.
    _call("pg_advisory_lock", lease)
    if not _take(lease):
        _call("pg_advisory_unlock", lease)
        raise LeaseTaken
    return lease


def renew(lease: Lease) -> None:
    """Raises LeaseLost. A lease that ran out unclaimed is still ours."""
    length = timedelta(seconds=settings.EXTRACTION_LEASE_SECONDS)
    if not _row(lease).update(expires_at=Now() + length):
        raise LeaseLost


def hold(lease: Lease) -> None:
    """Inside a transaction: nobody can take the lease before its end. Raises LeaseLost."""
    if _row(lease).select_for_update().first() is None:
        raise LeaseLost


def seize(owner: User) -> None:
    """Inside a transaction that erases: whoever holds the lease has lost it, and nobody gets it
    before the end. So what was read before can write nothing back."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_ownerlease (owner_id, token, expires_at)"
            " VALUES (%s, %s, statement_timestamp())"
            " ON CONFLICT (owner_id) DO UPDATE"
            " SET token = excluded.token, expires_at = excluded.expires_at",
            [owner.pk, uuid.uuid4()],
        )


def release(lease: Lease) -> None:
    _row(lease).delete()
    _call("pg_advisory_unlock", lease)


def at_work() -> set[uuid.UUID]:
    """The owners for whom a living worker holds a lease."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT owner_id FROM memory_ownerlease AS held WHERE NOT ({_FREE})")  # noqa: S608
        return {owner for (owner,) in cursor.fetchall()}


def _take(lease: Lease) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_ownerlease AS held (owner_id, token, expires_at)"  # noqa: S608
            " VALUES (%s, %s, statement_timestamp() + make_interval(secs => %s))"
            " ON CONFLICT (owner_id) DO UPDATE"
            f" SET token = excluded.token, expires_at = excluded.expires_at WHERE {_FREE}",
            [lease.owner.pk, lease.token, settings.EXTRACTION_LEASE_SECONDS],
        )
        return bool(cursor.rowcount == 1)


def _call(function: str, lease: Lease) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [str(lease.token)])


def _row(lease: Lease) -> QuerySet[OwnerLease]:
    return OwnerLease.objects.filter(owner=lease.owner, token=lease.token)
