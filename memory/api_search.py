"""Search over HTTP. Thin: what it does is in memory/search/service.py.

POST, because addresses end up in logs and questions are memory text.
"""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from ninja import Router
from pydantic import BaseModel, Field

from agents.addresses import absolute
from agents.auth import KeyRequest, agent_for, require_scope
from agents.models import ApiKey, OwnerSettings
from conversations import reading
from conversations.schemas import Content, Day, Id, Slug, Source, Strict
from memory.search import service
from memory.search.failures import Failures, SearchPart
from memory.search.fenced import fenced
from memory.search.hits import Hit, Place, Scope, Tier
from memory.search.marks import Mark

router = Router()


class SearchIn(Strict):
    """`conversation` narrows what was said to one conversation. `as_of`: what was known and stored
    when that day ended on the owner's clock."""

    query: Annotated[Content, Field(min_length=1)]
    scope: Scope = Scope.ALL
    k: Annotated[int, Field(ge=1, le=service.MOST)] = 10
    agent: Slug | None = None
    conversation: Id | None = None
    source: Source = "api"
    as_of: Day | None = None


class SaidIn(BaseModel):
    """Where a passage is from. `message` is the id that the client gave."""

    passage: UUID
    kind: str
    conversation: str
    source: str
    agent: str
    message: str | None
    role: str | None
    speaker: str | None
    from_owner: bool | None


class PlaceOut(BaseModel):
    """Where a hit of a further tier stands, in words; `url` is its page."""

    id: UUID
    words: str
    url: str


class HitOut(BaseModel):
    """`score` is comparable within a tier, for facts and passages in nats. `overridden_by` is the
    newer fact's text."""

    tier: Tier
    text: str
    score: float
    said_at: datetime
    fact: UUID | None
    case: UUID | None
    said_in: SaidIn | None
    place: PlaceOut | None
    overridden: bool
    summarised: bool
    overridden_by: str | None

    @classmethod
    def of(cls, hit: Hit) -> Self:
        return cls(
            tier=hit.tier,
            text=hit.text,
            score=round(hit.score, 3),
            said_at=hit.said_at,
            fact=hit.fact.pk if hit.fact else None,
            case=hit.case.pk if hit.case else None,
            said_in=_provenance(hit),
            place=_place(hit.place),
            overridden=Mark.OVERRIDDEN in hit.marks,
            summarised=Mark.SUMMARISED in hit.marks,
            overridden_by=hit.overridden_by.statement if hit.overridden_by else None,
        )


class SearchOut(BaseModel):
    """`text` is all of it, fenced for a prompt. `failed`: what could not be searched, wholly or in
    part; where `meaning` failed words alone decided."""

    hits: list[HitOut]
    text: str
    failed: list[SearchPart]


@router.post(
    "/search",
    auth=require_scope(ApiKey.Scope.SEARCH),
    response=SearchOut,
    operation_id="search",
    summary="Search facts and what was said",
)
def search(request: KeyRequest, asked: SearchIn) -> SearchOut:
    agent = agent_for(request.auth, asked.agent)
    conversation = None
    if asked.conversation is not None:
        conversation = reading.conversation(agent, asked.source, asked.conversation)
    failures = Failures()
    hits = service.search(
        agent=agent,
        query=asked.query,
        scope=asked.scope,
        k=asked.k,
        conversation=conversation,
        as_of=asked.as_of,
        withdrawn=ApiKey.Scope.REVIEW in request.auth.scopes,
        failures=failures,
    )
    clock = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=agent.owner_id)
    return SearchOut(
        hits=[HitOut.of(hit) for hit in hits],
        text=fenced(hits, ZoneInfo(clock)),
        failed=failures.parts,
    )


def _place(place: Place | None) -> PlaceOut | None:
    return PlaceOut(id=place.key, words=place.words, url=absolute(place.url)) if place else None


def _provenance(hit: Hit) -> SaidIn | None:
    if hit.passage is None:
        return None
    passage, message = hit.passage, hit.passage.message
    return SaidIn(
        passage=passage.pk,
        kind=passage.kind,
        conversation=passage.conversation.external_id,
        source=passage.conversation.source,
        agent=passage.conversation.agent.slug,
        message=message.client_id if message else None,
        role=message.role if message else None,
        speaker=message.speaker if message else None,
        from_owner=message.from_owner if message else None,
    )
