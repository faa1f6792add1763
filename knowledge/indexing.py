"""Passages of a document, with their vectors; their terms are the database's own work.

The new ones are written beside those that answer, some at a time, and begin to answer all at once.
"""

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from knowledge.conversion.shape import Unreadable
from knowledge.models import Document, DocumentEmbedding, DocumentPassage, DocumentText
from knowledge.splitting import Piece, embedded_as, split
from knowledge.vocabulary import DocumentState, Failure, Stage
from memory import embedding
from memory.text import detect_language, language_config

if TYPE_CHECKING:
    from knowledge.ingest.claims import Claim

# Small enough for a transaction that holds a row lock, big enough to keep the model busy.
AT_ONCE = 24
HEADING = 300
# Shorter texts take the language of their document: they tell none.
_TELLING = 120
Place = tuple[int, int, int]


def index(claim: "Claim", markdown: str) -> None:
    """Raises Unreadable, Taken, MemoryOff."""
    claim.update(state=DocumentState.INDEXING, stage=Stage.SPLITTING)
    pieces = split(markdown, tick=claim.keep)
    if not pieces:
        raise Unreadable(Failure.EMPTY, "There is no text in it.")
    done = _done(claim, pieces)
    todo = [(n, piece) for n, piece in enumerate(pieces) if n not in done]
    claim.update(stage=Stage.EMBEDDING, progress=len(pieces) - len(todo), progress_of=len(pieces))
    for start in range(0, len(todo), AT_ONCE):
        batch = todo[start : start + AT_ONCE]
        _store(claim, batch)
        claim.update(progress=claim.document.progress + len(batch))
    _answer(claim)


def _done(claim: "Claim", pieces: Sequence[Piece]) -> set[int]:
    """What an earlier try wrote. Cut otherwise than now (by a newer version), none of it counts."""
    rows = _passages(claim.document).filter(generation=claim.generation)
    known = set(rows.values_list("ordinal", "start", "end"))
    wanted = {(number, piece.start, piece.end) for number, piece in enumerate(pieces)}
    if known <= wanted:
        return {ordinal for ordinal, _, _ in known}
    with claim.writing():
        rows._raw_delete(rows.db)
    return set()


def _passages(document: Document) -> QuerySet[DocumentPassage]:
    return DocumentPassage.objects.filter(document=document, owner=document.owner_id)


def _store(claim: "Claim", batch: Sequence[tuple[int, Piece]]) -> None:
    rows = [_row(claim, number, piece) for number, piece in batch]
    vectors = _vectors(claim.document, rows)
    with claim.writing():
        DocumentPassage.objects.bulk_create(rows)
        DocumentEmbedding.objects.bulk_create(vectors)


def _row(claim: "Claim", number: int, piece: Piece) -> DocumentPassage:
    document = claim.document
    return DocumentPassage(
        owner_id=document.owner_id,
        document=document,
        generation=claim.generation,
        ordinal=number,
        text=piece.text,
        headings=[heading[:HEADING] for heading in piece.headings],
        page_from=piece.page_from,
        page_to=piece.page_to,
        start=piece.start,
        end=piece.end,
        kind=piece.kind,
        language=_language(piece.text, document.language),
    )


def _language(text: str, usual: str) -> str:
    own = language_config(detect_language(text)) if len(text) >= _TELLING else "simple"
    return usual if own == "simple" else own


def _vectors(document: Document, passages: Sequence[DocumentPassage]) -> list[DocumentEmbedding]:
    texts = [
        (passage, part, text)
        for passage in passages
        for part, text in enumerate(embedded_as(document.title, passage.headings, passage.text))
    ]
    vectors = embedding.embed_blocking([text for _, _, text in texts])
    return [
        DocumentEmbedding(
            owner_id=passage.owner_id,
            passage=passage,
            document_id=passage.document_id,
            generation=passage.generation,
            model=embedding.MODEL,
            part=part,
            vector=vector,
        )
        for (passage, part, _), vector in zip(texts, vectors, strict=True)
    ]


def _answer(claim: "Claim") -> None:
    """From one moment to the next the new passages answer and the old ones are gone."""
    document, generation = claim.document, claim.generation
    with claim.writing():
        passages, length = _size(document, generation)
        claim.update(
            state=DocumentState.READY,
            stage=Stage.NONE,
            progress=0,
            progress_of=0,
            attempts=0,
            next_attempt_at=None,
            failure="",
            failure_detail="",
            generation=generation,
            passages=passages,
            length=length,
            indexed_at=timezone.now(),
        )
        old = _passages(document).exclude(generation=generation)
        # The database takes terms and vectors along; Django would load them all first.
        old._raw_delete(old.db)
        texts = DocumentText.objects.filter(document=document, owner=document.owner_id)
        texts.exclude(generation=generation).delete()
        claim.rows().update(token=None, busy_until=None)


def _size(document: Document, generation: int) -> tuple[int, int]:
    """How many passages, and how many terms they have together."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), coalesce(sum(t.length), 0) FROM knowledge_documentpassage p"
            " LEFT JOIN LATERAL (SELECT length FROM knowledge_documentterm t"
            "  WHERE t.passage_id = p.id LIMIT 1) AS t ON true"
            " WHERE p.owner_id = %s AND p.document_id = %s AND p.generation = %s",
            [document.owner_id, document.pk, generation],
        )
        passages, length = cursor.fetchone()
    return passages, length


def missing() -> QuerySet[DocumentPassage]:
    """Passages that answer and have no vector under the model in use."""
    known = DocumentEmbedding.objects.filter(passage=OuterRef("pk"), model=embedding.MODEL)
    answering = DocumentPassage.objects.filter(generation=F("document__generation"))
    return answering.filter(~Exists(known))


def is_behind() -> bool:
    """Whether some document has no vectors under the model in use, told by its last passage: a
    look at each document, where `missing` looks at each passage."""
    last = DocumentEmbedding.objects.filter(
        passage__document=OuterRef("pk"),
        passage__generation=OuterRef("generation"),
        passage__ordinal=OuterRef("passages") - 1,
        model=embedding.MODEL,
    )
    return Document.objects.filter(generation__isnull=False).filter(~Exists(last)).exists()


def embed_backlog(*, seconds: float) -> int:
    """Works off what is missing for about that long. Two at it waste work and do no harm."""
    stop = monotonic() + seconds
    stored = 0
    while monotonic() < stop:
        rows = missing().select_related("document").order_by("document_id", "ordinal")
        batch = list(rows[:AT_ONCE])
        done = _embed(batch) if batch else 0
        stored += done
        if not done:
            break
    return stored


def _embed(passages: Sequence[DocumentPassage]) -> int:
    """Only while they are there: no vector of a passage that went meanwhile is written."""
    made = [row for passage in passages for row in _vectors(passage.document, [passage])]
    with transaction.atomic():
        held = DocumentPassage.objects.select_for_update(no_key=True, skip_locked=True)
        ids = [passage.pk for passage in passages]
        still = set(held.filter(pk__in=ids).order_by("pk").values_list("pk", flat=True))
        rows = [row for row in made if row.passage_id in still]
        DocumentEmbedding.objects.bulk_create(rows, ignore_conflicts=True)
    return len(still)
