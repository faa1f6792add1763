"""The only way to a queryset of cases. Everything is scoped by owner, then agent."""

from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404

from agents.models import Agent, User
from memory.models import Case
from memory.scope import scope_of
from memory.vocabulary import State


def cases_of(owner: User) -> QuerySet[Case]:
    """Every case of an owner, for the owner's own desk. Raises TypeError for a non-User."""
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return Case.objects.filter(owner=owner)


def cases_readable_by(agent: Agent) -> QuerySet[Case]:
    """In every state; only active ones may be told. A case keeps its agent, so that whoever stands
    for a deleted one reads its cases."""
    if not isinstance(agent, Agent):
        raise TypeError(f"An agent is needed, not {type(agent).__name__}.")
    readable = scope_of(agent)
    if readable:  # an empty condition is every case, and would be lost beside others
        readable |= Q(agent__heir=agent)
    return cases_of(agent.owner).filter(readable)


def waiting_cases(owner: User) -> QuerySet[Case]:
    return cases_of(owner).filter(state=State.PENDING)


def case_of(owner: User, case_id: UUID) -> Case:
    """What belongs to another does not exist: 404."""
    cases = cases_of(owner).select_related("owner", "agent", "conversation")
    case = cases.filter(pk=case_id).first()
    if case is None:
        raise Http404("There is no such case.")
    return case
