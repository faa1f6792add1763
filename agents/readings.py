"""Who may read other people's memory in the admin, and that they did.

Being a superuser is not enough: the permission is given by name, to the user or to a group, so that
whoever looks after the server doesn't read along. Each reading leaves a row that its owner can see.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.apps import apps
from django.contrib.auth.models import Permission
from django.db.models import Q

from agents.models import TextAccess, User

PERMISSION = "read_others_memory"
SHOWN = 50  # of the newest


@dataclass(frozen=True, slots=True)
class Reading:
    """`what` in plain words: "1 fact", "50 messages"."""

    at: datetime
    reader: str
    what: str


def may_read_others(user: User) -> bool:
    """Asked without the superuser's shortcut, which would say yes to everything."""
    if not user.is_superuser:
        return False
    held = Permission.objects.filter(content_type__app_label="agents", codename=PERMISSION)
    return held.filter(Q(user=user) | Q(group__user=user)).exists()


def note(*, reader: User, table: str, owners: Iterable[UUID], row_id: str = "") -> None:
    """One line for each other owner among the rows that were shown."""
    TextAccess.objects.bulk_create(
        TextAccess(owner_id=owner, reader=reader, table=table, row_id=row_id, rows=rows)
        for owner, rows in Counter(owners).items()
        if owner != reader.pk
    )


def readings_of(owner: User) -> list[Reading]:
    """Who read this owner's memory, the latest first."""
    rows = TextAccess.objects.filter(owner=owner).select_related("reader").order_by("-pk")
    return [
        Reading(row.at, row.reader.get_username(), f"{row.rows} {_named(row.table, row.rows)}")
        for row in rows[:SHOWN]
    ]


def _named(table: str, rows: int) -> str:
    for model in apps.get_models():
        if model._meta.db_table == table:
            names = model._meta
            return str(names.verbose_name if rows == 1 else names.verbose_name_plural)
    return table  # one that is gone since
