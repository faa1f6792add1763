"""Originals in Postgres, in pieces, so that none is ever in memory as a whole."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Any, BinaryIO

from knowledge.models import Document, DocumentFile

PIECE = 1_000_000  # bytes
# What is kept in memory of an original on its way in; the rest is on disk.
_SPOOLED = 4_000_000


class TooLarge(Exception):
    pass


@dataclass(slots=True)
class Spooled:
    """An original on this machine, with its size and SHA-256."""

    file: IO[bytes]
    size: int
    digest: str

    def pieces(self) -> Iterator[bytes]:
        self.file.seek(0)
        return iter(partial(self.file.read, PIECE), b"")


def spool(stream: Any, most: int) -> Spooled:
    """`stream`: a file, or an upload of Django's. Raises TooLarge as soon as it is."""
    kept: IO[bytes] = SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115  (the caller's)
    size, digest = 0, hashlib.sha256()
    try:
        for chunk in _chunks(stream):
            size += len(chunk)
            if size > most:
                raise TooLarge
            digest.update(chunk)
            kept.write(chunk)
    except BaseException:
        kept.close()
        raise
    return Spooled(kept, size, digest.hexdigest())


def _chunks(stream: Any) -> Iterable[bytes]:
    if hasattr(stream, "chunks"):
        return stream.chunks(PIECE)  # type: ignore[no-any-return]
    return iter(partial(stream.read, PIECE), b"")


def store(document: Document, original: Spooled) -> None:
    """In the caller's transaction, in place of what was there."""
    DocumentFile.objects.filter(document=document, owner=document.owner_id).delete()
    for number, content in enumerate(original.pieces()):
        DocumentFile.objects.create(
            owner_id=document.owner_id, document=document, piece=number, content=content
        )


def read_original(document: Document) -> Iterator[bytes]:
    """Piece by piece, each by a query of its own, so that no transaction is open meanwhile."""
    rows = DocumentFile.objects.filter(document=document, owner=document.owner_id)
    number = 0
    while (
        piece := rows.filter(piece=number).values_list("content", flat=True).first()
    ) is not None:
        yield bytes(piece)
        number += 1


def write_original(document: Document, file: BinaryIO) -> None:
    for piece in read_original(document):
        file.write(piece)
    file.flush()
