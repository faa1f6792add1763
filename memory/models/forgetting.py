"""What forgetting leaves: texts that may not be learned again, and what assistants asked for."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.models import Agent, ApiKey, User, new_id
from memory.models.fact import Fact


class Forgotten(models.Model):
    """The keyed hash of a forgotten fact's text. It goes when the fact is restored; what was purged
    leaves a Tombstone, which stays."""

    fact = models.OneToOneField(
        Fact, on_delete=models.CASCADE, primary_key=True, related_name="+", db_constraint=False
    )
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    digest = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "forgotten texts"
        # Whether a text that comes back was forgotten.
        indexes = [models.Index(fields=["owner", "digest"], name="forgotten_text")]

    def __str__(self) -> str:
        return f"hash of {self.fact_id}"


class ForgetRequest(models.Model):
    """An assistant's key asked to forget a fact. The owner decides; it carries no text."""

    class State(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        DECLINED = "declined"
        # The fact went another way meanwhile.
        OVERTAKEN = "overtaken"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, null=True, related_name="+", db_constraint=False
    )
    client = models.ForeignKey(
        ApiKey, on_delete=models.PROTECT, related_name="+", db_constraint=False
    )
    fact = models.ForeignKey(
        Fact, on_delete=models.CASCADE, related_name="forget_requests", db_constraint=False
    )
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    decided_at = models.DateTimeField(null=True, blank=True)
    reviewer = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            # Asking twice is asking once.
            models.UniqueConstraint(
                fields=["owner", "fact"], condition=Q(state="open"), name="forget_request_open_once"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "overtaken"])
                | Q(reviewer__isnull=False, decided_at__isnull=False),
                name="forget_request_decided_by_person",
            ),
        ]
        indexes = [
            # The queue.
            models.Index(
                fields=["owner", "-created_at"],
                condition=Q(state="open"),
                name="forget_request_queue",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} request to forget {self.fact_id}"
