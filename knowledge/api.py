"""Collections of documents over HTTP. Thin: the rules are in knowledge/collections.py."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from ninja import Query, Router, Status
from pydantic import BaseModel, Field

from agents.api import NotForKey, Unfit
from agents.audit import key_holder
from agents.auth import KeyRequest, agent_for, require_scope
from agents.models import Agent, ApiKey
from agents.schemas import Version
from agents.versions import Outdated, seen_in, version_of
from conversations.schemas import Slug, Strict, Text
from knowledge import collections, ingest
from knowledge.api_sight import Sight
from knowledge.collections import LONGEST_DESCRIPTION, LONGEST_NAME, Wanted
from knowledge.models import Collection
from memory.api_paging import Cursor, Limit, page_of

router = Router()
SEARCH = require_scope(ApiKey.Scope.SEARCH)
INGEST = require_scope(ApiKey.Scope.INGEST)
REVIEW = require_scope(ApiKey.Scope.REVIEW)

Name = Annotated[Text, Field(min_length=1, max_length=LONGEST_NAME)]
Description = Annotated[Text, Field(max_length=LONGEST_DESCRIPTION)]


class KnowledgeAsked(Strict):
    agent: Slug | None = None


class CollectionsAsked(KnowledgeAsked):
    """`after` is the `next` of the page before."""

    after: Cursor | None = None
    limit: Limit = 50


class CollectionOut(BaseModel):
    """`agent` null: every agent that reads what is global may search it."""

    id: UUID
    name: str
    description: str
    agent: str | None
    created_at: datetime
    version: str

    @classmethod
    def of(cls, row: Collection) -> Self:
        return cls(
            id=row.pk,
            name=row.name,
            description=row.description,
            agent=row.agent.slug if row.agent else None,
            created_at=row.created_at,
            version=version_of(row.name, row.description, row.agent_id),
        )


class CollectionPage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[CollectionOut]
    next: str | None


class CollectionIn(Strict):
    """For one agent, or with `everybody` for every agent that reads what is global."""

    name: Name
    description: Description = ""
    agent: Slug | None = None
    everybody: bool = False


class CollectionChangeIn(KnowledgeAsked):
    """What is left out stays. `version`, or the header If-Match, is what you saw."""

    name: Name | None = None
    description: Description | None = None
    version: Version = ""


@router.get(
    "/knowledge/collections",
    auth=SEARCH,
    response=CollectionPage,
    operation_id="list_collections",
    summary="List collections of documents, latest first",
)
def list_collections(request: KeyRequest, asked: Query[CollectionsAsked]) -> CollectionPage:
    rows = Sight.of(request.auth, asked.agent).collections()
    found, following = page_of(rows, "created_at", asked.after, asked.limit)
    return CollectionPage(items=[CollectionOut.of(row) for row in found], next=following)


@router.get(
    "/knowledge/collections/{uuid:collection_id}",
    auth=SEARCH,
    response=CollectionOut,
    operation_id="read_collection",
    summary="Read one collection's particulars",
)
def read_collection(
    request: KeyRequest,
    collection_id: UUID,
    asked: Query[KnowledgeAsked],
    response: HttpResponse,
) -> CollectionOut:
    return _told(Sight.of(request.auth, asked.agent).collection(collection_id), response)


@router.post(
    "/knowledge/collections",
    auth=INGEST,
    response={201: CollectionOut},
    operation_id="add_collection",
    summary="Make a collection",
)
def add_collection(
    request: KeyRequest, asked: CollectionIn, response: HttpResponse
) -> Status[CollectionOut]:
    """For every agent only by a key with the review scope, or of no one agent."""
    key = request.auth
    row = Collection(owner=key.owner)
    wanted = Wanted(asked.name, asked.description, _for_whom(key, asked))
    return Status(201, _stored(key, row, wanted, response))


@router.patch(
    "/knowledge/collections/{uuid:collection_id}",
    auth=INGEST,
    response=CollectionOut,
    operation_id="change_collection",
    summary="Rename a collection, or say anew what is in it",
)
def change_collection(
    request: KeyRequest, collection_id: UUID, asked: CollectionChangeIn, response: HttpResponse
) -> CollectionOut:
    sight = Sight.of(request.auth, asked.agent)
    with transaction.atomic():
        sight.may_fill(sight.collection(collection_id))
        row = Collection.objects.select_for_update(no_key=True).get(pk=collection_id)
        current = CollectionOut.of(row)
        seen = seen_in(request, asked.version)
        if seen and seen != current.version:
            raise Outdated(current)
        name = row.name if asked.name is None else asked.name
        about = row.description if asked.description is None else asked.description
        return _stored(request.auth, row, Wanted(name, about, row.agent), response)


@router.delete(
    "/knowledge/collections/{uuid:collection_id}",
    auth=REVIEW,
    response={204: None},
    operation_id="delete_collection",
    summary="Delete a collection with its documents, for good",
)
def delete_collection(
    request: KeyRequest, collection_id: UUID, asked: Query[KnowledgeAsked]
) -> Status[None]:
    row = Sight.of(request.auth, asked.agent).collection(collection_id)
    ingest.delete_collection(collection=row, actor=key_holder(request.auth))
    return Status(204, None)


def _for_whom(key: ApiKey, asked: CollectionIn) -> Agent | None:
    """Raises NotForKey, Unfit, and what agent_for does."""
    if not asked.everybody:
        return agent_for(key, asked.agent)
    if asked.agent is not None:
        raise Unfit("everybody: leave it out, or the agent.")
    if key.agent is not None and ApiKey.Scope.REVIEW not in key.scopes:
        raise NotForKey("Only a key with the review scope changes what other agents read.")
    return None


def _stored(key: ApiKey, row: Collection, wanted: Wanted, response: HttpResponse) -> CollectionOut:
    """Raises Unfit, Overtaken."""
    for field, fault in collections.faults(row, wanted).items():
        raise Unfit(f"{field}: {fault}")
    actor, reason = key_holder(key), "over the API"
    return _told(collections.store(row=row, wanted=wanted, actor=actor, reason=reason), response)


def _told(row: Collection, response: HttpResponse) -> CollectionOut:
    out = CollectionOut.of(row)
    response["ETag"] = f'"{out.version}"'
    return out
