"""Tells the worker of a row that is due. Only a hint: the sweep finds it anyway."""

import logging
from functools import partial
from uuid import UUID

from django.db import transaction

logger = logging.getLogger(__name__)

# By name, because memory imports conversations and not the other way round.
EXTRACT = "memory.tasks.extract_conversation"
# A request must not wait for a broker that is gone. Celery's own retries took six seconds.
IMPATIENT = {"max_retries": 0, "socket_connect_timeout": 1}


def extract_after_commit(conversation_id: UUID) -> None:
    transaction.on_commit(partial(send, EXTRACT, "conversation", conversation_id))


def send(task: str, what: str, row_id: UUID) -> None:
    from celery import current_app

    try:
        with current_app.connection_for_write(transport_options=IMPATIENT) as broker:
            current_app.send_task(task, [str(row_id)], connection=broker, retry=False)
    except Exception as error:  # a broker fails in as many ways as there are brokers
        kind = type(error).__qualname__
        logger.warning("No hint for %s %s (%s); the sweep will.", what, row_id, kind)
