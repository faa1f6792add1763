"""Counts over HTTP: what the dashboard shows, for a monitor or a status line. No memory text."""

from datetime import datetime, timedelta
from typing import Self

from django.utils import timezone
from ninja import Router
from pydantic import BaseModel

from agents.auth import KeyRequest, require_scope
from agents.gate import memory_on
from agents.models import ApiKey, User
from memory import figures
from memory.review import queue
from memory.vocabulary import State

router = Router()
TOKENS_OVER = timedelta(days=30)


class TokensOut(BaseModel):
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

    @classmethod
    def of(cls, owner: User, now: datetime) -> Self:
        facts = figures.facts(owner)
        use = figures.use(owner, facts.states[State.ACTIVE])
        return cls(
            memory_on=memory_on(owner),
            facts={state.value: facts.states[state] for state in State},
            kinds=dict(facts.kinds),
            waiting=queue.waiting(owner, now).count(),
            oldest_waiting=queue.oldest_waiting(owner, now),
            told=use.told,
            never_told=use.never,
            dropped=figures.drops(owner),
            conversations_unread=figures.unread_count(owner),
            conversations_stuck=figures.stuck_count(owner),
            tokens=_tokens(owner, now),
        )


def _tokens(owner: User, now: datetime) -> TokensOut:
    days = figures.tokens_by_day(owner, now - TOKENS_OVER)
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
    summary="Counts over the whole memory of the key's owner",
)
def stats(request: KeyRequest) -> StatsOut:
    """For the owner's own programs: the counts span every assistant, so the scope is `review`."""
    return StatsOut.of(request.auth.owner, timezone.now())
