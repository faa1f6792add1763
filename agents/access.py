"""The agents and keys of an owner. What belongs to another does not exist: 404."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from agents.models import Agent, ApiKey, User


def agents_of(owner: User) -> QuerySet[Agent]:
    """Those that were not deleted."""
    return Agent.objects.filter(owner=_user(owner), retired_at__isnull=True)


def agent_of(owner: User, agent_id: UUID) -> Agent:
    agent = agents_of(owner).select_related("owner").filter(pk=agent_id).first()
    if agent is None:
        raise Http404("There is no such assistant.")
    return agent


def keys_of(owner: User) -> QuerySet[ApiKey]:
    return ApiKey.objects.filter(owner=_user(owner)).select_related("agent")


def key_of(owner: User, key_id: UUID) -> ApiKey:
    key = keys_of(owner).filter(pk=key_id).first()
    if key is None:
        raise Http404("There is no such key.")
    return key


def _user(owner: User) -> User:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return owner
