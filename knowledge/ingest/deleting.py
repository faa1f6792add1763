"""Deleting is purging: nothing is left but keyed hashes, and ids in the trail. What hangs on the
rows is found by knowledge/purging.py, as for any other purge."""

from agents.audit import Actor
from knowledge.models import Collection, Document
from memory.purge.execute import erase

AT_ONCE = 200


def delete(*, document: Document, actor: Actor) -> None:
    """With candidates that rest on nothing else. Raises NotAllowed: it takes a person."""
    erase(owner=document.owner, actor=actor, others=[document.pk])


def delete_collection(*, collection: Collection, actor: Actor) -> None:
    """With its documents, some at a time; what came in meanwhile goes with the collection itself.
    Raises NotAllowed. To go on after a stop, do it again."""
    owner = collection.owner
    rows = Document.objects.filter(owner=owner, collection=collection).order_by("pk")
    while ids := list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        erase(owner=owner, actor=actor, others=ids)
    erase(owner=owner, actor=actor, others=[collection.pk])
