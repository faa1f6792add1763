"""No Office file may define entities, wherever in it and behind whatever they are defined."""

from pathlib import Path

import pytest

from knowledge.conversion import packs, reading
from knowledge.conversion.shape import Unreadable
from tests.knowledge import files

WORD = files.docx(files.paragraph("Clay is earth."))
SLIDES = files.pptx("Glazes")
SHEETS = files.xlsx(Costs=[("item", "price"), ("clay", 12.5)])
BODIES = [
    (WORD, "word/document.xml"),
    (WORD, "word/_rels/document.xml.rels"),
    (SLIDES, "ppt/slides/slide1.xml"),
    (SLIDES, "ppt/slides/_rels/slide1.xml.rels"),
    (SLIDES, "docProps/core.xml"),
    (SHEETS, "xl/worksheets/sheet1.xml"),
    (SHEETS, "xl/workbook.xml"),
    (SHEETS, "xl/styles.xml"),
]
DOCTYPE = files.LAUGHS.partition("?>")[2]
DECLARED = '<?xml version="1.0" encoding="{}"?>\n'


def read(folder: Path, content: bytes) -> str:
    return reading.read(files.kept(folder, content), lambda done, of: None)[1].markdown


@pytest.mark.parametrize(("content", "part"), BODIES, ids=[part for _, part in BODIES])
def test_a_part_with_entities_is_refused(tmp_path: Path, content: bytes, part: str) -> None:
    with pytest.raises(Unreadable, match="defines XML entities") as refusal:
        read(tmp_path, files.packed_with(content, part, files.LAUGHS))
    assert refusal.value.code == "hostile"


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (DECLARED.format("UTF-8") + f"<!--{'x' * 5_000}-->" + DOCTYPE, "utf-8"),
        (DECLARED.format("UTF-8") + "<!-- - --> <!--<a>--><?x y?>\n" * 99 + DOCTYPE, "utf-8"),
        (" " * 5_000 + DOCTYPE, "utf-8"),
        (DECLARED.format("UTF-8") + DOCTYPE, "utf-8-sig"),
        (DECLARED.format("UTF-16") + DOCTYPE, "utf-16"),
        ("\ufeff" + DECLARED.format("UTF-16") + f"<!--{'x' * 5_000}-->" + DOCTYPE, "utf-16-be"),
    ],
    ids=["comment", "comments", "blanks", "marked", "utf-16", "utf-16-be"],
)  # fmt: skip
def test_nothing_before_them_hides_entities(tmp_path: Path, head: str, encoding: str) -> None:
    content = files.packed_with(WORD, "word/document.xml", head, encoding)
    with pytest.raises(Unreadable, match="defines XML entities"):
        read(tmp_path, content)


@pytest.mark.parametrize(
    "head",
    [f"<!--{'x' * packs.MOST_PROLOG}-->{DOCTYPE}", " " * packs.MOST_PROLOG + DOCTYPE,
     "<!-- x -->" * packs.MOST_PROLOG + DOCTYPE],
    ids=["one", "blanks", "many"],
)  # fmt: skip
def test_comments_without_end_are_refused(tmp_path: Path, head: str) -> None:
    with pytest.raises(Unreadable, match="comments that are longer") as refusal:
        read(tmp_path, files.packed_with(WORD, "word/document.xml", head))
    assert refusal.value.code == "hostile"


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_comment_alone_does_no_harm(tmp_path: Path, mark: str) -> None:
    head = mark + DECLARED.format("UTF-8") + f"<!-- {'made by a program ' * 300} <!DOCTYPE -->"
    text = read(tmp_path, files.packed_with(WORD, "word/document.xml", head))
    assert text.strip() == "Clay is earth."
