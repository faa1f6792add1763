"""Whether a packed file (Office, EPUB) may be unpacked at all, asked before any reader opens it."""

import re
import zipfile
from pathlib import Path

from knowledge.conversion import encodings
from knowledge.conversion.shape import DAMAGED, PROTECTED, Unreadable

MOST_PARTS = 20_000
MOST_UNPACKED = 400_000_000  # bytes
# Text packs to a tenth, seldom to a fiftieth. Small files may do as they like.
MOST_RATIO, SMALL = 100, 20_000_000
# Bytes of a part before its first element. Office writes a declaration there, which has sixty.
MOST_PROLOG = 65_536
_BEFORE = re.compile(rb"\s+|<\?.*?\?>|<!--.*?-->", re.S)
_UNPACKS = "The file unpacks to far more than it is, as only a file does that is meant to do harm."
_HOSTILE = "The file defines XML entities, which no Office program does."

_ENDLESS = "The file begins with comments that are longer than any that an Office program writes."


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
    """A document type stands before the first element."""
    for part in parts:
        if part.filename.lower().endswith((".xml", ".rels", ".vml")):
            with pack.open(part) as file:
                head = file.read(MOST_PROLOG)
            begins = _first_markup(head)
            if begins.startswith(b"<!DOCTYPE"):
                raise Unreadable("hostile", _HOSTILE)
            if len(head) == MOST_PROLOG and not begins:
                raise Unreadable("hostile", _ENDLESS)


def _first_markup(head: bytes) -> bytes:
    """From behind the declaration and the comments on; nothing where one of these has no end."""
    text, at = encodings.narrowed(head), 0
    while found := _BEFORE.match(text, at):
        at = found.end()
    rest = text[at:]
    return b"" if rest.startswith((b"<?", b"<!--")) else rest
