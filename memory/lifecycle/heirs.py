"""What a deleted assistant knew is its heir's: at its end, and whatever comes back later."""

from django.utils import timezone

from agents.audit import Actor
from agents.models import Agent
from memory.lifecycle.births import take_place
from memory.lifecycle.corrections import replace
from memory.lifecycle.rows import (
    LIVE,
    copy_sources,
    draft_of,
    fresh,
    insert,
    refuse_above_cap,
    same_text,
    set_aside,
)
from memory.models import Fact
from memory.vocabulary import ArchivedReason, State


def come_back(fact: Fact, actor: Actor) -> Fact:
    """A fact that is live again, or what stands for it with the heir where its assistant was
    deleted meanwhile: nobody would be told of it, or asked. Raises AtCap."""
    agent = fact.agent
    if agent is None or agent.retired_at is None:
        return fact
    if fact.state == State.ACTIVE:
        return inherit(fact, agent.acting(), actor)
    return wait_there(fact, agent.acting())


def inherit(fact: Fact, heir: Agent, actor: Actor) -> Fact:
    """An active fact: superseded by a copy, or by what the heir has in the same words. Raises
    AtCap."""
    row, now = fresh(fact), timezone.now()
    twin = same_text(row.owner, heir, row.statement).filter(state__in=LIVE).first()
    if twin is not None and twin.state == State.ACTIVE:
        copy_sources(row, twin)
        replace([row], twin)
        return twin
    if twin is not None:
        copy_sources(twin, row)
        set_aside(twin, ArchivedReason.DUPLICATE)
    refuse_above_cap(row.owner, heir)
    draft = draft_of(row)
    return take_place(targets=[row], agent=heir, draft=draft, actor=actor, at=now, restated=False)


def wait_there(fact: Fact, heir: Agent) -> Fact:
    """A pending fact: a copy waits, or what waits or stands there in the same words."""
    row = fresh(fact)
    twin = same_text(row.owner, heir, row.statement).filter(state__in=LIVE).first()
    taker = twin or insert(
        owner=row.owner,
        agent=heir,
        draft=draft_of(
            row,
            withheld_for=tuple(row.withheld_for),
            withheld_detail=row.withheld_detail,
            similar_to=row.similar_to,
        ),
        at=timezone.now(),
    )
    copy_sources(row, taker)
    set_aside(row, ArchivedReason.DUPLICATE)
    return taker
