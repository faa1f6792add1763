"""Whether a packed file (Office, EPUB) may be unpacked at all, asked before any reader opens it."""

import zipfile
from pathlib import Path

from knowledge.conversion.shape import DAMAGED, PROTECTED, Unreadable

MOST_PARTS = 20_000
MOST_UNPACKED = 400_000_000  # bytes
# Text packs to a tenth, seldom to a fiftieth. Small files may do as they like.
MOST_RATIO, SMALL = 100, 20_000_000
_UNPACKS = "The file unpacks to far more than it is, as only a file does that is meant to do harm."
_HOSTILE = "The file defines XML entities, which no Office program does."


def check(path: Path, *, without_entities: bool) -> None:
    """A part is never read beyond the size that the directory tells of it, so that those sizes
    bound everything. Raises Unreadable."""
    try:
        with zipfile.ZipFile(path) as pack:
            parts = pack.infolist()
            _check_sizes(parts)
            if without_entities:
                _check_entities(pack, parts)
    except RuntimeError as error:
        raise Unreadable("protected", PROTECTED) from error
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, ValueError) as error:
        raise Unreadable("damaged", DAMAGED) from error


def _check_sizes(parts: list[zipfile.ZipInfo]) -> None:
    if any(part.flag_bits & 1 for part in parts):
        raise Unreadable("protected", PROTECTED)
    unpacked = sum(part.file_size for part in parts)
    packed = sum(part.compress_size for part in parts)
    bloated = unpacked > SMALL and unpacked > MOST_RATIO * max(packed, 1)
    if len(parts) > MOST_PARTS or unpacked > MOST_UNPACKED or bloated:
        raise Unreadable("unpacks", _UNPACKS)


def _check_entities(pack: zipfile.ZipFile, parts: list[zipfile.ZipInfo]) -> None:
    """A document type stands before the first element; two readings of an encoding are enough,
    since Office writes UTF-8."""
    for part in parts:
        if part.filename.lower().endswith((".xml", ".rels", ".vml")):
            with pack.open(part) as file:
                head = file.read(4096)
            if b"<!DOCTYPE" in head or "<!DOCTYPE".encode("utf-16-le") in head:
                raise Unreadable("hostile", _HOSTILE)
