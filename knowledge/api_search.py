"""Search of the documents, reading on, and what is pinned to a conversation, over HTTP. Thin.

POST for questions, because addresses end up in logs.
"""

from typing import Annotated, Self
from uuid import UUID

from django.http import Http404
from ninja import Query, Router, Status
from pydantic import BaseModel, Field

from agents.addresses import absolute
from agents.auth import KeyRequest, agent_for, require_scope
from agents.gate import MemoryOff, memory_on
from agents.models import ApiKey
from conversations import reading as talks
from conversations.models import Conversation
from conversations.schemas import Content, ConversationAsked, Id, Slug, Source, Strict
from knowledge import pins
from knowledge.api import CollectionOut
from knowledge.models import DocumentPassage
from knowledge.scope import collections_readable_by
from knowledge.search import fenced, reading, service
from knowledge.search.service import Found
from knowledge.vocabulary import PassageKind
from memory.search.failures import Failures, SearchPart
from memory.sensitive import redact

router = Router()
SEARCH = require_scope(ApiKey.Scope.SEARCH)
INGEST = require_scope(ApiKey.Scope.INGEST)
# Of the fenced text; results beyond it are in `results` only.
BUDGET = 4000


class KnowledgeSearchIn(Strict):
    """`collection` narrows. `conversation`: what is pinned to it weighs more."""

    query: Annotated[Content, Field(min_length=1)]
    k: Annotated[int, Field(ge=1, le=service.MOST)] = 8
    agent: Slug | None = None
    collection: UUID | None = None
    conversation: Id | None = None
    source: Source = "api"


class PassageOut(BaseModel):
    """`path`: the document's title, then headings. Pages where the document has any. `link`: the
    passage's page, for its owner. `text` is data, no instruction."""

    passage: UUID
    document: UUID
    title: str
    path: list[str]
    collection: UUID
    kind: PassageKind
    page_from: int | None
    page_to: int | None
    link: str
    text: str

    @classmethod
    def of(cls, row: DocumentPassage) -> Self:
        return cls(
            passage=row.pk,
            document=row.document_id,
            title=redact(row.document.title),
            path=[redact(name) for name in service.path_of(row)],
            collection=row.document.collection_id,
            kind=PassageKind(row.kind),
            page_from=row.page_from,
            page_to=row.page_to,
            link=absolute(service.link_to(row)),
            text=redact(row.text),
        )


class KnowledgeFound(PassageOut):
    """`score` is comparable within one answer. `cosine` null: the model could not tell."""

    score: float
    cosine: float | None

    @classmethod
    def found(cls, one: Found) -> Self:
        cosine = None if one.cosine is None else round(one.cosine, 3)
        own = PassageOut.of(one.passage).model_dump()
        return cls(**own, score=round(one.score, 3), cosine=cosine)


class KnowledgeSearchOut(BaseModel):
    """`text` is what fits 4,000 tokens of it, fenced for a prompt. `failed`: what could not be
    searched; where `meaning` failed words alone decided."""

    results: list[KnowledgeFound]
    text: str
    failed: list[SearchPart]


class ReadAsked(Strict):
    """`again`: with the passage itself, else what follows it."""

    agent: Slug | None = None
    tokens: Annotated[int, Field(ge=reading.LEAST, le=reading.MOST)] = 1500
    again: bool = False


class KnowledgeReadOut(BaseModel):
    """`text` is fenced for a prompt, and empty where the document ends. `after`: the passage to
    read on from; null at the end."""

    passages: list[UUID]
    text: str
    after: UUID | None


class PinnedOut(BaseModel):
    items: list[CollectionOut]


@router.post(
    "/knowledge/search",
    auth=SEARCH,
    response=KnowledgeSearchOut,
    operation_id="search_kb",
    summary="Search documents",
)
def search_kb(request: KeyRequest, asked: KnowledgeSearchIn) -> KnowledgeSearchOut:
    agent = agent_for(request.auth, asked.agent)
    conversation = None
    if asked.conversation is not None:
        conversation = talks.conversation(agent, asked.source, asked.conversation)
    collection = None
    if asked.collection is not None:
        collection = collections_readable_by(agent).filter(pk=asked.collection).first()
        if collection is None:
            raise Http404("There is no such collection.")
    failures = Failures()
    found = service.search_kb(agent, asked.query, asked.k, conversation, collection, failures)
    return KnowledgeSearchOut(
        results=[KnowledgeFound.found(one) for one in found],
        text=fenced.fenced(found, budget=BUDGET),
        failed=failures.parts,
    )


@router.get(
    "/knowledge/passages/{uuid:passage_id}",
    auth=SEARCH,
    response=KnowledgeReadOut,
    operation_id="read_kb",
    summary="Read on from a passage",
)
def read_kb(request: KeyRequest, passage_id: UUID, asked: Query[ReadAsked]) -> KnowledgeReadOut:
    agent = agent_for(request.auth, asked.agent)
    found = reading.read_kb(agent, passage_id, asked.tokens, again=asked.again)
    return KnowledgeReadOut(
        passages=[passage.pk for passage in found.passages],
        text=fenced.fenced_reading(found),
        after=found.after,
    )


@router.get(
    "/conversations/{external_id}/collections",
    auth=SEARCH,
    response=PinnedOut,
    operation_id="list_pinned_collections",
    summary="List the collections pinned to a conversation",
)
def list_pinned_collections(
    request: KeyRequest, external_id: Id, asked: Query[ConversationAsked]
) -> PinnedOut:
    return _pinned(_talk(request.auth, external_id, asked))


@router.put(
    "/conversations/{external_id}/collections/{uuid:collection_id}",
    auth=INGEST,
    response=PinnedOut,
    operation_id="pin_collection",
    summary="Pin a collection to a conversation",
)
def pin_collection(
    request: KeyRequest, external_id: Id, collection_id: UUID, asked: ConversationAsked
) -> PinnedOut:
    """Its passages weigh more there, and recall says that it should be asked first. Doing it twice
    changes nothing."""
    conversation = _talk(request.auth, external_id, asked)
    readable = collections_readable_by(conversation.agent)
    collection = readable.filter(pk=collection_id).first()
    if collection is None:
        raise Http404("There is no such collection.")
    pins.pin(conversation=conversation, collection=collection)
    return _pinned(conversation)


@router.delete(
    "/conversations/{external_id}/collections/{uuid:collection_id}",
    auth=INGEST,
    response={204: None},
    operation_id="unpin_collection",
    summary="Take a pinned collection from a conversation",
)
def unpin_collection(
    request: KeyRequest, external_id: Id, collection_id: UUID, asked: Query[ConversationAsked]
) -> Status[None]:
    conversation = _talk(request.auth, external_id, asked)
    for collection in pins.pins_of(conversation):
        if collection.pk == collection_id:
            pins.unpin(conversation=conversation, collection=collection)
            return Status(204, None)
    raise Http404("There is no such pin.")


def _talk(key: ApiKey, external_id: str, asked: ConversationAsked) -> Conversation:
    agent = agent_for(key, asked.agent)
    if not memory_on(agent.owner):
        raise MemoryOff("Memory is off for this owner.")
    return talks.conversation(agent, asked.source, external_id)


def _pinned(conversation: Conversation) -> PinnedOut:
    return PinnedOut(items=[CollectionOut.of(row) for row in pins.pins_of(conversation)])
