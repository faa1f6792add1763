"""What a document hides from its readers is not told, and what only looks like it is."""

from pathlib import Path

import pytest

from knowledge.conversion import reading, styles
from knowledge.conversion.office import HIDDEN_LINES, HIDDEN_SLIDES
from knowledge.conversion.shape import HIDDEN, Read, Unreadable
from tests.knowledge import files

PLAIN = "<p>Clay is earth and water.</p>"


def read(folder: Path, content: bytes | str) -> Read:
    content = content.encode() if isinstance(content, str) else content
    return reading.read(files.kept(folder, content), lambda done, of: None)[1]


def page(body: str, styles: str = "", head: str = "") -> str:
    return (
        f"<!doctype html><html><head>{head}<style>{styles}</style></head><body>{PLAIN}{body}"
        "</body></html>"
    )


INLINE = [
    "position:absolute; left:-9999px",
    "position:fixed;top:-200vh",
    "position: absolute; inset: 0 0 0 -5000px",
    "position:relative;left:-99em",
    "text-indent:-9999px",
    "margin-left: -3000px",
    "transform: translateX(-9999px)",
    "transform:scale(0)",
    "font-size:0",
    "font-size: 0.5px",
    "font: 0/0 serif",
    "font-size:1px;line-height:1px",
    "opacity:0",
    "opacity: 1%",
    "filter:opacity(0)",
    "color:white",
    "color:#fefefe",
    "color:rgba(0,0,0,0)",
    "color: transparent",
    "-webkit-text-fill-color:#fff",
    "background:#123456;color:rgb(18, 52, 87)",
    "background:linear-gradient(#111,#121212);color:#111",
    "--ink: white; color: var(--ink)",
    "color: var(--none, #fff)",
    "clip:rect(0,0,0,0);position:absolute",
    "clip: rect(1px, 1px, 1px, 1px); position: absolute",
    "clip-path:inset(50%)",
    "clip-path: circle(0)",
    "height:0;overflow:hidden",
    "max-height:0px;overflow:hidden",
    "width:1px;height:1px;overflow:hidden",
]


@pytest.mark.parametrize("style", INLINE)
def test_text_that_no_eye_sees_is_left_out_of_a_page(tmp_path: Path, style: str) -> None:
    for content in (
        page(f"<div style='{style}'>TRAP <b>TRAP</b></div><p>Fire.</p>"),
        page("<div class='a b'>TRAP <b>TRAP</b></div><p>Fire.</p>", f"div.b {{ {style} }}"),
    ):
        found = read(tmp_path, content)
        assert "TRAP" not in found.markdown
        assert "Clay is earth" in found.markdown
        assert "Fire." in found.markdown
        assert found.notes == [HIDDEN]


@pytest.mark.parametrize(
    "content",
    [
        page("<p class=x>TRAP</p>", ".x{display:none}"),
        page("<p class=x>TRAP</p>", "@media screen { .x{display:none} }"),
        page("<p class=x>TRAP</p>", "@media all and (min-width: 40em) { .x{display:none} }"),
        page("<p class=x>TRAP</p>", "@supports (display:grid) { body .x{visibility:hidden} }"),
        page("<p class=x>TRAP</p>",
             "".join(f".y{n}{{top:0}}" for n in range(900)) + ".x{opacity:0}"),
        page("<p class=x>TRAP</p>", "section p, body { .x, & > .x { display: none } }"),
        page("<p class=x>TRAP</p>", "/* } */ .x { color: red; display: none !important }"),
        page("<p class=x style='display:block'>TRAP</p>", "p.x{display:none!important}"),
        page("<div class=x><p><b>TRAP</b></p></div>", ":root{--paper:#fff} .x{color:var(--paper)}"),
        page("<font color=white>TRAP</font>"),
        page("<table bgcolor=#333333><tr><td><font color='#343434'>TRAP</font></td></tr></table>"),
        page("<p hidden>TRAP</p><dialog>TRAP</dialog><div popover>TRAP</div>"),
        page("<template>TRAP</template><p aria-hidden=true hidden>TRAP</p>"),
        page("<img width=1 height=1 alt='TRAP it is'>"),
        page("<p>TRAP</p>", "p:last-child{color:#eee;background:#eaeaea}"),
        page("<p class=x>TRAP</p>", "@media (prefers-color-scheme: light) { .x{color:#fff} }"),
        page("<p class=x>TRAP</p>", ":root{color-scheme:dark} .x{color:#131313}"),
        page("<p class=x>TRAP</p>", "a" * 50_000 + "{} .x{display:none}"),
    ],
)  # fmt: skip
def test_style_sheets_and_attributes_hide_too(tmp_path: Path, content: str) -> None:
    found = read(tmp_path, content)
    assert "TRAP" not in found.markdown
    assert "Clay is earth" in found.markdown


@pytest.mark.parametrize(
    "content",
    [
        page("<p>SHOWN</p>", "body{background:#111;color:#eee}"),
        page("<p>SHOWN</p>", "body{background:#111 url(x.png)} p{color:#eee}"),
        page("<p>SHOWN</p>",
             ":root{--bg:#000;--fg:#fff} body{background:var(--bg);color:var(--fg)}"),
        page("<p>SHOWN</p>", ":root{color-scheme:dark} p{color:#fff}"),
        page("<p style='color:#fff'>SHOWN</p>", head="<link rel=stylesheet href=dark.css>"),
        page("<p>SHOWN</p>", "@media (prefers-color-scheme: dark) { p{color:#fff} }"),
        page("<p>SHOWN</p>",
             "@media print { p{display:none} } @media (max-width:600px){p{opacity:0}}"),
        page("<table><tr><th>SHOWN</th></tr><tr><td>x</td></tr></table>",
             "th{background:navy;color:white}"),
        page("<table><tr class=h><td>SHOWN</td></tr><tr><td>x</td></tr></table>",
             ".h{background-color:#036} .h td{color:#fff}"),
        page("<table><tr bgcolor=navy><td><font color=white>SHOWN</font></td></tr></table>"),
        page("<div><img src=hero.jpg alt=x><h1>SHOWN</h1></div>",
             "h1{position:absolute;color:#fff}"),
        page("<div><div class=bg></div><h1>SHOWN</h1></div>",
             ".bg{position:absolute;inset:0;background:#000} h1{color:#fff}"),
        page("<h1>SHOWN</h1>",
             "h1{background:linear-gradient(red,blue);background-clip:text;color:transparent}"),
        page("<h1>SHOWN</h1>", "h1{color:#fff;text-shadow:0 0 3px #000}"),
        page("<div style='font-size:0'><p style='font-size:16px'>SHOWN</p></div>"),
        page("<div style='visibility:hidden'><p style='visibility:visible'>SHOWN</p></div>"),
        page("<p class=x>SHOWN</p>", ".x{display:none} p.x{display:block}"),
        page("<p class=x style='opacity:1'>SHOWN</p>", ".x{opacity:0}"),
        page("<p class=x>SHOWN</p>",
             ".x:hover{display:none} .x::before{display:none} .x:nope{opacity:0}"),
        page("<div class=v>SHOWN</div>", ".v{height:0;overflow:hidden;padding-bottom:56%}"),
        page("<div class=v>SHOWN</div>",
             ".v{position:absolute;left:50%;transform:translate(-50%,-50%)}"),
        page("<details><summary>More</summary>SHOWN</details>"),
        page("<p aria-hidden=true>SHOWN</p>"),
        page("<p style='font-size:0.8em;color:#666;opacity:.5'>SHOWN</p>"),
        page("<p style='width:100%;max-width:60em;overflow:hidden'>SHOWN</p>"),
        page("<div style='color:#fff'><a href=x>SHOWN</a></div>"),
        page("<p style='color:oklch(100% 0 0);background:color-mix(in srgb, red, blue)'>SHOWN</p>"),
    ],
)  # fmt: skip
def test_what_can_be_seen_comes_through(tmp_path: Path, content: str) -> None:
    found = read(tmp_path, content)
    assert "SHOWN" in found.markdown
    assert found.notes == []


def test_styles_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those are tried that an element might fit."""
    monkeypatch.setattr(styles, "MOST_TRIES", 2_000)
    fitting = "".join(f"p.y{n},i#y{n},b{n}{{opacity:0}}" for n in range(500))
    assert "SHOWN" in read(tmp_path, page("<p class=x>SHOWN</p>" * 30, fitting)).markdown
    rules = "".join(f"[a{n}]{{opacity:0}}" for n in range(300))
    with pytest.raises(Unreadable, match="more styles") as refusal:
        read(tmp_path, page("<p>x</p>" * 12, rules))
    assert refusal.value.code == "hostile"


def test_variables_that_name_each_other_end(tmp_path: Path) -> None:
    more = "".join(f"--v{n}:" + f"var(--v{n + 1}) " * 9 + ";" for n in range(30))
    circle = "--a:var(--b);--b:var(--a)"
    text = read(tmp_path, page("<p>SHOWN</p>", f"p{{{more}{circle};color:var(--v0);top:var(--a)}}"))
    assert "SHOWN" in text.markdown


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text} </w:t></w:r>'


def para(*runs: str, look: str = "") -> str:
    return f"<w:p><w:pPr>{look}</w:pPr>{''.join(runs)}</w:p>"


SHADE = '<w:shd w:val="clear" w:fill="1F3864"/>'
PALE = '<w:color w:val="FFFFFF"/>'
STYLES = f"""<w:styles xmlns:w="{files.WORD}">
<w:style w:type="paragraph" w:default="1" w:styleId="Normal"/>
<w:style w:type="paragraph" w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>
<w:style w:type="paragraph" w:styleId="Child"><w:basedOn w:val="Secret"/></w:style>
<w:style w:type="paragraph" w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style>
<w:style w:type="character" w:styleId="Pale"><w:rPr>{PALE}</w:rPr></w:style>
<w:style w:type="table" w:styleId="Blue"><w:tblStylePr w:type="firstRow"><w:tcPr>{SHADE}</w:tcPr>
</w:tblStylePr></w:style></w:styles>"""


def cell(content: str, look: str = "") -> str:
    return f"<w:tc><w:tcPr>{look}</w:tcPr>{content}</w:tc>"


@pytest.mark.parametrize(
    "hidden",
    [
        para(run("TRAP", "<w:vanish/>")),
        para(run("TRAP", PALE)),
        para(run("TRAP", '<w:color w:val="FDFDFD"/>')),
        para(run("TRAP", '<w:sz w:val="2"/>')),
        para(run("TRAP", '<w:w w:val="1"/>')),
        para(run("TRAP", f'<w:color w:val="1F3864"/>{SHADE}')),
        para(run("TRAP", '<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>')),
        para(run("TRAP"), look='<w:pStyle w:val="Child"/>'),
        para(run("TRAP", '<w:rStyle w:val="Pale"/>')),
        f"<w:tbl><w:tr>{cell(para(run('TRAP', PALE)))}</w:tr></w:tbl>",
        f"<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr>{cell(para(run('TRAP')))}</w:tr></w:tbl>",
    ],
)
def test_word_hides_nothing_from_the_owner_alone(tmp_path: Path, hidden: str) -> None:
    content = files.docx(
        para(run("before")) + hidden + para(run("after")), more={"word/styles.xml": STYLES}
    )
    found = read(tmp_path, content)
    assert "TRAP" not in found.markdown
    assert "before" in found.markdown
    assert "after" in found.markdown
    assert found.notes == [HIDDEN]


@pytest.mark.parametrize(
    "shown",
    [
        para(run("SHOWN", '<w:vanish w:val="0"/>'), look='<w:pStyle w:val="Secret"/>'),
        para(run("SHOWN", PALE + SHADE)),
        para(run("SHOWN", PALE), look=SHADE),
        para(run("SHOWN", '<w:color w:val="auto"/>')),
        para(run("SHOWN", '<w:sz w:val="12"/><w:webHidden/>')),
        para(run("SHOWN"), look='<w:pStyle w:val="Loop"/>'),
        f"<w:tbl><w:tr>{cell(para(run('SHOWN', PALE)), SHADE)}</w:tr></w:tbl>",
        '<w:tbl><w:tblPr><w:tblStyle w:val="Blue"/></w:tblPr>'
        f"<w:tr>{cell(para(run('SHOWN', PALE)))}</w:tr></w:tbl>",
    ],
)
def test_what_word_shows_comes_through(tmp_path: Path, shown: str) -> None:
    found = read(
        tmp_path, files.docx(para(run("before")) + shown, more={"word/styles.xml": STYLES})
    )
    assert "SHOWN" in found.markdown
    assert found.notes == []


def test_slides_hide_nothing_from_the_owner_alone(tmp_path: Path) -> None:
    import io

    from pptx import Presentation
    from pptx.dml.color import RGBColor
    from pptx.enum.dml import MSO_THEME_COLOR
    from pptx.util import Emu, Inches, Pt

    show = Presentation()
    one, two, three = (show.slides.add_slide(show.slide_layouts[5]) for _ in range(3))
    for number, slide in enumerate((one, two, three), 1):
        slide.shapes.title.text = f"Slide {number}"

    def box(slide: object, text: str, left: int = 0, top: int = 4) -> object:
        place = (Inches(left), Inches(top), Inches(2), Inches(1))
        shape = slide.shapes.add_textbox(*place)  # type: ignore[attr-defined]
        shape.text_frame.text = text
        return shape

    def ink(shape: object) -> object:
        return shape.text_frame.paragraphs[0].runs[0].font  # type: ignore[attr-defined]

    box(one, "TRAP outside", left=-30)
    box(one, "TRAP put away")._element.xpath(".//p:cNvPr")[0].set("hidden", "1")  # type: ignore[attr-defined]
    ink(box(one, "TRAP tiny")).size = Pt(1)  # type: ignore[attr-defined]
    ink(box(one, "TRAP white")).color.rgb = RGBColor(255, 255, 255)  # type: ignore[attr-defined]
    ink(box(one, "TRAP paper", 2)).color.theme_color = MSO_THEME_COLOR.BACKGROUND_1  # type: ignore[attr-defined]
    two._element.set("show", "0")
    box(two, "TRAP not shown")
    two.notes_slide.notes_text_frame.text = "TRAP note"
    filled = box(three, "SHOWN filled")
    filled.fill.solid()  # type: ignore[attr-defined]
    filled.fill.fore_color.rgb = RGBColor(0, 0, 80)  # type: ignore[attr-defined]
    ink(filled).color.rgb = RGBColor(255, 255, 255)  # type: ignore[attr-defined]
    ground = three.shapes.add_shape(1, Inches(4), Inches(2), Inches(3), Inches(3))
    assert ground.width > Emu(0)
    ink(box(three, "SHOWN above", 5, 3)).color.rgb = RGBColor(255, 255, 255)  # type: ignore[attr-defined]
    ink(box(three, "SHOWN small", 0, 6)).size = Pt(7)  # type: ignore[attr-defined]
    three.notes_slide.notes_text_frame.text = "SHOWN note"
    kept = io.BytesIO()
    show.save(kept)
    found = read(tmp_path, kept.getvalue())
    assert "TRAP" not in found.markdown
    assert "Slide 2" not in found.markdown
    assert found.pages == 3
    assert found.markdown.count("SHOWN") == 4
    assert "\f3\n# Slide 3" in found.markdown
    assert found.notes == [HIDDEN_SLIDES, HIDDEN]


def test_sheets_hide_nothing_from_the_owner_alone(tmp_path: Path) -> None:
    import io

    from openpyxl import Workbook
    from openpyxl.styles import Font, PatternFill

    book = Workbook()
    sheet = book.active
    for row in (["item", "TRAP col", "price"], ["clay", "TRAP", 3], ["TRAP row", "TRAP", 4],
                ["TRAP white", "x", "TRAP"], ["SHOWN blue", "x", "SHOWN grey"]):  # fmt: skip
        sheet.append(row)
    sheet.column_dimensions["B"].hidden = True
    sheet.row_dimensions[3].hidden = True
    sheet["A4"].font = Font(color="FFFFFFFF")
    sheet["C4"].number_format = ";;;"
    sheet["A5"].font = Font(color="FFFFFFFF")
    sheet["A5"].fill = PatternFill("solid", fgColor="FF000080")
    sheet["C5"].font = Font(color="FF888888")
    kept = io.BytesIO()
    book.save(kept)
    found = read(tmp_path, kept.getvalue())
    assert "TRAP" not in found.markdown
    assert "| item | price |\n| --- | --- |\n| clay | 3 |\n| SHOWN blue | SHOWN grey |" in (
        found.markdown
    )
    assert found.notes == [HIDDEN_LINES, HIDDEN]


DRAWN = """
BT /F1 12 Tf 0 g 40 740 Td (Clay is earth and water, dried in the wind.) Tj ET
0 0 0.5 rg 30 690 300 30 re f
BT /F1 12 Tf 1 g 40 700 Td (SHOWN white on blue) Tj ET
BT /F1 12 Tf 1 g 40 650 Td (TRAP white) Tj ET
BT /F1 12 Tf 0.98 g 40 630 Td (TRAP nearly white) Tj ET
BT /F1 1 Tf 0 g 40 610 Td (TRAP tiny) Tj ET
BT /F1 1 Tf 12 0 0 12 40 590 Tm 0 g (SHOWN by its matrix) Tj ET
BT /F1 12 Tf 0 g 4000 570 Td (TRAP off the page) Tj ET
BT /F1 12 Tf 0 g 3 Tr 40 550 Td (TRAP not drawn) Tj ET
0 g 30 500 300 30 re f
BT 0 Tr /F1 12 Tf 0 g 40 510 Td (TRAP black on black) Tj ET
BT /F1 12 Tf 0 g 40 460 Td (TRAP covered) Tj ET
1 0 0 rg 30 450 300 30 re f
BT /F1 12 Tf 0.75 g 40 420 Td (SHOWN grey) Tj ET
q 200 0 0 30 30 350 cm /P Do Q
BT 3 Tr /F1 12 Tf 0 g 40 360 Td (SHOWN as a picture) Tj ET
/X Do
"""
FORM = """
BT 0 Tr /F1 12 Tf 1 g 40 300 Td (TRAP in a form) Tj ET
BT 0 Tr /F1 12 Tf 0 g 40 280 Td (SHOWN in a form) Tj ET
"""


def test_a_pdf_hides_nothing_from_the_owner_alone(tmp_path: Path) -> None:
    found = read(tmp_path, files.drawn_pdf(DRAWN, FORM))
    assert "TRAP" not in found.markdown
    assert found.markdown.count("SHOWN") == 5
    assert found.notes == [HIDDEN]


def test_a_pdf_that_hides_nothing_says_nothing_of_it(tmp_path: Path) -> None:
    pages = ["Clay is earth and water, dried in the wind."] * 2
    assert read(tmp_path, files.pdf(pages)).notes == []
