"""EPUB by markitdown, each chapter as a browser would show it, with the pictures in the book."""

import posixpath
import zipfile
import zlib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote, unquote

from knowledge import marks
from knowledge.conversion import html, packs
from knowledge.conversion.images import Reader
from knowledge.conversion.shape import DAMAGED, HIDDEN, PROTECTED, Read, Tell, Unreadable

if TYPE_CHECKING:
    from bs4 import BeautifulSoup


def read(path: Path, tell: Tell) -> Read:
    packs.check(path, without_entities=False)
    _refuse_locked(path)
    with path.open("rb") as file:
        try:
            converter, hidden = _converter()
            book = converter.convert(file, _no_info())
        except (MemoryError, RecursionError, Unreadable):
            raise
        except Exception as error:  # the libraries below it raise what they like
            raise Unreadable("damaged", DAMAGED) from error
    reader = Reader()
    with zipfile.ZipFile(path) as pack:
        markdown = html.with_images(marks.foreign(book.markdown), reader, partial(_part, pack))
    if not markdown.strip():
        raise Unreadable("empty", "There is no text in the book.")
    notes = reader.notes + [HIDDEN] * any(hidden)
    return Read(markdown, title=book.title or "", notes=notes)


def _refuse_locked(path: Path) -> None:
    """Shops lock the chapters and leave the pack open. Locked fonts are no hindrance."""
    with zipfile.ZipFile(path) as pack:
        if "META-INF/rights.xml" in pack.namelist():
            raise Unreadable("protected", PROTECTED)


def _part(pack: zipfile.ZipFile, source: str) -> bytes | None:
    try:
        return pack.read(unquote(source))
    except (KeyError, zipfile.BadZipFile, OSError, EOFError, zlib.error, NotImplementedError):
        return None


def _name_in_full(page: "BeautifulSoup", chapter: str) -> None:
    """What a picture is called in the book, not as seen from its chapter."""
    for image in page.find_all("img", src=True):
        source = str(image["src"])
        if not source.startswith("data:"):
            place = posixpath.join(posixpath.dirname(chapter), unquote(source))
            image["src"] = quote(posixpath.normpath(place))


def _no_info() -> Any:
    from markitdown import StreamInfo

    return StreamInfo()


def _converter() -> tuple[Any, list[bool]]:
    """And a list of whether each chapter that it read hides something."""
    from markitdown import DocumentConverterResult, StreamInfo
    from markitdown.converters import EpubConverter, HtmlConverter

    hidden: list[bool] = []

    class Chapters(HtmlConverter):
        def convert(
            self, file_stream: BinaryIO, stream_info: StreamInfo, **options: Any
        ) -> DocumentConverterResult:
            page, hides = html.seen(file_stream.read())
            hidden.append(hides)
            _name_in_full(page, str(getattr(file_stream, "name", "")))
            return DocumentConverterResult(html.to_markdown(page))

    class Books(EpubConverter):
        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]
            self._html_converter = Chapters()

    return Books(), hidden
