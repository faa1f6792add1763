"""What consolidation did, and when it is due. Ids and numbers only: no row holds memory text."""

from collections import Counter

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.models import User, new_id
from agents.triggers import fixed, kept


class ConsolidationSchedule(models.Model):
    """Due by the last run, not by when a process started (memory/consolidation/due.py)."""

    owner = models.OneToOneField(User, on_delete=models.PROTECT, primary_key=True, related_name="+")
    # A person asked for a run, and none has begun since.
    requested_at = models.DateTimeField(null=True)
    # The beginning of the newest attempt, and of the newest run of all stages.
    last_started_at = models.DateTimeField(null=True)
    last_run_at = models.DateTimeField(null=True)
    # The merge stage goes through an owner's facts in turn; the newest one it has looked at.
    merged_up_to = models.UUIDField(null=True)

    def __str__(self) -> str:
        return f"schedule of {self.owner_id}"


class ConsolidationRun(models.Model):
    """One pass over one owner's facts."""

    class Trigger(models.TextChoices):
        DAILY = "daily", "Daily"
        REQUEST = "request", "Asked for"
        COMMAND = "command", "Command"
        CONTINUE = "continue", "Went on after a stop"

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        # At least one stage did not come to its end; the others did.
        FAILED = "failed"
        # Its worker died, or its lease went to another.
        LOST = "lost"
        # Memory was switched off meanwhile.
        SWITCHED_OFF = "switched_off", "Switched off"

    class Breaker(models.TextChoices):
        RUN = "run", "A run may archive so many active facts and no more"
        MONTH = "month", "Thirty days may archive so many active facts and no more"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    trigger = models.CharField(max_length=16, choices=Trigger)
    state = models.CharField(max_length=16, choices=State, default=State.RUNNING)
    started_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    # Names of the stages, in their order; {stage: {action: n}}; {stage: why it did not end}.
    stages = ArrayField(models.CharField(max_length=32), default=list)
    counts = models.JSONField(default=dict)
    errors = models.JSONField(default=dict)
    stopped_by = models.CharField(max_length=8, choices=Breaker, blank=True)

    class Meta:
        ordering = ["-started_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="consolidation_owner_id"),
        ]
        indexes = [
            models.Index(fields=["owner", "-started_at", "-id"], name="consolidation_list"),
        ]
        triggers = [kept("A run of consolidation is never deleted.")]

    def __str__(self) -> str:
        return f"{self.state} consolidation {self.id}"

    @property
    def did(self) -> str:
        """A line for lists: "2 archive, 1 decay"."""
        totals: Counter[str] = Counter()
        for stage, actions in self.counts.items():
            if stage != "llm":
                totals.update(actions)
        totals.pop("nothing", None)
        return ", ".join(f"{n} {action.replace('_', ' ')}" for action, n in totals.items())


class ConsolidationChange(models.Model):
    """One thing that a run did, or holds back until a person says so (memory.consolidation.values).

    The ids are no foreign keys: the list outlives what it speaks of.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(
        ConsolidationRun, on_delete=models.PROTECT, related_name="changes", db_constraint=False
    )
    stage = models.CharField(max_length=32)
    action = models.CharField(max_length=32)
    facts = ArrayField(models.UUIDField(), default=list)
    others = ArrayField(models.UUIDField(), default=list)
    sources = ArrayField(models.UUIDField(), default=list)
    reason = models.CharField(max_length=300)
    detail = models.JSONField(default=dict)
    reversible = models.BooleanField(default=True)
    # How many active facts it archived, for the breakers.
    archived = models.PositiveIntegerField(default=0)
    # Planned, but past a breaker.
    held = models.BooleanField(default=False)
    at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(undone_at__isnull=True, undone_by__isnull=True)
                | Q(undone_at__isnull=False, undone_by__isnull=False, held=False),
                name="consolidation_undone_by_somebody",
            ),
        ]
        indexes = [
            # A run's page.
            models.Index(fields=["run", "id"], name="consolidation_of_run"),
            # The breakers, and what a person took back, which is not done again.
            models.Index(fields=["owner", "stage", "-at"], name="consolidation_of_stage"),
        ]
        triggers = [
            fixed(
                "id",
                "owner",
                "run",
                "stage",
                "action",
                "facts",
                "others",
                "sources",
                "reason",
                "detail",
                name="consolidation_fixed",
                message="What a run did is not rewritten, only taken back.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} by {self.stage}"
