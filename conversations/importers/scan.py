"""Finds where the values of a JSON file begin and end, without parsing or keeping the whole.

By their brackets, so that a broken value costs only itself: an event parser such as ijson stops at
the first error, and could not say on which line the value began.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

# Characters of one conversation, or of one line. Longer ones are passed over, not kept in memory.
LIMIT = 1 << 28
# Characters of what stands before a list in its object.
HEADER = 1 << 16
_KEY = 200
_DEPTH = 6
_TOKEN = re.compile(r'\\.|["{}\[\]\n]', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Element:
    """One value of a JSON file: an item of its list, or the whole of it. Lines count from 1."""

    text: str
    line: int
    number: int
    too_large: bool = False

    def value(self) -> Any:
        """Raises ValueError, with the place and nothing of the text."""
        if self.too_large:
            raise ValueError(f"is larger than {LIMIT >> 20} MB")
        return loads(self.text, self.line)


@dataclass(frozen=True, slots=True)
class Listed:
    """An item of a list inside an object: `owner` counts the objects, `before` is what of this one
    stands before its list."""

    element: Element
    owner: int
    before: dict[str, Any]


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
    """The items of a JSON list, or one object, or several in a row. Raises Cut."""
    scan = _Scan()
    for text in _whole_escapes(chunks):
        yield from scan.feed(text)
    scan.finish()


def listed(chunks: Iterable[str], lists: Collection[str]) -> Iterator[Listed]:
    """The items of the lists at these paths (`chats.list[].messages`), wherever they stand.

    What stands between them is passed over. Raises Cut.
    """
    scan = _Lists(lists)
    for text in _whole_escapes(chunks):
        yield from scan.feed(text)
    scan.finish()


def _whole_escapes(chunks: Iterable[str]) -> Iterator[str]:
    rest = ""
    for chunk in chunks:
        text, rest = rest + chunk, ""
        # An odd number of backslashes at the end begins an escape.
        if (len(text) - len(text.rstrip("\\"))) % 2:
            text, rest = text[:-1], "\\"
        yield text


class _Kept:
    """The text of one value as it comes in, as long as it is not too long."""

    def __init__(self, limit: int) -> None:
        self.parts: list[str] = []
        self.size, self.limit = 0, limit

    def add(self, text: str) -> None:
        self.size += len(text)
        if self.size > self.limit:
            self.parts = []
        else:
            self.parts.append(text)

    def element(self, line: int, number: int) -> Element:
        return Element("".join(self.parts), line, number, too_large=self.size > self.limit)


class _Scan:
    """Depth 1 is inside the file's list; an item begins at `home`, which is 1 there and else 0."""

    def __init__(self) -> None:
        self.kept: _Kept | None = None
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
            elif mark in "{[":
                if self.depth == self.home:
                    start, self.began, self.kept = token.start(), self.line, _Kept(LIMIT)
                self.depth += 1
            else:
                yield from self._closed(text, start, token.end())
        if self.kept is not None:
            self.kept.add(text[start:])

    def _closed(self, text: str, start: int, end: int) -> Iterator[Element]:
        self.depth -= 1
        if self.depth == self.home and self.kept is not None:
            self.kept.add(text[start:end])
            self.number += 1
            yield self.kept.element(self.began, self.number)
            self.kept = None
        elif self.depth < 0:
            raise Cut(f"line {self.line}: one closing bracket too many")
        elif self.depth < self.home:
            self.home = 0

    def finish(self) -> None:
        if self.kept is not None:
            raise Cut(_in_the_middle(self.number + 1, self.began))
        if self.home:
            raise Cut("the list is cut")


class _Lists:
    """`open` holds the path of each container around the place, outermost first; inside an item
    only brackets are counted."""

    def __init__(self, lists: Collection[str]) -> None:
        self.lists = frozenset(lists)
        self.owners = frozenset(path.rpartition(".")[0] for path in lists)
        self.open: list[tuple[str, str]] = []
        self.key = ""
        self.line = self.began = 1
        self.in_string = False
        self.depth = self.number = self.owner = 0
        self.header: _Kept | None = None
        self.item: _Kept | None = None
        self.before: dict[str, Any] = {}

    def feed(self, text: str) -> Iterator[Listed]:
        self.start = self.quote = 0
        for token in _TOKEN.finditer(text):
            mark = token.group()
            if mark == "\n":
                self.line += 1
            elif mark == '"':
                self._quoted(text, token.start())
            elif self.in_string or mark[0] == "\\":
                continue
            elif mark in "{[":
                self._opened(mark, text, token.start())
            else:
                yield from self._closed(text, token.end())
        self._rest(text)

    def finish(self) -> None:
        if self.item is not None:
            raise Cut(_in_the_middle(self.number + 1, self.began))
        if self.open:
            raise Cut("the file ends in the middle")

    def _quoted(self, text: str, at: int) -> None:
        self.in_string = not self.in_string
        if self.item is not None:
            return
        if self.in_string:
            self.key, self.quote = "", at + 1
        else:
            self.key = (self.key + text[self.quote : at])[:_KEY]

    def _opened(self, mark: str, text: str, at: int) -> None:
        if self.item is not None:
            self.depth += 1
            return
        path = self._path()
        if self.open and self.open[-1][0] == "[" and self.open[-1][1] in self.lists:
            self.item, self.depth = _Kept(LIMIT), 1
            self.start, self.began = at, self.line
            return
        if mark == "{" and path in self.owners:
            self.header, self.start = _Kept(HEADER), at
            self.owner, self.number = self.owner + 1, 0
        elif mark == "[" and path in self.lists and self.header is not None:
            self.header.add(text[self.start : at] + "[]}")
            self.before = _object(self.header)
            self.header = None
        self.open.append((mark, path))

    def _closed(self, text: str, end: int) -> Iterator[Listed]:
        if self.item is None:
            if not self.open:
                raise Cut(f"line {self.line}: one closing bracket too many")
            self.open.pop()
            return
        self.depth -= 1
        if self.depth == 0:
            self.number += 1
            self.item.add(text[self.start : end])
            yield Listed(self.item.element(self.began, self.number), self.owner, self.before)
            self.item = None

    def _path(self) -> str:
        if not self.open:
            return ""
        kind, path = self.open[-1]
        if len(self.open) > _DEPTH:
            return "…"
        if kind == "[":
            return f"{path}[]"
        return f"{path}.{self.key}" if path else self.key

    def _rest(self, text: str) -> None:
        kept = self.item or self.header
        if kept is not None:
            kept.add(text[self.start :])
        if self.in_string and self.item is None:
            self.key = (self.key + text[self.quote :])[:_KEY]


def _object(header: _Kept) -> dict[str, Any]:
    """What can be read of it."""
    try:
        value = header.element(1, 1).value()
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _in_the_middle(number: int, line: int) -> str:
    return f"the file ends in the middle of item {number}, which begins on line {line}"
