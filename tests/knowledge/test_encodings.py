"""Texts in whatever encoding, and bytes that only look like one."""

from pathlib import Path

import pytest

from knowledge.conversion import reading
from knowledge.conversion.kinds import Kind
from knowledge.conversion.shape import Read, Unreadable
from tests.knowledge import files

GERMAN = "Der Hafenmeister schrieb: Größe zählt, und die Brücke ist schön. "
FRENCH = "Le capitaine a mangé une crème brûlée à la forêt. "
JAPANESE = "港長は潮汐表を扉のそばの箱に入れている。毎朝六時に灯台の鐘が鳴る。"
ENGLISH = "The harbour master keeps the tide tables in a tin box by the door.\n"
PAGE = f"<!doctype html><html><head><title>Hafen</title></head><body><p>{GERMAN}</p></body></html>"


def read(folder: Path, content: bytes) -> tuple[Kind, Read]:
    return reading.read(files.kept(folder, content), lambda done, of: None)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN * 8, "utf-16-le"),
        (GERMAN * 8, "utf-16-be"),
        (GERMAN * 8, "utf-32"),
        (JAPANESE * 4, "utf-16-le"),
        (JAPANESE * 4, "shift-jis"),
        (JAPANESE * 4, "euc-jp"),
        (JAPANESE[:12], "shift-jis"),
        (FRENCH * 5, "latin-1"),
        ("Crème brûlée à Noël", "latin-1"),
        (ENGLISH * 4000 + "Café.", "latin-1"),
    ],
)
def test_a_text_says_the_same_in_each_encoding(tmp_path: Path, text: str, encoding: str) -> None:
    kind, found = read(tmp_path, text.encode(encoding))
    assert kind == Kind.TEXT
    assert found.markdown.strip() == text.strip()


def test_one_broken_byte_breaks_one_character(tmp_path: Path) -> None:
    content = (GERMAN * 50).encode() + b"\xff " + GERMAN.encode()
    assert read(tmp_path, content)[1].markdown.count("Größe") == 51
    cut = (GERMAN + "schön").encode()[:-2]
    assert GERMAN in read(tmp_path, cut)[1].markdown


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_page_of_sixteen_bits_is_a_page(tmp_path: Path, encoding: str) -> None:
    kind, found = read(tmp_path, PAGE.encode(encoding))
    assert (kind, found.title) == (Kind.HTML, "Hafen")
    assert found.markdown.strip() == GERMAN.strip()


def test_a_byte_of_nothing_makes_no_text_unreadable(tmp_path: Path) -> None:
    for content in (b"tide\x00 tables and lights", b"tide tables" + b"\0" * 4096):
        assert read(tmp_path, content)[1].markdown.startswith("tide tables")


@pytest.mark.parametrize(
    "content",
    [
        b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x03\0\x3e\0\x01\0\0\0" * 30,
        b"SQLite format 3\0\x10\0\x01\x01\0\x40\x20\x20\0\0\0\x02\0\0\0\x02",
        b"\x01\0\x02\0\xff\0\x03\0\xfe\0\x04\0" * 90,
        b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0",
    ],
    ids=["program", "database", "sound", "wasm"],
)
def test_what_is_no_text_is_not_taken_for_one(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(Unreadable) as refusal:
        read(tmp_path, content)
    assert refusal.value.code == "unsupported"
