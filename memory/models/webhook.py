"""Addresses that are told when something happens to the memory, and what each was told."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.models import Agent, User, new_id
from agents.triggers import fixed
from memory import triggers
from memory.models.fact import Fact
from memory.vocabulary import WebhookEvent


class Webhook(models.Model):
    """Its signing secret is not kept: it is made of the server's own and of id and `secret_number`
    (memory/webhooks/signing.py)."""

    class Stopped(models.TextChoices):
        """Why it is off, where the owner did not say so."""

        FAILING = "failing", "It failed for days"
        GONE = "gone", "The address answered that it is gone for good"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="webhooks")
    # Null: for everything of the owner's; else only for what this one may read.
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,  # composite with the owner, see the migration
    )
    address = models.CharField(max_length=2000)
    events = ArrayField(models.CharField(max_length=32, choices=WebhookEvent))
    enabled = models.BooleanField(default=True)
    stopped = models.CharField(max_length=16, choices=Stopped, blank=True)
    secret_number = models.PositiveIntegerField(default=1)
    # Until then the secret before this one signs too.
    old_secret_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    # How deliveries go. A worker that sends says until when it is at it; after failures the hook is
    # left alone for a while.
    busy_until = models.DateTimeField(null=True, blank=True)
    rests_until = models.DateTimeField(null=True, blank=True)
    failing_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="webhook_owner_id"),
            models.CheckConstraint(
                condition=Q(events__contained_by=WebhookEvent.values) & Q(events__len__gt=0),
                name="webhook_events_known",
            ),
            models.CheckConstraint(
                condition=Q(enabled=False) | Q(stopped=""), name="webhook_stopped_is_off"
            ),
        ]
        indexes = [
            # Asked for at every change of a fact: nearly always empty.
            models.Index(fields=["owner"], condition=Q(enabled=True), name="webhook_on"),
        ]
        triggers = [
            fixed(
                "id", "owner", "agent", "created_at",
                name="webhook_fixed",
                message="A webhook stays with its owner and its agent.",
            ),
            *triggers.WEBHOOK,
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"webhook {self.id}"


class WebhookDelivery(models.Model):
    """One message to a webhook: ids of what it is about, never text. The rows are written by
    triggers, in the transaction of the change."""

    class State(models.TextChoices):
        WAITING = "waiting", "waits"
        DELIVERED = "delivered", "delivered"
        FAILED = "failed", "given up"

    PING = "ping"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    webhook = models.ForeignKey(
        Webhook,
        on_delete=models.CASCADE,
        related_name="deliveries",
        db_constraint=False,
        db_index=False,
    )
    event = models.CharField(max_length=32)
    # Null for a ping.
    fact = models.ForeignKey(
        Fact,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    successor = models.ForeignKey(
        Fact,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    state = models.CharField(max_length=16, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    # When it is sent (again); null once that is over.
    next_attempt_at = models.DateTimeField(null=True, default=timezone.now)
    # What came of the last attempt: the status, or why there was none, in our words.
    status = models.PositiveSmallIntegerField(null=True)
    failure = models.CharField(max_length=200, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "webhook deliveries"
        constraints = [
            models.CheckConstraint(
                condition=Q(state="waiting", next_attempt_at__isnull=False)
                | Q(state__in=["delivered", "failed"], next_attempt_at__isnull=True),
                name="webhookdelivery_waits_for_a_time",
            ),
            models.CheckConstraint(
                condition=Q(event="ping") | Q(event__in=WebhookEvent.values)
                & Q(fact__isnull=False),
                name="webhookdelivery_event_known",
            ),
        ]  # fmt: skip
        indexes = [
            # What is due, by hook and in order.
            models.Index(
                fields=["webhook", "id"], condition=Q(state="waiting"), name="delivery_waiting"
            ),
            models.Index(fields=["webhook", "-created_at", "-id"], name="delivery_list"),
            # What is old enough to be dropped.
            models.Index(fields=["created_at"], name="delivery_age"),
        ]
        triggers = [
            fixed(
                "id", "owner", "webhook", "event", "fact", "successor", "created_at",
                name="delivery_fixed",
                message="What a delivery tells is never changed.",
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.event} {self.id}"
