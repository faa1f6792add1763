"""Moves every vector to the embedding model of the settings, while everything runs.

Each vector says which model made it, so both kinds stand side by side until the last one is made;
a row without one under the model in use is found by its words. The rows that are missing are the
checkpoint.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event
from typing import Any

from django.conf import settings
from django.db.models import Model, QuerySet
from django.utils import timezone

from conversations.models import PassageEmbedding
from memory import embedding, heartbeat, vector_index
from memory.cases import vectors as cases
from memory.models import CaseEmbedding, FactEmbedding, Heartbeat
from memory.search import vectors as passages

# Seconds of work between two looks at whether to stop.
SHARE = 2.0
# Another process works off the same rows, or holds them; after so long nobody does.
PATIENCE = 120.0
AT_ONCE = 5_000


class Stuck(Exception):
    """Rows stay without a vector although nobody works on them."""


@dataclass(frozen=True)
class Kind:
    """A kind of row with vectors. `work` makes missing ones for about so many seconds, and says how
    many."""

    name: str
    vectors: type[Model]
    missing: Callable[[], QuerySet[Any]]
    work: Callable[..., int]


# An app above the memory adds its own when it is ready.
KINDS = [
    Kind("facts", FactEmbedding, embedding.missing_embeddings, embedding.embed_backlog),
    Kind("passages", PassageEmbedding, passages.missing, passages.embed_backlog),
    Kind("cases", CaseEmbedding, cases.missing, cases.embed_backlog),
]


def missing() -> dict[str, int]:
    return {kind.name: kind.missing().count() for kind in KINDS}


def old() -> dict[str, int]:
    """Vectors of other models, by model."""
    found: dict[str, int] = {}
    for kind in KINDS:
        models = _old(kind).values_list("model", flat=True).order_by().distinct()
        for model in models:
            rows = kind.vectors._default_manager.filter(model=model)
            found[model] = found.get(model, 0) + rows.count()
    return found


def make_missing(stop: Event) -> Iterator[tuple[str, int]]:
    """Yields how many were made of which kind, until none is missing or it should stop.

    Raises Stuck.
    """
    for kind in KINDS:
        yield from ((kind.name, made) for made in _make(kind, stop))


def _make(kind: Kind, stop: Event) -> Iterator[int]:
    waited = 0.0
    while not stop.is_set():
        made = kind.work(seconds=SHARE)
        if made:
            waited = 0.0
            yield made
            continue
        if not kind.missing().exists():
            return
        if waited > PATIENCE:
            raise Stuck(f"Some {kind.name} get no vector, though nobody else works on them.")
        started = time.monotonic()
        stop.wait(1)
        waited += time.monotonic() - started


def still_used() -> list[Heartbeat]:
    """Workers that lately worked with another model: they would make its vectors again."""
    return list(heartbeat.alive(timezone.now()).exclude(embedding_model=embedding.MODEL))


def index_new() -> list[str]:
    """Needs the role that owns the tables; without it an administrator makes the index later."""
    if "owner" not in settings.DATABASES:
        return []
    [vector] = embedding.embed_blocking(["x"])
    return vector_index.ensure_vector_index(embedding.MODEL, len(vector))


def drop_old(stop: Event) -> Iterator[int]:
    """Only once nothing is missing. Yields how many went, a batch at a time."""
    models = set(old())
    for kind in KINDS:
        while not stop.is_set():
            some = list(_old(kind).values_list("pk", flat=True)[:AT_ONCE])
            if not some:
                break
            kind.vectors._default_manager.filter(pk__in=some).delete()
            yield len(some)
    if "owner" in settings.DATABASES and not stop.is_set():
        for model in models:
            vector_index.drop_vector_index(model)


def _old(kind: Kind) -> QuerySet[Any]:
    return kind.vectors._default_manager.exclude(model=embedding.MODEL)
