"""Word by markitdown, PowerPoint slide by slide; Excel by openpyxl, a row at a time, each sheet a
page."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from knowledge import marks
from knowledge.conversion import (
    packs,
    sheet_pictures,
    slides,
    tables,
    unseen_office,
    unseen_sheets,
    words,
)
from knowledge.conversion.html import with_images
from knowledge.conversion.images import Reader
from knowledge.conversion.shape import DAMAGED, HIDDEN, Read, Tell, Unreadable

T = TypeVar("T")
HIDDEN_LINES = "Hidden rows and columns were left out."
HIDDEN_SLIDES = "Hidden slides were left out."
LEFT_OUT_ROWS = (
    f"Only the first {tables.MOST_ROWS:,} rows and {tables.MOST_COLUMNS} columns of a sheet are"
    " read."
)


def read_word(path: Path, tell: Tell) -> Read:
    packs.check(path, without_entities=True)
    reader = Reader()
    shown, hidden = _cleared(unseen_office.word, path)
    with _damage(), shown:
        markdown = words.markdown(shown)
    markdown = with_images(markdown, reader)
    notes = reader.notes + [HIDDEN] * hidden
    return _told(markdown, title=_core_title(path), notes=notes)


def read_slides(path: Path, tell: Tell) -> Read:
    packs.check(path, without_entities=True)
    reader = Reader()
    shown, put_away, hidden = _cleared(unseen_office.slides, path)
    with _damage(), shown:
        parts = slides.pages(shown, reader, tell)
    notes = reader.notes + [HIDDEN_SLIDES] * put_away + [HIDDEN] * hidden
    return _told("\n".join(parts), title=_core_title(path), pages=len(parts), notes=notes)


def read_sheets(path: Path, tell: Tell) -> Read:
    from openpyxl import load_workbook

    packs.check(path, without_entities=True)
    reader, parts = Reader(), list[str]()
    notes: dict[str, None] = {}
    with _damage(), path.open("rb") as file:
        book = load_workbook(file, read_only=True, data_only=True)
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        for number, sheet in enumerate(sheets, start=1):
            unseen = unseen_sheets.of(sheet)
            table, cut = tables.of(unseen.shown(sheet.iter_rows()))
            shown = sheet_pictures.of(sheet, unseen, reader)
            told = {LEFT_OUT_ROWS: cut, HIDDEN_LINES: unseen.lines, HIDDEN: unseen.cells}
            notes |= {note: None for note, holds in told.items() if holds}
            name = " ".join(marks.foreign(str(sheet.title)).split())
            parts.append(f"{marks.page(number)}## {name}\n\n{table}\n{shown}")
            tell(number, len(sheets))
    return _told(
        "\n".join(parts), title=_core_title(path), pages=len(parts), notes=[*notes, *reader.notes]
    )


def _cleared(clear: Callable[[Path], T], path: Path) -> T:
    with _damage():
        return clear(path)


@contextmanager
def _damage() -> Iterator[None]:
    """What the libraries below raise, in our words."""
    try:
        yield
    except (MemoryError, RecursionError, Unreadable):
        raise
    except Exception as error:  # they raise what they like
        raise Unreadable("damaged", DAMAGED) from error


def _core_title(path: Path) -> str:
    import zipfile
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring

    try:
        with zipfile.ZipFile(path) as pack:
            root = fromstring(pack.read("docProps/core.xml"))
    except (KeyError, ParseError, ValueError, zipfile.BadZipFile):
        return ""
    return root.findtext("{http://purl.org/dc/elements/1.1/}title") or ""


def _told(markdown: str, *, title: str, notes: list[str], pages: int | None = None) -> Read:
    if not re.sub(r"[#|\s-]", "", marks.without(markdown)):
        raise Unreadable("empty", "There is no text in the file.")
    return Read(markdown, title=title, pages=pages, notes=notes)
