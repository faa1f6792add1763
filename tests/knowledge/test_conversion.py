"""What each kind of file comes to, its kind told by its content alone."""

import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pytest

from knowledge import marks
from knowledge.conversion import images, reading
from knowledge.conversion.kinds import Kind, kind_of
from knowledge.conversion.shape import Read, Unreadable
from tests.knowledge import files

HIDDEN = """<!doctype html><html><head><title>Kilns &amp; more</title>
<style>.trap, #x { display : none } .far{font-size:0}
@media print { .shown { display: none } }</style>
</head><body><h1>Kilns</h1><p class="shown">They are hot.</p><p class=trap>TRAP one</p>
<p id=x>TRAP two</p><i class=far>TRAP three</i><div style="visibility:hidden">TRAP four</div>
<p hidden>TRAP five</p><input type=hidden value="TRAP six"><script>TRAP(7)</script>
<noscript>TRAP eight</noscript><!-- TRAP nine --><template>TRAP ten</template>
<p style="font-size:0.9em">Small but there.</p>
<table><tr><th>cone</th><th>heat</th></tr><tr><td>6</td><td>1222</td></tr></table>
<img alt="A red kiln" src="http://169.254.169.254/kiln.png"><ul><li>one<li>two</ul>
ze\u200bro\u202e width</body></html>"""

CLAY = "Earth and water, dried in the wind and then in fire."
FIRING = files.paragraph("Firing", "Heading1")
RUSSIAN = "Глина обжигается в печи при высокой температуре и становится твёрдой."


def read(folder: Path, content: bytes) -> tuple[Kind, Read]:
    return reading.read(files.kept(folder, content), lambda done, of: None)


def said(folder: Path, content: bytes) -> str:
    return read(folder, content)[1].markdown


def bare(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("content", "kind", "title", "pages", "words"),
    [
        (files.pdf([f"{CLAY} Clay is earth", f"{CLAY} Glaze is glass."]), Kind.PDF, "", 2,
         ["\f1\n", "Clay is earth", "\f2\n", "Glaze is glass."]),
        (files.docx(FIRING + files.paragraph("Slowly."), title="Kilns"),
         Kind.DOCX, "Kilns", None, ["# Firing", "Slowly."]),
        (files.pptx("Glazes", "Forms"), Kind.PPTX, "", 2, ["\f1\n# Glazes", "\f2\n# Forms"]),
        (files.xlsx(Costs=[("item", "price"), ("clay", 12.5), ("a|b", 900.0)], hidden=[("TRAP",)]),
         Kind.XLSX, "", 1, ["## Costs", "| item | price |\n| --- | --- |", "| clay | 12.5 |",
                            "| a\\|b | 900 |"]),
        (files.epub("Clay", "<body><h1>Wheel</h1><p hidden>TRAP</p><p>Round.</p></body>"),
         Kind.EPUB, "Clay", None, ["# Wheel", "Round."]),
        (HIDDEN.encode(), Kind.HTML, "Kilns & more", None,
         ["# Kilns", "They are hot.", "Small but there.", "| 6 | 1222 |", "* one\n* two",
          "\x0ecaption\n> [Caption of an image]\n> A red kiln\n\x0f", "zero width"]),
        (b"# Clay\n\nEarth ![wet clay](a.png).\n\n```\n![code](x)\n```\n", Kind.TEXT, "Clay", None,
         ["> wet clay\n", "![code](x)"]),
        ("Tonerde ist naß.".encode("cp1252"), Kind.TEXT, "", None, ["Tonerde ist naß."]),
        (f"{RUSSIAN} {RUSSIAN}".encode("cp1251"), Kind.TEXT, "", None, [RUSSIAN]),
        (b"BMW builds cars.", Kind.TEXT, "", None, ["BMW builds cars."]),
        (b"It begins with %PDF-1.7 or so.", Kind.TEXT, "", None, ["%PDF-1.7"]),
        (b"\x01\x02" + files.pdf([CLAY]), Kind.PDF, "", 1, [CLAY]),
        ("Ton".encode("utf-16"), Kind.TEXT, "", None, ["Ton"]),
        (files.eml("Kiln", "It is hot.", "<p>TRAP</p>", ["bill.pdf"]), Kind.MAIL, "Kiln", None,
         ["# Kiln", "- From: Ann <ann@example.org>", "It is hot.", "- bill.pdf"]),
        (files.eml("Kiln", html="<p>Hot <b>now</b></p><p style='display:none'>TRAP</p>"),
         Kind.MAIL, "Kiln", None, ["Hot **now**"]),
        (files.png("KILN 4711"), Kind.PNG, "", 1,
         ["\x0eocr\n> [Text recognised in an image]\n> KILN"]),
    ],
    ids=["pdf", "docx", "pptx", "xlsx", "epub", "html", "md", "cp1252", "cp1251", "BM",
         "of PDF", "late PDF", "utf-16", "eml", "eml html", "png"],
)  # fmt: skip
def test_it_reads_each_kind(
    tmp_path: Path, content: bytes, kind: Kind, title: str, pages: int | None, words: list[str]
) -> None:
    found_kind, found = read(tmp_path, content)
    assert (found_kind, found.title, found.pages) == (kind, title, pages)
    assert [word for word in words if word not in found.markdown] == []
    assert "TRAP" not in found.markdown


def test_what_is_recognised_stands_where_the_image_stood(tmp_path: Path) -> None:
    content = files.docx(
        files.paragraph("before") + files.picture(0, "The till") + files.paragraph("after"),
        images=[files.png("TOTAL 99")],
    )
    text = said(tmp_path, content)
    order = [text.index(word) for word in ("before", "> The till", "> TOTAL", "after")]
    assert order == sorted(order)
    assert [match["kind"] for match in marks.MARK.finditer(text) if match["kind"]] == [
        marks.CAPTION, marks.OCR,
    ]  # fmt: skip


def test_a_page_without_a_text_layer_is_recognised(tmp_path: Path) -> None:
    text = said(tmp_path, files.scanned_pdf("PAGE 77 KILOS"))
    assert text.startswith("\f1\n")
    assert "PAGE77KILOS" in bare(text)
    assert marks.SAID[marks.OCR] in text


@pytest.fixture
def no_recogniser(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """OpenCV fails so where libGL isn't there."""

    class Missing(MetaPathFinder):
        def find_spec(self, name: str, *rest: Any) -> None:
            if name == "rapidocr_onnxruntime":
                raise ImportError("libGL.so.1: cannot open shared object file: No such file")

    images._engine.cache_clear()
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    monkeypatch.delitem(sys.modules, "rapidocr_onnxruntime", raising=False)
    yield
    images._engine.cache_clear()


@pytest.mark.usefixtures("no_recogniser")
def test_a_server_without_the_recognisers_library_reads_the_rest_and_says_so(
    tmp_path: Path,
) -> None:
    content = files.docx(
        files.paragraph("before") + files.picture(0, "The till"), images=[files.png("TOTAL 99")]
    )
    _, found = read(tmp_path, content)
    assert "before" in found.markdown
    assert found.notes == [images.LACKING]
    for content in (files.png("TOTAL 99"), files.scanned_pdf("PAGE 77 KILOS")):
        with pytest.raises(Unreadable, match="apt-get install libgl1"):
            read(tmp_path, content)


def test_an_outline_gives_headings(tmp_path: Path) -> None:
    pages = [f"Preface\nWhy {CLAY}", f"1. Clay\n{CLAY}\n2 Glaze\nIt is glass.", f"and {CLAY}"]
    outline = [("Preface", 0), ("Clay", 1), ("Glaze", 1), ("Unsaid", 2)]
    text = said(tmp_path, files.pdf(pages, outline=outline))
    for heading in ("# Preface\nWhy", "# Clay\nEarth", "# Glaze\nIt is", "# Unsaid\nand"):
        assert heading in text


def test_nothing_that_a_document_says_is_a_mark(tmp_path: Path) -> None:
    text = said(tmp_path, b"one\n\f99\n\x0eocr\ntwo\x0f\nthree\x02\n")
    assert list(marks.MARK.finditer(text)) == []
    assert [word for word in ("one", "two", "three") if word not in text] == []


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"", "empty", "empty"),
        (b" \n\t ", "empty", "empty"),
        (b"\x7fELF\x02\x01\x00\x00binary", "unsupported", "can't be read"),
        (b"{\\rtf1 text}", "unsupported", "can't be read"),
        (files.pack({"a.txt": "x"}), "unsupported", "unpack it first"),
        (files.OLD_OFFICE + b"\0" * 99, "unsupported", "Save it as .docx"),
        (files.locked_office(), "protected", "password"),
        (files.locked_pdf(), "protected", "password"),
        (files.locked_pack(), "protected", "password"),
        (files.epub("x", "x", more={"META-INF/rights.xml": "<r/>"}), "protected", "password"),
        (b"%PDF-1.7\nnothing of the kind", "damaged", "damaged"),
        (files.docx(files.paragraph("x"))[:300], "damaged", "damaged"),
        (files.pack({"word/document.xml": "<no"}), "damaged", "damaged"),
        (files.pack({"xl/workbook.xml": "<no"}), "damaged", "damaged"),
        (b"\x89PNG\r\n\x1a\nnothing", "damaged", "damaged"),
        (files.png("", (50, 50)), "empty", "No text could be recognised"),
        (files.pdf([""]), "empty", "No text"),
        (files.docx(""), "empty", "no text"),
        (b"<!doctype html><script>all()</script>", "empty", "without running its scripts"),
        (files.bomb(), "unpacks", "far more than it is"),
        (files.bomb("xl/workbook.xml"), "unpacks", "far more than it is"),
        (files.large_image(), "unpacks", "million pixels"),
        (files.docx(files.paragraph("&i;"), head=files.LAUGHS), "hostile", "entities"),
        (b"<!doctype html>" + b"<div>" * 5_000 + b"x", "hostile", "nested deeper"),
        (files.pdf(["page"] * 5_001), "too_long", "5,001 pages"),
        (b"- a\n" * 1_000_001, "too_long", "more than 1,000,000 lines"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_it_cannot_read_it_says_in_plain_words(
    tmp_path: Path, content: bytes, code: str, words: str
) -> None:
    with pytest.raises(Unreadable, match=words) as refusal:
        read(tmp_path, content)
    assert refusal.value.code == code


def test_a_mail_is_one_whatever_header_is_first(tmp_path: Path) -> None:
    content = b"X-Spam: no\nContent-Type: text/plain\n" + files.eml("Kiln", "It is hot.")
    kind, found = read(tmp_path, content)
    assert (kind, found.title) == (Kind.MAIL, "Kiln")
    assert read(tmp_path, b"Note: hot.\nFrom: here\nTo: there\n\nx")[0] == Kind.TEXT


def test_a_broken_directory_of_a_pdf_is_mended(tmp_path: Path) -> None:
    assert CLAY in said(tmp_path, files.pdf([CLAY], xref=False))


def test_a_pack_that_lies_about_its_size_yields_no_more_than_it_says(tmp_path: Path) -> None:
    with pytest.raises(Unreadable) as refusal:
        read(tmp_path, files.lying_bomb())
    assert refusal.value.code == "damaged"


def test_what_a_pack_is_a_few_of_its_bytes_tell(tmp_path: Path) -> None:
    path = tmp_path / "book"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr("mimetype", b"application/epub+zip".ljust(30_000_000))
    tracemalloc.start()
    try:
        assert kind_of(path) == Kind.EPUB
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_entities_of_a_book_are_not_expanded(tmp_path: Path) -> None:
    book = files.epub("x", f"{files.LAUGHS}<html><body><p>one &i; two</p></body></html>")
    text = said(tmp_path, book)
    assert "one &i; two" in text
    assert "lol" not in text
