"""Reads a file as text, however broken, in pieces that fit in memory."""

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHUNK = 1 << 20  # bytes
HEAD = 1 << 16  # bytes
_TOKEN = re.compile(r'\\.|["{}\[\]\n]', re.DOTALL)


class Unreadable(Exception):
    """Why a file as a whole can't be read, in one line."""


@dataclass(frozen=True, slots=True)
class Element:
    """One value of a JSON file: an item of its list, or the whole of it. Lines count from 1."""

    text: str
    line: int
    number: int


@dataclass
class TextFile:
    path: Path

    def __post_init__(self) -> None:
        self._refuse_what_is_no_text()

    @property
    def name(self) -> str:
        return self.path.name

    def head(self) -> str:
        with self.path.open("rb") as file:
            return file.read(HEAD).decode("utf-8-sig", errors="replace")

    def chunks(self) -> Iterator[str]:
        """Bytes that are no UTF-8 become lone surrogates, which the importer mends and counts."""
        decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="surrogateescape")
        with self.path.open("rb") as file:
            while block := file.read(CHUNK):
                yield decoder.decode(block)
        yield decoder.decode(b"", final=True)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Numbered from 1, without blank ones."""
        rest, number = "", 0
        for chunk in self.chunks():
            *whole, rest = (rest + chunk).split("\n")
            for line in whole:
                number += 1
                if line.strip():
                    yield number, line
        if rest.strip():
            yield number + 1, rest

    def _refuse_what_is_no_text(self) -> None:
        try:
            with self.path.open("rb") as file:
                start = file.read(4)
        except OSError as error:
            raise Unreadable(f"Can't read {self.path}: {error.strerror}.") from error
        if not start:
            raise Unreadable(f"{self.path} is empty.")
        if start.startswith(b"PK\x03\x04"):
            raise Unreadable(f"{self.path} is a ZIP archive: unpack it and name a file in it.")
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise Unreadable(f"{self.path} is in UTF-16: save it as UTF-8.")


def loads(text: str, line: int) -> Any:
    """JSON that may hold raw control characters and begins on this line of its file.

    Raises ValueError, with the place and nothing of the text; also for absurd nesting.
    """
    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        at = line + error.lineno - 1
        raise ValueError(f"is broken JSON in line {at}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


class Cut(Exception):
    """The structure of the file breaks off; what follows can't be told apart."""


def elements(chunks: Iterable[str]) -> Iterator[Element]:
    """The items of a JSON list, or one object, or several in a row, without parsing them.

    Finds where each ends by its brackets, so that a broken one costs only itself. Raises Cut.
    """
    scan = _Scan()
    rest = ""
    for chunk in chunks:
        text, rest = rest + chunk, ""
        if text.endswith("\\"):  # an escape is never split
            text, rest = text[:-1], "\\"
        yield from scan.feed(text)
    scan.finish()


class _Scan:
    """Depth 1 is inside the file's list; an item begins at `home`, which is 1 there and else 0."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.depth = self.home = self.number = 0
        self.line = self.began = 1
        self.in_string = False

    def feed(self, text: str) -> Iterator[Element]:
        start = 0
        for token in _TOKEN.finditer(text):
            mark = token.group()
            if mark == "\n":
                self.line += 1
            elif mark == '"':
                self.in_string = not self.in_string
            elif self.in_string or mark[0] == "\\":
                continue
            elif mark == "[" and self.depth == 0 and not self.number:
                self.depth = self.home = 1
                start = token.end()
            elif mark in "{[":
                if self.depth == self.home:
                    start, self.began = token.start(), self.line
                    self.parts = []
                self.depth += 1
            elif mark in "}]":
                self.depth -= 1
                if self.depth == self.home:
                    yield self._element(text[start : token.end()])
                    start = token.end()
                elif self.depth < 0:
                    raise Cut(f"line {self.line}: one closing bracket too many")
                elif self.depth < self.home:
                    self.home = 0
        if self.depth > self.home:
            self.parts.append(text[start:])

    def finish(self) -> None:
        if self.depth > self.home or self.home:
            what = f"item {self.number + 1}, which begins on line {self.began}"
            raise Cut(f"the file ends in the middle of {what}" if self.parts else "the list is cut")

    def _element(self, last: str) -> Element:
        self.number += 1
        text = "".join([*self.parts, last])
        self.parts = []
        return Element(text, self.began, self.number)
