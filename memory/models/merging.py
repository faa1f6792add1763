"""That two entities were one, kept so that it can be taken back."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.models import User, new_id
from agents.triggers import audited, fixed
from memory.vocabulary import EntityType


class EntityMerge(models.Model):
    """One entity went up in another. By ids alone: names stay with their aliases, which moved."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    kept = models.UUIDField()
    gone = models.UUIDField()
    gone_type = models.CharField(max_length=16, choices=EntityType)
    # The alias that holds the name of the one that is gone.
    own_alias = models.BigIntegerField()
    # Aliases that moved, and those of the kept one that the other had too; facts likewise.
    aliases = ArrayField(models.BigIntegerField())
    shared_aliases = ArrayField(models.BigIntegerField())
    facts = ArrayField(models.UUIDField())
    shared_facts = ArrayField(models.UUIDField())
    merged_at = models.DateTimeField(default=timezone.now, editable=False)
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-merged_at"]
        constraints = [
            models.CheckConstraint(condition=~Q(kept=models.F("gone")), name="entity_merge_of_two"),
        ]
        indexes = [models.Index(fields=["owner", "kept"], name="entity_merge_kept")]
        triggers = [
            fixed(
                "id",
                "owner",
                "kept",
                "gone",
                "gone_type",
                "own_alias",
                "aliases",
                "shared_aliases",
                "facts",
                "shared_facts",
                "merged_at",
                name="entity_merge_fixed",
                message="The record of a merge is never changed, only marked as undone.",
            ),
            audited(),
        ]

    def __str__(self) -> str:
        return f"{self.gone} in {self.kept}"
