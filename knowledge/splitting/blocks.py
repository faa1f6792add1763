"""The blocks of a Markdown text: where each begins, what it stands under, how well one may cut
before it. Pure."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING

from knowledge import marks
from knowledge.conversion.shape import Unreadable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

# A line that begins a page or an image, or an empty one.
_MARK_OR_NOTHING = re.compile(f"(?P<mark>[{marks.PAGE}{marks.BEGIN}])|[ \\t]*[\r\n]")
_LINE_END = re.compile("\r\n|\r|\n")
# What themes of documentation hang on a heading to link to it.
_PERMALINK = re.compile("[¶\uf0c1]+\\s*$")
# Without one of these a heading is its own words.
_MARKUP = re.compile(r"[\[\]`*_\\<&!~]")
HEADING = 300  # characters of one that are kept
# What the parser makes is held in memory until the text is cut, at up to 370 bytes for each part.
# The most by which a process grew over a text of one kind with as many lines as are read: 920 MB
# for headings, 790 MB for a list.
MOST_PARTS = 2_000_000
_TOO_MANY = (
    "The text has more paragraphs, items and cells of tables than can be kept apart: some 600,000"
    " paragraphs, 400,000 items of lists or 100,000 rows of 17 columns fit. Split the document and"
    " add the parts."
)
_TICK = "tick"  # a rule of the parser, and where it finds whom to tell
_CELLS = {"th", "td"}
_CONTAINERS = {"list_item", "dd", "blockquote"}
# What is quoted, such as the text of an image, heads nothing beyond the quote.
_PARAGRAPHS = {"paragraph", "dt", "heading"}


class Cut(IntEnum):
    """The worst places first."""

    # Right after a heading, a table's head or a term that is being defined.
    GLUED = 0
    # Within a row or a block of code.
    INSIDE = 1
    # Between sentences, or within an item.
    SENTENCE = 2
    # Between rows or items.
    ITEM = 3
    BLOCK = 4
    SECTION = 5


class Kind(IntEnum):
    PROSE = 0
    # Rows and code: cut only if it can't be helped.
    WHOLE = 1


@dataclass(frozen=True, slots=True)
class Block:
    """It reaches up to the next one. `cut`: before it."""

    start: int
    kind: Kind
    cut: Cut
    headings: tuple[str, ...]


def blocks(markdown: str, tick: Callable[[], None] = lambda: None) -> list[Block]:
    """Together they cover the whole text. Raises Unreadable."""
    offsets = [0, *(match.end() for match in _LINE_END.finditer(markdown)), len(markdown)]
    found: list[Block] = []
    for line, block in _walk(_parser().parse(_blanked(markdown), {_TICK: tick})):
        tick()
        line = _first_line(markdown, offsets, min(line, len(offsets) - 1))
        start = offsets[line] if found else 0
        if not found or start > found[-1].start:
            found.append(Block(start, block.kind, block.cut, block.headings))
    return found or [Block(0, Kind.PROSE, Cut.BLOCK, ())]


def _first_line(markdown: str, offsets: list[int], line: int) -> int:
    """The marks above a block are its own."""
    first = line
    while line and (mark := _MARK_OR_NOTHING.match(markdown, offsets[line - 1])):
        line -= 1
        if mark["mark"]:
            first = line
    return first


@cache
def _parser() -> "MarkdownIt":
    """Blocks alone: what stands within them is read for headings only. Indented text is seldom
    code in what converters write."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.deflist import deflist_plugin

    parser = MarkdownIt("commonmark").enable("table").disable("code").use(deflist_plugin)
    parser.core.ruler.enableOnly(["normalize", "block"])
    parser.core.ruler.at("block", _parse)
    within = ["paragraph", "reference", "blockquote", "list"]
    parser.block.ruler.before("table", _TICK, _ask_for_time, {"alt": within})
    return parser


def _parse(state: "StateCore") -> None:
    state.tokens = _Made()
    state.md.block.parse(state.src, state.md, state.env, state.tokens)


class _Made(list["Token"]):
    """What the parser makes, without the cells of tables: nobody asks for those. They count, since
    short rows are filled up to the width of their head: a line of one character makes thousands."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = 0
        self.in_cell = False

    def append(self, token: "Token") -> None:
        if token.tag in _CELLS:
            self.in_cell = token.nesting == 1
            self.cells += self.in_cell
        elif not self.in_cell:
            super().append(token)
        if len(self) + self.cells > MOST_PARTS:
            raise Unreadable("too_long", _TOO_MANY)


def _ask_for_time(state: "StateBlock", line: int, end: int, silent: bool) -> bool:
    """A rule that fits nothing and is tried at each line: millions of them take minutes."""
    state.env[_TICK]()
    return False


def _blanked(markdown: str) -> str:
    """Marks are no text; lines and offsets stay."""
    return marks.MARK.sub(lambda found: re.sub("[^\n]", " ", found[0]), markdown)


class _State:
    def __init__(self) -> None:
        self.inside = self.quoted = 0
        self.path: list[tuple[int, str]] = []
        # How well one may cut before the next block, where that is known beforehand.
        self.next: Cut | None = None

    @property
    def headings(self) -> tuple[str, ...]:
        return tuple(text for _, text in self.path)

    def enter(self, level: int, text: str) -> None:
        self.path = [(depth, above) for depth, above in self.path if depth < level]
        if text:
            self.path.append((level, text))

    def take(self) -> Cut:
        usual = Cut.SENTENCE if self.inside else Cut.BLOCK
        taken, self.next = self.next, None
        return usual if taken is None else taken

    def item(self) -> None:
        """The next block begins a row, an item or a definition."""
        if self.next is None:
            self.next = Cut.SENTENCE if self.inside else Cut.ITEM


def _walk(tokens: "list[Token]") -> Iterator[tuple[int, Block]]:
    """Every block with the line that it begins on."""
    state, rows = _State(), 0
    for place, token in enumerate(tokens):
        name = token.type.removesuffix("_open").removesuffix("_close")
        if name == "table":
            rows = 0
        if name == "heading" and not state.quoted and token.nesting == 1 and token.map:
            glued = state.next == Cut.GLUED
            cut = state.take()
            state.enter(int(token.tag[1:]), plain(tokens[place + 1].content))
            yield token.map[0], Block(0, Kind.PROSE, cut if glued else Cut.SECTION, state.headings)
            state.next = Cut.GLUED
        elif name == "tr" and token.nesting == 1 and token.map:
            state.item()
            yield token.map[0], Block(0, Kind.WHOLE, state.take(), state.headings)
            rows += 1
            state.next = Cut.GLUED if rows == 1 else None
        elif name in _PARAGRAPHS and token.nesting == 1 and token.map:
            if name == "dt":
                state.item()
            yield token.map[0], Block(0, Kind.PROSE, state.take(), state.headings)
            state.next = Cut.GLUED if name == "dt" else None
        elif token.nesting == 0 and token.map and name not in {"inline", "hr"}:
            yield token.map[0], Block(0, _kind(name), state.take(), state.headings)
        elif name in _CONTAINERS:
            if token.nesting == 1 and name == "list_item":
                state.item()
            state.inside += token.nesting
            state.quoted += token.nesting * (name == "blockquote")


def _kind(name: str) -> Kind:
    return Kind.WHOLE if name == "fence" else Kind.PROSE


def plain(heading: str) -> str:
    """Its words, without links and emphasis."""
    words = _without_markup(heading) if _MARKUP.search(heading) else heading
    return _PERMALINK.sub("", " ".join(words.split())).strip()[:HEADING].strip()


def _without_markup(heading: str) -> str:
    [inline] = _inline().parseInline(heading[: 2 * HEADING])
    return "".join(
        token.content if token.type in {"text", "code_inline"} else " "
        for token in inline.children or []
        if token.nesting == 0
    )


@cache
def _inline() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
