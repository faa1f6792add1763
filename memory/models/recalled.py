"""What recall put where, before there was a conversation to hang it on."""

from django.db import models
from django.utils import timezone

from agents.models import Agent, User
from memory.models.fact import Fact


class RecalledAhead(models.Model):
    """That recall put a fact into a conversation that had not begun: most assistants ask before
    they store the first message. Known by the names that its client gave, which it will have."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    source = models.CharField(max_length=32)
    external_id = models.CharField(max_length=200)
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="+", db_constraint=False)
    recalled_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "facts recalled ahead"
        constraints = [
            # Also how the rows of a conversation are found.
            models.UniqueConstraint(
                fields=["owner", "agent", "source", "external_id", "fact"],
                name="recalled_ahead_once",
            ),
        ]
        indexes = [
            # What has waited so long that no conversation will come.
            models.Index(fields=["owner", "recalled_at"], name="recalled_ahead_age"),
        ]

    def __str__(self) -> str:
        return f"{self.fact_id} in {self.source}"
