"""At most one extraction per owner at a time, whichever worker it runs in.

The lease is a row with a random token. It is renewed before every question to the model, and the
final write happens only while the row still holds the token: a run that was thought dead can't
write after its successor. Times are the database's, since workers' clocks differ.
"""

import uuid
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.db.models.functions import Now

from agents.models import User
from memory.models import OwnerLease


class LeaseTaken(Exception):
    def __init__(self) -> None:
        super().__init__("Another extraction is at work for this owner. Try again in a while.")


class LeaseLost(Exception):
    """The lease ran out and went to another; nothing may be written under it."""


@dataclass(frozen=True)
class Lease:
    owner: User
    token: uuid.UUID


def claim(owner: User) -> Lease:
    """Takes the lease where there is none, or where it ran out. Raises LeaseTaken."""
    token = uuid.uuid4()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_ownerlease AS held (owner_id, token, expires_at)"
            " VALUES (%s, %s, statement_timestamp() + make_interval(secs => %s))"
            " ON CONFLICT (owner_id) DO UPDATE"
            " SET token = excluded.token, expires_at = excluded.expires_at"
            " WHERE held.expires_at <= statement_timestamp()",
            [owner.pk, token, settings.EXTRACTION_LEASE_SECONDS],
        )
        if cursor.rowcount != 1:
            raise LeaseTaken
    return Lease(owner, token)


def renew(lease: Lease) -> None:
    """Raises LeaseLost. A lease that ran out unclaimed is still ours."""
    length = timedelta(seconds=settings.EXTRACTION_LEASE_SECONDS)
    if not _row(lease).update(expires_at=Now() + length):
        raise LeaseLost


def hold(lease: Lease) -> None:
    """Inside a transaction: nobody can take the lease before its end. Raises LeaseLost."""
    if _row(lease).select_for_update().first() is None:
        raise LeaseLost


def release(lease: Lease) -> None:
    _row(lease).delete()


def _row(lease: Lease) -> QuerySet[OwnerLease]:
    return OwnerLease.objects.filter(owner=lease.owner, token=lease.token)
