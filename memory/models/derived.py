"""What hangs on a fact unaudited, because it is derived or a mere counter."""

from django.db import models
from pgvector.django import VectorField

from agents.models import User
from memory.models.fact import Fact


class FactEmbedding(models.Model):
    """The vector of a fact under one model. Derived, so it may be dropped and made again."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    fact = models.ForeignKey(
        Fact, on_delete=models.CASCADE, related_name="embeddings", db_constraint=False
    )
    model = models.CharField(max_length=120)
    # Any dimension: the per-model index casts it (see the migration that adds one).
    vector = VectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["fact", "model", "owner"], name="embedding_once_per_model"
            ),
        ]
        indexes = [
            # Exact scan of one owner's vectors.
            models.Index(fields=["owner", "model"], name="embedding_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.model} vector of {self.fact_id}"


class FactUsage(models.Model):
    """How often recall served a fact. Being retrieved is not being confirmed."""

    fact = models.OneToOneField(
        Fact, on_delete=models.CASCADE, primary_key=True, related_name="usage", db_constraint=False
    )
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    last_retrieved_at = models.DateTimeField()
    retrieval_hits = models.PositiveIntegerField(default=1)

    def __str__(self) -> str:
        return f"usage of {self.fact_id}"
