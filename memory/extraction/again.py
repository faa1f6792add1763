"""Reading a whole conversation once more, with today's prompts and model."""

from django.db import transaction
from django.db.models import Q

from agents.audit import Actor
from conversations.models import Conversation
from memory.lifecycle import NotAllowed
from memory.models import ExtractionRun
from memory.vocabulary import Trigger


def read_again(*, conversation: Conversation, actor: Actor) -> bool:
    """The cursor goes back to the beginning; the runs until now keep their record. Twice is once.

    What was found before is met again as the same, so nothing is stored twice. False when nothing
    was read yet. Raises NotAllowed: no person asks, or the conversation is never learned from.
    """
    if actor.person is None:
        raise NotAllowed("Only the owner can have something read again.")
    if conversation.read_only:
        raise NotAllowed("This conversation is never learned from.")
    with transaction.atomic():
        row = Conversation.objects.select_for_update(no_key=True).get(pk=conversation.pk)
        if row.cursor_seq == 0:
            return False
        applied = Q(state=ExtractionRun.State.APPLIED)
        ExtractionRun.objects.filter(applied, owner=row.owner_id, conversation=row).update(
            state=ExtractionRun.State.REPEATED
        )
        row.cursor_seq = row.attempts = 0
        row.due_trigger = Trigger.REQUEST
        row.next_attempt_at = row.stuck_at = None
        row.last_error = ""
        row.save(
            update_fields=[
                "cursor_seq", "attempts", "due_trigger", "next_attempt_at", "stuck_at", "last_error"
            ]
        )  # fmt: skip
        return True
