"""One section of a conversation's working notes."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Length
from django.utils import timezone

from agents.models import User, new_id
from agents.triggers import fixed
from agents.versions import version_of
from conversations.sketches.limits import KEY, SECTION

# So that a constraint can speak of a length.
models.TextField.register_lookup(Length)


class Sketch(models.Model):
    """Rewritten in place; what stood there before is not kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    conversation = models.ForeignKey(
        "conversations.Conversation",
        on_delete=models.PROTECT,
        related_name="sketches",
        db_constraint=False,
        db_index=False,
    )
    key = models.CharField(max_length=40)
    text = models.TextField()
    # Grows by one with each change of the text: it is rewritten over what was seen.
    revision = models.PositiveIntegerField(default=1)
    # The owner's word that it stays when the conversation is over.
    kept = models.BooleanField(default=False)
    language = models.CharField(max_length=24, default="simple")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now)
    # Words as the raw record has them.
    terms = models.GeneratedField(
        expression=Func(F("language"), F("text"), function="remembrancer_terms_in"),
        output_field=ArrayField(models.TextField()),
        db_persist=True,
    )

    class Meta:
        verbose_name_plural = "sketches"
        ordering = ["conversation", "created_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "conversation", "key"], name="sketch_key"),
            models.CheckConstraint(condition=Q(key__regex=KEY), name="sketch_key_written"),
            models.CheckConstraint(
                condition=Q(text__length__gte=1, text__length__lte=SECTION),
                name="sketch_text_fits",
            ),
        ]
        indexes = [
            GinIndex(fields=["terms"], name="sketch_terms"),
            # Those that may have expired.
            models.Index(fields=["updated_at"], condition=Q(kept=False), name="sketch_may_expire"),
        ]
        triggers = [
            fixed(
                "id",
                "owner",
                "conversation",
                "key",
                "created_at",
                name="sketch_fixed",
                message="A section of notes keeps its conversation and its name.",
            ),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def version(self) -> str:
        """Of this row alone: a section that was removed and written anew has another."""
        return version_of(self.pk, self.revision)
