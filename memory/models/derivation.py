"""Which facts a conclusion was drawn from, and how far each scope was reflected upon."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from agents.models import Agent, User, new_id
from agents.triggers import fixed, kept
from memory.models.fact import Fact


class Derivation(models.Model):
    """One fact that an insight cites. A purge of `source` takes the insight along."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    fact = models.ForeignKey(
        Fact, on_delete=models.PROTECT, related_name="derived_from", db_constraint=False
    )
    source = models.ForeignKey(
        Fact, on_delete=models.PROTECT, related_name="conclusions", db_constraint=False
    )

    class Meta:
        ordering = ["fact", "id"]
        constraints = [
            models.UniqueConstraint(fields=["fact", "source", "owner"], name="derivation_once"),
            models.CheckConstraint(condition=~Q(fact=F("source")), name="derivation_not_self"),
        ]
        indexes = [models.Index(fields=["source"], name="derivation_source")]
        triggers = [
            kept("A conclusion keeps its sources; only a purge takes them."),
            fixed(
                "id",
                "owner",
                "fact",
                "source",
                name="derivation_fixed",
                message="What a fact was concluded from is never changed.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.fact_id} from {self.source_id}"


class Reflection(models.Model):
    """The last look at the recent facts of one scope, so that the same ones are not asked about
    again. Derived."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    # Null: the global facts.
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
    )
    # SHA-256 of the ids of the facts that were shown.
    digest = models.CharField(max_length=64)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "agent"], nulls_distinct=False, name="reflection_once"
            ),
        ]

    def __str__(self) -> str:
        return f"reflection of {self.agent_id or self.owner_id}"
