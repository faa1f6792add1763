"""What a language model said of pictures in documents, and what that cost."""

from django.db import models
from django.utils import timezone

from agents.models import User, new_id
from knowledge.models.document import Document


class PictureReading(models.Model):
    """One picture of a document as one model saw it, under one prompt. What was answered is not
    asked again when the document is read again.

    Read through knowledge/pictures.py. It can be made again, at the price that it had.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="pictures", db_constraint=False
    )
    # SHA-256 of the JPEG that was sent.
    digest = models.CharField(max_length=64)
    model = models.CharField(max_length=120)
    prompt_version = models.CharField(max_length=64)
    # Null: no answer came, so the next reading asks again.
    answered_at = models.DateTimeField(null=True, blank=True)
    words = models.TextField(blank=True)
    description = models.TextField(blank=True)
    # When it was asked last; the calls, failed ones included, and their tokens, of all times.
    asked_at = models.DateTimeField(default=timezone.now)
    error = models.CharField(max_length=300, blank=True)
    llm_calls = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["document", "asked_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "digest", "model", "prompt_version", "owner"],
                name="picture_read_once",
            ),
        ]
        indexes = [
            # Tokens by day.
            models.Index(fields=["owner", "asked_at"], name="picture_asked"),
        ]

    def __str__(self) -> str:
        return f"picture of {self.document_id}"
