"""Pictures on pages of a PDF that have text: what they say is read where they stand, and once."""

import io
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from knowledge import marks
from knowledge.conversion import images, pdf, reading
from knowledge.conversion.shape import Read
from tests.knowledge import files

ROOT = Path(__file__).parents[2]
STAMP = "Scanned with CamScanner - Page 12 of 30"
SENTENCE = "Clay is earth and water, dried in the wind and fired slowly."


def read(folder: Path, content: bytes) -> Read:
    return reading.read(files.kept(folder, content), lambda done, of: None)[1]


def bare(text: str) -> str:
    return "".join(text.split())


def sheet(*lines: str, size: tuple[int, int] = (850, 1100)) -> bytes:
    """A scanned page, of the shape of a letter."""
    from PIL import Image, ImageDraw

    page = Image.new("RGB", size, "white")
    for number, line in enumerate(lines):
        ImageDraw.Draw(page).text((80, 120 + 70 * number), line, fill="black", font_size=34)
    kept = io.BytesIO()
    page.save(kept, "PNG")
    return kept.getvalue()


def at(place: Sequence[float], name: str = "P0") -> str:
    left, bottom, width, height = place
    return f"q {width} 0 0 {height} {left} {bottom} cm /{name} Do Q"


def line(words: str, top: float, *, left: float = 40, mode: int = 0) -> str:
    return f"BT {mode} Tr /F1 11 Tf 0 g {left} {top} Td ({words}) Tj ET"


WHOLE = (0, 0, 612, 792)


def test_a_scan_with_a_stamp_is_read(tmp_path: Path) -> None:
    page = "\n".join([at(WHOLE), line(STAMP, 20, left=190)])
    found = read(tmp_path, files.pictured_pdf(page, pictures=[sheet("INVOICE 4711", "Kiln wood")]))
    text = found.markdown
    assert "INVOICE4711" in bare(text)
    assert marks.SAID[marks.OCR] in text
    # The stamp is no part of what was recognised.
    assert text.count(STAMP) == 1
    assert bare(text).count("CamScanner") == 1
    assert found.notes == []


def test_a_scan_that_lies_on_its_side_is_read_upright(tmp_path: Path) -> None:
    """Stored as it went through the scanner, with the word to turn it by a quarter."""
    page = "\n".join(["q 0 792 -612 0 612 0 cm /P0 Do Q", line(STAMP, 20, left=190)])
    scan = sheet("INVOICE 4711", "Kiln wood", size=(1100, 850))
    found = read(tmp_path, files.pictured_pdf(page, pictures=[scan], turned=90))
    assert "INVOICE4711" in bare(found.markdown)
    assert STAMP in found.markdown


def test_a_scan_in_strips_is_read_as_a_whole(tmp_path: Path) -> None:
    from PIL import Image

    strips = []
    with Image.open(io.BytesIO(sheet("INVOICE 4711", "Kiln wood"))) as page:
        for top in range(0, page.height, 20):
            kept = io.BytesIO()
            page.crop((0, top, page.width, top + 20)).save(kept, "PNG")
            strips.append(kept.getvalue())
    high = 792 / len(strips)
    content = [
        at((0, 792 - high * (number + 1), 612, high), f"P{number}") for number in range(len(strips))
    ]
    content.append(line(STAMP, 20, left=190))
    found = read(tmp_path, files.pictured_pdf("\n".join(content), pictures=strips))
    assert "INVOICE4711" in bare(found.markdown)
    assert found.markdown.count(marks.SAID[marks.OCR]) == 1


def test_a_figure_is_read_where_it_stands(tmp_path: Path) -> None:
    page = [line(f"Before {SENTENCE}", 740), at((40, 600, 300, 100)),
            line(f"Below {SENTENCE}", 560), line(f"Last {SENTENCE}", 540)]  # fmt: skip
    figure = files.png("CONE 1222", (450, 150))
    text = read(tmp_path, files.pictured_pdf("\n".join(page), pictures=[figure])).markdown
    order = [text.index(word) for word in ("Before", "> CONE", "Below", "Last")]
    assert order == sorted(order)
    assert text.count(marks.BEGIN) == text.count(marks.END) == 1


def test_of_two_columns_a_figure_stands_in_its_own(tmp_path: Path) -> None:
    """What a program writes first, such as a page's foot, is not what stands first."""
    page = [line("12 of 30, the potter", 30, left=330)]
    page += [line(f"Left {number} of the clay", 740 - 20 * number) for number in range(30)]
    page += [at((320, 620, 250, 120)), line("Right under the figure", 600, left=320)]
    figure = files.png("CONE 1222", (400, 150))
    text = read(tmp_path, files.pictured_pdf("\n".join(page), pictures=[figure])).markdown
    order = [text.index(word) for word in ("Left 29", "> CONE", "Right under")]
    assert order == sorted(order)


@pytest.mark.parametrize("count", [1, 13])
def test_a_scan_whose_words_are_in_the_file_is_not_read_again(tmp_path: Path, count: int) -> None:
    """A sheet with a title alone, and a full one."""
    over = [line(SENTENCE, 688 - 50.4 * number, mode=3) for number in range(count)]
    page = "\n".join([at(WHOLE), *over])
    text = read(tmp_path, files.pictured_pdf(page, pictures=[sheet(*[SENTENCE] * count)])).markdown
    assert text.count(SENTENCE) == count
    assert marks.SAID[marks.OCR] not in text


def test_a_picture_behind_a_page_of_text_is_not_read(tmp_path: Path) -> None:
    over = [line(f"{SENTENCE} {number}", 700 - 15 * number) for number in range(20)]
    page = "\n".join([at(WHOLE), *over])
    text = read(tmp_path, files.pictured_pdf(page, pictures=[sheet("LETTERHEAD 77")])).markdown
    assert text.count(SENTENCE) == 20
    assert marks.SAID[marks.OCR] not in text


@pytest.mark.parametrize(
    ("place", "picture"),
    [((40, 600, 120, 60), files.png("LOGO 77")), ((40, 600, 400, 100), files.png("", (60, 20)))],
    ids=["small", "few pixels"],
)
def test_an_ornament_is_not_read(
    tmp_path: Path, place: Sequence[float], picture: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "_engine", None)  # nobody asks for it
    page = "\n".join([line(SENTENCE, 740), at(place)])
    found = read(tmp_path, files.pictured_pdf(page, pictures=[picture]))
    assert SENTENCE in found.markdown
    assert marks.SAID[marks.OCR] not in found.markdown


def test_a_picture_on_every_page_is_told_of_once(tmp_path: Path) -> None:
    pages = ["\n".join([line(f"{SENTENCE} {n}", 740), at((40, 500, 300, 100))]) for n in range(3)]
    content = files.pictured_pdf(*pages, pictures=[files.png("CONE 1222", (450, 150))])
    text = read(tmp_path, content).markdown
    assert bare(text).count("CONE1222") == 1
    assert text.index("> CONE") < text.index("\f2")


def test_what_is_too_much_is_left_out_and_the_text_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "MOST", 1)
    figures = [files.png(f"CONE 122{number}", (450, 150)) for number in range(3)]
    pages = [
        "\n".join([line(f"{SENTENCE} {n}", 740), at((40, 500, 300, 100), f"P{n}")])
        for n in range(3)
    ]
    found = read(tmp_path, files.pictured_pdf(*pages, pictures=figures))
    assert found.markdown.count(SENTENCE) == 3
    assert bare(found.markdown).count("CONE122") == 1
    assert found.notes == [images.LEFT_OUT]


def test_a_page_with_a_picture_of_very_many_pixels_keeps_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "MOST_PIXELS", 60_000)
    page = "\n".join([line(SENTENCE, 740), at((40, 500, 300, 100))])
    content = files.pictured_pdf(page, pictures=[files.png("CONE 1222", (450, 150))])
    found = read(tmp_path, content)
    assert SENTENCE in found.markdown
    assert (marks.SAID[marks.OCR] in found.markdown, found.notes) == (False, [images.TOO_LARGE])


HURRIES = """
import resource, sys, time
from pathlib import Path
from knowledge.conversion import allowance, reading
allowance.begin(0, {most})
_, most = resource.getrlimit(resource.RLIMIT_CPU)
resource.setrlimit(resource.RLIMIT_CPU, (most, most))
while time.process_time() < 1.2:
    pass
found = reading.read(Path(sys.argv[1]), lambda done, of: None)[1]
print(found.markdown.replace(chr(10), " "), found.notes)
"""


@pytest.mark.parametrize(("most", "is_read"), [(2, False), (200, True)])
def test_figures_are_left_out_where_time_runs_short(
    tmp_path: Path, most: int, is_read: bool
) -> None:
    """Half of it is for the text."""
    page = "\n".join([line(SENTENCE, 740), at((40, 500, 300, 100))])
    content = files.pictured_pdf(page, pictures=[files.png("CONE 1222", (450, 150))])
    told = subprocess.run(
        [sys.executable, "-c", HURRIES.replace("{most}", str(most)),
         str(files.kept(tmp_path, content))],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert SENTENCE in told
    assert ("CONE" in told, images.HURRIED in told) == (is_read, not is_read)
