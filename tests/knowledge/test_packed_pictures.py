"""Pictures that are parts of a packed file are read where they stand, as those in Word are."""

from pathlib import Path

from knowledge import marks
from knowledge.conversion import images, reading
from knowledge.conversion.shape import Read
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
