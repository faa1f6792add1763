"""Rules: what the owner wrote for their assistants to follow on every turn."""

from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from agents.models import Agent, User, new_id
from agents.triggers import audited, kept
from conversations.models import Import
from memory import triggers
from memory.models.fact import Fact
from memory.vocabulary import RuleOrigin


class Rule(models.Model):
    """One wording of a standing instruction. Its text never changes: a new wording is a row of its
    own, which takes the place of this one. It stands until it is replaced or taken out, and rides
    while it stands and is enabled."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="rules")
    # Null: for every assistant of the owner.
    agent = models.ForeignKey(
        Agent,
        on_delete=models.PROTECT,
        related_name="rules",
        null=True,
        blank=True,
        db_constraint=False,  # composite with the owner, see the migration
    )
    text = models.CharField(max_length=500)
    text_hash = models.CharField(max_length=64, editable=False)
    enabled = models.BooleanField(default=True)
    # Among all of the owner's; equal places go by age.
    place = models.PositiveIntegerField()
    origin = models.CharField(max_length=16, choices=RuleOrigin)
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    # The candidate that it was made of.
    candidate = models.ForeignKey(
        Fact,
        on_delete=models.PROTECT,
        related_name="rules",
        null=True,
        blank=True,
        db_constraint=False,
    )
    imported_by = models.ForeignKey(
        Import,
        on_delete=models.PROTECT,
        related_name="rules",
        null=True,
        blank=True,
        db_constraint=False,
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    superseded_by = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        related_name="predecessors",
        null=True,
        blank=True,
        db_constraint=False,
    )
    # When the owner took it out.
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["place", "created_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["owner", "id"], name="rule_owner_id"),
            models.UniqueConstraint(
                fields=["owner", "agent", "text_hash"],
                condition=Q(superseded_by__isnull=True, retired_at__isnull=True),
                nulls_distinct=False,
                name="rule_stands_once",
            ),
            # A rule is one line of the block, and not a blank one.
            models.CheckConstraint(
                condition=Q(text__regex=r"^\S(.*\S)?$") & ~Q(text__regex="[[:cntrl:]\u2028\u2029]"),
                name="rule_text_is_one_line",
            ),
            models.CheckConstraint(
                condition=Q(text_hash__regex="^[0-9a-f]{64}$"), name="rule_text_hash_is_one"
            ),
            models.CheckConstraint(
                condition=Q(origin__in=RuleOrigin.values), name="rule_origin_known"
            ),
            models.CheckConstraint(
                condition=Q(superseded_by__isnull=True) | Q(retired_at__isnull=True),
                name="rule_ends_once",
            ),
            models.CheckConstraint(
                condition=Q(superseded_by__isnull=True) | ~Q(superseded_by=F("id")),
                name="rule_not_its_own_successor",
            ),
        ]
        indexes = [
            # The page and recall: what stands, in its order.
            models.Index(
                fields=["owner", "place"],
                condition=Q(superseded_by__isnull=True, retired_at__isnull=True),
                name="rule_standing",
            ),
            models.Index(fields=["superseded_by"], name="rule_predecessors"),
            models.Index(
                fields=["candidate"], condition=Q(candidate__isnull=False), name="rule_candidate"
            ),
        ]
        triggers = [
            kept("A rule is never deleted, only taken out or purged."),
            *triggers.RULE,
            audited(),
        ]

    def __str__(self) -> str:
        return f"rule {self.id}"

    @property
    def stands(self) -> bool:
        return self.superseded_by_id is None and self.retired_at is None
