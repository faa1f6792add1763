"""The bench of documents goes on where a run was broken off, and says what was not read."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from agents.models import User
from bench.kb_ingest import take_in
from knowledge.models import Document
from knowledge.vocabulary import DocumentState
from tests.knowledge.shelves import shelf

pytestmark = pytest.mark.django_db


def test_a_run_that_was_broken_off_is_completed(alice: User, tmp_path: Path) -> None:
    collection = shelf(alice)
    files = [tmp_path / name for name in ("kilns.md", "glazes.md", "void.pdf")]
    for path in files[:2]:
        path.write_text(f"# {path.stem}\n\nAll about {path.stem}.\n")
    files[2].write_bytes(b"%PDF-1.7 and no more")
    assert take_in(alice, collection, files[:1]).documents == 1
    # As a process that is killed leaves it: in hand, and for minutes nobody else's.
    Document.objects.update(
        state=DocumentState.INDEXING, busy_until=timezone.now() + timedelta(minutes=3)
    )
    first = Document.objects.get().indexed_at
    found = take_in(alice, collection, files)
    assert (found.documents, found.passages, list(found.failed)) == (1, 1, ["void.pdf"])
    assert found.pages > 0
    assert Document.objects.get(file_name="kilns.md").indexed_at == first
    again = take_in(alice, collection, files)
    assert (again.documents, list(again.failed)) == (0, ["void.pdf"])
