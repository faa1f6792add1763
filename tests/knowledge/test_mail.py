"""Mails as programs write them, also such as break the rules."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from knowledge.conversion import reading
from knowledge.conversion.shape import Read
from tests.knowledge import files

HEAD = b"From: ann@example.org\nTo: bob@example.org\nSubject: Tides\n"


def read(folder: Path, content: bytes) -> Read:
    return reading.read(files.kept(folder, content), lambda done, of: None)[1]


@pytest.mark.parametrize("charset", ["x-unknown", "klingon", "utf-8"])
def test_an_encoding_that_nobody_knows_hinders_nobody(tmp_path: Path, charset: str) -> None:
    kind = f"Content-Type: text/plain; charset={charset}\n\n".encode()
    assert "High at the café." in read(
        tmp_path, HEAD + kind + "High at the café.\n".encode()
    ).markdown  # fmt: skip


def test_a_mail_that_is_passed_on_is_named(tmp_path: Path) -> None:
    inner, outer = EmailMessage(), EmailMessage()
    inner["From"], inner["Subject"] = "cy@example.org", "Storm warning"
    inner.set_content("Nine Beaufort.")
    outer["From"], outer["To"], outer["Subject"] = "ann@example.org", "bob@example.org", "Fw"
    outer.set_content("See below.")
    outer.add_attachment(inner)
    found = read(tmp_path, outer.as_bytes())
    assert "## Attached\n\n- Storm warning" in found.markdown
    assert found.notes == ["What is attached to a mail is not read: add it by itself."]
