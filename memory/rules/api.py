"""Rules over HTTP: to be read. They are written by a person in a browser, because a key is held by
a program, and a program can be talked into things by what it reads."""

from datetime import datetime
from typing import Self
from uuid import UUID

from django.http import Http404
from ninja import Query, Router
from pydantic import BaseModel

from agents.auth import KeyRequest, agent_for, require_scope
from agents.gate import memory_on
from agents.models import Agent, ApiKey
from conversations.schemas import Slug, Strict
from memory import tokens
from memory.models import Rule
from memory.recall import ahead
from memory.recall.block import new_nonce
from memory.recall.tuning import tuning
from memory.rules.telling import NOTHING_TOLD, Told

router = Router()
RECALL = require_scope(ApiKey.Scope.RECALL)


class RulesAsked(Strict):
    agent: Slug | None = None


class RuleOut(BaseModel):
    """`for_all`: every assistant of the owner has it. `rides`: it is in each block of recall; one
    that is on and does not is over the budget."""

    id: UUID
    text: str
    for_all: bool
    rides: bool
    created_at: datetime

    @classmethod
    def of(cls, rule: Rule, *, rides: bool) -> Self:
        return cls(
            id=rule.pk,
            text=rule.text,
            for_all=rule.agent_id is None,
            rides=rides,
            created_at=rule.created_at,
        )


class RuleList(BaseModel):
    """In the owner's order. `text` is what recall puts ahead of the data, with a nonce of its
    own. `tokens` of `budget`."""

    items: list[RuleOut]
    text: str
    tokens: int
    budget: int


@router.get(
    "/rules",
    auth=RECALL,
    response=RuleList,
    operation_id="list_rules",
    summary="The owner's standing instructions for an agent",
)
def list_rules(request: KeyRequest, asked: Query[RulesAsked]) -> RuleList:
    """None while memory is off."""
    told = _told(agent_for(request.auth, asked.agent))
    return RuleList(
        items=_items(told), text=told.text, tokens=told.tokens, budget=tuning().rules_budget
    )


@router.get(
    "/rules/{uuid:rule_id}",
    auth=RECALL,
    response=RuleOut,
    operation_id="read_rule",
    summary="Read one standing instruction",
)
def read_rule(request: KeyRequest, rule_id: UUID, asked: Query[RulesAsked]) -> RuleOut:
    told = _told(agent_for(request.auth, asked.agent))
    found = next((item for item in _items(told) if item.id == rule_id), None)
    if found is None:
        raise Http404("There is no such rule.")
    return found


def _told(agent: Agent) -> Told:
    if not memory_on(agent.owner):
        return NOTHING_TOLD
    budget = tuning().rules_budget
    return ahead.told_now(agent, budget=budget, nonce=new_nonce(), count=tokens.count)


def _items(told: Told) -> list[RuleOut]:
    riding = {rule.pk for rule in told.told}
    rules = sorted(
        (*told.told, *told.left), key=lambda rule: (rule.place, rule.created_at, rule.pk)
    )
    return [RuleOut.of(rule, rides=rule.pk in riding) for rule in rules]
