"""Whose store is due for its daily run: by the last run in the database and the owner's clock.

Once a local day, from HOUR on, so that a day of 23 or 25 hours has one run too. After a downtime
one run makes up for all that were missed.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from agents import gate
from agents.models import OwnerSettings, User
from memory.extraction.lease import at_work
from memory.models import ConsolidationSchedule

# In the small hours, past the hour that changes of the clock skip or repeat nearly everywhere.
HOUR = time(4)
# A run that killed its worker is not tried again at once.
REST = timedelta(hours=1)
OWNERS = 200


def sweep(now: datetime) -> Sequence[UUID]:
    """Owners who are due and for whom no worker is at it."""
    rows = due(now).exclude(owner__in=at_work()).order_by("owner")
    return list(rows.values_list("owner", flat=True)[:OWNERS])


def is_due(owner: User, now: datetime) -> bool:
    return due(now).filter(owner=owner).exists()


def due(now: datetime) -> QuerySet[OwnerSettings]:
    zones = OwnerSettings.objects.order_by().values_list("time_zone", flat=True).distinct()
    waiting = Q(pk__in=[])
    for name in zones:
        ran = ConsolidationSchedule.objects.filter(last_run_at__gte=last_hour(now, name))
        waiting |= Q(time_zone=name) & ~Q(owner__in=ran.values("owner"))
    tried = ConsolidationSchedule.objects.filter(last_started_at__gt=now - REST)
    asked = ConsolidationSchedule.objects.filter(requested_at__isnull=False)
    daily = waiting & ~Q(owner__in=tried.values("owner"))
    return OwnerSettings.objects.filter(daily | Q(owner__in=asked.values("owner")), _memory_on())


def ask_for_run(owner: User, now: datetime) -> None:
    """The next sweep takes it up. Raises MemoryOff."""
    with transaction.atomic():
        gate.require_on(owner)
        ConsolidationSchedule.objects.update_or_create(owner=owner, defaults={"requested_at": now})


def is_asked_for(owner: User) -> bool:
    return ConsolidationSchedule.objects.filter(owner=owner, requested_at__isnull=False).exists()


def last_hour(now: datetime, zone: str) -> datetime:
    """The newest moment, not after now, at which a clock of that zone showed HOUR."""
    clock = ZoneInfo(zone)
    today = now.astimezone(clock).date()
    moment = datetime.combine(today, HOUR, clock).astimezone(UTC)
    if moment > now:
        moment = datetime.combine(today - timedelta(days=1), HOUR, clock).astimezone(UTC)
    return moment


def _memory_on() -> Q:
    """agents.gate.allowed, as a condition."""
    chosen = [c for c in (True, False, None) if gate.allowed(settings.MEMORY_MODE, c)]
    on = Q(memory_enabled__in=[choice for choice in chosen if choice is not None])
    return on | Q(memory_enabled__isnull=True) if None in chosen else on
