"""The fact, and the tables that hang on it."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Func, Q
from django.utils import timezone

from agents.models import Agent, ApiKey, User, new_id
from agents.triggers import audited, fixed, kept
from conversations.models import Conversation, Import, Message
from memory import triggers
from memory.vocabulary import ArchivedReason, Kind, Origin, Precision, State, Tag


class Fact(models.Model):
    """A stored sentence about the owner. Never edited, only superseded (memory/lifecycle.py)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="facts")
    # Null: global, for every agent that reads the global facts.
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="facts",
        db_constraint=False,
    )
    kind = models.CharField(max_length=16, choices=Kind)
    statement = models.CharField(max_length=500)
    # SHA-256 of the normalised statement (memory/text.py): equal text, not equal meaning.
    text_hash = models.CharField(max_length=64, editable=False)
    # Name of a Postgres text search configuration.
    language = models.CharField(max_length=24, default="simple")
    state = models.CharField(max_length=16, choices=State, default=State.PENDING)
    confidence = models.FloatField(default=1.0)
    tags = ArrayField(models.CharField(max_length=24, choices=Tag), default=list, blank=True)
    pinned = models.BooleanField(default=False)
    origin = models.CharField(max_length=16, choices=Origin)

    # When it holds in the world, half-open.
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)
    valid_precision = models.CharField(max_length=8, choices=Precision, default=Precision.DAY)
    # When it was recorded, said, and last confirmed by the owner.
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    observed_at = models.DateTimeField()
    last_confirmed_at = models.DateTimeField()
    decayed_at = models.DateTimeField(null=True, blank=True)
    snoozed_until = models.DateTimeField(null=True, blank=True)

    superseded_by = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="predecessors",
        db_constraint=False,
    )
    archived_reason = models.CharField(max_length=16, choices=ArchivedReason, blank=True)
    archived_from = models.CharField(max_length=16, choices=State, blank=True)
    # Why policy did not activate it: members of vocabulary.Withheld, most important first.
    withheld_for = ArrayField(models.CharField(max_length=24), default=list, blank=True)
    # The words behind withheld_for, for the page ("from now on"); never a credential.
    withheld_detail = models.CharField(max_length=200, blank=True)

    # The nearest fact there was when this one was proposed; shown beside it, decides nothing.
    similar_to = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )

    # The person who decided last, and when.
    reviewer = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)

    # Where it came from.
    conversation = models.ForeignKey(
        Conversation,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="facts",
        db_constraint=False,
    )
    run = models.ForeignKey(
        "memory.ExtractionRun",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="facts",
        db_constraint=False,
    )
    prompt_version = models.CharField(max_length=64, blank=True)
    imported_by = models.ForeignKey(
        Import,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )
    client = models.ForeignKey(
        ApiKey,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )

    search = models.GeneratedField(
        expression=Func(F("language"), F("statement"), function="remembrancer_tsvector"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    # The statement of a fact that was purged.
    PURGED = "[purged]"

    class Meta:
        ordering = ["-created_at", "-id"]
        permissions = [("purge_fact", "Can purge facts")]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="fact_owner_id"),
            # One live fact per text and scope is an exclusion constraint of the first migration,
            # deferrable, so that a supersede may change no more than punctuation.
            models.CheckConstraint(
                condition=Q(state__in=["pending", "active", "rejected", "archived"]),
                name="fact_state_known",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["semantic", "episodic", "procedural"]),
                name="fact_kind_known",
            ),
            models.CheckConstraint(condition=Q(origin__in=Origin.values), name="fact_origin_known"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="fact_confidence_range"
            ),
            models.CheckConstraint(
                condition=Q(statement__regex=r"\S"), name="fact_statement_not_empty"
            ),
            models.CheckConstraint(
                condition=Q(text_hash__regex="^[0-9a-f]{64}$"), name="fact_text_hash_is_one"
            ),
            models.CheckConstraint(
                condition=Q(tags__contained_by=Tag.values), name="fact_tags_known"
            ),
            models.CheckConstraint(
                condition=Q(valid_precision__in=Precision.values), name="fact_precision_known"
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True)
                | Q(valid_until__isnull=True)
                | Q(valid_from__lt=F("valid_until")),
                name="fact_validity_order",
            ),
            models.CheckConstraint(
                condition=Q(
                    state="archived",
                    archived_from="pending",
                    archived_reason__in=[
                        "duplicate",
                        "aged_out",
                        "replaced",
                        "forgotten",
                        "undone",
                    ],
                )
                | Q(
                    state="archived",
                    archived_from="active",
                    archived_reason__in=[
                        "superseded",
                        "merged",
                        "stale",
                        "forgotten",
                        "undone",
                        "ended",
                    ],
                )
                | Q(state="archived", archived_from="", archived_reason="purged")
                | ~Q(state="archived") & Q(archived_reason="", archived_from=""),
                name="fact_archived_with_reason",
            ),
            # A superseded or merged fact names its successor, no other does; a purged one may.
            models.CheckConstraint(
                condition=Q(archived_reason="purged")
                | Q(superseded_by__isnull=False) & Q(archived_reason__in=["superseded", "merged"])
                | Q(superseded_by__isnull=True) & ~Q(archived_reason__in=["superseded", "merged"]),
                name="fact_successor_with_reason",
            ),
            # Only a person rejects.
            models.CheckConstraint(
                condition=~Q(state="rejected") | Q(reviewer__isnull=False),
                name="fact_rejected_by_person",
            ),
            # What steers the assistant was let in by a person, by the owner's own words to
            # `remember`, or by policy's rule, which knows only extracted events.
            models.CheckConstraint(
                condition=~Q(state="active")
                | Q(origin="extraction", kind="episodic")
                | Q(origin="remember")
                | Q(reviewer__isnull=False),
                name="fact_active_was_reviewed",
            ),
            # What waits for a person has not been decided: going back to pending clears the review.
            models.CheckConstraint(
                condition=~Q(state="pending") | Q(reviewer__isnull=True),
                name="fact_pending_undecided",
            ),
            # A review names its person and its time, or neither.
            models.CheckConstraint(
                condition=Q(reviewer__isnull=True, reviewed_at__isnull=True)
                | Q(reviewer__isnull=False, reviewed_at__isnull=False),
                name="fact_review_complete",
            ),
        ]
        indexes = [
            # The queue and the lists of facts: one owner, one state, newest first.
            # The columns beside the key are what lists are filtered by and the dashboard counts.
            models.Index(
                fields=["owner", "state", "-created_at", "-id"],
                include=[
                    "kind",
                    "agent",
                    "origin",
                    "confidence",
                    "last_confirmed_at",
                    "tags",
                    "prompt_version",
                ],
                name="fact_list",
            ),
            # The same lists by when a fact was last confirmed.
            models.Index(
                fields=["owner", "state", "last_confirmed_at", "id"], name="fact_confirmed"
            ),
            # The queue: what waits, the newest conversation first; its count is on every page.
            models.Index(
                fields=["owner", "-conversation", "id"],
                condition=Q(state="pending"),
                include=["snoozed_until"],
                name="fact_queue",
            ),
            # What sleeps, the next one to wake first.
            models.Index(
                fields=["owner", "snoozed_until", "id"],
                condition=Q(state="pending", snoozed_until__isnull=False),
                name="fact_snoozed",
            ),
            # What faded and is asked about, the longest one first.
            models.Index(
                fields=["owner", "decayed_at", "id"],
                condition=Q(state="active", decayed_at__isnull=False),
                name="fact_faded",
            ),
            # What a person decided, the latest first.
            models.Index(
                fields=["owner", "-reviewed_at", "-id"],
                condition=Q(reviewed_at__isnull=False),
                name="fact_decided",
            ),
            # The queue grouped by conversation, and everything that came from one conversation.
            models.Index(fields=["conversation", "state"], name="fact_conversation"),
            # Recall's scope: what one agent may read, global rows included.
            models.Index(
                fields=["owner", "agent"], condition=Q(state="active"), name="fact_active_scope"
            ),
            # The languages of an owner's facts, by which the words of a question are cut.
            models.Index(
                fields=["owner", "language"], condition=Q(state="active"), name="fact_language"
            ),
            # The time leg: what was said, or holds, about a date.
            models.Index(
                fields=["owner", "observed_at"], condition=Q(state="active"), name="fact_said"
            ),
            models.Index(
                fields=["owner", "valid_from"],
                condition=Q(state="active", valid_from__isnull=False),
                name="fact_holds",
            ),
            # Pinned facts ride on every turn.
            models.Index(
                fields=["owner"], condition=Q(state="active", pinned=True), name="fact_pinned"
            ),
            # Same-as checks against every state, rejected ones included.
            models.Index(fields=["owner", "text_hash"], name="fact_text"),
            # The chain of a fact.
            models.Index(
                fields=["superseded_by"],
                condition=Q(superseded_by__isnull=False),
                name="fact_chain",
            ),
            # What a run produced.
            models.Index(fields=["run"], condition=Q(run__isnull=False), name="fact_run"),
            GinIndex(fields=["search"], name="fact_search"),
        ]
        triggers = [
            kept("A fact is never deleted, only purged."),
            *triggers.FACT,
            audited(),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.kind} fact {self.id}"


class Evidence(models.Model):
    """The verbatim quote in a message on which a fact rests."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    fact = models.ForeignKey(
        Fact, on_delete=models.PROTECT, related_name="evidence", db_constraint=False
    )
    message = models.ForeignKey(
        Message, on_delete=models.PROTECT, related_name="evidence", db_constraint=False
    )
    quote = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["fact", "created_at"]
        verbose_name_plural = "evidence"
        constraints = [
            models.UniqueConstraint(fields=["fact", "message", "owner"], name="evidence_once"),
        ]
        indexes = [
            # Facts that rest on a message: branches, purge, "used by".
            models.Index(fields=["message"], name="evidence_message"),
        ]
        triggers = [
            kept("Evidence is never deleted, only purged."),
            fixed(
                "id",
                "owner",
                "fact",
                "message",
                "quote",
                "created_at",
                name="evidence_fixed",
                message="Evidence is never changed.",
            ),
            *triggers.EVIDENCE,
        ]

    def __str__(self) -> str:
        return f"evidence of {self.fact_id}"


class CorrectionTarget(models.Model):
    """A fact that a correction would supersede once it is confirmed, or has superseded."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    fact = models.ForeignKey(
        Fact, on_delete=models.PROTECT, related_name="targets", db_constraint=False
    )
    target = models.ForeignKey(
        Fact, on_delete=models.PROTECT, related_name="corrections", db_constraint=False
    )
    # True while the correction is pending and the target active; set by a trigger alone.
    open = models.BooleanField(default=True, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["fact", "target", "owner"], name="target_once"),
            # One open correction per target.
            models.UniqueConstraint(
                fields=["owner", "target"], condition=Q(open=True), name="target_one_open"
            ),
            models.CheckConstraint(condition=~Q(fact=F("target")), name="target_not_self"),
        ]
        triggers = [
            fixed(
                "id",
                "owner",
                "fact",
                name="target_fixed",
                message="A correction keeps its targets, or follows them to their successors.",
            ),
            *triggers.TARGET,
        ]

    def __str__(self) -> str:
        return f"{self.fact_id} would supersede {self.target_id}"


class Tombstone(models.Model):
    """What is left of a purged or forgotten text: a keyed hash that stops it from coming back."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "digest"], name="tombstone_once"),
        ]
        triggers = [
            kept("A tombstone is never deleted."),
            fixed(
                "id",
                "owner",
                "digest",
                "created_at",
                name="tombstone_fixed",
                message="A tombstone is never changed.",
            ),
        ]

    def __str__(self) -> str:
        return f"tombstone {self.pk}"
