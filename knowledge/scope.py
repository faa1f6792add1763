"""The only way to querysets of collections and documents. Scoped by owner, then agent."""

from django.db.models import Q, QuerySet

from agents.models import Agent, User
from knowledge.models import Collection, Document
from memory.scope import scope_of


def collections_of(owner: User) -> QuerySet[Collection]:
    """Every collection of an owner, for the owner's own desk. Raises TypeError for a non-User."""
    return Collection.objects.filter(owner=_user(owner))


def collections_readable_by(agent: Agent) -> QuerySet[Collection]:
    """As facts are. A collection keeps its agent, so that whoever stands for a deleted one reads
    its collections."""
    if not isinstance(agent, Agent):
        raise TypeError(f"An agent is needed, not {type(agent).__name__}.")
    readable = scope_of(agent)
    if readable:  # an empty condition is every collection, and would be lost beside others
        readable |= Q(agent__heir=agent)
    return collections_of(agent.owner).filter(readable)


def documents_of(owner: User) -> QuerySet[Document]:
    return Document.objects.filter(owner=_user(owner))


def documents_readable_by(agent: Agent) -> QuerySet[Document]:
    """In every state; a document answers once it has a generation."""
    collections = collections_readable_by(agent).order_by().values("pk")
    return documents_of(agent.owner).filter(collection__in=collections)


def _user(owner: User) -> User:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return owner
