"""HTML, as a reader in a browser would see it: no scripts, nothing that is hidden."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from knowledge import marks
from knowledge.conversion.images import Parts, Reader, in_one_line, marked
from knowledge.conversion.shape import Read, Unreadable

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

# Deeper than any page that is meant to be read; the converter works by recursion.
DEEPEST = 300
MOST_RULES = 500
_DROPPED = (
    "script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "svg",
    "canvas", "audio", "video", "form input", "textarea", "select", "link", "meta", "head base",
)  # fmt: skip
_HIDES = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d]*[1-9])"
    r"|opacity\s*:\s*0(?![.\d]*[1-9])",
    re.I,
)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<src>[^)\s]*)(?:\s+\"[^\"]*\")?\)")
_DATA = re.compile(r"data:image/[\w.+-]+;base64,(?P<data>.*)", re.S | re.I)
# Alternative texts that say nothing.
_EMPTY_ALT = re.compile(
    r"(?:image|picture|img|photo|logo|grafik|bild|figure)?[\s\d_.-]*"
    r"|\S+\.(?:png|jpe?g|gif|bmp|tiff?|webp|svg|emf|wmf)",
    re.I,
)


def read(content: bytes, *, charset: str = "") -> Read:
    """Raises Unreadable."""
    reader = Reader()
    soup = seen(content, charset)
    title = soup.title.get_text() if soup.title else ""
    markdown = with_images(to_markdown(soup), reader)
    if not marks.without(markdown).strip():
        raise Unreadable("empty", "The page shows no text without running its scripts.")
    return Read(markdown, title=title, notes=reader.notes)


def seen(content: bytes, charset: str = "") -> "BeautifulSoup":
    """What the page shows."""
    from bs4 import BeautifulSoup, Comment

    soup = BeautifulSoup(content, "lxml", from_encoding=charset or None)
    _check_depth(soup)
    hidden = list(_hidden_by_rules(soup))
    for selector in _DROPPED:
        for tag in soup.select(selector):
            tag.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for tag in [*hidden, *soup.find_all(_is_hidden)]:
        if not tag.decomposed:
            tag.decompose()
    return soup


def to_markdown(soup: "BeautifulSoup") -> str:
    from markitdown.converters import HtmlConverter

    page = HtmlConverter().convert_string(str(soup), keep_data_uris=True, strict=True)
    return marks.foreign(page.markdown) + "\n"


def with_images(markdown: str, reader: Reader) -> str:
    """The caption of an image and the words in it in the place where it stood."""
    return "\n".join(_line(line, reader) for line in markdown.split("\n"))


def _line(line: str, reader: Reader) -> str:
    if "![" not in line:
        return line
    in_table = line.lstrip().startswith("|")

    def told(match: re.Match[str]) -> str:
        caption = "" if _EMPTY_ALT.fullmatch(match["alt"]) else match["alt"].strip()
        parts = [(marks.CAPTION, caption), *_seen(match["src"], reader)]
        if in_table:
            return in_one_line(parts).replace("|", "/")
        return f"\n\n{marked(parts)}\n"

    return _IMAGE.sub(told, line)


def _seen(source: str, reader: Reader) -> Parts:
    """Only of an image that is in the file itself: nothing is fetched."""
    found = _DATA.fullmatch(source)
    if found is None:
        return []
    try:
        return reader.within(base64.b64decode(found["data"]))
    except (binascii.Error, ValueError):
        return []


def _check_depth(soup: "BeautifulSoup") -> None:
    deepest = 0
    here: list[tuple[Any, int]] = [(soup, 0)]
    while here:
        node, depth = here.pop()
        deepest = max(deepest, depth)
        if deepest > DEEPEST:
            raise Unreadable("hostile", "The page is nested deeper than any page is.")
        here += [(child, depth + 1) for child in node.children if hasattr(child, "children")]


def _is_hidden(tag: "Tag") -> bool:
    style = tag.get("style") or ""
    return (
        tag.has_attr("hidden")
        or tag.get("type") == "hidden"
        or _HIDES.search(str(style)) is not None
    )


def _hidden_by_rules(soup: "BeautifulSoup") -> Iterator[Any]:
    """What the page's own style sheets hide on any screen. Rules within @media and the like hold
    only sometimes, and those of other files can't be known."""
    rules = 0
    for sheet in soup.find_all("style"):
        text = _COMMENT.sub("", sheet.get_text())
        for selector, body in _RULE.findall(_without_at_rules(text)):
            rules += 1
            if rules > MOST_RULES:
                return
            if _HIDES.search(body):
                yield from _selected(soup, selector.strip())


def _selected(soup: "BeautifulSoup", selector: str) -> list[Any]:
    from soupsieve import SelectorSyntaxError

    try:
        return list(soup.select(selector))
    except (SelectorSyntaxError, NotImplementedError, ValueError):
        return []


def _without_at_rules(sheet: str) -> str:
    """Blocks that begin with @ are left out with all that is in them."""
    kept, depth, skipping = [], 0, False
    for part in re.split(r"([{}])", sheet):
        if depth == 0 and "@" in part:
            skipping = True
        if not skipping:
            kept.append(part)
        depth += {"{": 1, "}": -1}.get(part, 0)
        if depth <= 0:
            depth, skipping = 0, skipping and part != "}"
    return "".join(kept)
