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


# As `scope_of` has it.
_IN_SCOPE = {
    Agent.Reads.OWN: " AND memory_fact.agent_id = %(agent)s",
    Agent.Reads.OWN_AND_GLOBAL: " AND (memory_fact.agent_id = %(agent)s"
    " OR memory_fact.agent_id IS NULL)",
    Agent.Reads.ALL: "",
}


def recallable_sql(agent: Agent) -> str:
    """What `recallable` leaves of `facts_readable_by(agent)`, for statements that are written out:
    a condition on memory_fact over %(owner)s, %(agent)s and %(now)s."""
    return (
        f"memory_fact.owner_id = %(owner)s{_IN_SCOPE[Agent.Reads(agent.reads)]}"
        " AND (memory_fact.valid_until IS NULL OR memory_fact.valid_until > %(now)s)"
        " AND memory_fact.state = 'active'"
    )


def _user(owner: User) -> User:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return owner
