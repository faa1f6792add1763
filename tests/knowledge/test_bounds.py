"""What a document may take of the worker that cuts it."""

import base64
import io
from pathlib import Path

import pytest

from agents.audit import person
from agents.models import User
from knowledge import ingest
from knowledge.conversion import reading, tables
from knowledge.conversion.shape import Unreadable
from knowledge.ingest import job
from knowledge.models import Collection, Document
from knowledge.splitting import blocks as parsed
from knowledge.splitting import split
from knowledge.splitting.blocks import blocks
from tests.knowledge import files
from tests.knowledge.shelves import shelf

# Its rows are short: the parser fills them up to the width of the head.
PADDED = "|a" * 300 + "\n" + "|-" * 300 + "\n" + "|\n" * 100 + "\n"


def read(folder: Path, content: bytes) -> str:
    return reading.read(files.kept(folder, content), lambda done, of: None)[1].markdown


def sheet(rows: int, columns: int) -> str:
    return tables.of([str(row)] * columns for row in range(rows))[0]


def mail(body: bytes) -> bytes:
    kind = b"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    head = b"From: ann@example.org\nTo: bob@example.org\nSubject: Tides\n"
    return head + kind + base64.encodebytes(body)


@pytest.fixture
def papers(alice: User) -> Collection:
    return shelf(alice)


@pytest.fixture
def thousandth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed, "MOST_PARTS", parsed.MOST_PARTS // 1000)


@pytest.mark.usefixtures("thousandth")
@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("some words\n\n" * 660, "some words\n\n" * 7),
        ("- a\n" * 399, "- a\n"),
        ("- - - - - - - - - a\n" * 54, "- - - - - - - - - a\n"),
        (sheet(101, 17), "\n" + "| a " * 17 + "\n|\n|\n|\n"),
        (PADDED[:1208], PADDED * 200),
    ],
    ids=["paragraphs", "items", "nested", "sheet", "padded"],
)  # fmt: skip
def test_what_is_made_of_a_text_is_bounded(text: str, more: str) -> None:
    assert blocks(text)
    with pytest.raises(Unreadable, match="more paragraphs, items and cells") as refusal:
        split(text + more)
    assert refusal.value.code == "too_long"


def test_a_sheet_as_long_as_one_is_read_is_cut() -> None:
    assert len(blocks(sheet(tables.MOST_ROWS + 9, 5))) == tables.MOST_ROWS + 1


@pytest.mark.django_db
@pytest.mark.usefixtures("thousandth")
def test_of_what_is_too_much_to_cut_the_owner_is_told(papers: Collection) -> None:
    padded, plain = (
        ingest.add_file(
            owner=papers.owner, collection=papers, file_name="x.md", actor=person(papers.owner),
            stream=io.BytesIO(text.encode()),
        ).document
        for text in (PADDED, "The tide is high.")
    )  # fmt: skip
    for row in (padded, plain):
        job.work(row.pk)
    failed = Document.objects.get(pk=padded.pk)
    assert (failed.state, failed.failure, failed.next_attempt_at) == ("failed", "too_long", None)
    assert "Split the document and add the parts." in failed.failure_detail
    assert Document.objects.get(pk=plain.pk).state == "ready"


@pytest.mark.parametrize("ends", [b"\n", b"\r", b"\r\n"])
def test_lines_count_however_they_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: bytes
) -> None:
    monkeypatch.setattr(reading, "MOST_LINES", 12)
    for content in ((b"- a" + ends) * 13, mail((b"- a" + ends) * 13)):
        with pytest.raises(Unreadable, match="more than 12 lines") as refusal:
            read(tmp_path, content)
        assert refusal.value.code == "too_long"
    assert read(tmp_path, (b"- a" + ends) * 12) == "- a\n" * 12
    assert read(tmp_path, mail((b"- a" + ends) * 4)).endswith("- a\n- a\n")
