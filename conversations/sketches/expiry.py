"""Notes go when their conversation is over: they are working notes, no memory."""

from datetime import datetime

from conversations.sketches.limits import IDLE
from conversations.sketches.models import Sketch

AT_ONCE = 1000


def drop_expired(now: datetime) -> int:
    """Those that no reader sees any more. How many."""
    since = now - IDLE
    # Asked of the row itself as well: it may be rewritten while this waits for its lock.
    old = Sketch.objects.filter(kept=False, updated_at__lt=since)
    over = old.filter(conversation__last_activity_at__lt=since).order_by("updated_at")
    done, _ = old.filter(pk__in=over.values("pk")[:AT_ONCE]).delete()
    return done
