"""Vectors for facts, made by the worker. The hints may be lost: the sweep finds what is missing."""

from collections.abc import Sequence

from celery import shared_task

from memory import embedding

# The sweep comes each minute; what is left then is the next one's.
SWEEP_SECONDS = 50


@shared_task(name="memory.tasks.embed_facts")
def embed_facts(fact_ids: Sequence[str]) -> int:
    """Right after the facts were committed; ids that already have a vector cost nothing."""
    return embedding.store_embeddings(embedding.missing_embeddings().filter(pk__in=fact_ids))


@shared_task(name="memory.tasks.embed_missing")
def embed_missing() -> int:
    return embedding.embed_backlog(seconds=SWEEP_SECONDS)
