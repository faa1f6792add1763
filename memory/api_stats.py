"""Counts over HTTP: what the dashboard shows, for a monitor or a status line. No memory text."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.db.models import Model, QuerySet
from django.utils import timezone
from ninja import Router
from pydantic import BaseModel

from agents.auth import KeyRequest, agent_for, require_scope
from agents.gate import memory_on
from agents.models import Agent, ApiKey, User
from conversations.access import conversations_of
from conversations.models import Conversation
from conversations.schemas import Slug
from memory import figures
from memory.access import runs_of
from memory.consolidation import access as consolidation
from memory.models import DroppedCandidate, ExtractionRun, Fact
from memory.review import queue
from memory.scope import facts_of, facts_readable_by
from memory.vocabulary import State

router = Router()
TOKENS_OVER = timedelta(days=30)
Row = TypeVar("Row", bound=Model)


class TokensOut(BaseModel):
    """Of one assistant only what its conversations took; else with what consolidation took, and
    pictures in documents, each of which counts as a run."""

    days: int
    runs: int
    input: int
    output: int


class StatsOut(BaseModel):
    """`facts` is by state, `kinds` of active ones, `dropped` by gate. `oldest_waiting`: since when
    the candidate that has waited longest waits."""

    memory_on: bool
    facts: dict[str, int]
    kinds: dict[str, int]
    waiting: int
    oldest_waiting: datetime | None
    told: int
    never_told: int
    dropped: dict[str, int]
    conversations_unread: int
    conversations_stuck: int
    tokens: TokensOut


@dataclass(frozen=True)
class Scoped:
    """All that is the owner's, or what one assistant may read and was told."""

    owner: User
    agent: Agent | None

    def facts(self) -> QuerySet[Fact]:
        return facts_readable_by(self.agent) if self.agent else facts_of(self.owner)

    def talks(self) -> QuerySet[Conversation]:
        return self._own(conversations_of(self.owner))

    def runs(self) -> QuerySet[ExtractionRun]:
        return self._own(runs_of(self.owner))

    def dropped(self) -> QuerySet[DroppedCandidate]:
        rows = DroppedCandidate.objects.filter(owner=self.owner)
        return rows.filter(run__agent=self.agent) if self.agent else rows

    def _own(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        return rows.filter(agent=self.agent) if self.agent else rows


def count(scope: Scoped, now: datetime) -> StatsOut:
    facts = figures.facts(scope.facts())
    use = figures.use(scope.facts(), facts.states[State.ACTIVE])
    waiting = scope.facts() & queue.waiting(scope.owner, now)
    return StatsOut(
        memory_on=memory_on(scope.owner),
        facts={state.value: facts.states[state] for state in State},
        kinds=dict(facts.kinds),
        waiting=waiting.count(),
        oldest_waiting=waiting.order_by("created_at").values_list("created_at", flat=True).first(),
        told=use.told,
        never_told=use.never,
        dropped=figures.drops(scope.dropped()),
        conversations_unread=figures.unread_count(scope.talks()),
        conversations_stuck=figures.stuck_count(scope.talks()),
        tokens=_tokens(scope, now),
    )


def _tokens(scope: Scoped, now: datetime) -> TokensOut:
    since = now - TOKENS_OVER
    days = figures.tokens_by_day(scope.runs(), since)
    if scope.agent is None:
        days += figures.upkeep_by_day(consolidation.runs_of(scope.owner), since)
        days += figures.elsewhere_by_day(scope.owner, since)
    return TokensOut(
        days=TOKENS_OVER.days,
        runs=sum(day.runs for day in days),
        input=sum(day.input for day in days),
        output=sum(day.output for day in days),
    )


@router.get(
    "/stats",
    auth=require_scope(ApiKey.Scope.REVIEW),
    response=StatsOut,
    operation_id="stats",
    summary="How many facts, in which state, what waits, and what the model cost",
)
def stats(request: KeyRequest, agent: Slug | None = None) -> StatsOut:
    """For the owner's own programs. Without `agent`, and with a key of no one assistant, all that
    is the owner's is counted."""
    key = request.auth
    named = agent_for(key, agent) if agent is not None or key.agent is not None else None
    return count(Scoped(key.owner, named), timezone.now())
