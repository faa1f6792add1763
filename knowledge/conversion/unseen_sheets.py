"""What a sheet of Excel hides: rows, columns, and cells whose words have no size or colour."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from knowledge.conversion.looks import WHITE, Colour, is_near

_CHUNK = 1 << 20
_HIDES = re.compile(rb"hidden=[\"'](?:1|true)")
# What colours cells beside their own styles.
_COLOURS = re.compile(rb"<(?:\w+:)?(?:tableParts|conditionalFormatting)\b")
_SMALLEST = 2  # points


@dataclass
class Unseen:
    """`coloured`: what is behind a cell's text is not only its own fill."""

    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    coloured: bool = False
    lines: bool = False
    cells: bool = False
    styles: dict[int, bool] = field(default_factory=dict)

    def shown(self, rows: Any) -> Iterator[list[Any]]:
        """The values of the cells that can be seen. Notes whether there were others."""
        for number, cells in enumerate(rows, start=1):
            if number in self.rows:
                self.lines = self.lines or any(cell.value is not None for cell in cells)
                continue
            yield [self._value(place, cell) for place, cell in enumerate(cells, start=1)
                   if place not in self.columns]  # fmt: skip

    def _value(self, place: int, cell: Any) -> Any:
        value = cell.value
        if value is None or not self._is_faint(cell):
            return value
        self.cells = True
        return None

    def _is_faint(self, cell: Any) -> bool:
        style = getattr(cell, "_style_id", 0)
        if style not in self.styles:
            self.styles[style] = self._hides(cell)
        return self.styles[style]

    def _hides(self, cell: Any) -> bool:
        if cell.number_format.strip() == ";;;" or (cell.font.sz or _SMALLEST) < _SMALLEST:
            return True
        if self.coloured or cell.font.color is None:
            return False
        ink, ground = _colour(cell.font.color), _ground(cell.fill)
        return ink is not None and ground is not None and is_near(ink, ground)


def of(sheet: Any) -> Unseen:
    """Of one that was opened to be read only."""
    found = Unseen()
    hides = False
    before = b""
    with _opened(sheet) as part:
        while chunk := part.read(_CHUNK):
            text = before + chunk
            hides = hides or _HIDES.search(text) is not None
            found.coloured = found.coloured or _COLOURS.search(text) is not None
            before = chunk[-100:]
    if hides:
        _gather(sheet, found)
        found.lines = bool(found.columns)
    return found


def _opened(sheet: Any) -> Any:
    return sheet.parent._archive.open(sheet._worksheet_path)


def _gather(sheet: Any, found: Unseen) -> None:
    from lxml import etree

    number = 0
    with _opened(sheet) as part:
        for _, element in etree.iterparse(
            part, tag=("{*}row", "{*}col"), resolve_entities=False, no_network=True
        ):
            put_away = element.get("hidden") in ("1", "true")
            if element.tag.endswith("}col"):
                first, last = int(element.get("min", 0)), int(element.get("max", 0))
                if put_away:
                    found.columns.update(range(first, min(last, 20_000) + 1))
            else:
                number = int(element.get("r") or number + 1)
                if put_away:
                    found.rows.add(number)
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def _ground(fill: Any) -> Colour | None:
    kind = getattr(fill, "fill_type", "gradient")
    if kind is None:
        return WHITE
    return _colour(fill.fgColor) if kind == "solid" else None


def _colour(colour: Any) -> Colour | None:
    """None for a shade of a theme's colour, which is not computed."""
    from openpyxl.styles.colors import COLOR_INDEX

    if colour.tint:
        return None
    if colour.type == "theme":
        return WHITE if colour.theme == 0 else None
    said = colour.rgb if colour.type == "rgb" else None
    if colour.type == "indexed" and colour.indexed < len(COLOR_INDEX):
        said = COLOR_INDEX[colour.indexed]
    try:
        _, red, green, blue = bytes.fromhex(str(said))
    except ValueError:
        return None
    return red / 255, green / 255, blue / 255
