"""Passages of converted text: what every text keeps to, and where cuts fall."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowledge import marks
from knowledge.splitting import Piece, embedded_as, split
from knowledge.splitting.blocks import blocks, plain
from knowledge.splitting.packing import MOST, OVERLAP
from memory import tokens

SENTENCES = [
    "The harbour master keeps the tide tables in a tin box by the door.",
    "Laivan kansi maalataan joka kevät ennen juhannusta.",
    "灯塔在雾天每十五秒鸣响一次，船长们都知道这一点。",
    "ท่าเรือเปิดทุกวันตั้งแต่หกโมงเช้า",
    "المنارة تعمل طوال الليل.",
]
PARTS = st.one_of(
    st.builds("{} {}\n\n".format, st.sampled_from(["#", "##", "###"]), st.sampled_from(SENTENCES)),
    st.builds(
        lambda some, times: " ".join(some * times) + "\n\n",
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3),
        st.integers(1, 12),
    ),
    st.builds(lambda text, rows: table(text, rows), st.sampled_from(SENTENCES), st.integers(1, 30)),
    st.builds(
        lambda text, items: f"* {text}\n" * items + "\n",
        st.sampled_from(SENTENCES),
        st.integers(1, 20),
    ),
    st.builds(lambda lines: "```\n" + "x = 1  # a line\n" * lines + "```\n\n", st.integers(1, 90)),
    st.builds(lambda text: f"term\n:   {text}\n\n    {text}\n\n", st.sampled_from(SENTENCES)),
    st.builds(marks.page, st.integers(1, 40)),
    st.builds(marks.image, st.sampled_from(SENTENCES), st.sampled_from([marks.OCR, marks.CAPTION])),
    st.text(max_size=60).map(marks.foreign),
    st.sampled_from(["\r\n", "\u2028", "\x85", " " * 300, ">" * 40, "1. a\n   - b\n", "<div>\n"]),
)
TEXTS = st.lists(PARTS, max_size=12).map("".join)


def table(text: str, rows: int) -> str:
    return "| a | b |\n| --- | --- |\n" + f"| {text} | 1 |\n" * rows + "\n"


def prose(words: int, word: str = "tide") -> str:
    """Sentences of ten words."""
    sentence = " ".join([word.capitalize(), *[word] * 8, f"{word}."])
    return " ".join([sentence] * (words // 10))


def own(text: str, piece: Piece) -> str:
    return marks.without(text[piece.start : piece.end]).strip("\n")


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_pieces_cover_every_text_are_bounded_and_say_something(text: str) -> None:
    pieces = split(text)
    covered: set[int] = set()
    for piece in pieces:
        assert piece.text.strip()
        assert piece.text == own(text, piece)
        assert tokens.count(piece.text) <= MOST + 5
        covered.update(range(piece.start, piece.end))
    missing = "".join(char for at, char in enumerate(text) if at not in covered)
    assert not marks.without(missing).strip() or marks.MARK.fullmatch(missing.strip() + "\n")
    for before, after in pairwise(pieces):
        assert before.start < after.start <= before.end < after.end
        assert tokens.count(text[after.start : before.end]) <= OVERLAP + 5


@pytest.mark.parametrize("text", ["", "\n \n", "\f3\n", "\u2028", "\f1\n\f2\n\n"])
def test_a_text_that_says_nothing_has_no_pieces(text: str) -> None:
    assert split(text) == []


def test_one_long_line_without_spaces_is_cut_too() -> None:
    for text in ("a" * 30_000, "码" * 30_000, "e" + "\u0301" * 3000):
        assert max(tokens.count(piece.text) for piece in split(text)) <= MOST


@pytest.mark.parametrize(
    "text", ["e" + "\u0301" * 60_000, "# a *b* c\n\n" * 50, "|" + "a|" * 40_000], ids=len
)
def test_it_tells_while_it_cuts_that_it_still_does(text: str) -> None:
    """Whoever holds a document for some minutes has to say so again before they are over."""
    ticks: list[None] = []
    assert split(text, tick=lambda: ticks.append(None)) == split(text)
    assert len(ticks) >= 4


def test_rows_items_and_code_stay_whole() -> None:
    """Each is far below a passage, and together they are far above one."""
    row = "| " + prose(40, "harbour") + " | 12 |"
    item = "* " + prose(60, "anchor")
    code = "```\n" + "reef = 1\n" * 60 + "```"
    text = "\n\n".join(
        [
            "# Ports",
            "\n".join(["| a | b |", "| --- | --- |", *[row] * 20]),
            "\n".join([item] * 20),
            *[code] * 8,
        ]
    )
    pieces = split(text)
    assert len(pieces) > 10
    for whole in (row, item, code):
        shown = sum(piece.text.count(whole) for piece in pieces)
        assert shown >= text.count(whole)
        assert {
            line for piece in pieces for line in piece.text.splitlines() if "harbour" in line
        } == {row}
    assert all(piece.text.count("```") % 2 == 0 for piece in pieces)


def test_a_heading_stays_with_what_follows_and_a_head_with_its_row() -> None:
    text = "".join(f"## Port {n}\n\n{prose(180)}\n\n" for n in range(12)) + table(prose(50), 12)
    for piece in split(text):
        last = piece.text.rstrip().splitlines()[-1]
        assert not last.startswith("#")
        assert not re.fullmatch(r"[|\s-]+", last)


def test_sections_that_say_enough_are_passages_of_their_own() -> None:
    text = f"# Harbour\n\n## North\n\n{prose(200)}\n\n## South\n\n{prose(200, 'sand')}\n"
    north, south = split(text)
    assert (north.headings, south.headings) == (("Harbour", "North"), ("Harbour", "South"))
    assert "sand" not in north.text
    assert "tide" not in south.text


def test_a_section_that_is_cut_goes_on_with_its_last_sentences() -> None:
    sentences = [f"Lamp number {n} hangs over the pier of the old town." for n in range(120)]
    pieces = split("# Lamps\n\n" + " ".join(sentences))
    assert len(pieces) > 2
    for before, after in pairwise(pieces):
        shared = before.text[-(before.end - after.start) :].strip()
        assert after.text.startswith(shared)
        assert 20 <= tokens.count(shared) <= OVERLAP
        assert shared.startswith("Lamp number")
        assert after.headings == ("Lamps",)


def test_pages_are_told_from_the_marks() -> None:
    text = "".join(marks.page(n) + prose(140, f"word{n}") + "\n\n" for n in range(3, 9))
    pieces = split(text)
    for piece in pieces:
        found = [int(n) for n in re.findall(r"word(\d)\b", piece.text)]
        assert (piece.page_from, piece.page_to) == (min(found), max(found))
        assert marks.PAGE not in piece.text
    assert [piece.page_from for piece in split(prose(20))] == [None]


def test_what_was_recognised_in_an_image_says_so() -> None:
    scan = marks.page(1) + marks.image(prose(100, "invoice"))
    [scanned] = split(scan)
    assert scanned.kind == marks.OCR
    assert scanned.text.startswith("> [Text recognised in an image]")
    [captioned] = split(marks.image(prose(100), marks.CAPTION))
    assert captioned.kind == marks.CAPTION
    [mixed] = split(f"{prose(200)}\n\n{marks.image('a lamp')}\n\n{prose(100)}")
    assert mixed.kind == "text"
    assert "> a lamp" in mixed.text


@pytest.mark.parametrize(
    ("heading", "said"),
    [
        ("[`shelve`](#m 'x') — *Python* persistence[¶](#p)", "shelve — Python persistence"),
        ("12. Documentation", "12. Documentation"),
        ("![a lamp](x.png)", ""),
        ("snake_case \\_ & <b>bold</b>", "snake_case _ & bold"),
        ("灯塔", "灯塔"),
    ],
)
def test_headings_are_told_without_markup(heading: str, said: str) -> None:
    assert plain(heading) == said


def test_each_part_of_a_passage_is_embedded_with_its_breadcrumb() -> None:
    parts = embedded_as("Tides", ["Tides", "North"], prose(440))
    assert len(parts) >= 2
    assert all(part.startswith("Tides > North\n") for part in parts)
    assert all(tokens.count(part) <= 256 for part in parts)
    said = " ".join(part.removeprefix("Tides > North\n") for part in parts)
    assert said.split() == prose(440).split()
    assert embedded_as("", [], "Short.") == ["Short."]
    deep = embedded_as("Title", [prose(30, f"w{n}") for n in range(9)], "x")[0]
    assert deep.startswith("Title > W8")
    assert tokens.count(deep) <= 80


def test_a_long_text_asks_for_more_time_while_it_is_parsed() -> None:
    """Before the first block is known: of millions of lines that takes minutes."""
    asked: list[int] = []
    found = blocks("- a\n" * 50, lambda: asked.append(1))
    assert len(found) == 50
    assert len(asked) >= 2 * len(found)
