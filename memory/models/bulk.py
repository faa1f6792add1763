"""Bulk repair: what a person chose in the admin, and what became of each row. No text is in it."""

from django.db import models
from django.utils import timezone

from agents.models import Agent, User, new_id
from agents.triggers import fixed
from agents.wording import counted
from memory.vocabulary import Repair


class BulkJob(models.Model):
    """One step to be taken over many facts of one owner. A draft is what its preview shows."""

    class State(models.TextChoices):
        DRAFT = "draft", "Not started"
        RUNNING = "running"
        STOPPED = "stopped", "Stopped; can go on"
        DONE = "done"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # Whose facts they are, and who repairs.
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    started_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    step = models.CharField(max_length=16, choices=Repair)
    # Where the facts go, for the step that moves them.
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )
    reason = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.DRAFT)
    total = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # The last time it got on; the sweep takes up again what has stood still.
    touched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["owner", "id"], name="bulkjob_owner_id")]
        indexes = [
            models.Index(
                fields=["touched_at"],
                condition=models.Q(state__in=["draft", "running"]),
                name="bulkjob_open",
            ),
        ]
        triggers = [
            fixed(
                "id",
                "owner",
                "started_by",
                "step",
                name="bulkjob_fixed",
                message="A bulk repair stays what it was drafted as.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_step_display()} {counted(self.total, 'fact')}"


class BulkItem(models.Model):
    """One chosen fact. Its step and this outcome are one transaction, so none is taken twice."""

    class Outcome(models.TextChoices):
        WAITING = "", "Not yet"
        DONE = "done"
        REFUSED = "refused"

    id = models.BigAutoField(primary_key=True)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, db_index=False, related_name="+")
    job = models.ForeignKey(
        BulkJob, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="items"
    )
    # No foreign key: the list outlives what was purged.
    fact_id = models.UUIDField()
    # The state it was in when it was chosen.
    seen = models.CharField(max_length=16)
    outcome = models.CharField(max_length=8, choices=Outcome, blank=True, default=Outcome.WAITING)
    why = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["job", "fact_id", "owner"], name="bulkitem_once"),
        ]
        indexes = [models.Index(fields=["job", "outcome", "id"], name="bulkitem_outcomes")]

    def __str__(self) -> str:
        return f"{self.fact_id}: {self.outcome or 'waiting'}"
