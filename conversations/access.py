"""The conversations and imports of an owner. What belongs to another does not exist: 404."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from agents.models import User
from conversations.models import Conversation, Import


def conversations_of(owner: User) -> QuerySet[Conversation]:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return Conversation.objects.filter(owner=owner).select_related("agent")


def conversation_of(owner: User, conversation_id: UUID) -> Conversation:
    conversation = conversations_of(owner).filter(pk=conversation_id).first()
    if conversation is None:
        raise Http404("There is no such conversation.")
    return conversation


def imports_of(owner: User) -> QuerySet[Import]:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return Import.objects.filter(owner=owner)


def import_of(owner: User, import_id: UUID) -> Import:
    row = imports_of(owner).filter(pk=import_id).first()
    if row is None:
        raise Http404("There is no such import.")
    return row
