"""PDF by PDFium, page by page: the text layer, with what its pictures say, or where there is almost
none what can be recognised.

markitdown reads PDF too, but without page numbers and at a hundredth of the speed. What the outline
names becomes a heading where the page says it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from knowledge import marks
from knowledge.conversion import unseen_pdf
from knowledge.conversion.figures_pdf import Figure, cut, drawn, figures
from knowledge.conversion.images import LONG_SIDE, MOST_PIXELS, Parts, Reader, marked
from knowledge.conversion.shape import DAMAGED, HIDDEN, PROTECTED, Read, Tell, Unreadable
from knowledge.conversion.unseen_pdf import Picture

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MOST_PAGES = 5_000
MOST_OUTLINE = 20_000
# A page with fewer characters than this has almost no text layer, only a number or a stamp.
ALMOST_NONE = 25
_DPI = 200
# PDFium's words for a hyphen at the end of a line, and for the end of a line.
_BROKEN_WORD = re.compile("(?:\x02|\ufffe)\\s*\n?")
_PASSWORD = 4
# Where a figure stands, while headings are sought: a line that no document can say.
_FIGURE = marks.END

Outline = dict[int, list[tuple[int, str]]]


def read(path: Path, tell: Tell) -> Read:
    pdf = _opened(path)
    count = len(pdf)
    if not count:
        raise Unreadable("empty", "The PDF has no pages.")
    if count > MOST_PAGES:
        raise Unreadable(
            "too_long",
            f"The PDF has {count:,} pages; at most {MOST_PAGES:,} are read. Split it and add the"
            " parts.",
        )
    reader, outline = Reader(), _outline(pdf)
    parts, unread, hiding = [], 0, list[bool]()
    for number in range(count):
        text = _page(pdf, number, outline.get(number, []), reader, hiding)
        unread += text is None
        parts.append(marks.page(number + 1) + (text or ""))
        tell(number + 1, count)
    notes = [*reader.notes, *[HIDDEN] * any(hiding)]
    if unread:
        notes.append(f"{unread} damaged pages were left out.")
    if not any(marks.without(part).strip() for part in parts):
        raise reader.nothing("No text could be found or recognised in the PDF.")
    return Read("\n".join(parts), title=_title(pdf), pages=count, notes=notes)


def _opened(path: Path) -> "PdfDocument":
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        return PdfDocument(path)
    except PdfiumError as error:
        if error.err_code == _PASSWORD:
            raise Unreadable("protected", PROTECTED) from error
        raise Unreadable("damaged", DAMAGED) from error


def _page(
    pdf: "PdfDocument",
    number: int,
    headings: list[tuple[int, str]],
    reader: Reader,
    hiding: list[bool],
) -> str | None:
    """None for a page that can't be read. `hiding` is told whether it hides text."""
    from pypdfium2 import PdfiumError

    try:
        page = pdf[number]
        hides, pictures = unseen_pdf.remove(page)
        hiding.append(hides)
        text, shown = _text(page, pictures)
        if sum(not char.isspace() for char in text.replace(_FIGURE, "")) >= ALMOST_NONE:
            if shown and max(one.pixels for one in pictures) > MOST_PIXELS:
                reader.too_large, shown = True, []  # drawing it may take all memory
            told = _told(page, shown, reader)
            page.close()
            return _filled(_with_headings(text, headings), told)
        seen = marked(_seen(page, reader))
        page.close()
    except (PdfiumError, Unreadable):
        return None
    return _filled(_with_headings(text, headings), []) + ("\n" + seen if seen else "")


def _text(page: "PdfPage", pictures: list[Picture]) -> tuple[str, list[Figure]]:
    """With a mark for each figure that stands within."""
    layer = page.get_textpage()
    shown = figures(page, layer, pictures)
    places = [0, *(one.at for one in shown), layer.count_chars()]
    parts = [
        str(layer.get_text_range(begin, end - begin)).replace("\r\n", "\n").replace("\r", "\n")
        for begin, end in pairwise(places)
    ]  # fmt: skip
    layer.close()
    bare = [marks.foreign(_BROKEN_WORD.sub("", part)) for part in parts]
    return f"\n{_FIGURE}\n".join(bare), shown


def _filled(text: str, told: list[str]) -> str:
    """With what each figure says in its place."""
    before, *parts = text.split(f"{_FIGURE}\n")
    told += [""] * (len(parts) - len(told))
    return before + "".join(f"{words}{part}" for words, part in zip(told, parts, strict=True))


def _told(page: "PdfPage", shown: list[Figure], reader: Reader) -> list[str]:
    """Of each figure. One that can't be drawn takes nothing of the text away."""
    from pypdfium2 import PdfiumError

    told: list[str] = []
    with suppress(PdfiumError, Unreadable):
        told += (marked(parts) for parts in _looked_at(page, shown, reader))
    return told


def _looked_at(page: "PdfPage", shown: list[Figure], reader: Reader) -> Iterator[Parts]:
    drawing = None
    for one in shown:
        if not reader.may_look(beside_text=not one.is_scan):
            yield []
            continue
        drawing = drawing or drawn(page, _scale(page))
        picture = cut(page, drawing, one.box)
        yield reader.look(picture) if one.is_scan else reader.once(picture)


def _seen(page: "PdfPage", reader: Reader) -> Parts:
    if next(iter(page.get_objects(max_depth=3)), None) is None:
        return []
    return reader.look(page.render(scale=_scale(page)).to_pil())


def _scale(page: "PdfPage") -> float:
    width, height = page.get_size()
    return min(_DPI / 72, float(LONG_SIDE / max(width, height, 1)))


def _outline(pdf: "PdfDocument") -> Outline:
    """Level and title of what the outline names, by page."""
    from pypdfium2 import PdfiumError

    found: Outline = defaultdict(list)
    try:
        for title, level, page in _entries(pdf):
            found[page].append((min(level + 1, 6), title))
    except (PdfiumError, ValueError, RecursionError):  # the text is there without it
        pass
    return found


def _entries(pdf: "PdfDocument") -> Iterator[tuple[str, int, int]]:
    for number, mark in enumerate(pdf.get_toc(max_depth=6)):
        if number >= MOST_OUTLINE:
            return
        target = mark.get_dest()
        page = target.get_index() if target else None
        title = " ".join(marks.foreign(mark.get_title()).split())
        if page is not None and title:
            yield title, mark.level, page


def _with_headings(text: str, headings: list[tuple[int, str]]) -> str:
    """A line that says what the outline says is its heading. One that no line says stands before
    what comes next, so that the path stays right."""
    lines, start = text.split("\n"), 0
    for level, title in headings:
        wanted = _bare(title)
        at = next((i for i in range(start, len(lines)) if _bare(lines[i]) == wanted), None)
        mark = f"{'#' * level} {title}"
        if at is None:
            lines.insert(start, mark)
        else:
            lines[at] = mark
            start = at
        start += 1
    return "\n".join(lines) + "\n"


def _bare(line: str) -> str:
    """Without the number before it, the leader and the page number behind it."""
    letters = re.sub(r"[\W_]+", " ", line).strip().casefold()
    return re.sub(r"^(?:chapter|section|part)?\s*(?:[\divx]+\s)+|\s\d+$", "", letters)


def _title(pdf: Any) -> str:
    return str(pdf.get_metadata_dict(skip_empty=True).get("Title", ""))
