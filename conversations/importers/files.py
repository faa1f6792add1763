"""Reads a file, or one in a ZIP archive, as text, however broken, in pieces that fit in memory."""

import codecs
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo

from conversations.importers.scan import LIMIT, Element

CHUNK = 1 << 20  # bytes
HEAD = 1 << 16  # bytes
ZIP = b"PK\x03\x04"
# Before UTF-16: the mark of UTF-32 in little-endian order begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


def printable(name: str) -> str:
    """On one line of a terminal, whatever an archive calls its files."""
    return "".join(one if one.isprintable() else "\ufffd" for one in name)


class Unreadable(Exception):
    """Why a file can't be read, or not any further, in one line."""


@dataclass
class TextFile:
    path: Path
    # Both, where it is a file within the archive at `path`.
    archive: ZipFile | None = None
    member: ZipInfo | None = None
    # Of the last reading: bytes that were no UTF-8, and why it ended early.
    foreign: int = field(default=0, compare=False)
    failure: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        self._start = self._first(4)
        if not self._start:
            raise Unreadable(f"{self.name} is empty.")
        self._encoding = _encoding(self._start)

    @property
    def name(self) -> str:
        if self.member is not None:
            return printable(f"{self.path.name}/{self.member.filename}")
        return printable(self.path.name)

    @property
    def is_archive(self) -> bool:
        return self._start.startswith(ZIP)

    def head(self) -> str:
        return self._first(HEAD).decode(self._encoding, errors="replace")

    def chunks(self) -> Iterator[str]:
        """A byte that is no UTF-8 is taken for Windows' Western alphabet, and counted.

        Ends early where the disk or the archive fails on the way, so that what came before counts.
        """
        self.foreign, self.failure = 0, ""
        errors = "surrogateescape" if self._encoding == "utf-8-sig" else "replace"
        decoder = codecs.getincrementaldecoder(self._encoding)(errors=errors)
        try:
            with self._open() as file:
                while block := file.read(CHUNK):
                    yield self._mended(decoder.decode(block))
        except Unreadable as error:
            self.failure = str(error).removesuffix(".")
        yield self._mended(decoder.decode(b"", final=True))

    def lines(self) -> Iterator[Element]:
        """Numbered from 1, without blank ones."""
        parts: list[str] = []
        size, number = 0, 1
        for chunk in self.chunks():
            *whole, rest = chunk.split("\n")
            for piece in whole:
                yield from _line([*parts, piece], size + len(piece), number)
                parts, size, number = [], 0, number + 1
            size += len(rest)
            if size <= LIMIT:
                parts.append(rest)
        yield from _line(parts, size, number)

    def _mended(self, text: str) -> str:
        whole, count = _ESCAPED_BYTE.subn(_western, text)
        self.foreign += count
        return whole

    def _first(self, size: int) -> bytes:
        with self._open() as file:
            return file.read(size)

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        try:
            if self.archive is None or self.member is None:
                with self.path.open("rb") as file:
                    yield file
            else:
                with self.archive.open(self.member) as file:
                    yield file
        except OSError as error:
            raise Unreadable(f"Can't read {self.path}: {error.strerror}.") from error
        except (BadZipFile, zlib.error, EOFError) as error:
            raise Unreadable(f"{self.name} is damaged in the archive.") from error
        except (NotImplementedError, RuntimeError) as error:
            # The second is how zipfile says that it needs a password.
            raise Unreadable(
                f"{self.name} is encrypted, or packed in a way that I don't know."
            ) from error


def _line(parts: list[str], size: int, number: int) -> Iterator[Element]:
    if size > LIMIT:
        yield Element("", number, number, too_large=True)
        return
    text = "".join(parts)
    if text.strip():
        yield Element(text, number, number)


def _encoding(start: bytes) -> str:
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    # JSON begins with ASCII: a zero byte beside the first one tells the order in UTF-16.
    if start[1:2] == b"\x00" and start[:1] != b"\x00":
        return "utf-16-le"
    if start[:1] == b"\x00" and start[1:2] not in {b"\x00", b""}:
        return "utf-16-be"
    return "utf-8-sig"


def _western(byte: re.Match[str]) -> str:
    return bytes([ord(byte.group()) - 0xDC00]).decode("cp1252", errors="replace")
