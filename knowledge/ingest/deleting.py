"""Deleting is purging: nothing is left but keyed hashes, and ids in the trail."""

from collections.abc import Sequence
from uuid import UUID

from agents.audit import Actor
from agents.models import User
from knowledge.models import Collection, Document
from knowledge.proposals import hanging
from memory.purge.execute import erase

AT_ONCE = 200


def delete(*, document: Document, actor: Actor) -> None:
    """With candidates that rest on nothing else. Raises NotAllowed: it takes a person."""
    _erase(document.owner, [document.pk], [document.pk], actor)


def delete_collection(*, collection: Collection, actor: Actor) -> None:
    """With its documents, some at a time. Raises NotAllowed. To go on after a stop, do it again."""
    owner = collection.owner
    rows = Document.objects.filter(owner=owner, collection=collection).order_by("pk")
    while ids := list(rows.values_list("pk", flat=True)[:AT_ONCE]):
        _erase(owner, ids, ids, actor)
    _erase(owner, [], [collection.pk], actor)


def _erase(owner: User, documents: Sequence[UUID], rows: Sequence[UUID], actor: Actor) -> None:
    found = hanging(owner, documents)
    erase(
        owner=owner,
        actor=actor,
        facts=found.facts,
        messages=found.messages,
        talks=found.talks,
        others=rows,
    )
