"""Collections and documents as they stand when they were read, without reading any."""

import io
from typing import Any

from django.db.models import Sum
from django.utils import timezone

from agents.audit import person
from agents.models import Agent, User
from knowledge import ingest
from knowledge.models import (
    Collection,
    Document,
    DocumentFile,
    DocumentPassage,
    DocumentTerm,
    DocumentText,
)
from knowledge.vocabulary import DocumentOrigin, DocumentState, Failure
from tests.factories import AgentFactory, UserFactory


def shelf(owner: User, name: str = "Papers", agent: Agent | None = None) -> Collection:
    return Collection.objects.create(owner=owner, name=name, agent=agent)


def added(collection: Collection, content: bytes, name: str) -> Document:
    """A file that was given, and waits to be read."""
    return ingest.add_file(
        owner=collection.owner,
        collection=collection,
        file_name=name,
        stream=io.BytesIO(content),
        actor=person(collection.owner),
    ).document


def sights(agent: Agent, second: Agent, stranger: Agent) -> list[tuple[Agent, set[str]]]:
    """Who may read which of `hers`, the agent's, `the other's`, `everybody's` and `bob's`, the
    stranger's."""
    agent.reads = second.reads = Agent.Reads.OWN_AND_GLOBAL
    own = Agent(owner=agent.owner, pk=second.pk, reads=Agent.Reads.OWN)
    everything = Agent(owner=agent.owner, pk=agent.pk, reads=Agent.Reads.ALL)
    return [
        (agent, {"hers", "everybody's"}),
        (second, {"the other's", "everybody's"}),
        (own, {"the other's"}),
        (everything, {"hers", "everybody's", "the other's"}),
        (stranger, {"bob's"}),
        (AgentFactory.create(owner=UserFactory.create()), set()),
    ]


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
