"""Cases: records of exchanges worth keeping, and what hangs on them."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Func, Q, Value
from django.db.models.functions import Concat, Length
from django.utils import timezone
from pgvector.django import VectorField

from agents.models import Agent, User, new_id
from agents.triggers import audited, fixed, kept
from conversations.models import Conversation, Message
from memory import triggers
from memory.vocabulary import CaseArchivedReason, CaseOrigin, Quality, State

# So that constraints can speak of lengths.
models.CharField.register_lookup(Length)

GOAL = (10, 300)
PART = (10, 500)
ACTORS = 10


def _long(field: str, bounds: tuple[int, int]) -> Q:
    """Of so many characters; a text of blanks has none."""
    least, most = bounds
    return Q(
        **{
            f"{field}__length__gte": least,
            f"{field}__length__lte": most,
            f"{field}__regex": r"^\S.*\S$",
        }
    )


class Case(models.Model):
    """The record of one exchange. Its text never changes, and its state only through
    memory/cases/lifecycle.py, as a fact's through its own."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="cases")
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="cases", db_constraint=False
    )
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="cases", db_constraint=False
    )
    goal = models.CharField(max_length=300)
    context = models.CharField(max_length=500)
    approach = models.CharField(max_length=500)
    outcome = models.CharField(max_length=500)
    quality = models.CharField(max_length=8, choices=Quality)
    lessons = models.CharField(max_length=500, blank=True)
    actors = ArrayField(models.CharField(max_length=120))
    tags = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    # SHA-256 of goal and outcome in normal form.
    text_hash = models.CharField(max_length=64, editable=False)
    # Name of a Postgres text search configuration.
    language = models.CharField(max_length=24, default="simple")

    state = models.CharField(max_length=16, choices=State, default=State.PENDING)
    # Grows by one with each change of state: a decision is made over the one that was seen.
    revision = models.PositiveIntegerField(default=0)
    # What a reviewer is warned of: members of vocabulary.Withheld; and the words behind it.
    withheld_for = ArrayField(models.CharField(max_length=24), default=list, blank=True)
    withheld_detail = models.CharField(max_length=200, blank=True)
    archived_reason = models.CharField(max_length=16, choices=CaseArchivedReason, blank=True)
    archived_from = models.CharField(max_length=16, choices=State, blank=True)
    reviewer = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    reviewed_at = models.DateTimeField(null=True, blank=True)

    origin = models.CharField(max_length=16, choices=CaseOrigin, default=CaseOrigin.EXTRACTION)
    prompt_version = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # When the last of its messages was said.
    happened_at = models.DateTimeField()

    search = models.GeneratedField(
        expression=Func(
            F("language"),
            Concat(
                F("goal"), Value(" "), F("context"), Value(" "), F("approach"), Value(" "),
                F("outcome"), Value(" "), F("lessons"), output_field=models.TextField(),
            ),
            function="remembrancer_tsvector",
        ),
        output_field=SearchVectorField(),
        db_persist=True,
    )  # fmt: skip

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="case_owner_id"),
            models.UniqueConstraint(
                fields=["owner", "agent", "text_hash"],
                condition=Q(state__in=["pending", "active"]),
                name="case_one_live_per_text",
            ),
            models.CheckConstraint(condition=_long("goal", GOAL), name="case_goal_long"),
            models.CheckConstraint(condition=_long("context", PART), name="case_context_long"),
            models.CheckConstraint(condition=_long("approach", PART), name="case_approach_long"),
            models.CheckConstraint(condition=_long("outcome", PART), name="case_outcome_long"),
            models.CheckConstraint(
                condition=Q(actors__len__gte=1, actors__len__lte=ACTORS), name="case_actors_few"
            ),
            models.CheckConstraint(
                condition=Q(quality__in=Quality.values), name="case_quality_known"
            ),
            models.CheckConstraint(
                condition=Q(origin__in=CaseOrigin.values), name="case_origin_known"
            ),
            models.CheckConstraint(
                condition=Q(text_hash__regex="^[0-9a-f]{64}$"), name="case_text_hash_is_one"
            ),
            models.CheckConstraint(condition=Q(state__in=State.values), name="case_state_known"),
            models.CheckConstraint(
                condition=Q(
                    state="archived",
                    archived_from="pending",
                    archived_reason__in=["forgotten", "aged_out", "undone"],
                )
                | Q(
                    state="archived",
                    archived_from="active",
                    archived_reason__in=["forgotten", "stale"],
                )
                | ~Q(state="archived") & Q(archived_reason="", archived_from=""),
                name="case_archived_with_reason",
            ),
            # A person lets a case in, and only a person rejects one. What waits is undecided.
            models.CheckConstraint(
                condition=~Q(state__in=["active", "rejected"]) | Q(reviewer__isnull=False),
                name="case_decided_by_person",
            ),
            models.CheckConstraint(
                condition=~Q(state="pending") | Q(reviewer__isnull=True),
                name="case_pending_undecided",
            ),
            models.CheckConstraint(
                condition=Q(reviewer__isnull=True, reviewed_at__isnull=True)
                | Q(reviewer__isnull=False, reviewed_at__isnull=False),
                name="case_review_complete",
            ),
        ]
        indexes = [
            # The page of cases: one owner, one state, newest first.
            models.Index(fields=["owner", "state", "-created_at", "-id"], name="case_list"),
            # Recall's scope, and its question whether there is any.
            models.Index(
                fields=["owner", "agent"], condition=Q(state="active"), name="case_active_scope"
            ),
            # Everything that came from one conversation.
            models.Index(fields=["conversation", "state"], name="case_conversation"),
            GinIndex(fields=["search"], name="case_search"),
        ]
        triggers = [
            kept("A case is never deleted, only purged."),
            *triggers.CASE,
            audited(),
        ]

    def __str__(self) -> str:
        return f"{self.state} case {self.id}"

    @property
    def texts(self) -> tuple[str, ...]:
        """All that an assistant could be told of it."""
        parts = (self.goal, self.context, self.approach, self.outcome, self.lessons)
        return (*parts, *self.actors, *self.tags)


class CaseSource(models.Model):
    """A message of the exchange that a case tells of; `cited` are those that prove it."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    case = models.ForeignKey(
        Case, on_delete=models.CASCADE, related_name="sources", db_constraint=False
    )
    message = models.ForeignKey(
        Message, on_delete=models.PROTECT, related_name="case_sources", db_constraint=False
    )
    cited = models.BooleanField(default=True)

    class Meta:
        ordering = ["case", "id"]
        constraints = [
            models.UniqueConstraint(fields=["case", "message", "owner"], name="case_source_once"),
        ]
        indexes = [models.Index(fields=["message"], name="case_source_message")]
        triggers = [
            kept("A case keeps its sources; only a purge takes them."),
            fixed(
                "id",
                "owner",
                "case",
                "message",
                "cited",
                name="case_source_fixed",
                message="A source is never changed.",
            ),
        ]

    def __str__(self) -> str:
        return f"source of {self.case_id}"


class CaseEmbedding(models.Model):
    """The vector of a case under one model. Derived, so it may be dropped and made again."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    case = models.ForeignKey(
        Case, on_delete=models.CASCADE, related_name="embeddings", db_constraint=False
    )
    model = models.CharField(max_length=120)
    vector = VectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["case", "model", "owner"], name="case_vector_once"),
        ]

    def __str__(self) -> str:
        return f"{self.model} vector of {self.case_id}"


class CaseReading(models.Model):
    """How far a conversation was read for cases. A mark of its own: facts are read sooner."""

    conversation = models.OneToOneField(
        Conversation,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="case_reading",
        db_constraint=False,
    )
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    seq = models.PositiveIntegerField(default=0)
    # In a row, over the stretch behind `seq`.
    failures = models.PositiveSmallIntegerField(default=0)
    read_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"cases of {self.conversation_id} up to {self.seq}"
