"""The daily run. Hints may be lost or come twice; who is due is in the database."""

import logging
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from agents import audit
from memory.consolidation import due
from memory.consolidation.run import consolidate_if_due

# The next sweep finds again what nobody took up.
EXPIRES = 55

logger = logging.getLogger(__name__)


@shared_task(name="memory.tasks.sweep_consolidation")
def sweep_consolidation() -> int:
    """Each minute: starts the owners whose day has begun."""
    found = due.sweep(timezone.now())
    for owner_id in found:
        consolidate_owner.apply_async((str(owner_id),), expires=EXPIRES)
    return len(found)


@shared_task(name="memory.tasks.consolidate_owner")
def consolidate_owner(owner_id: str) -> None:
    token = audit.context.set("task memory.tasks.consolidate_owner")
    try:
        consolidate_if_due(UUID(owner_id))
    finally:
        audit.context.reset(token)


def hint(owner_id: UUID) -> None:
    """The sweep finds it anyway, within a minute."""
    try:
        consolidate_owner.apply_async((str(owner_id),), expires=EXPIRES, retry=False)
    except Exception as error:  # a broker fails in as many ways as there are brokers
        logger.warning("No hint for a run (%s); the sweep will.", type(error).__qualname__)
