"""Passages of documents, and what search finds them by. All of it can be made again."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from pgvector.django import VectorField

from agents.models import User, new_id
from agents.triggers import fixed
from knowledge import triggers
from knowledge.models.document import Document
from knowledge.vocabulary import PassageKind


class DocumentPassage(models.Model):
    """A piece of a document's text. It answers while its generation is the document's."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    generation = models.PositiveIntegerField()
    ordinal = models.PositiveIntegerField()
    text = models.TextField()
    headings = ArrayField(models.CharField(max_length=300), default=list, blank=True)
    page_from = models.PositiveIntegerField(null=True, blank=True)
    page_to = models.PositiveIntegerField(null=True, blank=True)
    # Where it stands in the text of its generation, in characters.
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=PassageKind, default=PassageKind.TEXT)
    language = models.CharField(max_length=24, default="simple")

    class Meta:
        ordering = ["document", "generation", "ordinal"]
        constraints = [
            # Reading on, and the passages of a document.
            models.UniqueConstraint(
                fields=["document", "generation", "ordinal", "owner"],
                name="document_passage_place",
            ),
            models.UniqueConstraint(fields=["owner", "id"], name="document_passage_owner_id"),
            models.CheckConstraint(
                condition=Q(start__lte=F("end")), name="document_passage_stretch"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=PassageKind.values), name="document_passage_kind_known"
            ),
        ]
        triggers = [
            fixed(
                "id",
                "owner",
                "document",
                "generation",
                "ordinal",
                "text",
                "headings",
                name="document_passage_fixed",
                message="A passage is never changed; a newer generation takes its place.",
            ),
            *triggers.PASSAGES,
        ]

    def __str__(self) -> str:
        return f"passage {self.ordinal} of {self.document_id}"


class DocumentTerm(models.Model):
    """One term of one passage, its title and headings included. Kept by a trigger.

    The key is also the index that answers the words of a question by itself.
    """

    pk = models.CompositePrimaryKey("owner", "term", "passage")
    # The key to its passage includes the owner.
    owner = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )
    term = models.TextField()
    passage = models.ForeignKey(
        DocumentPassage, on_delete=models.CASCADE, related_name="terms", db_constraint=False
    )
    # As its passage has them.
    document_id = models.UUIDField()
    generation = models.PositiveIntegerField()
    tf = models.PositiveIntegerField()
    # Of the whole passage: its terms, each as often as it comes.
    length = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"term of {self.passage_id}"


class DocumentEmbedding(models.Model):
    """The vector of a part of a passage and its breadcrumb under one model."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    passage = models.ForeignKey(
        DocumentPassage, on_delete=models.CASCADE, related_name="embeddings", db_constraint=False
    )
    # As its passage has them.
    document_id = models.UUIDField()
    generation = models.PositiveIntegerField()
    model = models.CharField(max_length=120)
    # A model reads less than a passage may have: see knowledge/splitting/vectors.py.
    part = models.PositiveSmallIntegerField(default=0)
    vector = VectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["passage", "model", "part", "owner"], name="document_vector_once"
            ),
        ]
        indexes = [
            # Exact scan of one owner's vectors.
            models.Index(fields=["owner", "model"], name="document_vector_owner"),
        ]

    def __str__(self) -> str:
        return f"{self.model} vector of {self.passage_id}"
