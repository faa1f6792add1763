"""Tells the worker of a document at once. A hint that is lost is made good by the next sweep."""

import logging
from functools import partial
from uuid import UUID

from celery import current_app
from django.db import transaction

from conversations.hints import IMPATIENT

log = logging.getLogger(__name__)

INGEST = "knowledge.tasks.ingest"


def hint(document_id: UUID) -> None:
    transaction.on_commit(partial(_send, document_id))


def _send(document_id: UUID) -> None:
    try:
        with current_app.connection_for_write(transport_options=IMPATIENT) as broker:
            current_app.send_task(INGEST, [str(document_id)], connection=broker, retry=False)
    except Exception as error:  # a broker fails in as many ways as there are brokers
        kind = type(error).__qualname__
        log.warning("No hint for document %s (%s); the sweep will.", document_id, kind)
