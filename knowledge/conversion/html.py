"""HTML, as a reader in a browser would see it: no scripts, nothing that is hidden."""

import base64
import binascii
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from knowledge import marks
from knowledge.conversion import grids, unseen
from knowledge.conversion.images import Parts, Reader, in_one_line, marked
from knowledge.conversion.shape import HIDDEN, Read, Unreadable

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

# Deeper than any page that is meant to be read; the converter works by recursion.
DEEPEST = 300
_DROPPED = (
    "script", "style", "noscript", "template", "iframe", "object", "embed", "applet", "svg",
    "canvas", "audio", "video", "form input", "textarea", "select", "link", "meta", "head base",
    "img[width='0']", "img[width='1']", "img[height='0']", "img[height='1']",
)  # fmt: skip
# Neither part reaches over the beginning of another one, so that no line takes long.
_IMAGE = re.compile(
    r"!\[(?P<alt>[^\[\]]*)\]\((?P<src>[^)\s!]*(?:!(?!\[)[^)\s!]*)*)(?:\s+\"[^\"]*\")?\)"
)
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
    soup, hidden = seen(content, charset)
    title = soup.title.get_text() if soup.title else ""
    markdown = with_images(to_markdown(soup), reader)
    if not marks.without(markdown).strip():
        raise Unreadable("empty", "The page shows no text without running its scripts.")
    return Read(markdown, title=title, notes=reader.notes + [HIDDEN] * hidden)


def seen(content: bytes, charset: str = "") -> tuple["BeautifulSoup", bool]:
    """What the page shows, and whether it hides something on the sly."""
    from bs4 import BeautifulSoup, Comment

    soup = BeautifulSoup(content, "lxml", from_encoding=charset or None)
    _check_depth(soup)
    hidden = unseen.remove(soup)
    for selector in _DROPPED:
        for tag in soup.select(selector):
            tag.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    return soup, hidden


def to_markdown(soup: "BeautifulSoup") -> str:
    from markitdown.converters import HtmlConverter

    grids.level(soup)
    page = HtmlConverter().convert_string(str(soup), keep_data_uris=True, strict=True)
    return marks.foreign(page.markdown) + "\n"


def with_images(
    markdown: str, reader: Reader, part: Callable[[str], bytes | None] = lambda source: None
) -> str:
    """The caption of an image and the words in it in the place where it stood. `part`: one of the
    file itself that is named so, where it has parts."""
    return "\n".join(_line(line, reader, part) for line in markdown.split("\n"))


def _line(line: str, reader: Reader, part: Callable[[str], bytes | None]) -> str:
    if "![" not in line:
        return line
    in_table = line.lstrip().startswith("|")

    def told(match: re.Match[str]) -> str:
        parts = [(marks.CAPTION, caption(match["alt"])), *_seen(match["src"], reader, part)]
        if in_table:
            return in_one_line(parts).replace("|", "/")
        return f"\n\n{marked(parts)}\n"

    return _IMAGE.sub(told, line)


def caption(alt: str) -> str:
    """An alternative text, where it says anything."""
    return "" if _EMPTY_ALT.fullmatch(alt) else alt.strip()


def _seen(source: str, reader: Reader, part: Callable[[str], bytes | None]) -> Parts:
    """Only of an image that is in the file itself: nothing is fetched."""
    found = _DATA.fullmatch(source)
    try:
        content = base64.b64decode(found["data"]) if found else part(source)
    except (binascii.Error, ValueError):
        return []
    return reader.within(content) if content else []


def _check_depth(soup: "BeautifulSoup") -> None:
    deepest = 0
    here: list[tuple[Any, int]] = [(soup, 0)]
    while here:
        node, depth = here.pop()
        deepest = max(deepest, depth)
        if deepest > DEEPEST:
            raise Unreadable("hostile", "The page is nested deeper than any page is.")
        here += [(child, depth + 1) for child in node.children if hasattr(child, "children")]
