"""Which messages of a conversation still count, and which were taken back."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db import connection

from conversations import passages
from conversations.models import Conversation, Message
from conversations.signals import branch_left

# What hangs on the replaced message, and earlier replacements of it, but nothing that came later
# than the message which replaces it.
_LEAVE = """
    WITH RECURSIVE gone (id) AS (
        SELECT %(replaced)s::uuid
        UNION
        SELECT m.id FROM conversations_message m
        JOIN gone ON m.parent_id = gone.id OR m.replaces_id = gone.id
        WHERE m.conversation_id = %(conversation)s AND m.seq < %(before)s
    )
    UPDATE conversations_message SET on_branch = false
    WHERE on_branch AND id IN (SELECT id FROM gone) RETURNING id
"""


def replace(*, conversation: Conversation, replaced: UUID, before: int) -> set[UUID]:
    """Takes a message and all that followed from it off the branch; returns those that left.

    `before` is the seq of the message that replaces it.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            _LEAVE,
            {"replaced": replaced, "conversation": conversation.pk, "before": before},
        )
        return {row[0] for row in cursor.fetchall()}


def follow(*, conversation: Conversation, branch: Mapping[UUID, bool]) -> set[UUID]:
    """Makes stored messages take the branch that a newer export shows; returns those that left."""
    rows = Message.objects.filter(conversation=conversation, pk__in=branch)
    moved = [message for message in rows if message.on_branch != branch[message.pk]]
    for message in moved:
        message.on_branch = branch[message.pk]
    Message.objects.bulk_update(moved, ["on_branch"], batch_size=500)
    passages.store(moved)
    _read_from(conversation, [message.seq for message in moved if message.on_branch])
    return {message.pk for message in moved if not message.on_branch}


def _read_from(conversation: Conversation, joined: Sequence[int]) -> None:
    """Extraction passed over what was off the branch. What stands behind it is read a second time,
    which adds nothing."""
    if joined:
        first = min(joined)
        stale = Conversation.objects.filter(pk=conversation.pk, cursor_seq__gte=first)
        stale.update(cursor_seq=first - 1)


def tell(*, conversation: Conversation, left: Collection[UUID]) -> None:
    """Inside the transaction, so that facts which rested on them fall with it or not at all."""
    if left:
        owner = conversation.owner
        branch_left.send(sender=Conversation, owner=owner, message_ids=sorted(left))
