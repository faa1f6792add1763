"""Pictures that lie on a sheet of Excel, in the order of the cells that they begin in."""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from knowledge import marks
from knowledge.conversion import images
from knowledge.conversion.html import caption
from knowledge.conversion.images import Reader, marked
from knowledge.conversion.unseen_sheets import Unseen

_EMBED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}embed"
_BROKEN = (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error)


def of(sheet: Any, unseen: Unseen, reader: Reader) -> str:
    """Of one that was opened to be read only. A broken drawing takes no cell away."""
    pack, told = sheet.parent._archive, ""
    for count, (name, said) in enumerate(_shown(pack, sheet._worksheet_path, unseen)):
        if count == images.MOST:
            reader.left_out = True
            break
        told += marked([(marks.CAPTION, caption(said)), *reader.within(_content(pack, name))])
    return told


def _shown(pack: zipfile.ZipFile, sheet: str, unseen: Unseen) -> Iterator[tuple[str, str]]:
    """The part that each is in, and what it is called."""
    for name, kind in _links(pack, sheet).values():
        if kind.endswith("/drawing"):
            links, drawing = _links(pack, name), _parsed(pack, name)
            for anchor in sorted(drawing, key=lambda one: _cell(one, "from") or (0, 0)):
                for part, said in _of_anchor(anchor, unseen).items():
                    if part in links:
                        yield links[part][0], said


def _of_anchor(anchor: Any, unseen: Unseen) -> dict[str, str]:
    """Numbers of links to parts, and descriptions. Each once, though an older program is given it
    in another form too."""
    found: dict[str, str] = {}
    for picture in anchor.iter("{*}pic"):
        about, blip = picture.find("{*}nvPicPr/{*}cNvPr"), picture.find("{*}blipFill/{*}blip")
        if about is None or blip is None:
            continue
        if about.get("hidden") in ("1", "true") or _is_flat(anchor):
            unseen.cells = True
        elif _lies_in_hidden_cells(anchor, unseen):
            unseen.lines = True
        else:
            found.setdefault(str(blip.get(_EMBED)), str(about.get("descr") or ""))
    return found


def _is_flat(anchor: Any) -> bool:
    """Of no height or width."""
    size = anchor.find("{*}ext")
    return size is not None and "0" in (size.get("cx"), size.get("cy"))


def _lies_in_hidden_cells(anchor: Any, unseen: Unseen) -> bool:
    first, last = _cell(anchor, "from"), _cell(anchor, "to")
    if first is None or last is None or anchor.get("editAs") == "absolute":
        return False
    sides = ((first[0], last[0], unseen.rows), (first[1], last[1], unseen.columns))
    return any(
        hidden and all(one in hidden for one in range(begin, min(end, begin + len(hidden)) + 1))
        for begin, end, hidden in sides
    )


def _cell(anchor: Any, which: str) -> tuple[int, int] | None:
    """Row and column, from 1."""
    said = [anchor.findtext(f"{{*}}{which}/{{*}}{side}") or "" for side in ("row", "col")]
    if not all(number.isdecimal() and len(number) < 9 for number in said):
        return None
    return int(said[0]) + 1, int(said[1]) + 1


def _links(pack: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Parts that a part leads to, and of which kind they are, by the names it has for them."""
    folder, name = posixpath.split(part)
    links = _parsed(pack, f"{folder}/_rels/{name}.rels")
    return {
        str(one.get("Id")): (_path(folder, str(one.get("Target"))), str(one.get("Type")))
        for one in links if one.get("TargetMode") != "External"
    }  # fmt: skip


def _path(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


def _parsed(pack: zipfile.ZipFile, name: str) -> Any:
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(pack.read(name), parser)
    except (*_BROKEN, etree.XMLSyntaxError):
        return ()


def _content(pack: zipfile.ZipFile, name: str) -> bytes:
    try:
        return pack.read(name)
    except _BROKEN:
        return b""
