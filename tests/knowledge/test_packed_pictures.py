"""Pictures that are parts of a packed file are read where they stand, as those in Word are."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from knowledge import marks
from knowledge.conversion import images, reading
from knowledge.conversion.office import HIDDEN_LINES
from knowledge.conversion.shape import HIDDEN, Read
from tests.knowledge import files


def read(folder: Path, content: bytes) -> Read:
    return reading.read(files.kept(folder, content), lambda done, of: None)[1]


def bare(text: str) -> str:
    return "".join(text.split())


def test_pictures_of_a_book_are_read_where_they_stand(tmp_path: Path) -> None:
    chapter = (
        "<html><body><p>before</p><p><img src='img/kiln%20(1).png' alt='A kiln'/></p>"
        "<p>between <img src='./img/../img/till.png'/> words</p><p>after</p></body></html>"
    )
    pictures: dict[str, str | bytes] = {
        "o/img/kiln (1).png": files.png("CONE 1222"),
        "o/img/till.png": files.png("TOTAL 99"),
    }
    text = read(tmp_path, files.epub("Clay", chapter, more=pictures)).markdown
    order = [text.index(word) for word in ("before", "> A kiln", "> CONE", "between", "> TOTAL",
                                           "words", "after")]  # fmt: skip
    assert order == sorted(order)
    assert text.count(marks.SAID[marks.OCR]) == 2


def test_a_book_shows_no_picture_that_is_not_in_it(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(files.png("TRAP 77"))
    sources = [
        f"{tmp_path}/secret.png", "../../secret.png", f"file://{tmp_path}/secret.png", "",
        "http://127.0.0.1:9/a.png", "img/none.png", "img/broken.png", "img", "#a", "//[",
    ]  # fmt: skip
    shown = "".join(f"<p><img src='{source}' alt='The till'/></p>" for source in sources)
    more: dict[str, str | bytes] = {"o/img/broken.png": b"no picture", "o/img/": ""}
    chapter = f"<html><body><p>words</p>{shown}</body></html>"
    found = read(tmp_path, files.epub("Clay", chapter, more=more))
    assert found.markdown.count("> The till") == len(sources)
    assert "TRAP" not in found.markdown
    assert marks.SAID[marks.OCR] not in found.markdown
    assert found.notes == []


def test_a_picture_that_a_book_hides_is_not_read(tmp_path: Path) -> None:
    chapter = (
        "<html><body><p>words</p><div style='display:none'><img src='till.png'/></div>"
        "<img width='0' src='till.png'/></body></html>"
    )
    content = files.epub("Clay", chapter, more={"o/till.png": files.png("TRAP 77")})
    assert "TRAP" not in read(tmp_path, content).markdown


def test_of_a_books_pictures_no_more_are_read_than_of_others(tmp_path: Path) -> None:
    count = images.MOST + 1
    shown = "".join(f"<p><img src='{number}.png'/></p>" for number in range(count))
    blank = {f"o/{number}.png": files.png("", (60, 20 + number % 7)) for number in range(count)}
    # None is the same as another.
    more: dict[str, str | bytes] = {
        name: content + name.encode() for name, content in blank.items()
    }
    content = files.epub("Clay", f"<html><body><p>words</p>{shown}</body></html>", more=more)
    assert read(tmp_path, content).notes == [images.LEFT_OUT]


def workbook() -> bytes:
    """Two sheets with pictures; some of them lie where nobody sees them."""
    from openpyxl import Workbook
    from openpyxl.drawing.image import Image
    from openpyxl.drawing.spreadsheet_drawing import AnchorMarker, TwoCellAnchor

    book = Workbook()
    costs, kilns = book.active, book.create_sheet("Kilns")
    costs.title = "Costs"
    for row in [("item", "price"), ("clay", 12), ("gone", 3), ("gone", 4), ("wood", 5)]:
        costs.append(row)
    kilns.append(("cone", "heat"))
    for number in (3, 4):
        costs.row_dimensions[number].hidden = True

    def show(sheet: Any, words: str, row: int, last: int, edit: str = "twoCell") -> None:
        picture = Image(io.BytesIO(files.png(words)))
        ends = AnchorMarker(row=row - 1), AnchorMarker(row=last - 1, col=4)
        picture.anchor = TwoCellAnchor(edit, *ends)
        sheet.add_image(picture)

    show(costs, "LATER 22", 40, 44)
    show(costs, "FIRST 11", 20, 24)
    show(costs, "TRAP 77", 3, 4)
    show(costs, "PARTLY 33", 4, 5)
    show(costs, "STAYS 44", 3, 4, edit="absolute")
    show(kilns, "CONE 1222", 5, 8)
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


def test_pictures_of_a_sheet_stand_behind_its_cells(tmp_path: Path) -> None:
    found = read(tmp_path, workbook())
    text = bare(found.markdown)
    words = ("wood", "STAYS44", "PARTLY33", "FIRST11", "LATER22", "##Kilns", "|heat|", "CONE1222")
    order = [text.index(word) for word in words]
    assert order == sorted(order)
    assert "TRAP" not in text
    assert found.notes == [HIDDEN_LINES]


def test_a_picture_of_a_sheet_that_is_hidden_is_not_read(tmp_path: Path) -> None:
    name = 'name="Image 1"'
    content = edited(workbook(), "xl/drawings/drawing2.xml", name, f'{name} hidden="1"')
    found = read(tmp_path, content)
    assert "CONE1222" not in bare(found.markdown)
    assert "FIRST11" in bare(found.markdown)
    assert found.notes == [HIDDEN_LINES, HIDDEN]


def test_a_picture_of_no_size_is_not_read(tmp_path: Path) -> None:
    from openpyxl import Workbook
    from openpyxl.drawing.image import Image

    book = Workbook()
    book.active.append(("cone", "heat"))
    for words, place, width in (("TRAP 77", "A5", 0), ("CONE 1222", "B9", 420)):
        picture = Image(io.BytesIO(files.png(words)))
        picture.width = width
        book.active.add_image(picture, place)
    kept = io.BytesIO()
    book.save(kept)
    found = read(tmp_path, kept.getvalue())
    assert "TRAP" not in found.markdown
    assert "CONE1222" in bare(found.markdown)
    assert found.notes == [HIDDEN]


@pytest.mark.parametrize(
    ("part", "old", "new"),
    [
        ("xl/drawings/drawing2.xml", "</", "<"),
        ("xl/drawings/_rels/drawing2.xml.rels", "/xl/media/", "/xl/nothing/"),
        ("xl/drawings/_rels/drawing2.xml.rels", "Target=", 'TargetMode="External" Target='),
        ("xl/worksheets/_rels/sheet2.xml.rels", "/xl/drawings/", "/../../"),
    ],
    ids=["drawing", "missing", "outside", "path"],
)  # fmt: skip
def test_a_broken_drawing_takes_no_cell_away(tmp_path: Path, part: str, old: str, new: str) -> None:
    text = read(tmp_path, edited(workbook(), part, old, new)).markdown
    assert "| cone | heat |" in text
    assert "FIRST11" in bare(text)
    assert "CONE1222" not in bare(text)


def edited(content: bytes, part: str, old: str, new: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as pack:
        parts: dict[str, str | bytes] = {name: pack.read(name) for name in pack.namelist()}
        text = pack.read(part).decode()
    assert old in text
    return files.pack(parts | {part: text.replace(old, new)})
