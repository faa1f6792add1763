"""Secrets are looked for in the whole text of an original, before it is cut."""

import re
from pathlib import Path

import pytest

from knowledge import marks
from knowledge.conversion import reading
from knowledge.conversion.reading import WITHHELD
from knowledge.conversion.shape import Read
from knowledge.conversion.withheld import without_secrets
from knowledge.splitting import split
from tests.knowledge import files

KEY = [f"MIIEv{n:02}AbCdEfGh/JkLmNoPqRsTuVwXyZ0123456789+abcdefghijklmnop" for n in range(70)]
SEED = "abandon ability able about above absent absorb abstract absurd abuse access accident"
PEM = "\n".join(["-----BEGIN PRIVATE KEY-----", *KEY, "Zm9v=", "-----END PRIVATE KEY-----"])
PUTTY = "\n".join(["PuTTY-User-Key-File-3: ssh-rsa", "Private-Lines: 70", *KEY, "", "Private-MAC"])
GITHUB = "ghp_" + "a1B2" * 9
CLAY = "Clay is earth and water, dried in the wind and then in fire. "
FOOT = "Acme Ltd. \u2013 confidential \u2013 page 12 of 40"


def read(folder: Path, content: bytes | str) -> Read:
    content = content.encode() if isinstance(content, str) else content
    return reading.read(files.kept(folder, content), lambda done, of: None)[1]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (PEM, "MIIEv"),
        ("> " + PEM.replace("\n", "\n> "), "MIIEv"),
        (f"```\n{PEM}\n```", "MIIEv"),
        (PEM.replace("\n", "\\n"), "MIIEv"),
        (PEM.replace("\n", " "), "MIIEv"),
        (PEM.replace("PRIVATE KEY", "PGP PRIVATE KEY BLOCK"), "MIIEv"),
        (PEM.replace("-----", "---- ").replace(" \n", "\n"), "MIIEv"),
        (PEM.rsplit("\n", 1)[0], "MIIEv"),
        (PUTTY, "MIIEv"),
        (PEM.replace("PRIVATE KEY", "OpenVPN Static key V1"), "MIIEv"),
        ("client-key-data: LS0tLS1CRUdJTiBSU0Eg" + "\n    ".join(KEY), "MIIEv"),
        (f"Recovery phrase: {SEED}", "absorb"),
        ("Seed words:\n\n" + "".join(f"{n}. {w}\n" for n, w in enumerate(SEED.split())), "abuse"),
        ("The password:\n\nhunter2-is-it", "hunter2"),
        ("**Password:** hunter2", "hunter2"),
        (GITHUB.replace("_", "\\_"), "a1B2"),
        ("| site | password |\n| --- | --- |\n| a.org | hunter2 |\n| b.org | s3cret |", "hunter2"),
        ("| key | value |\n| --- | --- |\n| **API key** | s3cret\\_9 |", "s3cret"),
    ],
    ids=["pem", "quoted", "code", "escaped", "one line", "pgp", "ssh2", "no end", "putty", "vpn",
         "packed", "seed", "listed seed", "next line", "bold", "escaped token", "column", "row"],
)  # fmt: skip
def test_a_secret_is_taken_out_wherever_passages_will_be_cut(
    tmp_path: Path, text: str, secret: str
) -> None:
    found = read(tmp_path, f"# Kilns\n\n{CLAY * 40}\n\n{text}\n\n{CLAY * 40}\n\nThe end.\n")
    assert secret not in found.markdown
    assert "[redacted]" in found.markdown
    assert found.markdown.count(CLAY.strip()) == 80
    assert found.markdown.rstrip().endswith("The end.")
    assert found.notes == [WITHHELD]
    pieces = split(found.markdown)
    assert len(pieces) > 1
    assert not any(secret in piece.text for piece in pieces)


@pytest.mark.parametrize("end", ["", "-----END PRIVATE KEY-----"])
def test_a_key_on_two_pages_is_taken_out_of_both_and_pages_stay(tmp_path: Path, end: str) -> None:
    pages = [
        "\n".join([CLAY, "-----BEGIN PRIVATE KEY-----", *KEY[:30], FOOT.replace("\u2013", "-")]),
        "\n".join(["Acme Ltd.", *KEY[30:60], end, *[CLAY] * 20]),
        f"Third. {CLAY}",
    ]
    text = read(tmp_path, files.pdf(pages)).markdown
    assert "MIIEv" not in text
    assert re.findall(r"^\f(\d+)$", text, re.M) == ["1", "2", "3"]
    assert text.count(CLAY.strip()) == 22
    assert "Third." in text


def test_a_key_that_an_image_shows_leaves_its_marks(tmp_path: Path) -> None:
    shown = marks.image("\n".join(["Our key", "-----BEGIN PRIVATE KEY-----", *KEY[:9]]))
    text = without_secrets(f"one\n\n{shown}{marks.image('A lamp')}")[0]
    assert "MIIEv" not in text
    assert [mark[0][:1] for mark in marks.MARK.finditer(text)] == [
        marks.BEGIN, marks.END, marks.BEGIN, marks.END,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "A PEM begins with -----BEGIN PRIVATE KEY----- and more follows. " + CLAY * 30,
        "| name | type |\n| --- | --- |\n| password | string |\n| clay | earth |",
        "| user | password |\n| --- | --- |\n| ann | required |\n| bob | The one of the kiln. |",
        "The password is required. Set `PASSWORD` for the kiln.",
        "-----BEGIN CERTIFICATE-----\n" + "\n".join(KEY),
    ],
)
def test_what_only_speaks_of_secrets_stays(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, f"{text}\n\nThe end of it.")
    said = found.markdown.replace("[redacted]", "")
    assert "The end of it." in said
    assert all(word in said for word in text.split()[-6:])


def test_a_title_tells_no_secret(tmp_path: Path) -> None:
    page = f"<!doctype html><title>The password: hunter2</title><p>{CLAY}"
    assert read(tmp_path, page).title == "The password: [redacted]"


def test_a_long_text_is_looked_through_to_its_end(tmp_path: Path) -> None:
    text = CLAY * 6_600 + "\n\n" + PEM + "\n\n" + CLAY * 7_000 + "\n\npassword: hunter2"
    found = read(tmp_path, text)
    assert "MIIEv" not in found.markdown
    assert "hunter2" not in found.markdown
    assert found.markdown.count(CLAY.strip()) == 13_600
