"""What a key may see and change of its owner's documents.

A key with the review scope and of no one agent stands for the owner; any other sees what search
could find for its agent. All else is missing: 404.
"""

from dataclasses import dataclass
from typing import Self
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from agents.api import NotForKey
from agents.auth import agent_for
from agents.gate import MemoryOff, memory_on
from agents.models import Agent, ApiKey, User
from knowledge.models import Collection, Document
from knowledge.scope import (
    collections_of,
    collections_readable_by,
    documents_of,
    documents_readable_by,
)


@dataclass(frozen=True, slots=True)
class Sight:
    """Without an agent all that is the owner's is in sight, which is for review keys only. `bound`:
    the key speaks for that agent alone."""

    owner: User
    agent: Agent | None
    reviews: bool
    bound: bool

    @classmethod
    def of(cls, key: ApiKey, slug: str | None) -> Self:
        """Raises NoSuchAgent, AgentUnnamed, MemoryOff."""
        reviews = ApiKey.Scope.REVIEW in key.scopes
        whole = reviews and slug is None and key.agent is None
        agent = None if whole else agent_for(key, slug)
        if not reviews and not memory_on(key.owner):
            raise MemoryOff("Memory is off for this owner.")
        return cls(key.owner, agent, reviews, key.agent is not None)

    def collections(self) -> QuerySet[Collection]:
        rows = collections_readable_by(self.agent) if self.agent else collections_of(self.owner)
        return rows.select_related("owner", "agent")

    def documents(self) -> QuerySet[Document]:
        rows = documents_readable_by(self.agent) if self.agent else documents_of(self.owner)
        return rows.select_related("owner", "collection")

    def collection(self, collection_id: UUID) -> Collection:
        """Raises Http404."""
        row = self.collections().filter(pk=collection_id).first()
        if row is None:
            raise Http404("There is no such collection.")
        return row

    def document(self, document_id: UUID) -> Document:
        """Raises Http404."""
        row = self.documents().filter(pk=document_id).first()
        if row is None:
            raise Http404("There is no such document.")
        return row

    def may_fill(self, collection: Collection) -> Collection:
        """What other agents read is not for a key of one agent to add to. Raises NotForKey."""
        own = self.agent is not None and collection.agent_id == self.agent.pk
        if self.bound and not own and not self.reviews:
            raise NotForKey("Only a key with the review scope changes what other agents read.")
        return collection
