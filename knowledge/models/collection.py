"""Collections: what an owner's documents stand in, and who may search them."""

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from agents.models import Agent, User, new_id
from agents.triggers import audited, fixed, kept


class Collection(models.Model):
    """Documents that are searched together. With no agent every assistant that reads what is global
    may search them."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="collections")
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="collections",
        db_constraint=False,
    )
    name = models.CharField(max_length=120)
    description = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "agent", "name"], name="collection_once", nulls_distinct=False
            ),
            models.UniqueConstraint(fields=["owner", "id"], name="collection_owner_id"),
            models.CheckConstraint(
                condition=Q(name__regex=r"^\S(.*\S)?$"), name="collection_has_a_name"
            ),
        ]
        triggers = [
            kept("A collection is never deleted, only purged."),
            fixed(
                "id",
                "owner",
                "created_at",
                name="collection_fixed",
                message="A collection stays with its owner.",
            ),
            audited(),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **values: Any) -> None:
        """One that was deleted meanwhile does not come back, as it would by default. Raises
        DatabaseError."""
        if not self._state.adding:
            values.setdefault("force_update", True)
        super().save(*args, **values)
