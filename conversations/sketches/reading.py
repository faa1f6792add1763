"""Notes that have not expired. Whoever asks names the owner or one conversation of theirs."""

from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils import timezone

from agents.models import Agent, User
from conversations.models import Conversation
from conversations.sketches.limits import IDLE
from conversations.sketches.models import Sketch


class NoSuchSketch(Exception):
    def __init__(self) -> None:
        super().__init__("There is no such section in the notes of this conversation.")


def alive(now: datetime) -> Q:
    since = now - IDLE
    return Q(kept=True) | Q(updated_at__gte=since) | Q(conversation__last_activity_at__gte=since)


def sketches_of(owner: User) -> QuerySet[Sketch]:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return Sketch.objects.filter(alive(timezone.now()), owner=owner).defer("terms")


def sketches_in(conversation: Conversation) -> QuerySet[Sketch]:
    """In the order in which they were begun."""
    rows = sketches_of(conversation.owner).filter(conversation=conversation)
    return rows.order_by("created_at", "id")


def sketches_readable_by(agent: Agent) -> QuerySet[Sketch]:
    """Of the conversations that the agent may search."""
    rows = sketches_of(agent.owner)
    if agent.reads == Agent.Reads.ALL:
        return rows
    return rows.filter(conversation__agent=agent)


def sketch_in(conversation: Conversation, key: str) -> Sketch:
    """Raises NoSuchSketch."""
    row = sketches_in(conversation).filter(key=key).first()
    if row is None:
        raise NoSuchSketch
    return row


def expires_at(sketch: Sketch, conversation: Conversation) -> datetime | None:
    """When it goes unless something happens before; None where it is kept."""
    if sketch.kept:
        return None
    return max(sketch.updated_at, conversation.last_activity_at) + IDLE
