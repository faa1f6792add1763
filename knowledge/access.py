"""One collection, document or passage of an owner. What belongs to another does not exist: 404."""

from uuid import UUID

from django.db.models import F
from django.http import Http404

from agents.models import User
from knowledge.models import Collection, Document, DocumentPassage
from knowledge.scope import collections_of, documents_of


def collection_of(owner: User, collection_id: UUID) -> Collection:
    rows = collections_of(owner).select_related("owner", "agent__heir")
    row = rows.filter(pk=collection_id).first()
    if row is None:
        raise Http404("There is no such collection.")
    return row


def document_of(owner: User, document_id: UUID) -> Document:
    rows = documents_of(owner).select_related("owner", "collection__agent__heir")
    row = rows.filter(pk=document_id).first()
    if row is None:
        raise Http404("There is no such document.")
    return row


def passage_of(owner: User, passage_id: UUID) -> DocumentPassage:
    """One that answers; those of an earlier reading are gone."""
    rows = DocumentPassage.objects.filter(owner=owner, generation=F("document__generation"))
    row = rows.select_related("document__collection__agent__heir").filter(pk=passage_id).first()
    if row is None:
        raise Http404("There is no such passage.")
    return row
