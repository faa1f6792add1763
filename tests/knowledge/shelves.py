"""Collections and documents as they stand when they were read, without reading any."""

from typing import Any

from django.db.models import Sum
from django.utils import timezone

from agents.models import Agent, User
from knowledge.models import (
    Collection,
    Document,
    DocumentFile,
    DocumentPassage,
    DocumentTerm,
    DocumentText,
)
from knowledge.vocabulary import DocumentOrigin, DocumentState, Failure


def shelf(owner: User, name: str = "Papers", agent: Agent | None = None) -> Collection:
    return Collection.objects.create(owner=owner, name=name, agent=agent)


def document(collection: Collection, title: str, *texts: str, **values: Any) -> Document:
    """Ready, with a passage for each text; without any it waits."""
    from hashlib import sha256

    whole = "\n\n".join(texts) or title
    given: dict[str, Any] = {
        "owner": collection.owner,
        "collection": collection,
        "title": title,
        "origin": DocumentOrigin.UPLOAD,
        "file_name": f"{title}.md",
        "media_type": "text/markdown",
        "size": len(whole.encode()),
        "digest": sha256(f"{title} {whole}".encode()).hexdigest(),
    }
    if texts:
        given |= {
            "state": DocumentState.READY,
            "generation": 1,
            "passages": len(texts),
            "indexed_at": timezone.now(),
        }
    row = Document.objects.create(**(given | values))
    owned: dict[str, Any] = {"owner": row.owner, "document": row}
    DocumentFile.objects.create(**owned, piece=0, content=whole.encode())
    DocumentText.objects.create(**owned, generation=1, markdown=whole)
    start = 0
    for number, text in enumerate(texts):
        DocumentPassage.objects.create(
            **owned,
            generation=1,
            ordinal=number,
            text=text,
            headings=[f"Part {number + 1}"],
            page_from=number + 1,
            start=start,
            end=start + len(text),
            language=row.language,
        )
        start += len(text) + 2
    row.length = DocumentTerm.objects.filter(document_id=row.pk).aggregate(n=Sum("tf"))["n"] or 0
    row.save(update_fields=["length"])
    return row


def failed(collection: Collection, title: str, **values: Any) -> Document:
    told = {
        "state": DocumentState.FAILED,
        "failure": Failure.PROTECTED,
        "failure_detail": "It is protected with a password.",
    }
    return document(collection, title, **(told | values))
