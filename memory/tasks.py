"""What the worker does. Thin: hints may be lost or come twice, the database knows what is due."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from agents import audit, replies
from conversations.sketches.expiry import drop_expired
from memory import heartbeat
from memory.extraction import due
from memory.extraction.run import extract_if_due
from memory.tasks_bulk import sweep_bulk, work_at_bulk
from memory.tasks_consolidation import consolidate_owner, sweep_consolidation
from memory.tasks_digest import mail_digests
from memory.tasks_embedding import embed_facts, embed_missing
from memory.tasks_recall import count_recalled
from memory.tasks_webhooks import deliver_webhook, sweep_webhooks

__all__ = [
    "consolidate_owner",
    "count_recalled",
    "deliver_webhook",
    "embed_facts",
    "embed_missing",
    "extract_conversation",
    "mail_digests",
    "sweep",
    "sweep_bulk",
    "sweep_consolidation",
    "sweep_webhooks",
    "work_at_bulk",
]

# The next sweep finds again what nobody took up.
EXPIRES = 55


@shared_task(name="memory.tasks.sweep")
def sweep() -> int:
    """Each minute: starts one conversation per owner that has something due."""
    heartbeat.beat()
    replies.drop_old()
    drop_expired(timezone.now())
    found = due.sweep(timezone.now())
    for conversation_id in found:
        extract_conversation.apply_async((str(conversation_id),), expires=EXPIRES)
    return len(found)


@shared_task(name="memory.tasks.extract_conversation")
def extract_conversation(conversation_id: str) -> None:
    """Then goes on with the owner's next one, so that one owner is one chain of short tasks."""
    token = audit.context.set("task memory.tasks.extract_conversation")
    try:
        following = extract_if_due(UUID(conversation_id))
    finally:
        audit.context.reset(token)
    if following is not None:
        extract_conversation.delay(str(following))
