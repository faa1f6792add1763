"""Blocks put together to passages of about 500 tokens."""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from knowledge import marks
from knowledge.splitting.blocks import Block, Cut, Kind, blocks
from knowledge.splitting.packing import MOST, OVERLAP, Unit, coalesced, packed
from memory import tokens

# More in one go takes the splitter long.
_SLAB = 20_000  # characters
# No character of o200k takes more tokens.
_TOKENS_PER_CHARACTER = 4
# Marks and empty lines before anything is said.
_AHEAD = re.compile(rf"(?:[^\S{marks.PAGE}]|{marks.PAGE}\d+\n|{marks.BEGIN}\w+\n|{marks.END}\n)*")


@dataclass(frozen=True, slots=True)
class Piece:
    """`start` and `end` are offsets into the text with its marks; `text` has none of them. Up to 75
    tokens at its start are the end of the piece before, unless a section begins."""

    text: str
    headings: tuple[str, ...]
    page_from: int | None
    page_to: int | None
    start: int
    end: int
    kind: str


def split(markdown: str, *, tick: Callable[[], None] = lambda: None) -> list[Piece]:
    """Pieces in order, at most 500 tokens each, that cover the text together. `tick` is called
    every second or so, however long a line is."""
    units = coalesced(_units(markdown, tick))
    places = _Places(markdown)
    found = []
    for first, own, last in packed(units):
        start, end = units[first].start, units[last - 1].end
        if not marks.without(markdown[units[own].start : end]).strip():
            continue
        text = marks.without(markdown[start:end]).strip("\n")
        headings = _headings(units[own:last])
        pages, kind = places.pages(start, end), places.kind(start, end)
        found.append(Piece(text, headings, *pages, start, end, kind))
    return found


def _units(markdown: str, tick: Callable[[], None]) -> list[Unit]:
    found: list[Unit] = []
    known = blocks(markdown, tick)
    ends = [*(block.start for block in known[1:]), len(markdown)]
    for block, end in zip(known, ends, strict=True):
        found += _of_block(markdown, block, end, tick)
    return found


def _of_block(markdown: str, block: Block, end: int, tick: Callable[[], None]) -> list[Unit]:
    """Prose in sentences, as many as an overlap takes; rows and code whole, where they fit."""
    text = markdown[block.start : end]
    most = OVERLAP if block.kind == Kind.PROSE else MOST
    if len(text) <= _SLAB and (size := _size(text)) <= most:
        return [Unit(block.start, end, size, block.cut, block.headings)]
    inside = Cut.SENTENCE if block.kind == Kind.PROSE else Cut.INSIDE
    edges = [block.start + offset for offset in _edges(text, tick)]
    return [
        Unit(start, stop, _size(markdown[start:stop]), inside if i else block.cut, block.headings)
        for i, (start, stop) in enumerate(pairwise([*edges, end]))
    ]


def _size(text: str) -> int:
    return tokens.count(marks.without(text))


def _edges(text: str, tick: Callable[[], None]) -> list[int]:
    """Where parts of at most an overlap's tokens begin: sentences, lines or words."""
    from semantic_text_splitter import TextSplitter

    splitter = TextSplitter.from_callback(tokens.count, OVERLAP, trim=False)
    found: list[int] = []
    for slab in range(0, len(text), _SLAB):
        tick()
        for offset, part in splitter.chunk_indices(text[slab : slab + _SLAB]):
            # A letter with a hundred accents is one to the splitter.
            step = MOST // _TOKENS_PER_CHARACTER if tokens.count(part) > OVERLAP else len(part)
            found += [slab + offset + at for at in range(0, len(part), step)]
    return found


def _headings(units: list[Unit]) -> tuple[str, ...]:
    """Those that its first words stand under, where it begins with headings alone."""
    for before, after in pairwise(units):
        if after.cut != Cut.GLUED:
            return before.headings
    return units[-1].headings


class _Places:
    """Pages and images of a text, by offset."""

    def __init__(self, markdown: str) -> None:
        self.markdown = markdown
        self.pages_at: list[tuple[int, int]] = []
        self.images: list[tuple[int, int, str]] = []
        opened: tuple[int, str] | None = None
        for mark in marks.MARK.finditer(markdown):
            if mark["page"]:
                self.pages_at.append((mark.start(), int(mark["page"])))
            elif mark["kind"]:
                opened = mark.end(), mark["kind"]
            elif opened:
                self.images.append((opened[0], mark.start(), opened[1]))
                opened = None

    def pages(self, start: int, end: int) -> tuple[int | None, int | None]:
        said = _AHEAD.match(self.markdown, start)
        return self._page(min(said.end() if said else start, end - 1)), self._page(end - 1)

    def _page(self, offset: int) -> int | None:
        place = bisect_right(self.pages_at, (offset, 1 << 60))
        return self.pages_at[place - 1][1] if place else None

    def kind(self, start: int, end: int) -> str:
        """What most of it is; of what was made of images, the most frequent kind."""
        shares = {
            kind: sum(
                max(0, min(end, stop) - max(start, begin))
                for begin, stop, name in self.images
                if name == kind
            )
            for kind in marks.SAID
        }
        best = max(shares, key=lambda kind: shares[kind])
        return best if sum(shares.values()) * 2 > end - start else "text"
