"""Pictures on a page of a PDF that has text: figures, and scans that somebody put a stamp on.

They are cut out of a drawing of the page without its text, so that they are seen as they stand
there and no word is read twice. A picture whose words are in the text already is left alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knowledge.conversion.unseen_pdf import INVISIBLE, Box, Picture, pixels, touch

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage, PdfTextPage

# What fills so much of its page is the page itself; what fills less than the other, five
# centimetres squared of a letter, is an icon, a logo or an ornament.
SCAN, FIGURE = 1 / 2, 1 / 25
# In all, below which no line of words can be read.
LEAST_PIXELS = 10_000
# Characters over a picture from which on they are its own words. A scanner's invisible ones have
# no other reason to be there. Others may be a stamp on it, of up to some 300 characters on a whole
# page (one for each two square centimetres); a page of print has 2,000.
INVISIBLE_WORDS = VISIBLE_WORDS = 25
POINTS_FOR_ONE = 1_600
# Scanners cut a page into strips that touch but for so many points.
_GAP = 2.0
# With more, all are taken together: pairing them takes long.
_MOST = 300
_LINE_ENDS = (10, 13)


@dataclass(frozen=True, slots=True)
class Figure:
    """`at`: the number of the character before which it stands."""

    at: int
    box: Box
    is_scan: bool


def figures(page: "PdfPage", layer: "PdfTextPage", pictures: list[Picture]) -> list[Figure]:
    """Those worth reading, in the order in which they stand in the text."""
    paper = page.get_bbox()
    whole = max(_area(paper), 1)
    boxes = [
        one.box for one in _joined(_on(paper, pictures))
        if _area(one.box) >= FIGURE * whole and one.pixels >= LEAST_PIXELS
        and not _says_itself(layer, one.box)
    ]  # fmt: skip
    lines = list(_lines(page, layer)) if boxes else []
    found = [
        Figure(_place(page, box, lines), box, _area(box) >= SCAN * whole) for box in boxes
    ]  # fmt: skip
    return sorted(found, key=lambda one: (one.at, -one.box[3]))


def drawn(page: "PdfPage", scale: float) -> "Image":
    """Without its text, which must have been read before."""
    from pypdfium2 import raw

    for text in page.get_objects(filter=[raw.FPDF_PAGEOBJ_TEXT]):
        raw.FPDFPageObj_SetIsActive(text, False)
    drawing: Image = page.render(scale=scale).to_pil()
    return drawing


def cut(page: "PdfPage", drawing: "Image", box: Box) -> "Image":
    rows, columns = pixels(page, box, drawing.width, drawing.height)
    left, right = (min(place, drawing.width) for place in (columns.start, columns.stop))
    upper, lower = (min(place, drawing.height) for place in (rows.start, rows.stop))
    return drawing.crop((left, upper, right, lower))


def _on(paper: Box, pictures: list[Picture]) -> Iterator[Picture]:
    for one in pictures:
        if touch(one.box, paper):
            left, bottom = max(one.box[0], paper[0]), max(one.box[1], paper[1])
            right, top = min(one.box[2], paper[2]), min(one.box[3], paper[3])
            yield Picture((left, bottom, right, top), one.pixels)


def _joined(pictures: Iterator[Picture]) -> list[Picture]:
    """Those that touch one another as one, such as the strips and layers of a scan."""
    found = list(pictures)
    if len(found) > _MOST:
        whole = found[0]
        for one in found[1:]:
            whole = _both(whole, one)
        return [whole]
    before = -1
    while len(found) != before:
        before, todo, found = len(found), found, []
        for one in todo:
            near = [other for other in found if touch(_wider(one.box), other.box)]
            found = [other for other in found if other not in near]
            for other in near:
                one = _both(one, other)
            found.append(one)
    return found


def _both(one: Picture, other: Picture) -> Picture:
    return Picture(_around(one.box, other.box), one.pixels + other.pixels)


def _says_itself(layer: "PdfTextPage", box: Box) -> bool:
    """Whether its words are in the text."""
    visible = invisible = 0
    most = max(VISIBLE_WORDS, _area(box) / POINTS_FOR_ONE)
    for number in range(layer.count_chars()):
        place = _place_of(layer, number)
        if place is None or not touch(place, box):
            continue
        if _is_invisible(layer, number):
            invisible += 1
        else:
            visible += 1
        if invisible >= INVISIBLE_WORDS or visible >= most:
            return True
    return False


def _is_invisible(layer: "PdfTextPage", number: int) -> bool:
    from pypdfium2 import raw

    shape = raw.FPDFText_GetTextObject(layer, number)
    return bool(shape) and raw.FPDFTextObj_GetTextRenderMode(shape) in INVISIBLE


def _place_of(layer: "PdfTextPage", number: int) -> Box | None:
    """None for a blank."""
    from pypdfium2 import PdfiumError, raw

    if raw.FPDFText_GetUnicode(layer, number) <= 32:
        return None
    try:
        left, bottom, right, top = layer.get_charbox(number)
    except PdfiumError:
        return None
    return left, bottom, right, top


@dataclass(frozen=True, slots=True)
class _Line:
    """From one character to another, and where they stand when the page is held upright: left,
    upper edge, right, lower edge."""

    begin: int
    end: int
    place: Box


def _lines(page: "PdfPage", layer: "PdfTextPage") -> Iterator[_Line]:
    from pypdfium2 import raw

    begin, around = 0, None
    count = layer.count_chars()
    for number in range(count + 1):
        is_end = number == count or raw.FPDFText_GetUnicode(layer, number) in _LINE_ENDS
        if is_end and around is not None:
            yield _Line(begin, number, _upright(page, around))
        if is_end:
            begin, around = number + 1, None
        elif place := _place_of(layer, number):
            around = place if around is None else _around(around, place)


def _place(page: "PdfPage", box: Box, lines: list[_Line]) -> int:
    """Before the line that stands next beneath its upper edge, in its column; where there is none
    behind the one that stands last above it."""
    left, top, right, _ = _upright(page, box)
    column = [one for one in lines if one.place[0] < right and left < one.place[2]] or lines
    beneath = [one for one in column if one.place[1] + one.place[3] > 2 * top]
    if beneath:
        return min(beneath, key=lambda one: one.place[1]).begin
    return max(column, key=lambda one: one.place[3]).end if column else 0


def _upright(page: "PdfPage", box: Box) -> Box:
    width, height = (round(side) for side in page.get_size())
    rows, columns = pixels(page, box, width, height)
    return columns.start, rows.start, columns.stop, rows.stop


def _area(box: Box) -> float:
    return max(box[2] - box[0], 0) * max(box[3] - box[1], 0)


def _wider(box: Box) -> Box:
    return box[0] - _GAP, box[1] - _GAP, box[2] + _GAP, box[3] + _GAP


def _around(one: Box, other: Box) -> Box:
    return (
        min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3]),
    )  # fmt: skip
