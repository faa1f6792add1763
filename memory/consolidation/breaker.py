"""How many active facts consolidation may archive before it stops and asks."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum

from agents.models import User
from memory.models import ConsolidationChange, ConsolidationRun
from memory.scope import facts_of
from memory.vocabulary import State

Breaker = ConsolidationRun.Breaker

# The least and the share of an owner's active facts.
PER_RUN = (5, 0.05)
PER_MONTH = (10, 0.10)
MONTH = timedelta(days=30)


@dataclass
class Budget:
    """What is left; `stopped_by` is the breaker that said no first. None: a person said go on."""

    run: int | None
    month: int | None
    stopped_by: str = ""

    @classmethod
    def of(cls, owner: User, now: datetime) -> "Budget":
        active = facts_of(owner).filter(state=State.ACTIVE).count()
        done = archived_since(owner, now - MONTH)
        # What was archived this month was active when it began.
        return cls(run=limit(PER_RUN, active), month=limit(PER_MONTH, active + done) - done)

    def take(self, archives: int) -> bool:
        """Whether so many more may be archived; nothing is taken where they may not."""
        if not archives:
            return True
        for breaker, left in ((Breaker.RUN, self.run), (Breaker.MONTH, self.month)):
            if left is not None and archives > left:
                self.stopped_by = self.stopped_by or breaker.value
                return False
        if self.run is not None and self.month is not None:
            self.run -= archives
            self.month -= archives
        return True


def unlimited() -> Budget:
    return Budget(None, None)


def limit(rule: tuple[int, float], active: int) -> int:
    least, share = rule
    return max(least, int(active * share))


def archived_since(owner: User, start: datetime) -> int:
    """What a person took back doesn't count."""
    changes = ConsolidationChange.objects.filter(
        owner=owner, at__gt=start, held=False, undone_at__isnull=True
    )
    return int(changes.aggregate(total=Sum("archived"))["total"] or 0)
