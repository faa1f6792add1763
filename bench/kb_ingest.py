"""The manuals taken in, one after another, as a worker does it; what is there already stays."""

import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agents.models import User
    from knowledge.models import Collection, Document

# Characters of a web page that count as one page of paper.
PAGE_OF_PAPER = 3000
TOLD_EVERY = 15.0  # seconds


@dataclass
class Ingested:
    """What this run read: `pages` in `seconds`, of which `processor` were spent by this process and
    the conversions; `megabytes` at most of this process, which holds the embedding model. `failed`
    are those of the whole corpus that could not be read, with the reason."""

    documents: int = 0
    pages: float = 0.0
    passages: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    megabytes: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    def count(self, document: "Document", seconds: float, processor: float) -> None:
        self.documents += 1
        self.pages += _pages(document)
        self.passages += document.passages
        self.seconds += seconds
        self.processor += processor


def take_in(owner: "User", collection: "Collection", files: Sequence[Path]) -> Ingested:
    """A run that was broken off is gone on with: only what is missing is read."""
    from knowledge.models import Document

    _release(owner)
    found, told = Ingested(), time.monotonic()
    for number, path in enumerate(files):
        if time.monotonic() - told > TOLD_EVERY:
            told = time.monotonic()
            print(_progress(found, number, len(files)), file=sys.stderr, flush=True)
        _take(collection, path, found)
    known = Document.objects.filter(collection=collection)
    for row in known.filter(generation=None):
        found.failed[row.file_name] = row.failure_detail or f"It is still {row.state}."
    found.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return found


def _take(collection: "Collection", path: Path, found: Ingested) -> None:
    from agents.audit import person
    from knowledge import ingest
    from knowledge.ingest import job
    from knowledge.models import Document

    started, spent, actor = time.monotonic(), _processor(), person(collection.owner)
    with path.open("rb") as stream:
        document = ingest.add_file(
            owner=collection.owner,
            collection=collection,
            file_name=path.name,
            stream=stream,
            actor=actor,
        ).document
    if document.generation is not None:
        return
    ingest.retry(document=document, actor=actor)
    job.work(document.pk)
    read = Document.objects.get(pk=document.pk)
    if read.generation is not None:
        found.count(read, time.monotonic() - started, _processor() - spent)


def _release(owner: "User") -> None:
    """A run that was killed held a document, and nobody reads a second one of the owner's until its
    time is over. Here there is no other worker."""
    from django.utils import timezone

    from knowledge.models import Document

    held = Document.objects.filter(owner=owner, busy_until__isnull=False)
    held.update(busy_until=timezone.now(), attempts=0)


def _pages(document: "Document") -> float:
    from knowledge.models import DocumentText

    if document.pages:
        return document.pages
    texts = DocumentText.objects.filter(document=document, generation=document.generation or 0)
    return sum(len(text.markdown) for text in texts) / PAGE_OF_PAPER


def _progress(found: Ingested, number: int, of: int) -> str:
    speed = 60 * found.pages / found.seconds if found.seconds else 0
    return f"  {number} of {of} documents, {found.pages:.0f} pages, {speed:.0f} a minute"


def _processor() -> float:
    """Seconds of this process and of the conversions that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
