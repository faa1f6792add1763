"""Deliveries to webhooks. Hints may be lost or come twice; what waits is in the database."""

import logging
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from agents import audit
from memory.webhooks import deliver

# The next sweep finds again what nobody took up.
EXPIRES = 55

logger = logging.getLogger(__name__)


@shared_task(name="memory.tasks.sweep_webhooks")
def sweep_webhooks() -> int:
    found = deliver.sweep(timezone.now())
    for hook_id in found:
        deliver_webhook.apply_async((str(hook_id),), expires=EXPIRES)
    return len(found)


@shared_task(name="memory.tasks.deliver_webhook")
def deliver_webhook(hook_id: str) -> None:
    """Then goes on with the rest, so that others get their turn between."""
    token = audit.context.set("task memory.tasks.deliver_webhook")
    try:
        more = deliver.work(UUID(hook_id))
    finally:
        audit.context.reset(token)
    if more:
        hint(UUID(hook_id))


def hint(hook_id: UUID) -> None:
    """The sweep finds it anyway, within seconds."""
    try:
        deliver_webhook.apply_async((str(hook_id),), expires=EXPIRES, retry=False)
    except Exception as error:  # a broker fails in as many ways as there are brokers
        logger.warning("No hint for a webhook (%s); the sweep will.", type(error).__qualname__)
