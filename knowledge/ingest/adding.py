"""Documents are taken in: stored whole at once, read by the worker afterwards."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import IntegrityError

from agents import gate
from agents.audit import Actor, acting
from agents.models import ApiKey, User
from knowledge import naming, storage, tombstones, web
from knowledge.ingest.hints import hint
from knowledge.models import Collection, Document
from knowledge.storage import Spooled
from knowledge.vocabulary import DocumentOrigin

TEXT = "text/markdown"
LONGEST_ADDRESS = 2000


class Refused(Exception):
    """The message is for people."""


@dataclass(frozen=True, slots=True)
class Added:
    """`is_new` is false where the collection had it already."""

    document: Document
    is_new: bool


def most_bytes() -> int:
    return int(settings.KNOWLEDGE_MAX_BYTES)


def in_words(size: int) -> str:
    """Of bytes: "50 MB"."""
    for unit, name in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{round(size / unit, 1):g} {name}"
    return f"{size} bytes"


def too_large() -> str:
    """What is said after a file's name, or what it is."""
    most = in_words(most_bytes())
    return f"is larger than {most}, the most that fits. Split it and add the parts."


def add_file(
    *,
    owner: User,
    collection: Collection,
    file_name: str,
    stream: Any,
    actor: Actor,
    origin: str = DocumentOrigin.UPLOAD,
    title: str = "",
    client: ApiKey | None = None,
) -> Added:
    """`stream`: a file, or an upload of Django's. What it is, is found out when it is read.

    Raises Refused (too large, nothing in it, deleted before), MemoryOff.
    """
    name = naming.file_name(file_name)
    row = Document(
        owner=owner,
        collection=collection,
        client=client,
        title=naming.one_line(title) if title.strip() else naming.title_of(name),
        origin=origin,
        file_name=name,
    )
    return _take(row, stream, actor, "file")


def add_text(
    *,
    owner: User,
    collection: Collection,
    title: str,
    text: str,
    actor: Actor,
    origin: str = DocumentOrigin.API,
    client: ApiKey | None = None,
) -> Added:
    """Text or Markdown as it is. Raises as `add_file` does."""
    if not text.strip():
        raise Refused("There is no text.")
    row = Document(
        owner=owner,
        collection=collection,
        client=client,
        title=naming.one_line(title),
        origin=origin,
        media_type=TEXT,
    )
    return _take(row, io.BytesIO(text.encode("utf-8", errors="replace")), actor, "text")


def add_address(
    *,
    owner: User,
    collection: Collection,
    address: str,
    actor: Actor,
    title: str = "",
    client: ApiKey | None = None,
) -> Added:
    """Fetched by the worker. Raises Refused (not an address that may be asked), MemoryOff."""
    try:
        address = web.clean_address(address)
    except web.Refused as refusal:
        raise Refused(str(refusal)) from refusal
    if len(address) > LONGEST_ADDRESS:
        raise Refused(f"An address has at most {LONGEST_ADDRESS} characters.")
    row = Document(
        owner=owner,
        collection=collection,
        client=client,
        title=naming.one_line(title or address),
        origin=DocumentOrigin.WEB,
        address=address,
    )
    _refuse_deleted(row, address, actor)
    return _insert(row, actor, lambda: None, address=address)


def _take(row: Document, stream: Any, actor: Actor, called: str) -> Added:
    try:
        original = storage.spool(stream, most_bytes())
    except storage.TooLarge:
        raise Refused(f"The {called} {too_large()}") from None
    with original.file:
        if not original.size:
            raise Refused("There is nothing in it.")
        row.size, row.digest = original.size, original.digest
        _refuse_deleted(row, row.digest, actor)
        return _insert(row, actor, lambda: _store(row, original), digest=original.digest)


def _refuse_deleted(row: Document, said: str, actor: Actor) -> None:
    """What the owner deleted only a person brings back. `said`: see `tombstones.hash_of`."""
    if actor.person is None and tombstones.stands(row.owner, said):
        raise Refused("The owner deleted this document, so it is not stored again.")


def _store(row: Document, original: Spooled) -> None:
    storage.store(row, original)


def _insert(row: Document, actor: Actor, store: Callable[[], None], **key: str) -> Added:
    """Two that bring the same at once: one wins, and the other is told of it."""
    _check_owner(row)
    known = Document.objects.filter(owner=row.owner, collection=row.collection, **key)
    try:
        with acting(actor, "document added"):
            gate.require_on(row.owner)
            if there := known.first():
                return Added(there, is_new=False)
            row.save(force_insert=True)
            store()
            hint(row.pk)
    except IntegrityError:
        there = known.first()
        if there is not None:
            return Added(there, is_new=False)
        if not Collection.objects.filter(pk=row.collection_id, owner=row.owner).exists():
            raise Refused("Its collection was deleted meanwhile.") from None
        raise
    return Added(row, is_new=True)


def _check_owner(row: Document) -> None:
    if row.collection.owner_id != row.owner_id:
        raise Refused("That collection belongs to another owner.")
