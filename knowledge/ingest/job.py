"""Reads one document: fetch, convert, cut, index, and let the new passages answer.

Each step leaves its result in the database: a job that was broken off goes on behind the last one,
and running it twice adds nothing.
"""

import io
import logging
import os
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from time import monotonic
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from agents.gate import MemoryOff
from knowledge import indexing, leftovers, marks, naming, pictures, storage, tombstones, web
from knowledge.conversion.process import Converted, convert
from knowledge.conversion.shape import Unreadable
from knowledge.ingest import claims
from knowledge.ingest.claims import RETRIES, Claim, Taken
from knowledge.ingest.rooms import Rooms
from knowledge.ingest.steps import drop_unfinished
from knowledge.models import Document, DocumentText
from knowledge.vocabulary import TRANSIENT, DocumentOrigin, DocumentState, Failure, Stage
from memory.text import detect_language, language_config

log = logging.getLogger(__name__)

# Conversions at a time in one worker process: they share its processors with everything else.
_rooms = Rooms(max((os.cpu_count() or 1) // 2, 1))
_TOLD_EVERY = 1.0  # seconds
_SAMPLE = 4_000  # characters that tell the language
OURS = "Something went wrong on our side; the server's log says more."


def sweep() -> list[UUID]:
    return claims.sweep(timezone.now())


def work(document_id: UUID) -> UUID | None:
    """The document to go on with, if there is one. What is not due is left alone."""
    place = _rooms.enter()
    if place is None:
        return None  # the next sweep offers it again
    try:
        claim = claims.claim(document_id, timezone.now())
        if claim is not None:
            _work(claim)
    finally:
        _rooms.leave(place)
    if claim is None:
        return None
    following = claims.following(claim.document.owner, timezone.now())
    return following if following != document_id else None


def _work(claim: Claim) -> None:
    try:
        indexing.index(claim, _text(claim).markdown)
    except Taken:
        log.info("document %s was taken away while it was read", claim.document.pk)
    except MemoryOff:
        claims.release(claim, state=DocumentState.WAITING, attempts=0)
    except Unreadable as fault:
        _fail(claim, fault.code, str(fault))
    except Exception as fault:
        log.exception("document %s could not be read", claim.document.pk)
        _fail(claim, Failure.INTERNAL, f"{OURS} ({type(fault).__name__})")


def _fail(claim: Claim, code: str, words: str) -> None:
    """In the owner's words, for good or until the next try."""
    said = {"failure": code, "failure_detail": words[:500]}
    attempts = claim.document.attempts
    if code in TRANSIENT and attempts <= len(RETRIES):
        wait = timedelta(minutes=RETRIES[attempts - 1])
        claims.release(
            claim, state=DocumentState.WAITING, next_attempt_at=timezone.now() + wait, **said
        )
    else:
        claims.release(claim, state=DocumentState.FAILED, next_attempt_at=None, **said)


def _text(claim: Claim) -> DocumentText:
    """What an earlier try converted, else made now."""
    rows = DocumentText.objects.filter(
        document=claim.document, owner=claim.document.owner_id, generation=claim.generation
    )
    return rows.first() or _convert(claim)


def _convert(claim: Claim) -> DocumentText:
    with claim.writing():
        drop_unfinished(claim.document)
    if claim.document.origin == DocumentOrigin.WEB:
        _fetch(claim)
    claim.update(stage=Stage.CONVERTING)
    with NamedTemporaryFile(prefix=leftovers.ORIGINAL) as file:
        storage.write_original(claim.document, file)  # type: ignore[arg-type]
        # One image may take long without a page being done.
        found = convert(
            Path(file.name), tell=_Teller(claim), tick=claim.keep, see=pictures.describer(claim)
        )
    return _keep(claim, found)


def _fetch(claim: Claim) -> None:
    """Raises Unreadable."""
    claim.update(stage=Stage.FETCHING)
    try:
        answer = web.fetched(claim.document.address)
    except web.Unreachable as refusal:
        raise Unreadable(Failure.UNREACHABLE, str(refusal)) from refusal
    except web.Refused as refusal:
        raise Unreadable(Failure.REFUSED, str(refusal)) from refusal
    try:
        original = storage.spool(io.BytesIO(answer.content), settings.KNOWLEDGE_MAX_BYTES)
    except storage.TooLarge:
        raise Unreadable(Failure.TOO_LARGE, "The page is larger than a document may be.") from None
    with original.file:
        _replace(claim, original, naming.file_name(answer.file_name))


def _replace(claim: Claim, original: storage.Spooled, file_name: str) -> None:
    row = claim.document
    with claim.writing():
        twins = Document.objects.filter(
            owner=row.owner_id, collection=row.collection_id, digest=original.digest
        )
        if twins.exclude(pk=row.pk).exists():
            # Not by its title, which would outlive it here.
            raise Unreadable(
                Failure.DUPLICATE, "It says the same as another document of this collection."
            )
        if row.client_id and tombstones.stands(row.owner, original.digest):
            raise Unreadable(Failure.REFUSED, "The owner deleted this page, so it is not stored.")
        if row.digest != original.digest:
            storage.store(row, original)
        claim.update(digest=original.digest, size=original.size, file_name=file_name)


class _Teller:
    """Tells how far the conversion is."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.told = monotonic()

    def __call__(self, done: int, of: int) -> None:
        if monotonic() - self.told >= _TOLD_EVERY:
            self.told = monotonic()
            self.claim.update(progress=done, progress_of=of)


def _keep(claim: Claim, found: Converted) -> DocumentText:
    row = claim.document
    sample = marks.without(found.markdown[:_SAMPLE])
    with claim.writing():
        claim.update(
            state=DocumentState.INDEXING,
            stage=Stage.SPLITTING,
            progress=0,
            progress_of=0,
            title=_title(row, found.title),
            media_type=found.media_type,
            pages=found.pages,
            notes=" ".join(found.notes)[:500],
            language=language_config(detect_language(sample)),
        )
        return DocumentText.objects.create(
            owner_id=row.owner_id,
            document=row,
            generation=claim.generation,
            markdown=found.markdown,
        )


def _title(row: Document, told: str) -> str:
    """The document's own, where nobody gave it one."""
    unnamed = (
        naming.title_of(row.file_name) if row.file_name else "",
        naming.one_line(row.address),
    )
    return naming.one_line(told) if told.strip() and row.title in unnamed else row.title
