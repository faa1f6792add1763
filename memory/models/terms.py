"""What recall finds facts by. Derived: kept by triggers, may be dropped and made again."""

from django.db import models

from agents.models import User
from memory.models.fact import Fact


class FactTerm(models.Model):
    """One term of one active fact, so that its rarity among an owner's facts can be counted.

    Its dates are three terms each: `@y2026`, `@m03`, `@d02`. Every fact has the term `@`, whose
    `tf` counts the time expressions in statement and quotes, 2 at most.
    """

    pk = models.CompositePrimaryKey("owner", "term", "fact")
    # The key to its fact includes the owner.
    owner = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    term = models.TextField()
    fact = models.ForeignKey(
        Fact, on_delete=models.CASCADE, related_name="terms", db_constraint=False
    )
    # As its fact has them, so that one index answers all that recall asks.
    agent_id = models.UUIDField(null=True)
    # A quote's terms count half.
    tf = models.FloatField()
    stated = models.BooleanField()
    # Of the whole fact: its terms by tf, and those of its statement.
    length = models.PositiveIntegerField()
    words = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"term of {self.fact_id}"
