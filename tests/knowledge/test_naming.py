"""Names of files as people and programs give them."""

import pytest

from knowledge.naming import file_name, title_of


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("bill.pdf", "bill.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\ann\\bill.pdf", "bill.pdf"),
        ("/a/b/", "b"),
        ("..", "document"),
        ("", "document"),
        ("a\x00b\r\nc\x1b[31m.pdf", "a b c [31m.pdf"),
        ("in\u202efdp.exe", "in fdp.exe"),
        ("ze\u200bro.md", "ze ro.md"),
        ("  two   words .txt", "two words .txt"),
        ("Überblick 概要.pdf", "Überblick 概要.pdf"),
        ("x" * 400 + ".pdf", "x" * 251 + ".pdf"),
        ("x" * 400, "x" * 255),
    ],
)
def test_what_is_kept_of_a_name(given: str, kept: str) -> None:
    assert file_name(given) == kept


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("bill_of_march.pdf", "bill of march"),
        (".profile", ".profile"),
        ("v1.2 and more words", "v1.2 and more words"),
        ("x" * 255, "x" * 255),
    ],
)
def test_a_title_until_the_document_tells_one(name: str, title: str) -> None:
    assert title_of(name) == title
