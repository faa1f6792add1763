"""Agents, keys and settings over HTTP, for programs that look after an owner's account.

A key hands on no more than it has itself: neither scopes, nor another agent, nor a longer life. One
that is bound to an agent looks after that agent alone. Widening what an agent reads is a person's
step, so it takes the review scope too.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any, Self, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpResponse
from ninja import Query, Router, Status
from pydantic import AfterValidator, BaseModel, Field, WithJsonSchema

from agents import assistants, keys
from agents.access import agents_of, key_of, keys_of
from agents.assistants import Wanted
from agents.audit import acting, key_holder
from agents.auth import KeyRequest, NoSuchAgent, agent_for, require_scope
from agents.gate import memory_on
from agents.languages import languages
from agents.models import Agent, ApiKey, OwnerSettings, validate_zone
from agents.schemas import Slug, Strict, Time, Version
from agents.versions import Outdated, seen_in, version_of

router = Router()
ADMIN = require_scope(ApiKey.Scope.ADMIN)
SEARCH = require_scope(ApiKey.Scope.SEARCH)
Limit = Annotated[int, Field(ge=1, le=200)]
# Written out, because another schema has the name of the class.
KeyScope = Annotated[ApiKey.Scope, WithJsonSchema({"type": "string", "enum": ApiKey.Scope.values})]
WIDTH = (Agent.Reads.OWN, Agent.Reads.OWN_AND_GLOBAL, Agent.Reads.ALL)


class NotForKey(Exception):
    """The key has the scope, but this would hand out more than it has itself."""


class Unfit(ValueError):
    """The message names the field."""


class AgentOut(BaseModel):
    """`reads`: its own facts, those and the ones for every agent, or all of the owner's, which is
    for the default agent alone."""

    slug: str
    name: str
    reads: Agent.Reads
    is_default: bool
    created_at: datetime
    version: str

    @classmethod
    def of(cls, agent: Agent) -> Self:
        version = version_of(agent.slug, agent.name, agent.reads, agent.is_default)
        own = {name: getattr(agent, name) for name in cls.model_fields if name != "version"}
        return cls(**own, version=version)


class AgentPage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[AgentOut]
    next: str | None


class AgentsAsked(Strict):
    """By short name. `after` is the `next` of the page before."""

    after: Slug | None = None
    limit: Limit = 50


def _name(text: str) -> str:
    if "\x00" in text or not text.strip():
        raise ValueError("is empty, or holds a NUL character")
    return text.strip()


Name = Annotated[str, Field(min_length=1, max_length=120), AfterValidator(_name)]
NewSlug = Annotated[str, Field(pattern=r"^[-a-z0-9_]{1,64}$", examples=["work"])]


class AgentIn(Strict):
    """Without `slug` it is made of the name."""

    name: Name
    slug: NewSlug | None = None
    reads: Agent.Reads = Agent.Reads.OWN_AND_GLOBAL
    is_default: bool = False


class AgentChangeIn(Strict):
    """What is left out stays. `version`, or the header If-Match, is what you saw."""

    name: Name | None = None
    slug: NewSlug | None = None
    reads: Agent.Reads | None = None
    is_default: bool | None = None
    version: Version = ""


class KeyOut(BaseModel):
    """The key itself is told once, when it is made. `agent`: the only one that it speaks for."""

    id: UUID
    name: str
    prefix: str
    agent: str | None
    scopes: list[KeyScope]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None

    @classmethod
    def of(cls, key: ApiKey) -> Self:
        own = {name: getattr(key, name) for name in cls.model_fields if name != "agent"}
        return cls(**own, agent=key.agent.slug if key.agent else None)


class MadeKeyOut(BaseModel):
    """`secret` is the key itself, in this answer and nowhere else."""

    key: KeyOut
    secret: str


class KeyPage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[KeyOut]
    next: UUID | None


class KeysAsked(Strict):
    """Latest first. `after` is the `next` of the page before."""

    after: UUID | None = None
    limit: Limit = 50


class KeyIn(Strict):
    """Without `agent`, and by a key of no one agent, it speaks for any of the owner's."""

    name: Name
    scopes: Annotated[list[KeyScope], Field(min_length=1, max_length=len(ApiKey.Scope))]
    agent: Slug | None = None
    expires_at: Time | None = None


class RotationIn(Strict):
    """`overlap_hours`: so long the old key still opens what it did, at most a week."""

    overlap_hours: Annotated[int, Field(ge=0, le=168)] = 0


class SettingsOut(BaseModel):
    """`memory_enabled` null: as the server has it by default; `memory_on` is what that comes to.
    Null for a cap is none, for `recall_budget` the server's own. `event_confidence`: how sure the
    observer must be of an event that becomes active by itself; null: none does. `language`, empty
    for that of the facts, is what conclusions and the profile are written in."""

    memory_enabled: bool | None
    memory_on: bool
    time_zone: str
    language: str
    cap_per_agent: int | None
    cap_global: int | None
    recall_budget: int | None
    event_confidence: float | None
    version: str

    @classmethod
    def of(cls, row: OwnerSettings) -> Self:
        own = {name: getattr(row, name) for name in SettingsIn.model_fields if name != "version"}
        return cls(**own, memory_on=memory_on(row.owner), version=version_of(*own.values()))


def _zone(name: str) -> str:
    try:
        validate_zone(name)
    except ValidationError as error:
        raise ValueError("is no IANA time zone such as Europe/Helsinki") from error
    return name


Cap = Annotated[int, Field(ge=1, le=1_000_000)]


def _language(code: str) -> str:
    if code and code not in languages():
        raise ValueError("is no ISO 639 code of a language that is known here, such as fi")
    return code


class SettingsIn(Strict):
    """What is left out stays. `version`, or the header If-Match, is what you saw."""

    memory_enabled: bool | None = None
    time_zone: Annotated[str, Field(max_length=64), AfterValidator(_zone)] = ""
    language: Annotated[str, Field(max_length=3), AfterValidator(_language)] = ""
    cap_per_agent: Cap | None = None
    cap_global: Cap | None = None
    recall_budget: Annotated[int, Field(ge=200, le=8000)] | None = None
    event_confidence: Annotated[float, Field(ge=0.8, le=1)] | None = None
    version: Version = ""

    def changes(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set - {"version"}}


Versioned = TypeVar("Versioned", AgentOut, SettingsOut)


@router.get(
    "/agents",
    auth=SEARCH,
    response=AgentPage,
    operation_id="list_agents",
    summary="List the agents that the key may speak for",
)
def list_agents(request: KeyRequest, asked: Query[AgentsAsked]) -> AgentPage:
    rows = _agents(request.auth).order_by("slug")
    if asked.after is not None:
        rows = rows.filter(slug__gt=asked.after)
    found = list(rows[: asked.limit + 1])
    following = found[asked.limit - 1].slug if len(found) > asked.limit else None
    return AgentPage(items=[AgentOut.of(row) for row in found[: asked.limit]], next=following)


@router.get(
    "/agents/{slug}",
    auth=SEARCH,
    response=AgentOut,
    operation_id="read_agent",
    summary="Read one agent's particulars",
)
def read_agent(request: KeyRequest, slug: Slug, response: HttpResponse) -> AgentOut:
    return _told(AgentOut.of(agent_for(request.auth, slug)), response)


@router.post(
    "/agents",
    auth=ADMIN,
    response={201: AgentOut},
    operation_id="add_agent",
    summary="Make an agent",
)
def add_agent(request: KeyRequest, asked: AgentIn, response: HttpResponse) -> Status[AgentOut]:
    key = request.auth
    _need_no_agent(key)
    row = Agent(owner=key.owner)
    wanted = Wanted(
        name=asked.name,
        slug=asked.slug or assistants.slug_of(asked.name),
        reads=asked.reads,
        is_default=asked.is_default,
    )
    return Status(201, _told(_stored(key, row, wanted, "made"), response))


@router.patch(
    "/agents/{slug}",
    auth=ADMIN,
    response=AgentOut,
    operation_id="change_agent",
    summary="Rename an agent, or say what it reads",
)
def change_agent(
    request: KeyRequest, slug: Slug, asked: AgentChangeIn, response: HttpResponse
) -> AgentOut:
    key = request.auth
    with transaction.atomic():
        row = _locked(agent_for(key, slug))
        current = AgentOut.of(row)
        _refuse_outdated(request, asked.version, current)
        given = asked.model_dump(exclude_none=True, exclude={"version"})
        if key.agent is not None and given.keys() - {"name"}:
            raise NotForKey("A key of one agent can rename it and no more.")
        own = current.model_dump(include={"name", "slug", "reads", "is_default"})
        return _told(_stored(key, row, Wanted(**(own | given)), "changed"), response)


@router.get(
    "/keys",
    auth=ADMIN,
    response=KeyPage,
    operation_id="list_keys",
    summary="List the owner's keys, latest first",
)
def list_keys(request: KeyRequest, asked: Query[KeysAsked]) -> KeyPage:
    """A key of one agent sees that agent's keys."""
    rows = keys_of(request.auth.owner).order_by("-pk")
    if request.auth.agent is not None:
        rows = rows.filter(agent=request.auth.agent)
    if asked.after is not None:
        rows = rows.filter(pk__lt=asked.after)
    found = list(rows[: asked.limit + 1])
    following = found[asked.limit - 1].pk if len(found) > asked.limit else None
    return KeyPage(items=[KeyOut.of(row) for row in found[: asked.limit]], next=following)


@router.get(
    "/keys/{uuid:key_id}",
    auth=ADMIN,
    response=KeyOut,
    operation_id="read_key",
    summary="Read one key's particulars",
)
def read_key(request: KeyRequest, key_id: UUID) -> KeyOut:
    return KeyOut.of(_key(request.auth, key_id))


@router.post(
    "/keys",
    auth=ADMIN,
    response={201: MadeKeyOut},
    operation_id="add_key",
    summary="Make a key that may do no more than this one",
)
def add_key(request: KeyRequest, asked: KeyIn, response: HttpResponse) -> Status[MadeKeyOut]:
    """The key itself is in this answer and nowhere else."""
    response["Cache-Control"] = "no-store"
    key = request.auth
    any_agent = key.agent is None and asked.agent is None
    _refuse_more(key, asked.scopes, asked.expires_at)
    made, secret = keys.issue(
        owner=key.owner,
        agent=None if any_agent else agent_for(key, asked.agent),
        name=asked.name,
        scopes=asked.scopes,
        expires_at=asked.expires_at,
        actor=key_holder(key),
    )
    return Status(201, MadeKeyOut(key=KeyOut.of(made), secret=secret))


@router.post(
    "/keys/{uuid:key_id}/rotate",
    auth=ADMIN,
    response={201: MadeKeyOut},
    operation_id="rotate_key",
    summary="Put a new key in the place of one, which may do the same for as long",
)
def rotate_key(
    request: KeyRequest, key_id: UUID, asked: RotationIn, response: HttpResponse
) -> Status[MadeKeyOut]:
    """The key itself is in this answer and nowhere else."""
    response["Cache-Control"] = "no-store"
    key = request.auth
    row = _key(key, key_id)
    _refuse_more(key, row.scopes, row.expires_at)
    overlap = timedelta(hours=asked.overlap_hours)
    made, secret = keys.rotate(key=row, actor=key_holder(key), overlap=overlap)
    return Status(201, MadeKeyOut(key=KeyOut.of(made), secret=secret))


@router.post(
    "/keys/{uuid:key_id}/revoke",
    auth=ADMIN,
    response=KeyOut,
    operation_id="revoke_key",
    summary="Revoke a key, at once and for good",
)
def revoke_key(request: KeyRequest, key_id: UUID) -> KeyOut:
    """Doing it twice changes nothing."""
    row = _key(request.auth, key_id)
    return KeyOut.of(keys.revoke(key=row, actor=key_holder(request.auth)))


@router.get(
    "/settings",
    auth=ADMIN,
    response=SettingsOut,
    operation_id="read_settings",
    summary="Read the owner's settings",
)
def read_settings(request: KeyRequest, response: HttpResponse) -> SettingsOut:
    _need_no_agent(request.auth)
    return _told(SettingsOut.of(request.auth.owner.settings), response)


@router.patch(
    "/settings",
    auth=ADMIN,
    response=SettingsOut,
    operation_id="change_settings",
    summary="Change the owner's settings",
)
def change_settings(request: KeyRequest, asked: SettingsIn, response: HttpResponse) -> SettingsOut:
    key = request.auth
    _need_no_agent(key)
    with acting(key_holder(key), "changed over the API"):
        row = OwnerSettings.objects.select_for_update().get(owner=key.owner)
        _refuse_outdated(request, asked.version, SettingsOut.of(row))
        changes = asked.changes()
        if ApiKey.Scope.REVIEW not in key.scopes and _lets_more_in(row, changes):
            raise NotForKey("Only a key with the review scope lets memory do more.")
        for name, value in changes.items():
            setattr(row, name, value)
        row.save(update_fields=list(changes))
    return _told(SettingsOut.of(row), response)


def _lets_more_in(row: OwnerSettings, changes: dict[str, Any]) -> bool:
    """Switching memory on is the owner's word, and so is how sure an event must be to become active
    without it. Doing less is anybody's who looks after the account."""
    on = changes.get("memory_enabled", row.memory_enabled)
    sure, before = changes.get("event_confidence", row.event_confidence), row.event_confidence
    switched_on = on is not row.memory_enabled and on is not False
    return switched_on or (sure is not None and (before is None or sure < before))


def _agents(key: ApiKey) -> Any:
    rows = agents_of(key.owner)
    return rows if key.agent_id is None else rows.filter(pk=key.agent_id)


def _locked(agent: Agent) -> Agent:
    row = agents_of(agent.owner).select_for_update(no_key=True).filter(pk=agent.pk).first()
    if row is None:
        raise NoSuchAgent
    return row


def _stored(key: ApiKey, row: Agent, wanted: Wanted, what: str) -> AgentOut:
    """Raises Unfit, NotForKey, Overtaken."""
    actor = key_holder(key)
    if actor.person is None and _widens(row, wanted):
        raise NotForKey("Only a key with the review scope widens what an agent reads.")
    for field, fault in assistants.faults(row, wanted).items():
        raise Unfit(f"{field}: {fault}")
    reason = f"assistant {what}"
    return AgentOut.of(assistants.store(row=row, wanted=wanted, actor=actor, reason=reason))


def _widens(row: Agent, wanted: Wanted) -> bool:
    before = Agent.Reads.OWN_AND_GLOBAL if row._state.adding else Agent.Reads(row.reads)
    wider = WIDTH.index(Agent.Reads(wanted.reads)) > WIDTH.index(before)
    return wider or (wanted.is_default and not row.is_default)


def _key(key: ApiKey, key_id: UUID) -> ApiKey:
    """Raises Http404."""
    row = key_of(key.owner, key_id)
    if key.agent_id not in {None, row.agent_id}:
        raise Http404("There is no such key.")
    return row


def _refuse_more(key: ApiKey, scopes: list[Any], expires_at: datetime | None) -> None:
    if more := sorted(set(scopes) - set(key.scopes)):
        raise NotForKey(f"This key lacks the scope {more[0]}, so it can't hand it on.")
    if key.expires_at is not None and (expires_at is None or expires_at > key.expires_at):
        raise NotForKey("This key expires, so it makes none that lives longer: expires_at.")


def _need_no_agent(key: ApiKey) -> None:
    if key.agent_id is not None:
        raise NotForKey("This is the whole owner's: use a key without an agent.")


def _refuse_outdated(request: KeyRequest, version: str, current: AgentOut | SettingsOut) -> None:
    seen = seen_in(request, version)
    if seen and seen != current.version:
        raise Outdated(current)


def _told(out: Versioned, response: HttpResponse) -> Versioned:
    response["ETag"] = f'"{out.version}"'
    return out
