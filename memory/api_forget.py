"""Forgetting and purging over HTTP. Thin: what they do is in memory/purge.

An assistant's key asks: its requests wait in the owner's queue. A key with the review scope stands
for the owner, and its word is done at once.
"""

from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone
from ninja import Router, Status
from pydantic import BaseModel, Field

from agents.audit import key_holder
from agents.auth import KeyRequest, agent_for, require_scope
from agents.models import Agent, ApiKey
from conversations import reading
from conversations.access import conversations_of
from conversations.ingest import NoSuchConversation
from conversations.models import Conversation
from conversations.schemas import Id, Moment, Slug, Source, Strict, Text
from memory.models import Fact
from memory.purge import execute, requests
from memory.purge.plan import Deed, OtherPlan, Plan, plan_of
from memory.purge.selection import BadSelection, Selection, chosen, reached_by
from memory.scope import facts_readable_by, recallable

router = Router()


class ChosenIn(Strict):
    """At least one rule; several narrow each other. `facts` goes alone. `source` beside
    `conversation` says whose id that is. A key of one agent reaches only that agent's memory."""

    facts: Annotated[list[UUID], Field(max_length=requests.MOST)] = []
    conversation: Id | None = None
    source: Source | None = None
    agent: Slug | None = None
    since: Moment | None = None
    until: Moment | None = None
    match: Annotated[Text, Field(max_length=300)] = ""


class PurgeIn(ChosenIn):
    """Without `confirm` nothing is done: the answer tells what would go. `seen` of that answer,
    sent along, makes sure that it is no more by then. `everything` takes the owner's username."""

    confirm: bool = False
    seen: Annotated[str, Field(max_length=32)] = ""
    everything: Annotated[str, Field(max_length=150)] = ""


class ForgetOut(BaseModel):
    """`requested`: facts that wait for the owner's word."""

    forgotten: int
    requested: list[UUID]


class PurgeOut(BaseModel):
    """`derived`: facts among them that were made from others. `documents` go whole, with their
    originals, and are counted in `others` too. `kept`: facts that stay although they rest on the
    same messages."""

    purged: bool
    facts: int
    derived: int
    messages: int
    titles: int
    others: int
    documents: int
    kept: list[UUID]
    seen: str

    @classmethod
    def of(cls, plan: Plan, agent: Agent | None, *, purged: bool) -> "PurgeOut":
        """Of what stays, the key of one agent is told what that agent may read."""
        kept = [fact.pk for fact in plan.kept]
        if agent is not None:
            readable = facts_readable_by(agent).filter(pk__in=kept)
            kept = list(readable.order_by("-pk").values_list("pk", flat=True))
        return cls(
            purged=purged,
            facts=plan.facts_in_all,
            derived=plan.derived,
            messages=plan.messages,
            titles=plan.titles,
            others=plan.others,
            documents=len(plan.documents),
            kept=kept,
            seen=plan.seen,
        )


@router.post(
    "/forget",
    auth=require_scope(ApiKey.Scope.FORGET),
    response={200: ForgetOut, 202: ForgetOut},
    operation_id="forget",
    summary="Forget facts, or ask the owner to",
)
def forget(request: KeyRequest, asked: ChosenIn) -> Any:
    """Forgotten facts are told to nobody and not learned again; the owner can restore them."""
    key = request.auth
    agent = _agent(key, asked)
    selection = _selection(key, agent, asked)
    actor = key_holder(key)
    if actor.person is not None:
        done = execute.forget(selection=selection, actor=actor)
        return Status(200, ForgetOut(forgotten=done, requested=[]))
    # Nor does it learn by asking what waits for the owner.
    facts = recallable(selection.chosen_facts(), timezone.now())
    if agent is not None:
        facts = facts.filter(pk__in=facts_readable_by(agent).values("pk"))
    filed = requests.file(
        owner=key.owner, agent=agent, client=key, facts=facts[: requests.MOST + 1]
    )
    return Status(202, ForgetOut(forgotten=0, requested=[row.fact_id for row in filed]))


@router.post(
    "/purge",
    auth=require_scope(ApiKey.Scope.REVIEW),
    response=PurgeOut,
    operation_id="purge",
    summary="Erase facts and what was said, or tell what would go",
)
def purge(request: KeyRequest, asked: PurgeIn) -> PurgeOut:
    """There is no way back, and what was purged is not learned again."""
    key = request.auth
    agent = _agent(key, asked)
    selection = _selection(key, agent, asked)
    plan = plan_of(selection, Deed.PURGE)
    if not asked.confirm:
        return PurgeOut.of(plan, agent, purged=False)
    if asked.seen and asked.seen != plan.seen:
        raise OtherPlan
    execute.purge(selection=selection, actor=key_holder(key))
    return PurgeOut.of(plan, agent, purged=True)


def _agent(key: ApiKey, asked: ChosenIn) -> Agent | None:
    return agent_for(key, asked.agent) if key.agent or asked.agent else None


def _selection(key: ApiKey, agent: Agent | None, asked: ChosenIn) -> Selection:
    if everything := getattr(asked, "everything", ""):
        return _everything(key, everything, asked)
    rules: dict[str, Any] = {
        "since": asked.since,
        "until": asked.until,
        "match": asked.match,
    }
    if asked.facts:
        return _only_facts(key, agent, asked, rules)
    if asked.conversation is not None:
        rules["conversation"] = _conversation(key, agent, asked)
    elif asked.source is not None:
        rules["source"] = asked.source
    return chosen(owner=key.owner, agent=agent, within=key.agent, **rules)


def _only_facts(
    key: ApiKey, agent: Agent | None, asked: ChosenIn, rules: dict[str, Any]
) -> Selection:
    """A key of one agent names no fact that is not its agent's to give."""
    if asked.conversation or asked.source or any(rules.values()):
        raise BadSelection("facts: goes with no other rule.")
    known = facts_readable_by(agent) if agent else Fact.objects.filter(owner=key.owner)
    if key.agent is not None:
        known = reached_by(key.agent, known)
    found = set(known.filter(pk__in=asked.facts).values_list("pk", flat=True))
    if missing := [str(pk) for pk in asked.facts if pk not in found]:
        raise BadSelection(f"There is no such fact: {missing[0]}.")
    return chosen(owner=key.owner, facts=tuple(asked.facts), within=key.agent)


def _everything(key: ApiKey, username: str, asked: ChosenIn) -> Selection:
    if key.agent is not None or asked.agent:
        raise BadSelection("everything: is not for a key or rule of one agent.")
    if username != key.owner.username:
        raise BadSelection("everything: takes the username of the key's owner.")
    rules = (asked.facts, asked.conversation, asked.source, asked.since, asked.until, asked.match)
    if any(rules):
        raise BadSelection("everything: goes with no other rule.")
    return chosen(owner=key.owner, everything=True)


def _conversation(key: ApiKey, agent: Agent | None, asked: ChosenIn) -> Conversation:
    source, name = asked.source or "api", asked.conversation or ""
    if agent is not None:
        return reading.conversation(agent, source, name)
    found = conversations_of(key.owner).filter(source=source, external_id=name).first()
    if found is None:
        raise NoSuchConversation
    return found
