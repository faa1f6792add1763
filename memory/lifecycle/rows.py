"""Locks, checks and row work that the transitions share."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from agents.audit import Actor, acting
from agents.models import Agent, OwnerSettings, User
from memory.lifecycle.returns import barred, lift, standing
from memory.lifecycle.values import (
    AtCap,
    Conflict,
    Draft,
    Duplicate,
    EntityRef,
    NotAllowed,
    Purged,
    Scope,
    Source,
    Stale,
    Tombstoned,
)
from memory.models import Derivation, Entity, EntityAlias, Evidence, Fact, FactEntity
from memory.text.normal import normalise, text_hash
from memory.vocabulary import ArchivedReason, State, Withheld

LIVE = (State.PENDING, State.ACTIVE)


@contextmanager
def transition(owner: User, actor: Actor, reason: str) -> Iterator[datetime]:
    """One transaction, in which this owner's facts change only here; yields its one moment.

    Transitions of one owner are taken one at a time: no deadlocks over chains, and a check made
    inside holds until the end.
    """
    with acting(actor, reason):
        _lock(owner)
        yield timezone.now()


def _lock(owner: User) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended('lifecycle ' || %s, 0))", [str(owner.pk)]
        )


def fresh(fact: Fact) -> Fact:
    """The row as it is now, locked. no_key: rows that point at it may still be written."""
    return (
        Fact.objects.select_for_update(of=("self",), no_key=True)
        .select_related("owner", "agent")
        .get(pk=fact.pk, owner=fact.owner_id)
    )


def in_state(fact: Fact, *states: State, seen: str = "") -> Fact:
    """The fresh row. Raises Conflict in any other state, Stale when it isn't as it was seen.

    Raises Purged for a shell, whatever the states.
    """
    row = fresh(fact)
    if row.archived_reason == ArchivedReason.PURGED:
        raise Purged(row)
    if row.state not in states:
        raise Conflict(row)
    if seen and seen != version(row):
        raise Stale(row)
    return row


def need_some_person(actor: Actor) -> User:
    if actor.person is None:
        raise NotAllowed("Only the owner can do this, in a browser or with a review key.")
    return actor.person


def need_person(actor: Actor, owner: User) -> User:
    """The owner, or an administrator who repairs."""
    person = need_some_person(actor)
    if person.pk != owner.pk and not person.is_superuser:
        raise NotAllowed("This belongs to another owner.")
    return person


def scope_for(owner: User, scope: Scope) -> Agent | None:
    if scope.agent is not None and scope.agent.owner_id != owner.pk:
        raise NotAllowed("That assistant belongs to another owner.")
    return scope.agent


def move(fact: Fact, *, to: State, **changes: Any) -> Fact:
    """The guarded step: it happens only from the state that was read, or not at all."""
    changes["state"] = to
    if to != State.ARCHIVED:
        changes |= {"archived_reason": "", "archived_from": "", "superseded_by": None}
    if to == State.PENDING:
        changes |= {"reviewer": None, "reviewed_at": None, "snoozed_until": None}
    elif Withheld.QUARANTINED in fact.withheld_for:
        changes["withheld_for"] = [why for why in fact.withheld_for if why != Withheld.QUARANTINED]
    moved = Fact.objects.filter(pk=fact.pk, state=fact.state).update(**changes)
    if moved != 1:
        raise Conflict(Fact.objects.get(pk=fact.pk))
    if fact.archived_reason == ArchivedReason.FORGOTTEN:
        lift(fact)
    for name, value in changes.items():
        setattr(fact, name, value)
    return fact


def set_aside(fact: Fact, why: ArchivedReason, successor: Fact | None = None) -> Fact:
    return move(
        fact,
        to=State.ARCHIVED,
        archived_reason=why,
        archived_from=fact.state,
        superseded_by=successor,
    )


def same_text(owner: User, agent: Agent | None, statement: str) -> QuerySet[Fact]:
    return Fact.objects.filter(owner=owner, agent=agent, text_hash=text_hash(statement))


def refuse_twin(owner: User, agent: Agent | None, statement: str, *but: Fact) -> None:
    """Raises Duplicate when a live fact of this scope has the same text."""
    twins = same_text(owner, agent, statement).filter(state__in=LIVE)
    twin = twins.exclude(pk__in=[fact.pk for fact in but]).first()
    if twin is not None:
        raise Duplicate(twin)


def has_twin(fact: Fact) -> bool:
    twins = same_text(fact.owner, fact.agent, fact.statement).filter(state__in=LIVE)
    return twins.exclude(pk=fact.pk).exists()


def refuse_return(owner: User, agent: Agent | None, statement: str) -> None:
    """What a person rejected, forgot or purged does not come back by itself."""
    if barred(owner, [statement]):
        raise Tombstoned
    rejected = same_text(owner, agent, statement).filter(state=State.REJECTED).first()
    if rejected is not None:
        raise Duplicate(rejected)


def refuse_above_cap(owner: User, agent: Agent | None) -> None:
    """An owner without caps, which is the usual one, is never refused."""
    caps = OwnerSettings.objects.filter(owner=owner).values("cap_global", "cap_per_agent").first()
    limit = caps and caps["cap_global" if agent is None else "cap_per_agent"]
    if limit is None:
        return
    if Fact.objects.filter(owner=owner, agent=agent, state=State.ACTIVE).count() >= limit:
        raise AtCap(limit, where=agent.name if agent else "all assistants")


def insert(
    *,
    owner: User,
    agent: Agent | None,
    draft: Draft,
    at: datetime,
    reviewer: User | None = None,
    state: State = State.PENDING,
    confirmed_at: datetime | None = None,
) -> Fact:
    """`confirmed_at`: instead of the moment of review, or else the one at which it was said."""
    # A clock that runs ahead confirms nothing in the future.
    said_at = min(draft.observed_at, at)
    fact = Fact.objects.create(
        owner=owner,
        agent=agent,
        kind=draft.kind,
        statement=draft.statement,
        text_hash=text_hash(draft.statement),
        language=draft.language,
        state=state,
        confidence=draft.confidence,
        tags=list(draft.tags),
        pinned=draft.pinned,
        origin=draft.origin,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        valid_precision=draft.valid_precision,
        created_at=at,
        observed_at=draft.observed_at,
        last_confirmed_at=confirmed_at or (at if reviewer else said_at),
        withheld_for=list(draft.withheld_for),
        withheld_detail=draft.withheld_detail,
        reviewer=reviewer,
        reviewed_at=at if reviewer else None,
        conversation=draft.conversation,
        run=draft.run,
        prompt_version=draft.prompt_version,
        imported_by=draft.imported_by,
        client=draft.client,
        similar_to=draft.similar_to,
    )
    attach_sources(fact, draft.sources)
    attach_entities(fact, draft.entities)
    return fact


def attach_sources(fact: Fact, sources: Iterable[Source]) -> int:
    """The number of messages that were not evidence of this fact before."""
    wanted = {source.message.pk: source for source in standing(sources)}
    known = fact.evidence.filter(message__in=wanted).values_list("message_id", flat=True)
    for message in known:
        del wanted[message]
    Evidence.objects.bulk_create(
        Evidence(owner_id=fact.owner_id, fact=fact, message=source.message, quote=source.quote)
        for source in wanted.values()
    )
    return len(wanted)


def copy_sources(giver: Fact, taker: Fact) -> None:
    """Evidence, entities and what it was concluded from. Evidence is never changed, so the giver
    keeps its own."""
    sources = [Source(row.message, row.quote) for row in giver.evidence.select_related("message")]
    attach_sources(taker, sources)
    taken = set(FactEntity.objects.filter(fact=taker).values_list("entity_id", flat=True))
    FactEntity.objects.bulk_create(
        FactEntity(owner_id=taker.owner_id, fact=taker, entity_id=entity)
        for entity in FactEntity.objects.filter(fact=giver).values_list("entity_id", flat=True)
        if entity not in taken
    )
    cited = giver.derived_from.exclude(source=taker).values_list("source_id", flat=True)
    Derivation.objects.bulk_create(
        [
            Derivation(owner_id=taker.owner_id, fact=taker, source_id=source)
            for source in cited.exclude(source__in=taker.derived_from.values("source"))
        ]
    )


def attach_entities(fact: Fact, refs: Sequence[EntityRef]) -> None:
    entities = {entity.pk: entity for entity in (_entity(fact.owner, ref) for ref in refs)}
    FactEntity.objects.bulk_create(
        FactEntity(owner_id=fact.owner_id, fact=fact, entity=entity) for entity in entities.values()
    )


def _entity(owner: User, ref: EntityRef) -> Entity:
    """The entity of this name or alias, made if there is none; new aliases are added to it."""
    names = {normalise(name)[:120]: name[:120] for name in (*ref.aliases, ref.name)}
    names.pop("", None)
    own = normalise(ref.name)[:120]
    known = Entity.objects.filter(owner=owner, type=ref.type, aliases__normal_name=own).first()
    entity = known or Entity.objects.create(
        owner=owner, type=ref.type, name=ref.name[:120], normal_name=own
    )
    EntityAlias.objects.bulk_create(
        [
            EntityAlias(owner=owner, entity=entity, name=name, normal_name=normal)
            for normal, name in names.items()
        ],
        ignore_conflicts=True,
    )
    return entity


def withhold(fact: Fact, why: Withheld) -> None:
    if why not in fact.withheld_for:
        fact.withheld_for = [why, *fact.withheld_for]
        fact.save(update_fields=["withheld_for"])


def version(fact: Fact) -> str:
    """Changes whenever what a reviewer decides over changes: the state, what the candidate would
    replace, why it waits, and whatever an edit may set."""
    parts: list[object] = [fact.state, fact.valid_precision, fact.pinned]
    parts += sorted(row.target_id for row in fact.targets.all() if row.open)
    parts += sorted(fact.withheld_for) + sorted(fact.tags)
    parts += [moment and moment.timestamp() for moment in (fact.valid_from, fact.valid_until)]
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:16]


def draft_of(fact: Fact, **changes: object) -> Draft:
    """A draft that says what the fact says, for its copy. Evidence and entities follow apart."""
    fields = {
        "statement": fact.statement,
        "kind": fact.kind,
        "origin": fact.origin,
        "observed_at": fact.observed_at,
        "confidence": fact.confidence,
        "language": fact.language,
        "tags": tuple(fact.tags),
        "valid_from": fact.valid_from,
        "valid_until": fact.valid_until,
        "valid_precision": fact.valid_precision,
        "pinned": fact.pinned,
        "conversation": fact.conversation,
        "run": fact.run,
        "prompt_version": fact.prompt_version,
        "imported_by": fact.imported_by,
        "client": fact.client,
    }
    return Draft(**(fields | changes))  # type: ignore[arg-type]
