"""Word by markitdown, with the headings that its styles mean and its tables levelled."""

import re
import zipfile
from typing import Any, BinaryIO

from knowledge import marks
from knowledge.conversion import html

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading (\d)", re.I)
_ID = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)
_MOST_STYLES = 500
_CODE = (
    "html preformatted",
    "code",
    "source code",
    "macro",
    "plain text code",
    "preformatted text",
)
# A note's number where it stands, and the way back from the note: links that lead nowhere here.
_NUMBER = re.compile(r"\[\[(\d+)\]\]\(#(?:foot|end)note-[\w-]+\)")
_BACK = re.compile(r" ?\[↑\]\(#(?:foot|end)note-ref-[\w-]+\)")


def markdown(file: BinaryIO) -> str:
    from markitdown import DocumentConverterResult, StreamInfo
    from markitdown.converters import DocxConverter, HtmlConverter

    class Levelled(HtmlConverter):
        def convert_string(
            self, html_content: str, *, url: str | None = None, **options: Any
        ) -> DocumentConverterResult:
            from bs4 import BeautifulSoup

            return DocumentConverterResult(html.to_markdown(BeautifulSoup(html_content, "lxml")))

    converter = DocxConverter()  # type: ignore[no-untyped-call]
    converter._html_converter = Levelled()
    styles = style_map(file)
    file.seek(0)
    found = converter.convert(file, StreamInfo(), keep_data_uris=True, style_map=styles)
    return _BACK.sub("", _NUMBER.sub(r"[\1]", marks.foreign(found.markdown)))


def style_map(file: BinaryIO) -> str:
    """What the styles of a file mean, in mammoth's words."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    try:
        with zipfile.ZipFile(file) as pack:
            root = etree.fromstring(pack.read("word/styles.xml"), parser)
    except (KeyError, etree.XMLSyntaxError):
        return ""
    kept = [one for one in root.iter(f"{_WORD}style") if one.get(f"{_WORD}type") == "paragraph"]
    known = {str(one.get(f"{_WORD}styleId")): one for one in kept[:_MOST_STYLES]}
    meant = {name: _meaning(name, known) for name in known if _ID.fullmatch(name)}
    return "\n".join(f"p.{name} => {tag}" for name, tag in meant.items() if tag)


def _meaning(name: str, known: dict[str, Any]) -> str:
    """By its own name or level, or by those of the styles that it rests on."""
    for _ in range(10):
        style = known.get(name)
        if style is None:
            return ""
        said = str(_value(style, "name")).casefold()
        level = _level(style, said)
        if level is not None:
            return f"h{min(level, 6)}:fresh" if level else ""
        if said in _CODE:
            return "pre:separator('\\n')"
        name = _value(style, "basedOn")
    return ""


def _level(style: Any, name: str) -> int | None:
    """Of a heading; 0 for what says that it is none."""
    if name == "title":
        return 1
    if found := _HEADING.fullmatch(name):
        return int(found[1]) or None
    said = _value(style, "pPr/outlineLvl")
    if not said.isdecimal():
        return None
    return int(said) + 1 if int(said) < 9 else 0


def _value(style: Any, place: str) -> str:
    found = style.find("/".join(f"{_WORD}{part}" for part in place.split("/")))
    return str(found.get(f"{_WORD}val") or "") if found is not None else ""
