"""Notes over HTTP. Thin: the rules are in writing.py and reading.py."""

from datetime import datetime
from typing import Annotated, Self

from django.http import HttpResponse
from ninja import Query, Router
from pydantic import BaseModel, Field

from agents.auth import KeyRequest, agent_for, require_scope
from agents.gate import MemoryOff, memory_on
from agents.models import ApiKey
from agents.schemas import Version
from agents.versions import Outdated, seen_in
from conversations import reading
from conversations.models import Conversation, Sketch
from conversations.schemas import ConversationAsked, Id, Slug, Source, Strict, Text
from conversations.sketches import limits, writing
from conversations.sketches.reading import expires_at, sketch_in, sketches_in

router = Router()

SEARCH = require_scope(ApiKey.Scope.SEARCH)
Key = Annotated[str, Field(pattern=limits.KEY)]


class SketchIn(Strict):
    """`text` takes the place of what the section holds; an empty one removes it. `version`, or the
    header If-Match: what you saw of it. A section that exists is not rewritten without."""

    agent: Slug | None = None
    source: Source = "api"
    text: Annotated[Text, Field(max_length=20_000)]
    version: Version = ""


class SketchOut(BaseModel):
    """`kept`: the owner keeps it; else it goes at `expires_at` unless the conversation goes on."""

    key: str
    text: str
    version: str
    kept: bool
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None

    @classmethod
    def of(cls, row: Sketch, conversation: Conversation) -> Self:
        return cls(
            key=row.key,
            text=row.text,
            version=row.version,
            kept=row.kept,
            created_at=row.created_at,
            updated_at=row.updated_at,
            expires_at=expires_at(row, conversation),
        )


class SketchList(BaseModel):
    """All of a conversation's, in the order in which they were begun. `room`: characters left."""

    items: list[SketchOut]
    room: int


class SketchWritten(BaseModel):
    """`sketch` is null where the section was removed. `room`: characters left in these notes."""

    sketch: SketchOut | None
    room: int


@router.get(
    "/conversations/{external_id}/sketches",
    auth=SEARCH,
    response=SketchList,
    operation_id="list_sketches",
    summary="Read a conversation's working notes",
)
def list_sketches(
    request: KeyRequest, external_id: Id, asked: Query[ConversationAsked]
) -> SketchList:
    conversation = _conversation(request, external_id, asked)
    rows = list(sketches_in(conversation))
    room = limits.WHOLE - sum(len(row.text) for row in rows)
    return SketchList(items=[SketchOut.of(row, conversation) for row in rows], room=room)


@router.get(
    "/conversations/{external_id}/sketches/{key}",
    auth=SEARCH,
    response=SketchOut,
    operation_id="read_sketch",
    summary="Read one section of the working notes",
)
def read_sketch(
    request: KeyRequest,
    external_id: Id,
    key: Key,
    asked: Query[ConversationAsked],
    response: HttpResponse,
) -> SketchOut:
    conversation = _conversation(request, external_id, asked)
    told = SketchOut.of(sketch_in(conversation, key), conversation)
    response["ETag"] = f'"{told.version}"'
    return told


@router.put(
    "/conversations/{external_id}/sketches/{key}",
    auth=require_scope(ApiKey.Scope.INGEST),
    response=SketchWritten,
    operation_id="write_sketch",
    summary="Write one section of the working notes",
)
def write_sketch(
    request: KeyRequest, external_id: Id, key: Key, asked: SketchIn, response: HttpResponse
) -> SketchWritten:
    """Notes are data of the assistant's own: never read for facts. They expire with the
    conversation unless the owner keeps them."""
    agent = agent_for(request.auth, asked.agent)
    try:
        written = writing.write(
            agent=agent,
            source=asked.source,
            external_id=external_id,
            key=key,
            text=asked.text,
            seen=seen_in(request, asked.version),
        )
    except writing.Changed as error:
        if error.current is None or ApiKey.Scope.SEARCH not in request.auth.scopes:
            raise
        raise Outdated(
            SketchOut.of(error.current, error.current.conversation), str(error)
        ) from error
    row = written.sketch
    if row is None:
        return SketchWritten(sketch=None, room=written.room)
    response["ETag"] = f'"{row.version}"'
    return SketchWritten(sketch=SketchOut.of(row, row.conversation), room=written.room)


def _conversation(request: KeyRequest, external_id: str, asked: ConversationAsked) -> Conversation:
    """While memory is off, an assistant reads nothing of it."""
    agent = agent_for(request.auth, asked.agent)
    if not memory_on(agent.owner):
        raise MemoryOff("Memory is off for this owner.")
    return reading.conversation(agent, asked.source, external_id)
