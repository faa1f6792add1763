"""Whether beat reaches a worker, and with which embedding model that works."""

import socket
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from memory import embedding
from memory.models import Heartbeat

# Three sweeps that did not come.
SILENT = timedelta(minutes=3)


def beat() -> None:
    """With each sweep: beat sent it, the broker carried it, a worker took it up."""
    Heartbeat.objects.update_or_create(
        host=socket.gethostname()[:120],
        defaults={"at": timezone.now(), "embedding_model": embedding.MODEL},
    )


def alive(now: datetime) -> QuerySet[Heartbeat]:
    return Heartbeat.objects.filter(at__gt=now - SILENT)


def last() -> Heartbeat | None:
    return Heartbeat.objects.order_by("-at").first()
