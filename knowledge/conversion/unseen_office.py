"""What Word and PowerPoint files hide from whoever looks at them, taken out beforehand."""

import io
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from knowledge.conversion.looks import BLACK, WHITE, Colour, is_near

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
WORD_2010 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
# Below these no eye reads: half points, per cent of a letter's width, hundredths of a point.
_SMALLEST, _NARROWEST, _SMALLEST_ON_SLIDES = 4, 5, 200
_TEXTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
_OFF = ("0", "false", "off", "none")
# Parts of a run that only tell where a field begins and ends.
_FIELD = {f"{WORD}{name}" for name in ("rPr", "fldChar", "instrText")}
_HIGHLIGHTS = {
    "black": "000000", "white": "FFFFFF", "yellow": "FFFF00", "green": "00FF00", "red": "FF0000",
    "blue": "0000FF", "cyan": "00FFFF", "magenta": "FF00FF", "darkGray": "808080",
    "lightGray": "C0C0C0", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Run:
    """How text looks. `ink` None: chosen by Word so that it can be read. `ground`: empty where
    that can't be told."""

    vanished: bool = False
    ink: Colour | None = None
    size: int = 20
    width: int = 100
    ground: tuple[Colour, ...] = (WHITE,)
    emptied: bool = False

    @property
    def hides(self) -> bool:
        if self.vanished or self.emptied:
            return True
        if self.size < _SMALLEST or self.width < _NARROWEST:
            return True
        ink = self.ink
        return ink is not None and bool(self.ground) and all(
            is_near(ink, ground) for ground in self.ground
        )  # fmt: skip


def word(path: Path) -> tuple[BinaryIO, bool]:
    """The file without what it hides, and whether that was anything."""
    with zipfile.ZipFile(path) as pack:
        names = set(pack.namelist())
        styles = _Styles(_parsed(pack, "word/styles.xml") if "word/styles.xml" in names else None)
        changed = {}
        for name in _TEXTS:
            if name in names and (root := _parsed(pack, name)) is not None and styles.clear(root):
                changed[name] = _written(root)
        return (_with(pack, changed), True) if changed else (path.open("rb"), False)


def _with(pack: zipfile.ZipFile, changed: dict[str, bytes]) -> BinaryIO:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_STORED) as out:
        for part in pack.infolist():
            out.writestr(part.filename, changed.get(part.filename) or pack.read(part))
    kept.seek(0)
    return kept


def _parsed(pack: zipfile.ZipFile, name: str) -> Any:
    """None for what is no XML: the reader after us says what is wrong with it."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    try:
        return etree.fromstring(pack.read(name), parser)
    except etree.XMLSyntaxError:
        return None


def _written(root: Any) -> bytes:
    from lxml import etree

    return bytes(etree.tostring(root, encoding="UTF-8", xml_declaration=True))


class _Styles:
    def __init__(self, root: Any) -> None:
        self.by_id = {
            style.get(f"{WORD}styleId"): style
            for style in (root.iter(f"{WORD}style") if root is not None else ())
        }
        default = root.find(f"{WORD}docDefaults//{WORD}rPr") if root is not None else None
        self.usual = _with_properties(_Run(), default)
        self.first = next(
            (
                name for name, style in self.by_id.items()
                if style.get(f"{WORD}type") == "paragraph" and style.get(f"{WORD}default") == "1"
            ),
            None,
        )  # fmt: skip

    def clear(self, root: Any) -> bool:
        """Takes hidden text out of a part."""
        paper = root.find(f"{WORD}background")
        colour = _colour(paper.get(f"{WORD}color")) if paper is not None else None
        usual = replace(self.usual, ground=(WHITE, colour) if colour else (WHITE,))
        found = False
        for row in [*root.iter(f"{WORD}tr")]:
            if _is_on(row.find(f"{WORD}trPr/{WORD}hidden")):
                found = True
                row.getparent().remove(row)
        for run in [*root.iter(f"{WORD}r")]:
            texts = [text for text in run.iter(f"{WORD}t") if (text.text or "").strip()]
            if texts and self._look(run, usual).hides:
                found = True
                for part in [*run]:
                    if part.tag not in _FIELD:
                        run.remove(part)
        return found

    def _look(self, run: Any, look: _Run) -> _Run:
        above = [*run.iterancestors()]
        paragraph = next((one for one in above if one.tag == f"{WORD}p"), None)
        look = replace(look, ground=self._ground(above, look.ground))
        if paragraph is not None:
            for style in self._chain(paragraph, "pPr/pStyle", self.first):
                look = _with_properties(look, style.find(f"{WORD}rPr"))
                look = _shaded(look, style.find(f"{WORD}pPr/{WORD}shd"))
            look = _shaded(look, paragraph.find(f"{WORD}pPr/{WORD}shd"))
        for style in self._chain(run, "rPr/rStyle", None):
            look = _with_properties(look, style.find(f"{WORD}rPr"))
        return _with_properties(look, run.find(f"{WORD}rPr"))

    def _chain(self, element: Any, place: str, usual: str | None) -> list[Any]:
        """The styles of an element, those that others rest on first."""
        named = element.find("/".join(f"{WORD}{part}" for part in place.split("/")))
        name = named.get(f"{WORD}val") if named is not None else usual
        found: list[Any] = []
        while name in self.by_id and self.by_id[name] not in found:
            found.append(self.by_id[name])
            base = found[-1].find(f"{WORD}basedOn")
            name = base.get(f"{WORD}val") if base is not None else None
        return found[::-1]

    def _ground(self, above: list[Any], paper: tuple[Colour, ...]) -> tuple[Colour, ...]:
        """Of the nearest cell, table or text box that has one."""
        for element in above:
            if element.tag.endswith("}txbxContent"):
                return ()
            if element.tag == f"{WORD}tc":
                shade = element.find(f"{WORD}tcPr/{WORD}shd")
                if shade is not None:
                    return _shaded(_Run(ground=paper), shade).ground
            if element.tag == f"{WORD}tbl" and self._is_styled(element):
                return ()
        return paper

    def _is_styled(self, table: Any) -> bool:
        """Whether its style may shade some of its cells."""
        if table.find(f"{WORD}tblPr/{WORD}shd") is not None:
            return True
        return any(
            style.find(f".//{WORD}shd") is not None
            for style in self._chain(table, "tblPr/tblStyle", None)
        )


def _with_properties(look: _Run, properties: Any) -> _Run:
    if properties is None:
        return look
    for one in properties:
        value = one.get(f"{WORD}val")
        match one.tag.rpartition("}")[2]:
            case "vanish":
                look = replace(look, vanished=_is_on(one))
            case "color":
                look = replace(look, ink=_colour(value))
            case "sz":
                look = replace(look, size=_number(value, look.size))
            case "w":
                look = replace(look, width=_number(value, look.width))
            case "highlight":
                look = replace(look, ground=_grounds(_HIGHLIGHTS.get(value or ""), look.ground))
            case "shd":
                look = _shaded(look, one)
            case "textFill":
                look = replace(look, emptied=one.find(f"{WORD_2010}noFill") is not None)
    return look


def _shaded(look: _Run, shade: Any) -> _Run:
    if shade is None or shade.get(f"{WORD}val") == "nil":
        return look
    if shade.get(f"{WORD}val") not in ("clear", None):
        return replace(look, ground=())
    return replace(look, ground=_grounds(shade.get(f"{WORD}fill"), look.ground))


def _grounds(value: str | None, otherwise: tuple[Colour, ...]) -> tuple[Colour, ...]:
    colour = _colour(value)
    return (colour,) if colour else otherwise


def _is_on(element: Any) -> bool:
    return element is not None and (element.get(f"{WORD}val") or "1") not in _OFF


def _number(value: str | None, otherwise: int) -> int:
    return int(value) if value and value[:6].isdecimal() else otherwise


def _colour(value: str | None) -> Colour | None:
    """Of six hexadecimal digits; "auto" is none."""
    try:
        red, green, blue = bytes.fromhex(value or "")
    except ValueError:
        return None
    return red / 255, green / 255, blue / 255


def slides(path: Path) -> tuple[BinaryIO, bool, bool]:
    """The file without what it hides, whether slides were hidden, and whether something else."""
    from pptx import Presentation

    with path.open("rb") as file:
        show = Presentation(file)
    put_away = hidden = removed = False
    for slide in show.slides:
        if slide._element.get("show") in _OFF:
            put_away = True
            _empty(slide)
            continue
        outside = [one for one in slide.shapes if _is_outside(one, show) or _is_put_away(one)]
        removed = removed or bool(outside)
        for shape in outside:
            hidden = hidden or _says_something(shape)
            shape._element.getparent().remove(shape._element)
        hidden = _without_faint(slide) or hidden
    if not (put_away or hidden or removed):
        return path.open("rb"), False, False
    kept = io.BytesIO()
    show.save(kept)
    kept.seek(0)
    return kept, put_away, hidden


def _empty(slide: Any) -> None:
    for shape in [*slide.shapes]:
        shape._element.getparent().remove(shape._element)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        frame.clear()


def _is_outside(shape: Any, show: Any) -> bool:
    """Of the slide, wholly."""
    left, top, width, height = (getattr(shape, name) for name in ("left", "top", "width", "height"))
    if None in (left, top, width, height):
        return False
    return bool(
        left + width <= 0 or top + height <= 0
        or left >= show.slide_width or top >= show.slide_height
    )  # fmt: skip


def _is_put_away(shape: Any) -> bool:
    return any(one.get("hidden") in ("1", "true") for one in shape._element.xpath(".//p:cNvPr")[:1])


def _says_something(shape: Any) -> bool:
    return any((text.text or "").strip() for text in shape._element.iter(f"{DRAWING}t"))


def _without_faint(slide: Any) -> bool:
    """Runs too small to be read, without a colour, or in the colour of what is behind them, where
    the file says what that is."""
    found = False
    for run in [*slide._element.iter(f"{DRAWING}r")]:
        properties, text = run.find(f"{DRAWING}rPr"), run.find(f"{DRAWING}t")
        if properties is None or text is None or not (text.text or "").strip():
            continue
        small = _number(properties.get("sz"), 1800) < _SMALLEST_ON_SLIDES
        if small or _is_unfilled(properties) or _is_like_its_ground(run, properties, slide):
            found = True
            text.text = ""
    return found


def _is_unfilled(properties: Any) -> bool:
    if properties.find(f"{DRAWING}ln") is not None:
        return False
    alpha = properties.find(f"{DRAWING}solidFill/*/{DRAWING}alpha")
    faint = alpha is not None and _number(alpha.get("val"), 100_000) < 6_000
    return faint or properties.find(f"{DRAWING}noFill") is not None


def _is_like_its_ground(run: Any, properties: Any, slide: Any) -> bool:
    ink = _solid(properties, slide)
    if ink is None:
        return False
    for element in run.iterancestors():
        cell = element.find(f"{DRAWING}tcPr") if element.tag == f"{DRAWING}tc" else None
        place = cell if cell is not None else element.find("{*}spPr")
        if place is not None and place.find(f"{DRAWING}noFill") is None:
            fill = _solid(place, slide)
            if fill is not None:
                return is_near(ink, fill)
            if (
                any(one.tag.endswith("Fill") for one in place)
                or element.find("{*}style") is not None
            ):
                return False
        if element.tag == f"{DRAWING}tbl":
            return False
        if element.tag.endswith("}spTree"):
            break
    paper = _paper(slide)
    # What lies behind a shape may be another one.
    return paper is not None and is_near(ink, paper) and not _lies_on_others(run, slide)


def _lies_on_others(run: Any, slide: Any) -> bool:
    own = next((one for one in slide.shapes if run in set(one._element.iter(run.tag))), None)
    if own is None:
        return True
    grounds = [one for one in slide.shapes if one._element is not own._element]
    layers = [slide.slide_layout, slide.slide_layout.slide_master]
    grounds += [one for layer in layers for one in layer.shapes if not one.is_placeholder]
    return any(_overlap(own, one) and _covers(one) for one in grounds)


def _covers(shape: Any) -> bool:
    element = shape._element
    fills = ("solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
    return any(element.find(f".//{DRAWING}{name}") is not None for name in fills) or bool(
        element.xpath(".//p:blipFill | .//p:style | .//p:graphicFrame")
    )


def _overlap(one: Any, other: Any) -> bool:
    sides = [(s.left, s.top, s.width, s.height) for s in (one, other)]
    if any(None in side for side in sides):
        return True
    (x, y, w, h), (a, b, c, d) = sides
    return bool(x < a + c and a < x + w and y < b + d and b < y + h)


def _paper(slide: Any) -> Colour | None:
    """The background: the slide's own, its layout's or its master's."""
    layout = slide.slide_layout
    for layer in (slide, layout, layout.slide_master):
        found = layer._element.xpath("./p:cSld/p:bg")
        if not found:
            continue
        own = found[0].xpath("./p:bgPr")
        if own:
            return _solid(own[0], slide)
        named = found[0].xpath("./p:bgRef[@idx='1001']")
        return _solid_of(named[0], slide) if named else None
    return WHITE


def _solid(place: Any, slide: Any) -> Colour | None:
    fill = place.find(f"{DRAWING}solidFill")
    return None if fill is None else _solid_of(fill, slide)


def _solid_of(fill: Any, slide: Any) -> Colour | None:
    """None for a shade of a colour, which is not computed."""
    for one in fill:
        if len([child for child in one if not child.tag.endswith("}alpha")]):
            return None
        name = one.get("val") or ""
        match one.tag.rpartition("}")[2]:
            case "srgbClr":
                return _colour(name)
            case "prstClr":
                return {"white": WHITE, "black": BLACK}.get(name)
            case "schemeClr":
                return _of_theme(name, slide)
    return None


def _of_theme(name: str, slide: Any) -> Colour | None:
    from lxml import etree
    from pptx.opc.constants import RELATIONSHIP_TYPE

    master = slide.slide_layout.slide_master
    mapped = master._element.find("{*}clrMap")
    name = (mapped.get(name) if mapped is not None else None) or name
    try:
        theme = master.part.part_related_by(RELATIONSHIP_TYPE.THEME).blob
        parser = etree.XMLParser(resolve_entities=False, no_network=True)
        scheme = etree.fromstring(theme, parser).find(f".//{DRAWING}clrScheme/{DRAWING}{name}")
    except (KeyError, etree.XMLSyntaxError, SyntaxError):
        return None
    if scheme is None or not len(scheme):
        return None
    return _colour(scheme[0].get("lastClr") or scheme[0].get("val"))
