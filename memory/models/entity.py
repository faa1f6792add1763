"""Who and what facts speak of, by all their names."""

from django.db import models
from django.db.models import F
from django.db.models.functions import Left

from agents.models import User, new_id
from memory.models.fact import Fact
from memory.vocabulary import EntityType


class Entity(models.Model):
    """A person, project, place … named in facts. Shown only through facts that may be read."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="entities")
    type = models.CharField(max_length=16, choices=EntityType)
    name = models.CharField(max_length=120)
    normal_name = models.CharField(max_length=120)
    facts = models.ManyToManyField(Fact, through="FactEntity", related_name="entities")

    class Meta:
        ordering = ["normal_name"]
        verbose_name_plural = "entities"
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "type", "normal_name"], name="entity_name_per_owner"
            ),
            models.UniqueConstraint(fields=["owner", "id"], name="entity_owner_id"),
        ]

    def __str__(self) -> str:
        return self.name


class EntityAlias(models.Model):
    """A name of an entity, its own included, so that one look-up finds them all."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    entity = models.ForeignKey(
        Entity, on_delete=models.CASCADE, related_name="aliases", db_constraint=False
    )
    name = models.CharField(max_length=120)
    normal_name = models.CharField(max_length=120)

    class Meta:
        verbose_name_plural = "entity aliases"
        constraints = [
            # Also the look-up of names in a query.
            models.UniqueConstraint(
                fields=["owner", "normal_name", "entity"], name="alias_once_per_entity"
            ),
        ]
        indexes = [
            # Names like a word of a message: a slip leaves the first two letters alone.
            models.Index(F("owner"), Left("normal_name", 2), name="alias_start"),
        ]

    def __str__(self) -> str:
        return self.name


class FactEntity(models.Model):
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, db_constraint=False)
    entity = models.ForeignKey(Entity, on_delete=models.CASCADE, db_constraint=False)

    class Meta:
        verbose_name_plural = "entities of facts"
        constraints = [
            models.UniqueConstraint(fields=["entity", "fact", "owner"], name="entity_fact_once"),
        ]
        indexes = [models.Index(fields=["fact"], name="entity_of_fact")]

    def __str__(self) -> str:
        return f"{self.entity_id} in {self.fact_id}"
