"""Collections pinned to a conversation: its assistant should ask them first."""

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError
from django.http import Http404

from agents.models import Agent
from conversations.models import Conversation
from knowledge.models import Collection, PinnedCollection
from knowledge.scope import collections_readable_by

# For recall's one look at the owner's settings: see memory/recall/ahead.py.
EXISTS = (
    "EXISTS (SELECT FROM knowledge_pinnedcollection"
    " WHERE owner_id = %(owner)s AND conversation_id = %(conversation)s)"
)


def pins_of(conversation: Conversation) -> list[Collection]:
    """Those that its agent may read, in the order in which they were pinned."""
    readable = collections_readable_by(conversation.agent)
    rows = PinnedCollection.objects.filter(
        owner=conversation.owner_id, conversation=conversation, collection__in=readable
    )
    return [row.collection for row in rows.select_related("collection__agent")]


def pinned_to(conversation: Conversation) -> set[UUID]:
    rows = PinnedCollection.objects.filter(owner=conversation.owner_id, conversation=conversation)
    return set(rows.order_by().values_list("collection_id", flat=True))


def pin(*, conversation: Conversation, collection: Collection) -> bool:
    """Whether it was not pinned yet. Raises Http404 where the conversation's agent may not read
    the collection."""
    if not collections_readable_by(conversation.agent).filter(pk=collection.pk).exists():
        raise Http404("There is no such collection.")
    try:
        _, new = PinnedCollection.objects.get_or_create(
            owner_id=conversation.owner_id, conversation=conversation, collection=collection
        )
    except IntegrityError:  # deleted since it was looked for
        raise Http404("There is no such collection.") from None
    return new


def unpin(*, conversation: Conversation, collection: Collection) -> bool:
    rows = PinnedCollection.objects.filter(
        owner=conversation.owner_id, conversation=conversation, collection=collection
    )
    return rows.delete()[0] > 0


def lines(agent: Agent, conversation: Conversation | None) -> Sequence[str]:
    """Without the names: a program may have given them, and this stands outside of the data."""
    if conversation is None:
        return ()
    pinned = len(pins_of(conversation))
    if not pinned:
        return ()
    what = (
        "a collection of documents is" if pinned == 1 else f"{pinned} collections of documents are"
    )
    return (f"search_kb should be asked first: {what} pinned to this conversation.",)
