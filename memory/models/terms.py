"""What recall finds facts by. Derived: kept by triggers, may be dropped and made again."""

from django.db import models

from agents.models import User
from memory import triggers
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

    class Meta:
        triggers = triggers.TERM

    def __str__(self) -> str:
        return f"term of {self.fact_id}"


class FactCount(models.Model):
    """What came or went in one statement; the sum of an agent's rows is how many active facts it
    has and how long they are. Kept by a trigger of the terms, folded by the worker."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    agent_id = models.UUIDField(null=True)
    facts = models.IntegerField()
    length = models.BigIntegerField()

    class Meta:
        indexes = [
            models.Index(
                fields=["owner"], include=["agent_id", "facts", "length"], name="count_owner"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.facts} facts of {self.owner_id}"
