"""Documents: where each came from, how far it is read, its original, and its text."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.models import ApiKey, User, new_id
from agents.triggers import fixed, kept
from knowledge import triggers
from knowledge.models.collection import Collection
from knowledge.vocabulary import DocumentOrigin, DocumentState, Failure, Stage


class Document(models.Model):
    """One original, and how far it is read: see DocumentState.

    `generation` says which passages answer: those of an earlier one until the newer are complete.
    `passages` and `length` count that generation's passages and their terms.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="documents")
    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="documents", db_constraint=False
    )
    client = models.ForeignKey(
        ApiKey,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )
    title = models.CharField(max_length=300)
    origin = models.CharField(max_length=8, choices=DocumentOrigin)
    address = models.CharField(max_length=2000, blank=True)
    file_name = models.CharField(max_length=255, blank=True)
    media_type = models.CharField(max_length=100, blank=True)
    # Of the original, in bytes and SHA-256; 0 and blank until an address was fetched.
    size = models.PositiveBigIntegerField(default=0)
    digest = models.CharField(max_length=64, blank=True)
    # Name of a Postgres text search configuration.
    language = models.CharField(max_length=24, default="simple")
    pages = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    state = models.CharField(max_length=16, choices=DocumentState, default=DocumentState.WAITING)
    stage = models.CharField(max_length=16, choices=Stage, blank=True)
    # Pages, then passages, of so many; 0: not known.
    progress = models.PositiveIntegerField(default=0)
    progress_of = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(null=True, blank=True)
    failure = models.CharField(max_length=16, choices=Failure, blank=True)
    # In words for the owner.
    failure_detail = models.CharField(max_length=500, blank=True)
    # What the conversion left out, in words for the owner.
    notes = models.CharField(max_length=500, blank=True)
    # The job at it, and how long the others leave it alone.
    token = models.UUIDField(null=True, blank=True)
    busy_until = models.DateTimeField(null=True, blank=True)

    generation = models.PositiveIntegerField(null=True, blank=True)
    passages = models.PositiveIntegerField(default=0)
    length = models.PositiveBigIntegerField(default=0)
    indexed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="document_owner_id"),
            models.UniqueConstraint(
                fields=["owner", "collection", "digest"],
                condition=~Q(digest=""),
                name="document_once",
            ),
            models.UniqueConstraint(
                fields=["owner", "collection", "address"],
                condition=~Q(address=""),
                name="document_address_once",
            ),
            models.CheckConstraint(
                condition=Q(digest__regex="^([0-9a-f]{64})?$"), name="document_digest_is_one"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DocumentState.values), name="document_state_known"
            ),
            models.CheckConstraint(
                condition=Q(origin__in=DocumentOrigin.values), name="document_origin_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(failure=""), name="document_failed_for_a_reason"
            ),
            models.CheckConstraint(
                condition=~Q(state="ready") | Q(generation__isnull=False),
                name="document_ready_answers",
            ),
            # Without its original nothing could be read again.
            models.CheckConstraint(
                condition=~Q(digest="") | ~Q(address=""), name="document_has_a_source"
            ),
        ]
        indexes = [
            # The page of a collection, newest first.
            models.Index(
                fields=["owner", "collection", "-created_at", "-id"], name="document_list"
            ),
            # The sweep.
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(state__in=["waiting", "converting", "indexing"]),
                name="document_due",
            ),
        ]
        triggers = [
            kept("A document is never deleted, only purged."),
            fixed(
                "id",
                "owner",
                "client",
                "origin",
                "created_at",
                name="document_fixed",
                message="Where a document came from never changes.",
            ),
            *triggers.DOCUMENT,
        ]

    def __str__(self) -> str:
        return self.title


class DocumentFile(models.Model):
    """A piece of an original, in order of `piece`."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="pieces", db_constraint=False
    )
    piece = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        ordering = ["document", "piece"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "piece", "owner"], name="document_piece_once"
            ),
        ]

    def __str__(self) -> str:
        return f"piece {self.piece} of {self.document_id}"


class DocumentText(models.Model):
    """What a document says, as Markdown with the marks of knowledge/marks.py."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="texts", db_constraint=False
    )
    generation = models.PositiveIntegerField()
    markdown = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["document", "generation", "owner"], name="document_text_once"
            ),
        ]

    def __str__(self) -> str:
        return f"text of {self.document_id}"
