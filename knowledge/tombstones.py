"""What is left of a deleted document: a keyed hash of its original."""

import hmac
from collections.abc import Collection as Several
from hashlib import sha256
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from agents.models import User
from knowledge.models import Collection, Document
from memory.models import Tombstone


def hash_of(digest: str) -> str:
    return hmac.new(settings.HASH_KEY.encode(), f"document {digest}".encode(), sha256).hexdigest()


def stands(owner: User, digest: str) -> bool:
    return Tombstone.objects.filter(owner=owner, digest=hash_of(digest)).exists()


def hashes_among(owner: User, ids: Several[UUID]) -> list[str]:
    """Of the documents among these rows, and of those in the collections among them."""
    rows = Document.objects.filter(Q(pk__in=ids) | Q(collection__in=ids), owner=owner)
    return sorted(hash_of(digest) for digest in rows.values_list("digest", flat=True) if digest)


def all_rows(owner: User) -> set[UUID]:
    """What a purge of everything takes."""
    documents = Document.objects.filter(owner=owner).values_list("pk", flat=True)
    collections = Collection.objects.filter(owner=owner).values_list("pk", flat=True)
    return {*documents, *collections}
