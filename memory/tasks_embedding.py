"""Vectors for facts, cases and passages, made by the worker. Hints may be lost: the sweep finds
what is missing."""

import time
from collections.abc import Sequence

from celery import shared_task

from memory import embedding
from memory.cases import vectors as cases
from memory.recall import census
from memory.search import vectors

# The sweep comes each minute; what is left then is the next one's.
SWEEP_SECONDS = 50


@shared_task(name="memory.tasks.embed_facts")
def embed_facts(fact_ids: Sequence[str]) -> int:
    """Right after the facts were committed; ids that already have a vector cost nothing."""
    return embedding.store_embeddings(embedding.missing_embeddings().filter(pk__in=fact_ids))


@shared_task(name="memory.tasks.embed_missing")
def embed_missing() -> int:
    """Facts first: they ride in every prompt."""
    census.fold()
    stop = time.monotonic() + SWEEP_SECONDS
    stored = embedding.embed_backlog(seconds=SWEEP_SECONDS)
    stored += cases.embed_backlog(seconds=stop - time.monotonic())
    return stored + vectors.embed_backlog(seconds=stop - time.monotonic())
