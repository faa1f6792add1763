"""Secrets taken out of a whole text before it is cut: half a key says nothing of what it is."""

import re
from array import array
from collections.abc import Iterator

from knowledge import marks
from memory.sensitive.credentials import REDACTED, Span, credentials, is_name, is_value

# Characters looked at together, and of them those that are looked at twice: no key is longer.
_SLAB, _TWICE = 400_000, 40_000
# What converters and quotes put between the characters of a secret.
_MARKUP = re.compile(
    rf"(?P<mark>{marks.MARK.pattern})|^(?:[ \t]*> ?)+|\\(?=[\\`*_{{}}\[\]()#+.!|<>~-])|\*\*|__",
    re.MULTILINE,
)
_RULE = re.compile(r"\|[\s:|-]+\|\s*")


def without_secrets(markdown: str) -> tuple[str, int]:
    """The text, and how many were taken out. Marks within one stay where they are."""
    kept, at, count = [], 0, 0
    for start, end in _spans(markdown):
        kept += [markdown[at:start], REDACTED]
        for mark in marks.MARK.finditer(markdown, start, end):
            kept.append(f"\n{mark[0].rstrip()}\n{REDACTED}")
        at, count = end, count + 1
    return "".join([*kept, markdown[at:]]), count


def _spans(markdown: str) -> list[Span]:
    """In order and apart from one another."""
    found: list[Span] = []
    for start, end in sorted({*_in_slabs(markdown), *_in_tables(markdown)}):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _in_slabs(markdown: str) -> Iterator[Span]:
    for offset in range(0, max(len(markdown) - _TWICE, 1), _SLAB - _TWICE):
        text, places = _bare(markdown[offset : offset + _SLAB])
        for start, end in credentials(text):
            end = start + len(text[start:end].rstrip())
            yield offset + places[start], offset + places[end - 1] + 1


def _bare(markdown: str) -> tuple[str, "array[int]"]:
    """What is read when the marks and the markup are not, and where each character stood."""
    parts, places, at = [], array("L"), 0
    for found in _MARKUP.finditer(markdown):
        parts.append(markdown[at : found.start()])
        places.extend(range(at, found.start()))
        at = found.end()
    parts.append(markdown[at:])
    places.extend(range(at, len(markdown)))
    return "".join(parts), places


def _in_tables(markdown: str) -> Iterator[Span]:
    """What stands under "Password", or beside it in a table of two columns."""
    under: list[int] = []
    before: list[tuple[str, Span]] = []
    at = 0
    for line in markdown.split("\n"):
        cells = _cells(line, at) if line.startswith("|") else []
        if _RULE.fullmatch(line):
            under = [n for n, (text, _) in enumerate(before) if is_name(text)]
        elif not cells:
            under = []
        for place, (text, span) in enumerate(cells):
            beside = len(cells) == 2 and place == 1 and is_name(cells[0][0])
            if (place in under or beside) and _may_be_one(text):
                yield span
        before = cells
        at += len(line) + 1


def _cells(line: str, offset: int) -> list[tuple[str, Span]]:
    """The words of each without markup, and where they stand."""
    found = []
    for cell in re.finditer(r"(?:[^|\\]|\\.)+", line):
        words = cell[0].strip()
        start = offset + cell.start() + cell[0].find(words)
        found.append((words.strip("*_`: "), (start, start + len(words))))
    return found


def _may_be_one(text: str) -> bool:
    """A word alone is no more than the kind of a thing ("string", "required"), unless it has a
    digit or a sign in it."""
    return len(text.split()) == 1 and is_value(text) and not text.isalpha()
