"""The only way to a queryset of facts. Everything is scoped by owner, then agent."""

from datetime import datetime

from django.db.models import Q, QuerySet

from agents.models import Agent, User
from memory.models import Fact
from memory.vocabulary import State


def facts_of(owner: User) -> QuerySet[Fact]:
    """Every fact of an owner, for the owner's own desk. Raises TypeError for a non-User."""
    return Fact.objects.filter(owner=_user(owner))


def facts_readable_by(agent: Agent) -> QuerySet[Fact]:
    """The facts in an agent's scope, in every state; see `recallable` for what it may be told."""
    if not isinstance(agent, Agent):
        raise TypeError(f"An agent is needed, not {type(agent).__name__}.")
    return facts_of(agent.owner).filter(scope_of(agent))


def scope_of(agent: Agent) -> Q:
    if agent.reads == Agent.Reads.ALL:
        return Q()
    own = Q(agent=agent)
    return own | Q(agent__isnull=True) if agent.reads == Agent.Reads.OWN_AND_GLOBAL else own


def recallable(facts: QuerySet[Fact], now: datetime) -> QuerySet[Fact]:
    """What may steer an assistant: active facts that have not expired."""
    return facts.filter(Q(valid_until__isnull=True) | Q(valid_until__gt=now), state=State.ACTIVE)


def _user(owner: User) -> User:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return owner
