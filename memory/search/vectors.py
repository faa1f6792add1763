"""Vectors of passages, made by the worker in batches. What is missing is found in the database."""

import time
from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from conversations.models import IndexedPassage, Message, Passage, PassageEmbedding
from memory import embedding

# Small enough for a transaction that holds row locks, big enough to keep the model busy.
_AT_ONCE = 128
# Characters of each of the two texts. The model reads 256 tokens, the passage's own first.
_READ = 1500


def missing() -> QuerySet[Passage]:
    """Passages of every owner that search may find and that have no vector under this model."""
    known = PassageEmbedding.objects.filter(passage=OuterRef("pk"), model=embedding.MODEL)
    found = Passage.objects.filter(Exists(IndexedPassage.objects.filter(passage=OuterRef("pk"))))
    return found.filter(~Exists(known))


def embed_backlog(*, seconds: float) -> int:
    """Works off what is missing for about that long. Two at it waste work and do no harm."""
    stop = time.monotonic() + seconds
    stored = 0
    while time.monotonic() < stop:
        done = store_embeddings(missing()[:_AT_ONCE])
        stored += done
        if not done:
            break
    return stored


def store_embeddings(passages: QuerySet[Passage]) -> int:
    """The number of vectors written. Passages that have one keep it."""
    rows = list(passages.select_related("message__parent").defer("search"))
    return sum(_store(rows[start : start + _AT_ONCE]) for start in range(0, len(rows), _AT_ONCE))


def text_of(passage: Passage) -> str:
    """With what was said before it, since answers often make no sense alone."""
    message = passage.message
    if message is None or passage.kind != Passage.Kind.MESSAGE:
        return passage.text[:_READ]
    own = f"{_speaker(message)}: {passage.text[:_READ]}"
    before = message.parent
    if passage.piece or before is None or before.content == Message.PURGED:
        return own
    return f"{own}\n{_speaker(before)}: {before.content[:_READ]}"


def _speaker(message: Message) -> str:
    return message.speaker or message.role


def _store(passages: Sequence[Passage]) -> int:
    """Under the index rows' locks, and only while they are there: no vector of a text that was
    purged or taken back meanwhile outlives it."""
    texts = {passage.pk: text_of(passage) for passage in passages}
    order = sorted(passages, key=lambda passage: len(texts[passage.pk]))  # less padding
    vectors = embedding.embed_blocking([texts[passage.pk] for passage in order])
    by_id = dict(zip((passage.pk for passage in order), vectors, strict=True))
    with transaction.atomic():
        held = IndexedPassage.objects.select_for_update(no_key=True, skip_locked=True)
        still = set(held.filter(pk__in=by_id).order_by("pk").values_list("pk", flat=True))
        current = Passage.objects.filter(pk__in=still).select_related("message__parent")
        rows = [
            PassageEmbedding(
                owner_id=passage.owner_id,
                passage=passage,
                model=embedding.MODEL,
                vector=by_id[passage.pk],
            )
            for passage in current.defer("search")
            if text_of(passage) == texts[passage.pk]
        ]
        PassageEmbedding.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)
