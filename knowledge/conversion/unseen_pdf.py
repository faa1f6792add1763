"""What a page of a PDF hides: text whose removal changes nothing in the picture of the page.

Most pages hold no text that might be hidden, which its colour, size and place tell; only the
others are drawn, with it and without. The invisible text that scanners lay over pictures stays
where it stands over a picture that shows something there.
"""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from pypdfium2 import PdfPage

# Below these no eye reads: points of height, steps of 255 between two colours.
_SMALLEST, _NEAREST = 2.0, 18
# From here on a colour may be that of paper, and an opacity that of nothing.
_LIGHT, _FAINT = 200, 60
# With more shapes than these all text of the page is looked at: pairing them takes long.
_MOST_SHAPES = 400
_SCALE, _LONG_SIDE = 2.0, 1_600
# Ways to draw text: not at all, and as the shape through which others are seen.
INVISIBLE = (3, 7)

Box = tuple[float, float, float, float]  # left, bottom, right, top
Ink = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Picture:
    """Where it stands on the page, and how many pixels it has."""

    box: Box
    pixels: int


@dataclass(frozen=True, slots=True)
class _Text:
    shape: Any
    box: Box
    ink: Ink
    mode: int
    height: float

    def may_be_hidden(self, paper: Box, grounds: list[tuple[Box, Ink | None]] | None) -> bool:
        if self.mode in INVISIBLE or self.ink[3] < _FAINT:
            return True
        if min(self.ink[:3]) >= _LIGHT or not touch(self.box, paper) or grounds is None:
            return True
        return any(
            (ink is None or _is_near(ink, self.ink)) and touch(self.box, box)
            for box, ink in grounds
        )


def remove(page: "PdfPage") -> tuple[bool, list[Picture]]:
    """Takes it off the page, whose text must not have been loaded. Whether there was any, and the
    page's pictures."""
    texts, grounds, pictures = _gathered(page)
    paper = page.get_cropbox()
    grounds_or_all = grounds if len(grounds) <= _MOST_SHAPES else None
    small = [text for text in texts if text.height < _SMALLEST]
    doubtful = [
        text for text in texts
        if text.height >= _SMALLEST and text.may_be_hidden(paper, grounds_or_all)
    ]  # fmt: skip
    gone = small + (_unseen(page, doubtful, pictures) if doubtful else [])
    for text in gone:
        page.remove_obj(text.shape)
    return bool(gone), pictures


def _unseen(page: "PdfPage", doubtful: list[_Text], pictures: list[Picture]) -> list[_Text]:
    from pypdfium2 import raw

    drawn = _drawn(page)
    for text in doubtful:
        raw.FPDFPageObj_SetIsActive(text.shape, False)
    without = _drawn(page)
    for text in doubtful:
        raw.FPDFPageObj_SetIsActive(text.shape, True)
    return [text for text in doubtful if not _is_seen(page, text, drawn, without, pictures)]


def _is_seen(
    page: "PdfPage",
    text: _Text,
    drawn: "np.ndarray[Any, Any]",
    without: "np.ndarray[Any, Any]",
    pictures: list[Picture],
) -> bool:
    here = pixels(page, text.box, drawn.shape[1], drawn.shape[0])
    shown, left = drawn[here], without[here]
    if not shown.size:
        return False
    if text.mode in INVISIBLE:
        colours = shown.reshape(-1, shown.shape[-1]).astype(int)
        varied = int((colours.max(axis=0) - colours.min(axis=0)).max()) > _NEAREST
        return varied and any(touch(text.box, picture.box) for picture in pictures)
    return int(abs(shown.astype(int) - left.astype(int)).max()) > _NEAREST


def _drawn(page: "PdfPage") -> "np.ndarray[Any, Any]":
    scale = min(_SCALE, _LONG_SIDE / max(*page.get_size(), 1))
    pixels: np.ndarray[Any, Any] = page.render(scale=scale).to_numpy().copy()
    return pixels


def pixels(page: "PdfPage", box: Box, width: int, height: int) -> tuple[slice, slice]:
    """Rows and columns of it in a drawing of the page."""
    from pypdfium2 import raw

    found = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        raw.FPDF_PageToDevice(page, 0, 0, width, height, 0, x, y, across, down)
        found.append((across.value, down.value))
    (x0, y0), (x1, y1) = found
    return (
        slice(max(min(y0, y1) - 1, 0), max(max(y0, y1) + 2, 0)),
        slice(max(min(x0, x1) - 1, 0), max(max(x0, x1) + 2, 0)),
    )


def _gathered(page: "PdfPage") -> tuple[list[_Text], list[tuple[Box, Ink | None]], list[Picture]]:
    """The text of a page, what may lie behind or over it (without a colour: of any), and its
    pictures."""
    from pypdfium2 import PdfiumError, raw

    texts: list[_Text] = []
    grounds: list[tuple[Box, Ink | None]] = []
    pictures: list[Picture] = []
    for shape in page.get_objects():
        try:
            box = _box(shape)
        except PdfiumError:  # it has no place on the page
            continue
        if shape.type == raw.FPDF_PAGEOBJ_TEXT:
            texts.append(_text(shape, box))
        elif shape.type == raw.FPDF_PAGEOBJ_IMAGE:
            pictures.append(Picture(box, _size(shape)))
            grounds += [(box, None)] * bool(texts)
        elif shape.type == raw.FPDF_PAGEOBJ_SHADING:
            grounds.append((box, None))
        elif shape.type == raw.FPDF_PAGEOBJ_PATH and _is_filled(shape):
            # One that comes later may cover text of any colour.
            grounds.append((box, None if texts else _ink(shape)))
    return texts, grounds, pictures


def _size(picture: Any) -> int:
    from pypdfium2 import PdfiumError

    try:
        width, height = picture.get_px_size()
    except PdfiumError:
        return 0
    return int(width) * int(height)


def _text(shape: Any, box: Box) -> _Text:
    from pypdfium2 import raw

    size = ctypes.c_float()
    raw.FPDFTextObj_GetFontSize(shape, size)
    height = size.value
    for matrix in (shape.get_matrix(), *(one.get_matrix() for one in _around(shape))):
        height *= (matrix.c**2 + matrix.d**2) ** 0.5
    marked = raw.FPDFPageObj_CountMarks(shape) > 0 and _is_optional(shape)
    mode = raw.FPDFTextObj_GetTextRenderMode(shape)
    ink = (255, 255, 255, 0) if marked else _ink(shape)
    return _Text(shape, box, ink, mode, height)


def _is_optional(shape: Any) -> bool:
    """Whether it belongs to a layer, which may be switched off."""
    from pypdfium2 import raw

    for place in range(min(raw.FPDFPageObj_CountMarks(shape), 20)):
        name = (ctypes.c_ushort * 8)()
        size = ctypes.c_ulong()
        mark = raw.FPDFPageObj_GetMark(shape, place)
        raw.FPDFPageObjMark_GetName(mark, name, ctypes.sizeof(name), size)
        if bytes(name).decode("utf-16-le").startswith("OC\0"):
            return True
    return False


def _ink(shape: Any) -> Ink:
    from pypdfium2 import raw

    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not raw.FPDFPageObj_GetFillColor(shape, red, green, blue, alpha):
        return 0, 0, 0, 0
    return red.value, green.value, blue.value, alpha.value


def _is_filled(shape: Any) -> bool:
    from pypdfium2 import raw

    mode, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(shape, mode, stroke)
    return bool(mode.value != raw.FPDF_FILLMODE_NONE)


def _box(shape: Any) -> Box:
    left, bottom, right, top = shape.get_bounds()
    for around in _around(shape):
        matrix = around.get_matrix()
        corners = [matrix.on_point(x, y) for x in (left, right) for y in (bottom, top)]
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        bottom, top = min(y for _, y in corners), max(y for _, y in corners)
    return left, bottom, right, top


def _around(shape: Any) -> Iterator[Any]:
    while (shape := shape.container) is not None:
        yield shape


def touch(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _is_near(one: Ink, other: Ink) -> bool:
    return max(abs(a - b) for a, b in zip(one[:3], other[:3], strict=True)) <= _NEAREST
