"""What the slides of a PowerPoint file say: titles as headings, bullets as lists, tables, charts,
pictures where they stand, and the speaker's notes."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, BinaryIO

from knowledge import marks
from knowledge.conversion import tables
from knowledge.conversion.html import caption
from knowledge.conversion.images import Reader, marked
from knowledge.conversion.shape import NESTED, Tell, Unreadable

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_LINK = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
# Groups within groups.
_DEEPEST = 50
# Of every slide the same; no part of what it says.
_FRAME = ("DATE", "FOOTER", "SLIDE_NUMBER")
_BULLETS = {"buNone": "", "buChar": "*", "buBlip": "*", "buAutoNum": "1."}


def pages(file: BinaryIO, reader: Reader, tell: Tell) -> list[str]:
    from pptx import Presentation

    slides = [*Presentation(file).slides]
    found = []
    for number, slide in enumerate(slides, start=1):
        found.append(marks.page(number) + _slide(slide, reader) + "\n")
        tell(number, len(slides))
    return found


def _slide(slide: Any, reader: Reader) -> str:
    title = slide.shapes.title
    head = _words(title.text_frame) if title is not None and title.has_text_frame else ""
    parts = [f"# {head}" if head else ""]
    parts += [
        _shape(shape, reader) for shape in _in_order(slide.shapes)
        if title is None or shape.shape_id != title.shape_id
    ]  # fmt: skip
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    notes = _plain(frame) if frame is not None else ""
    parts.append(f"### Notes\n\n{notes}" if notes else "")
    return "\n\n".join(part for part in parts if part)


def _in_order(shapes: Any, depth: int = 0) -> Iterator[Any]:
    """From the top, then from the left; of groups what is in them."""
    if depth > _DEEPEST:
        raise Unreadable("hostile", NESTED)
    for shape in sorted(shapes, key=lambda one: (one.top or 0, one.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _in_order(shape.shapes, depth + 1)
        elif not _is_frame(shape):
            yield shape


def _is_frame(shape: Any) -> bool:
    return shape.is_placeholder and shape.placeholder_format.type.name in _FRAME


def _shape(shape: Any, reader: Reader) -> str:
    if getattr(shape, "has_table", False):
        return tables.of(_rows(shape.table))[0]
    if getattr(shape, "has_chart", False):
        return _chart(shape.chart)
    if shape._element.tag.endswith("}pic"):
        return _picture(shape, reader)
    return _listed(shape) if shape.has_text_frame else ""


def _rows(table: Any) -> Iterator[list[str]]:
    """What reaches over several rows is said in each of them."""
    above: list[str] = []
    for row in table.rows:
        said = []
        for place, cell in enumerate(row.cells):
            goes_on = cell._tc.vMerge and place < len(above)
            said.append(above[place] if goes_on else "" if cell.is_spanned else _words(cell))
        yield said
        above = said


def _chart(chart: Any) -> str:
    """Its numbers as a table. Of some kinds they can't be told."""
    title = ""
    if chart.has_title and chart.chart_title.has_text_frame:
        title = _words(chart.chart_title.text_frame)
    try:
        labels = [str(one.label) for one in chart.plots[0].categories]
        series = [(str(one.name), [*one.values]) for one in chart.plots[0].series]
    except (ValueError, IndexError, KeyError, AttributeError, NotImplementedError):
        labels, series = [], []
    rows: list[list[Any]] = [["Category", *(name for name, _ in series)]]
    for place, label in enumerate(labels):
        rows.append([label, *(said[place] if place < len(said) else None for _, said in series)])
    numbers = tables.of(rows)[0] if labels else ""
    return "\n\n".join(part for part in (f"### {title}" if title else "", numbers) if part)


def _picture(shape: Any, reader: Reader) -> str:
    said = caption(str(shape._element._nvXxPr.cNvPr.get("descr") or ""))
    try:
        seen = reader.within(shape.image.blob)
    except (ValueError, KeyError, AttributeError):  # linked to, or of no kind that is known
        seen = []
    return marked([(marks.CAPTION, said), *seen]).rstrip("\n")


def _listed(shape: Any) -> str:
    """Paragraphs, and where they have bullets a list."""
    lines: list[str] = []
    counts: Counter[int] = Counter()
    was_item = False
    for paragraph in shape.text_frame.paragraphs:
        words, level = _line(paragraph), paragraph.level
        if not words:
            continue
        bullet = _bullet(paragraph, shape)
        if not bullet or not was_item:
            lines.append("")
        for deeper in [known for known in counts if known > level or not bullet]:
            del counts[deeper]
        counts[level] += bullet == "1."
        mark = f"{counts[level]}. " if bullet == "1." else f"{bullet} " if bullet else ""
        lines.append(("   " * level if bullet else "") + mark + words)
        was_item = bool(bullet)
    return "\n".join(lines).strip("\n")


def _bullet(paragraph: Any, shape: Any) -> str:
    """As the nearest says: the paragraph, its shape, the layout, the master."""
    for properties in _properties(paragraph, shape):
        for part in properties if properties is not None else ():
            name = part.tag.rpartition("}")[2]
            if name in _BULLETS:
                return _BULLETS[name]
    return ""


def _properties(paragraph: Any, shape: Any) -> Iterator[Any]:
    level = f"{_DRAWING}lvl{paragraph.level + 1}pPr"
    yield paragraph._p.find(f"{_DRAWING}pPr")
    seen: Any = shape
    while seen is not None:
        yield seen._element.find(f".//{_DRAWING}lstStyle/{level}")
        seen = getattr(seen, "_base_placeholder", None)
    if shape.is_placeholder and shape.placeholder_format.type.name not in ("TITLE", "CENTER_TITLE"):
        master = shape.part.slide_layout.slide_master._element
        yield master.find(f"{{*}}txStyles/{{*}}bodyStyle/{level}")


def _plain(frame: Any) -> str:
    lines = (_line(paragraph) for paragraph in frame.paragraphs)
    return "\n\n".join(line for line in lines if line)


def _words(frame: Any) -> str:
    return " ".join(marks.foreign(str(frame.text)).split())


def _line(paragraph: Any) -> str:
    parts = [_run(part, paragraph.part) for part in paragraph._p]
    return " ".join(marks.foreign("".join(parts)).split())


def _run(part: Any, home: Any) -> str:
    name = part.tag.rpartition("}")[2]
    if name == "br":
        return " "
    if name not in ("r", "fld"):
        return ""
    words = part.findtext(f"{_DRAWING}t") or ""
    address = _address(part.find(f"{_DRAWING}rPr/{_DRAWING}hlinkClick"), home)
    return f"[{words}]({address})" if address and words.strip() else words


def _address(link: Any, home: Any) -> str:
    """Of the web alone; within the file and elsewhere it leads nowhere from here."""
    try:
        address = str(home.rels[link.get(_LINK)].target_ref) if link is not None else ""
    except KeyError:
        return ""
    web = address.startswith(("http://", "https://")) and not set(address) & set(" ()<>\n")
    return address if web else ""
