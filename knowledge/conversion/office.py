"""Word and PowerPoint by markitdown; Excel by openpyxl, a row at a time, each sheet a page."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from knowledge import marks
from knowledge.conversion import packs
from knowledge.conversion.html import with_images
from knowledge.conversion.images import Reader
from knowledge.conversion.shape import DAMAGED, Read, Tell, Unreadable

_SLIDE = re.compile(r"^<!-- Slide number: (\d+) -->$\n?", re.M)
MOST_ROWS, MOST_COLUMNS = 100_000, 200
LEFT_OUT_ROWS = f"Only the first {MOST_ROWS:,} rows and {MOST_COLUMNS} columns of a sheet are read."


def read_word(path: Path, tell: Tell) -> Read:
    from markitdown.converters import DocxConverter

    packs.check(path, without_entities=True)
    reader = Reader()
    markdown = with_images(marks.foreign(_converted(DocxConverter, path)), reader)
    return _told(markdown, title=_core_title(path), notes=reader.notes)


def read_slides(path: Path, tell: Tell) -> Read:
    from markitdown.converters import PptxConverter

    packs.check(path, without_entities=True)
    reader = Reader()
    slides = _slides(marks.foreign(_converted(PptxConverter, path)))
    parts = []
    for number, text in enumerate(slides, start=1):
        parts.append(marks.page(number) + with_images(text, reader))
        tell(number, len(slides))
    return _told("\n".join(parts), title=_core_title(path), pages=len(slides), notes=reader.notes)


def read_sheets(path: Path, tell: Tell) -> Read:
    from openpyxl import load_workbook

    packs.check(path, without_entities=True)
    parts, notes = [], []
    with path.open("rb") as file:
        try:
            book = load_workbook(file, read_only=True, data_only=True)
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            for number, sheet in enumerate(sheets, start=1):
                table, cut = _table(sheet.iter_rows(values_only=True))
                notes += [LEFT_OUT_ROWS] if cut and LEFT_OUT_ROWS not in notes else []
                name = " ".join(marks.foreign(str(sheet.title)).split())
                parts.append(f"{marks.page(number)}## {name}\n\n{table}\n")
                tell(number, len(sheets))
        except Unreadable:
            raise
        except (MemoryError, RecursionError):
            raise
        except Exception as error:  # openpyxl lets whatever went wrong below it through
            raise Unreadable("damaged", DAMAGED) from error
    return _told("\n".join(parts), title=_core_title(path), pages=len(parts), notes=notes)


def _converted(converter: Callable[[], Any], path: Path) -> str:
    from markitdown import StreamInfo

    with path.open("rb") as file:
        try:
            return str(converter().convert(file, StreamInfo(), keep_data_uris=True).markdown)
        except (MemoryError, RecursionError):
            raise
        except Exception as error:  # the libraries below it raise what they like
            raise Unreadable("damaged", DAMAGED) from error


def _slides(markdown: str) -> list[str]:
    """A slide that itself says such a mark does not count as another one."""
    starts: list[re.Match[str]] = []
    for match in _SLIDE.finditer(markdown):
        if int(match[1]) == len(starts) + 1:
            starts.append(match)
    ends = [*(match.start() for match in starts[1:]), len(markdown)]
    return [markdown[match.end() : end] for match, end in zip(starts, ends, strict=True)]


def _table(rows: Iterable[tuple[Any, ...]]) -> tuple[str, bool]:
    """The rows with something in them as a table, and whether some were left out."""
    lines: list[str] = []
    width, cut = 0, False
    for cells in _filled(rows):
        if len(lines) > MOST_ROWS:
            cut = True
            break
        cut = cut or len(cells) > MOST_COLUMNS
        width = width or min(len(cells), MOST_COLUMNS)
        cells = [*cells[:MOST_COLUMNS], *[""] * (width - len(cells))]
        lines.append(f"| {' | '.join(cells)} |")
        if len(lines) == 1:
            lines.append(f"|{' --- |' * width}")
    return "\n".join(lines), cut


def _filled(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[str]]:
    for row in rows:
        cells = [_cell(value) for value in row]
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return " ".join(marks.foreign(str(value)).replace("|", "\\|").split())


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
