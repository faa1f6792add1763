"""The narrative profile. Derived from active facts: may be dropped and written again."""

from django.db import models
from django.utils import timezone

from agents.models import Agent, User, new_id
from memory.models.fact import Fact


class Profile(models.Model):
    """What a language model wrote about an owner for one agent's eyes."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="+", db_constraint=False
    )
    # SHA-256 of the facts that it was written from, as they were.
    digest = models.CharField(max_length=64)
    prompt_version = models.CharField(max_length=64, blank=True)
    written_by = models.CharField(max_length=120)
    written_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "agent"], name="profile_once"),
            models.UniqueConstraint(fields=["owner", "id"], name="profile_owner_id"),
        ]

    def __str__(self) -> str:
        return f"profile for {self.agent_id}"


class ProfileSentence(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    profile = models.ForeignKey(
        Profile, on_delete=models.CASCADE, related_name="sentences", db_constraint=False
    )
    place = models.PositiveSmallIntegerField()
    text = models.CharField(max_length=400)

    class Meta:
        ordering = ["profile", "place"]
        constraints = [
            models.UniqueConstraint(fields=["profile", "place", "owner"], name="sentence_place"),
            models.UniqueConstraint(fields=["owner", "id"], name="sentence_owner_id"),
        ]

    def __str__(self) -> str:
        return f"sentence {self.place} of {self.profile_id}"


class ProfileCitation(models.Model):
    """A fact that a sentence says. A purge of the fact takes the sentence along."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    sentence = models.ForeignKey(
        ProfileSentence, on_delete=models.CASCADE, related_name="citations", db_constraint=False
    )
    fact = models.ForeignKey(
        Fact, on_delete=models.PROTECT, related_name="profile_citations", db_constraint=False
    )

    class Meta:
        ordering = ["sentence", "id"]
        constraints = [
            models.UniqueConstraint(fields=["sentence", "fact", "owner"], name="citation_once"),
        ]
        indexes = [models.Index(fields=["fact"], name="citation_fact")]

    def __str__(self) -> str:
        return f"{self.fact_id} in {self.sentence_id}"
