"""Facts over HTTP. Thin: what may happen to a fact is in memory/lifecycle.

Reading takes the search scope; with review beside it all states are in sight. Changing one is a
person's step, so it takes review: an assistant proposes instead.
"""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router, Status
from pydantic import BaseModel, Field

from agents.audit import key_holder
from agents.auth import KeyRequest, require_scope
from agents.models import ApiKey, AuditEvent
from agents.versions import seen_in
from conversations.schemas import Slug, Strict, Text
from memory import handwritten, lifecycle
from memory.api_paging import Cursor, Limit, page_of
from memory.api_reader import Reader
from memory.api_remember import AskedOut, proposed
from memory.api_schemas import (
    FactOut,
    FactPage,
    Statement,
    Tags,
    ValidityIn,
    Version,
    WordingIn,
    sound,
)
from memory.lifecycle import Edit, NotAllowed
from memory.models import Evidence, Fact
from memory.review.history import SHOWN, Step, chain_of, events_of, steps
from memory.review.masking import masked
from memory.review.search import matching
from memory.vocabulary import Kind, Origin, State, Tag

router = Router()
SEARCH = require_scope(ApiKey.Scope.SEARCH)
REVIEW = require_scope(ApiKey.Scope.REVIEW)


class FactAsked(Strict):
    agent: Slug | None = None


class FactsAsked(FactAsked):
    """The filters narrow each other. `text`: words in the statement. `entity`: its id. `after` is
    the `next` of the page before."""

    state: State = State.ACTIVE
    kind: Kind | None = None
    tag: Tag | None = None
    origin: Origin | None = None
    entity: UUID | None = None
    text: Annotated[Text, Field(max_length=300)] = ""
    after: Cursor | None = None
    limit: Limit = 50

    def narrowed(self, rows: QuerySet[Fact]) -> QuerySet[Fact]:
        rows = rows.filter(state=self.state)
        for name in ("kind", "origin"):
            if value := getattr(self, name):
                rows = rows.filter(**{name: value})
        if self.tag:
            rows = rows.filter(tags__contains=[self.tag])
        if self.entity:
            rows = rows.filter(entities=self.entity)
        return matching(rows, self.text) if self.text else rows


class PageAsked(FactAsked):
    """`after` is the `next` of the page before."""

    after: Cursor | None = None
    limit: Limit = 50


class ChangeOut(BaseModel):
    """Moments are written out with their offset."""

    before: Any
    after: Any


class EventOut(BaseModel):
    """`who`: a person, a key by its name, "Policy" or a command. `changes` by field."""

    at: datetime
    who: str
    action: str
    reason: str
    changes: dict[str, ChangeOut]

    @classmethod
    def of(cls, event: AuditEvent, step: Step) -> Self:
        before, after = event.before or {}, event.after or {}
        changed = [name for name in SHOWN if event.before is not None and name in after]
        return cls(
            at=step.at,
            who=step.who,
            action=step.action,
            reason=step.reason,
            changes={
                name: ChangeOut(before=before.get(name), after=after[name]) for name in changed
            },
        )


class HistoryOut(BaseModel):
    """`chain`: every wording, oldest first. `events`: what was done with this one, newest first."""

    chain: list[FactOut]
    events: list[EventOut]


class EvidenceOut(BaseModel):
    """`message` is the id that the client gave. Of a secret in the quote only the mark is told."""

    conversation: str
    source: str
    agent: str
    message: str
    role: str
    speaker: str
    from_owner: bool
    on_branch: bool
    said_at: datetime
    quote: str

    @classmethod
    def of(cls, row: Evidence) -> Self:
        message = row.message
        talk = message.conversation
        return cls(
            conversation=talk.external_id,
            source=talk.source,
            agent=talk.agent.slug,
            message=message.client_id,
            role=message.role,
            speaker=message.speaker,
            from_owner=message.from_owner,
            on_branch=message.on_branch,
            said_at=message.sent_at,
            quote=masked(row.quote)[0],
        )


class EvidencePage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[EvidenceOut]
    next: str | None


class NewFactIn(ValidityIn):
    """Without `agent`, and with a key of no one agent, it is for every agent."""

    agent: Slug | None = None
    statement: Statement
    kind: Kind = Kind.SEMANTIC
    tags: Tags = []
    pinned: bool = False

    def edit(self) -> Edit:
        """Raises BadValidity."""
        wording = self.model_dump(exclude={"agent", "tags"})
        return sound(Edit(tags=tuple(dict.fromkeys(self.tags)), **wording))


class CorrectionIn(WordingIn):
    """`version`, or the header If-Match: what you saw; where it has changed since, a 409 tells what
    is there now. A proposed correction takes the statement and the tags alone."""

    agent: Slug | None = None
    statement: Statement
    version: Version = ""


class PinIn(Strict):
    agent: Slug | None = None
    pinned: bool
    version: Version = ""


class HoldsIn(ValidityIn):
    agent: Slug | None = None
    version: Version = ""


@router.get(
    "/facts",
    auth=SEARCH,
    response=FactPage,
    operation_id="list_facts",
    summary="List facts, latest first",
)
def list_facts(request: KeyRequest, asked: Query[FactsAsked]) -> FactPage:
    """Without the review scope only active facts are told, those that a recall could tell. Words
    to look for had better go by POST, because addresses end up in logs."""
    return _listed(request.auth, asked)


@router.post(
    "/facts/search",
    auth=SEARCH,
    response=FactPage,
    operation_id="search_facts",
    summary="List facts, with the filters in the body",
)
def search_facts(request: KeyRequest, asked: FactsAsked) -> FactPage:
    """The same as listing them."""
    return _listed(request.auth, asked)


def _listed(key: ApiKey, asked: FactsAsked) -> FactPage:
    """Raises NoSuchAgent, AgentUnnamed, MemoryOff, NotAllowed, BadCursor."""
    reader = Reader.of(key, asked.agent)
    if not reader.reviews and asked.state != State.ACTIVE:
        raise NotAllowed("Only a key with the review scope sees facts that are not active.")
    rows = asked.narrowed(reader.facts()).select_related("agent")
    found, following = page_of(rows, "created_at", asked.after, asked.limit)
    return FactPage(items=FactOut.all(found), next=following)


@router.post(
    "/facts",
    auth=REVIEW,
    response={201: FactOut},
    operation_id="add_fact",
    summary="Write a fact by hand",
)
def add_fact(request: KeyRequest, asked: NewFactIn, response: HttpResponse) -> Status[FactOut]:
    """The owner's own word: active at once."""
    reader = Reader.of(request.auth, asked.agent)
    fact = handwritten.write(
        owner=reader.owner,
        agent=reader.agent,
        edit=asked.edit(),
        at=timezone.now(),
        actor=key_holder(request.auth),
    )
    return Status(201, told(fact, response))


@router.get(
    "/facts/{uuid:fact_id}",
    auth=SEARCH,
    response=FactOut,
    operation_id="read_fact",
    summary="Read one fact",
)
def read_fact(
    request: KeyRequest, fact_id: UUID, asked: Query[FactAsked], response: HttpResponse
) -> FactOut:
    return told(Reader.of(request.auth, asked.agent).fact(fact_id), response)


@router.get(
    "/facts/{uuid:fact_id}/history",
    auth=REVIEW,
    response=HistoryOut,
    operation_id="read_fact_history",
    summary="Read a fact's wordings, and all that was done with it",
)
def read_history(request: KeyRequest, fact_id: UUID, asked: Query[FactAsked]) -> HistoryOut:
    reader = Reader.of(request.auth, asked.agent)
    fact = reader.fact(fact_id)
    chain = chain_of(fact)
    if reader.agent is not None:
        in_sight = set(reader.facts().filter(pk__in=[f.pk for f in chain]).values_list("pk"))
        chain = [link for link in chain if (link.pk,) in in_sight]
    events = events_of(fact)
    return HistoryOut(
        chain=FactOut.all(chain),
        events=[EventOut.of(*pair) for pair in zip(events, steps(events), strict=True)],
    )


@router.get(
    "/facts/{uuid:fact_id}/evidence",
    auth=SEARCH,
    response=EvidencePage,
    operation_id="read_fact_evidence",
    summary="Read the quotes that a fact rests on",
)
def read_evidence(request: KeyRequest, fact_id: UUID, asked: Query[PageAsked]) -> EvidencePage:
    """Only from conversations that the agent may read, which are its own."""
    reader = Reader.of(request.auth, asked.agent)
    rows = Evidence.objects.filter(reader.heard(), fact=reader.fact(fact_id))
    rows = rows.select_related("message__conversation__agent")
    found, following = page_of(rows, "created_at", asked.after, asked.limit)
    return EvidencePage(items=[EvidenceOut.of(row) for row in found], next=following)


@router.post(
    "/facts/{uuid:fact_id}/correct",
    auth=require_scope(ApiKey.Scope.PROPOSE),
    response={200: FactOut, 202: AskedOut},
    operation_id="correct_fact",
    summary="Correct a fact, or propose a correction",
)
def correct_fact(
    request: KeyRequest, fact_id: UUID, asked: CorrectionIn, response: HttpResponse
) -> Any:
    """With the review scope beside propose the new wording takes the fact's place at once: 200. A
    key without it only proposes: 202, and the owner decides."""
    key = request.auth
    reader = Reader.of(key, asked.agent)
    fact = reader.fact(fact_id)
    seen = seen_in(request, asked.version)
    if not reader.reviews:
        return proposed(key, reader, asked, fact, seen)
    done = lifecycle.correct(fact=fact, edit=asked.edit(fact), actor=key_holder(key), seen=seen)
    return Status(200, told(done, response))


@router.put(
    "/facts/{uuid:fact_id}/pin",
    auth=REVIEW,
    response=FactOut,
    operation_id="pin_fact",
    summary="Pin a fact, so that it rides along on every turn, or unpin it",
)
def pin_fact(request: KeyRequest, fact_id: UUID, asked: PinIn, response: HttpResponse) -> FactOut:
    fact = Reader.of(request.auth, asked.agent).fact(fact_id)
    done = lifecycle.set_pinned(
        fact=fact,
        pinned=asked.pinned,
        actor=key_holder(request.auth),
        seen=seen_in(request, asked.version),
    )
    return told(done, response)


@router.put(
    "/facts/{uuid:fact_id}/validity",
    auth=REVIEW,
    response=FactOut,
    operation_id="set_fact_validity",
    summary="Say when an active fact holds in the world",
)
def set_validity(
    request: KeyRequest, fact_id: UUID, asked: HoldsIn, response: HttpResponse
) -> FactOut:
    fact = Reader.of(request.auth, asked.agent).fact(fact_id)
    dates = asked.model_dump(include=set(ValidityIn.model_fields))
    done = lifecycle.correct(
        fact=fact,
        edit=sound(Edit.of(fact, **dates)),
        actor=key_holder(request.auth),
        seen=seen_in(request, asked.version),
    )
    return told(done, response)


def told(fact: Fact, response: HttpResponse) -> FactOut:
    out = FactOut.of(fact)
    response["ETag"] = f'"{out.version}"'
    return out
