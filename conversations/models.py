"""What was said: conversations, their immutable messages, and the passages that index them."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Func, Q
from django.utils import timezone
from pgvector.django import VectorField

from agents.models import Agent, ApiKey, User, new_id
from agents.triggers import fixed, kept
from conversations.sketches.models import Sketch as Sketch
from conversations.triggers import MESSAGE_INDEX, PASSAGE_INDEX, READ_ONLY_FOR_GOOD


class Import(models.Model):
    """One run of an importer over a file; what it brought in can be undone as a unit."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    format = models.CharField(max_length=32)
    file_name = models.CharField(max_length=255)
    started_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)
    counts = models.JSONField(default=dict)
    # Who let a whole store in as it was, in whatever state its facts were; else they wait.
    approved_by = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, related_name="+", editable=False
    )

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="import_owner_id"),
        ]
        triggers = [
            fixed(
                "id",
                "owner",
                "started_at",
                "approved_by",
                name="import_fixed",
                message="An import is approved when it begins, or never.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.format} {self.file_name}"


class Conversation(models.Model):
    """One conversation of an agent. The extraction cursor lives here, beside what it reads."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="conversations")
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="conversations", db_constraint=False
    )
    source = models.CharField(max_length=32)
    external_id = models.CharField(max_length=200)
    title = models.CharField(max_length=300, blank=True)
    # Recalled into, never learned from (automations, temporary chats). May begin later, never end.
    read_only = models.BooleanField(default=False)
    # Only the private model route may see it.
    sensitive = models.BooleanField(default=False)
    imported_by = models.ForeignKey(
        Import,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="conversations",
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
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    # Arrival of the newest message by the server's clock: what "idle" is measured from.
    last_activity_at = models.DateTimeField(default=timezone.now)
    # Times of the first and last message as they were said.
    first_message_at = models.DateTimeField(null=True, blank=True)
    last_message_at = models.DateTimeField(null=True, blank=True)
    last_seq = models.PositiveIntegerField(default=0)
    # Messages up to this seq were summarised away by the client.
    compacted_seq = models.PositiveIntegerField(default=0)

    # Extraction: everything up to cursor_seq has been read.
    cursor_seq = models.PositiveIntegerField(default=0)
    # Why it is due at once (compaction, outcome, request, backfill); blank: by idleness or backlog.
    due_trigger = models.CharField(max_length=16, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True)
    stuck_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-last_activity_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "source", "external_id"], name="conversation_external_id"
            ),
            models.UniqueConstraint(fields=["owner", "id"], name="conversation_owner_id"),
            models.CheckConstraint(
                condition=Q(cursor_seq__lte=F("last_seq")), name="conversation_cursor_in_range"
            ),
            models.CheckConstraint(
                condition=Q(compacted_seq__lte=F("last_seq")), name="conversation_mark_in_range"
            ),
        ]
        indexes = [
            # The owner's list of conversations, newest first.
            models.Index(fields=["owner", "-last_activity_at", "-id"], name="conversation_list"),
            # The sweep: conversations with something unread that are not stuck.
            models.Index(
                fields=["last_activity_at"],
                condition=Q(cursor_seq__lt=F("last_seq"), read_only=False, stuck_at__isnull=True),
                name="conversation_due",
            ),
            # The lists of what is stuck and of what is not read yet, and their counts.
            models.Index(
                fields=["owner", "-last_activity_at", "-id"],
                condition=Q(stuck_at__isnull=False),
                name="conversation_stuck",
            ),
            models.Index(
                fields=["owner", "-last_activity_at", "-id"],
                condition=Q(cursor_seq__lt=F("last_seq"), read_only=False),
                name="conversation_unread",
            ),
        ]
        triggers = [
            fixed(
                "id",
                "owner",
                "agent",
                "source",
                "external_id",
                "sensitive",
                "imported_by",
                "client",
                "created_at",
                name="conversation_fixed",
                message="Identity and promises of a conversation are fixed at its creation.",
            ),
            READ_ONLY_FOR_GOOD,
        ]

    def __str__(self) -> str:
        return self.title or self.external_id


class Message(models.Model):
    """One thing that was said. Immutable: an edit arrives as a message that replaces it."""

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SYSTEM = "system"
        TOOL = "tool"

    class Kind(models.TextChoices):
        SAID = "said"
        OUTCOME = "outcome", "Digest of a mission or agent run"
        SUMMARY = "summary", "Summary written at compaction"
        DOCUMENT = "document", "Passage of a document"

    PURGED = "[purged]"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="messages", db_constraint=False
    )
    # Given under the conversation's row lock: the order of arrival, which the cursor follows.
    seq = models.PositiveIntegerField()
    client_id = models.CharField(max_length=200)
    role = models.CharField(max_length=16, choices=Role)
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.SAID)
    speaker = models.CharField(max_length=120, blank=True)
    from_owner = models.BooleanField()
    content = models.TextField()
    sent_at = models.DateTimeField()
    # IANA name or offset such as +02:00: the clock of the person who spoke.
    zone = models.CharField(max_length=64, default="UTC")
    parent = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="children"
    )
    replaces = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="replaced_by"
    )
    on_branch = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["conversation", "seq"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "client_id", "owner"], name="message_client_id"
            ),
            # Windows are read in this order.
            models.UniqueConstraint(fields=["conversation", "seq", "owner"], name="message_seq"),
            models.UniqueConstraint(fields=["owner", "id"], name="message_owner_id"),
            # Target of the keys that keep answers and replacements within a conversation.
            models.UniqueConstraint(
                fields=["owner", "conversation", "id"], name="message_conversation_id"
            ),
            models.CheckConstraint(
                condition=Q(role="user") | Q(from_owner=False), name="message_owner_is_user"
            ),
            models.CheckConstraint(
                condition=Q(role__in=["user", "assistant", "system", "tool"]),
                name="message_role_known",
            ),
        ]
        triggers = [
            kept("A message is never deleted, only purged."),
            fixed(
                "id",
                "owner",
                "conversation",
                "seq",
                "client_id",
                "role",
                "kind",
                "speaker",
                "from_owner",
                "content",
                "sent_at",
                "zone",
                "parent",
                "replaces",
                "created_at",
                name="message_fixed",
                message="A message is never changed; send one that replaces it.",
            ),
            *MESSAGE_INDEX,
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.seq}"


class Passage(models.Model):
    """A piece of the raw record, indexed verbatim. Append-only."""

    class Kind(models.TextChoices):
        MESSAGE = "message"
        BREADCRUMB = "breadcrumb"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    conversation = models.ForeignKey(
        Conversation, on_delete=models.PROTECT, related_name="passages", db_constraint=False
    )
    message = models.ForeignKey(
        Message,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="passages",
        db_constraint=False,
    )
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.MESSAGE)
    piece = models.PositiveSmallIntegerField(default=0)
    text = models.TextField()
    text_hash = models.CharField(max_length=64)
    language = models.CharField(max_length=24, default="simple")
    said_at = models.DateTimeField()
    # A stretch of talk without a long pause, and the place in it: see passages.py. Breadcrumbs have
    # one of their own, 0.
    stretch = models.PositiveIntegerField(default=0)
    place = models.PositiveIntegerField(default=0)
    search = models.GeneratedField(
        expression=Func(F("language"), F("text"), function="remembrancer_tsvector"),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        ordering = ["conversation", "said_at", "piece"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "conversation", "text_hash"], name="passage_once"
            ),
            models.UniqueConstraint(fields=["owner", "id"], name="passage_owner_id"),
        ]
        indexes = [
            # Full-text search of the raw record.
            GinIndex(fields=["search"], name="passage_search"),
            # The passages that an evidence's message left.
            models.Index(fields=["message"], name="passage_message"),
            # Where the next one goes.
            models.Index(fields=["conversation", "stretch", "place"], name="passage_place"),
        ]
        triggers = [
            kept("A passage is never deleted, only purged."),
            fixed(
                "id",
                "owner",
                "conversation",
                "message",
                "kind",
                "piece",
                "text",
                "text_hash",
                "language",
                "said_at",
                "stretch",
                "place",
                name="passage_fixed",
                message="The raw record is append-only.",
            ),
            *PASSAGE_INDEX,
        ]

    def __str__(self) -> str:
        return f"passage {self.id}"


class IndexedPassage(models.Model):
    """What search may find: a row while the passage's message is on the branch and not purged.

    Kept by triggers, as its terms are. Narrow, so that all of an owner's are quickly counted.
    """

    passage = models.OneToOneField(
        Passage,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="indexed",
        db_constraint=False,
    )
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    conversation_id = models.UUIDField()
    stretch = models.PositiveIntegerField()
    place = models.PositiveIntegerField()
    language = models.CharField(max_length=24)
    # Of the text, the speaker's name and the date: terms, each as often as it comes, and each once.
    length = models.PositiveIntegerField()
    words = models.PositiveIntegerField()

    class Meta:
        indexes = [
            # Neighbours; and index-only counts of an owner's passages and stretches.
            models.Index(
                fields=["owner", "conversation_id", "stretch", "place"],
                include=["length"],
                name="indexed_place",
            ),
            # Which languages an owner's record is in.
            models.Index(fields=["owner", "language"], name="indexed_language"),
        ]

    def __str__(self) -> str:
        return f"index of {self.passage_id}"


class PassageTerm(models.Model):
    """One term of one passage. Its date is three: `@y2026`, `@m03`, `@d02`."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    term = models.TextField()
    passage = models.ForeignKey(
        Passage, on_delete=models.CASCADE, related_name="terms", db_constraint=False
    )
    # As its passage has them, so that one index answers all that a search asks.
    conversation_id = models.UUIDField()
    stretch = models.PositiveIntegerField()
    place = models.PositiveIntegerField()
    tf = models.FloatField()
    length = models.PositiveIntegerField()

    class Meta:
        constraints = [
            # All that a search reads, so that it never touches the table.
            models.UniqueConstraint(
                fields=["owner", "term", "passage"],
                include=["conversation_id", "stretch", "place", "tf", "length"],
                name="passage_term_once",
            ),
        ]

    def __str__(self) -> str:
        return f"term of {self.passage_id}"


class PassageEmbedding(models.Model):
    """The vector of a passage, together with what was said before it, under one model. Derived."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    passage = models.ForeignKey(
        Passage, on_delete=models.CASCADE, related_name="embeddings", db_constraint=False
    )
    model = models.CharField(max_length=120)
    vector = VectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["passage", "model", "owner"], name="passage_vector_once"
            ),
        ]
        indexes = [
            # Exact scan of one owner's vectors.
            models.Index(fields=["owner", "model"], name="passage_vector_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.model} vector of {self.passage_id}"


class ShownPassages(models.Model):
    """The passages that last rode in a conversation's prompts, newest last. Only a counter."""

    conversation = models.OneToOneField(
        Conversation,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="shown_passages",
        db_constraint=False,
    )
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    passage_ids = ArrayField(models.UUIDField(), default=list)

    class Meta:
        verbose_name_plural = "shown passages"

    def __str__(self) -> str:
        return f"shown in {self.conversation_id}"
