"""What a person sees in Word, PowerPoint and Excel, as Markdown."""

import io
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from knowledge.conversion import reading
from knowledge.conversion.shape import Read, Unreadable
from tests.knowledge import files


def read(folder: Path, content: bytes) -> Read:
    return reading.read(files.kept(folder, content), lambda done, of: None)[1]


@pytest.fixture
def show() -> Any:
    from pptx import Presentation

    return Presentation()


def saved(show: Any) -> bytes:
    kept = io.BytesIO()
    show.save(kept)
    return kept.getvalue()


def added(show: Any, layout: int, title: str = "") -> Any:
    slide = show.slides.add_slide(show.slide_layouts[layout])
    if title:
        slide.shapes.title.text = title
    return slide


def box(slide: Any, text: str, top: int = 5_000_000) -> Any:
    shape = slide.shapes.add_textbox(900_000, top, 3_000_000, 500_000)
    shape.text_frame.text = text
    return shape


def test_bullets_of_slides_are_items(tmp_path: Path, show: Any) -> None:
    slide = added(show, 1, "Tides")
    frame = slide.placeholders[1].text_frame
    frame.text = "Ebb"
    for text, level in (("falls", 1), ("slowly", 2), ("Flood", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    run = frame.add_paragraph().add_run()
    run.text, run.hyperlink.address = "Tables", "https://example.org/t"
    box(slide, "Plain words\nof two paragraphs")
    assert read(tmp_path, saved(show)).markdown.strip("\n") == (
        "\f1\n# Tides\n\n* Ebb\n   * falls\n      * slowly\n* Flood\n"
        "* [Tables](https://example.org/t)\n\nPlain words\n\nof two paragraphs"
    )


def test_steps_of_slides_are_numbered(tmp_path: Path, show: Any) -> None:
    frame = box(added(show, 5, "Steps"), "Moor\nRest\nCast off").text_frame
    for paragraph in (frame.paragraphs[0], frame.paragraphs[2]):
        properties = paragraph._p.get_or_add_pPr()
        properties.append(properties.makeelement(
            "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum",
            {"type": "arabicPeriod"},
        ))  # fmt: skip
    assert "# Steps\n\n1. Moor\n\nRest\n\n1. Cast off" in read(tmp_path, saved(show)).markdown


def test_a_title_of_two_lines_is_one_heading_and_the_first(tmp_path: Path, show: Any) -> None:
    slide = added(show, 5, "Harbour\vplan")
    box(slide, "Above it", top=0)
    slide.shapes.title.top = 3_000_000
    assert "\f1\n# Harbour plan\n\nAbove it" in read(tmp_path, saved(show)).markdown


def test_tables_and_charts_of_slides(tmp_path: Path, show: Any) -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    slide = added(show, 5, "Depths")
    table = slide.shapes.add_table(3, 3, 900_000, 1_500_000, 5_000_000, 900_000).table
    rows = [("Port", "Depth|m", ""), ("North", "low\nwater", "4"), ("", "high", "6")]
    for place, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(place, column).text = text
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 0).merge(table.cell(2, 0))
    data = CategoryChartData()
    data.categories = ["Jan", "Feb"]
    data.add_series("Gales", (4, 5.5))
    slide.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, 900_000, 3_000_000, 4_000_000, 1_500_000, data
    )
    box(slide, "After the chart")
    assert (
        "| Port | Depth\\|m |  |\n| --- | --- | --- |\n| North | low water | 4 |\n"
        "| North | high | 6 |\n\n| Category | Gales |\n| --- | --- |\n| Jan | 4 |\n| Feb | 5.5 |"
        "\n\nAfter the chart"
    ) in read(tmp_path, saved(show)).markdown


def test_notes_groups_and_captions_of_slides(tmp_path: Path, show: Any) -> None:
    slide = added(show, 6)
    picture = slide.shapes.add_picture(io.BytesIO(files.png("", (60, 60))), 0, 0)
    picture._element.nvPicPr.cNvPr.set("descr", "The till [old]")
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(9, 9_000, 3_000, 900).text_frame.text = "In a group"
    slide.notes_slide.notes_text_frame.text = "Say this.\nAnd that."
    text = read(tmp_path, saved(show)).markdown
    assert "> The till [old]\n\x0f" in text
    assert "In a group\n\n### Notes\n\nSay this.\n\nAnd that." in text


def test_groups_within_groups_have_an_end(tmp_path: Path, show: Any) -> None:
    shapes = added(show, 6).shapes
    for _ in range(60):
        shapes = shapes.add_group_shape().shapes
    shapes.add_textbox(0, 0, 900, 900).text_frame.text = "deep"
    with pytest.raises(Unreadable, match="deeper than can be read"):
        read(tmp_path, saved(show))


def test_a_title_above_a_sheets_table_is_not_its_head(tmp_path: Path) -> None:
    content = files.xlsx(
        Costs=[("Costs of 2026",), (), ("item", "price", "on"), ("clay", 12)], Names=[("Ann",)] * 3
    )
    assert read(tmp_path, content).markdown == (
        "\f1\n## Costs\n\nCosts of 2026\n\n| item | price | on |\n| --- | --- | --- |\n"
        "| clay | 12 |  |\n\n\f2\n## Names\n\n| Ann |\n| --- |\n| Ann |\n| Ann |\n"
    )


STYLES = (
    f'<w:styles xmlns:w="{files.WORD}">'
    + "".join(
        f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{name}"/>{more}</w:style>'
        for style, name, more in (
            ("Titel", "Title", ""),
            ("berschrift2", "heading 2", ""),
            ("berschrift8", "heading 8", ""),
            ("Kapitel", "Kapitel", '<w:pPr><w:outlineLvl w:val="1"/></w:pPr>'),
            ("Teil", "Teil", '<w:basedOn w:val="Kapitel"/>'),
            ("Body9", "Body9", '<w:basedOn w:val="Teil"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>'),
            ("Quelltext", "HTML Preformatted", ""),
            ("Loop", "Loop", '<w:basedOn w:val="Loop"/>'),
        )
    )
    + "</w:styles>"
)


def test_a_day_of_a_sheet_has_no_hour(tmp_path: Path) -> None:
    content = files.xlsx(Gales=[("on", "at"), (datetime(2026, 3, 1), datetime(2026, 3, 1, 6, 30))])
    assert "| 2026-03-01 | 2026-03-01 06:30:00 |" in read(tmp_path, content).markdown


def test_headings_of_word_are_those_of_its_styles(tmp_path: Path) -> None:
    """Their ids are in the language of whoever wrote it, and people make their own."""
    styled = ["Titel", "berschrift2", "berschrift8", "Kapitel", "Teil", "Body9", "Quelltext",
              "Quelltext", "Loop"]  # fmt: skip
    body = "".join(files.paragraph(f"as {style}", style) for style in styled)
    text = read(tmp_path, files.docx(body, more={"word/styles.xml": STYLES})).markdown
    assert text.strip() == (
        "# as Titel\n\n## as berschrift2\n\n###### as berschrift8\n\n## as Kapitel\n\n"
        "## as Teil\n\nas Body9\n\n```\nas Quelltext\nas Quelltext\n```\n\nas Loop"
    )


def test_a_table_of_word_keeps_its_columns(tmp_path: Path) -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<w:tc><w:tcPr>{more}</w:tcPr>{files.paragraph(text)}</w:tc>"

    rows = [
        cell("Port") + cell("Depth|m", '<w:gridSpan w:val="2"/>'),
        cell("North", '<w:vMerge w:val="restart"/>') + cell("4") + cell("6"),
        cell("", "<w:vMerge/>") + cell("5") + cell("7"),
    ]
    body = f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
    assert read(tmp_path, files.docx(body)).markdown.strip() == (
        "| Port | Depth\\|m |  |\n| --- | --- | --- |\n| North | 4 | 6 |\n| North | 5 | 7 |"
    )


def test_notes_of_word_have_their_numbers_and_lead_nowhere(tmp_path: Path) -> None:
    body = '<w:p><w:r><w:t>Tides</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    notes = (
        f'<w:footnotes xmlns:w="{files.WORD}"><w:footnote w:id="2">'
        f"{files.paragraph('Twice a day.')}</w:footnote></w:footnotes>"
    )
    links = (
        f'<Relationships xmlns="{files.PACKAGE}/relationships"><Relationship Id="f"'
        f' Type="{files.RELATIONS}/footnotes" Target="footnotes.xml"/></Relationships>'
    )
    more: dict[str, str | bytes] = {
        "word/footnotes.xml": notes, "word/_rels/document.xml.rels": links,
    }  # fmt: skip
    text = read(tmp_path, files.docx(body, more=more)).markdown
    assert text.strip() == "Tides[1]\n\n1. Twice a day."
