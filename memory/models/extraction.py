"""What extraction did: runs, the candidates it dropped, the lease that keeps it single."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.models import Agent, User, new_id
from conversations.models import Conversation, Message
from memory.vocabulary import Gate, Trigger


class ExtractionRun(models.Model):
    """One reading of one window of one conversation."""

    class State(models.TextChoices):
        RUNNING = "running"
        APPLIED = "applied"
        FAILED = "failed"
        # Its worker died, or its lease went to another.
        LOST = "lost"
        # A person told the cursor to pass over the window.
        SKIPPED = "skipped"
        # It was applied; since then the conversation is read again.
        REPEATED = "repeated"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="+", db_constraint=False
    )
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="runs", db_constraint=False
    )
    trigger = models.CharField(max_length=16, choices=Trigger)
    state = models.CharField(max_length=16, choices=State, default=State.RUNNING)
    attempt = models.PositiveSmallIntegerField(default=1)
    first_seq = models.PositiveIntegerField()
    last_seq = models.PositiveIntegerField()
    # "rules" or the model's name; the route it was called on.
    observer = models.CharField(max_length=120)
    route = models.CharField(max_length=16, blank=True)
    prompt_version = models.CharField(max_length=64, blank=True)
    started_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True)
    llm_calls = models.PositiveSmallIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    # {"candidates": n, "created": n, "activated": n, "superseding": n, "reinforced": n,
    #  "evidence_added": n, "dropped": {gate: n}}
    counts = models.JSONField(default=dict)

    class Meta:
        ordering = ["-started_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="run_owner_id"),
            models.CheckConstraint(
                condition=Q(first_seq__lte=models.F("last_seq")), name="run_window_order"
            ),
            # A window is applied once.
            models.UniqueConstraint(
                fields=["conversation", "first_seq", "owner"],
                condition=Q(state="applied"),
                name="run_window_applied_once",
            ),
        ]
        indexes = [
            models.Index(fields=["owner", "-started_at", "-id"], name="run_list"),
            models.Index(fields=["conversation", "-started_at"], name="run_conversation"),
        ]

    def __str__(self) -> str:
        return f"{self.state} run {self.id}"


class DroppedCandidate(models.Model):
    """A proposal that a gate stopped, kept for inspection; credentials only redacted."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(
        ExtractionRun, on_delete=models.PROTECT, related_name="dropped", db_constraint=False
    )
    gate = models.CharField(max_length=24, choices=Gate)
    statement = models.CharField(max_length=500)
    quote = models.TextField(blank=True)
    detail = models.CharField(max_length=300, blank=True)
    message = models.ForeignKey(
        Message, on_delete=models.PROTECT, null=True, related_name="+", db_constraint=False
    )
    fact = models.ForeignKey(
        "memory.Fact", on_delete=models.PROTECT, null=True, related_name="+", db_constraint=False
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["created_at", "id"]
        indexes = [
            models.Index(fields=["run"], name="dropped_run"),
            # What one gate dropped, newest first, and how many each did.
            models.Index(fields=["owner", "gate", "-created_at", "-id"], name="dropped_gate"),
        ]

    def __str__(self) -> str:
        return f"{self.gate} in {self.run_id}"


class OwnerLease(models.Model):
    """At most one extraction per owner at a time; the token is checked by the final write."""

    owner = models.OneToOneField(User, on_delete=models.CASCADE, primary_key=True, related_name="+")
    token = models.UUIDField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"lease of {self.owner_id}"


class RecalledFact(models.Model):
    """That recall put a fact into a conversation. Feeds the gate against recalled echoes."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="recalled", db_constraint=False
    )
    fact = models.ForeignKey(
        "memory.Fact", on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    recalled_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "fact", "owner"], name="recalled_once"),
        ]

    def __str__(self) -> str:
        return f"{self.fact_id} in {self.conversation_id}"
