"""Which conversations are due for extraction, and why."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from agents import gate
from agents.models import User
from conversations.models import Conversation, Message
from memory import llm
from memory.extraction.lease import at_work
from memory.vocabulary import Trigger

IDLE = timedelta(minutes=20)
EXCHANGES = 5
# What was asked for goes first ("" sorts last). Then by when it was said, so that after an import
# the newer word corrects the older one and not the other way round.
IN_TURN = (F("due_trigger").desc(), F("last_message_at").asc(), F("pk").asc())
# Handed out in one sweep, one conversation per owner: the others follow it.
OWNERS = 200


def sweep(now: datetime) -> Sequence[UUID]:
    """The next conversation of each owner whose memory is on and whom no worker reads for now."""
    ranked = due(now).exclude(owner__in=at_work()).annotate(place=_place_among_own())
    rows = ranked.filter(place=1).order_by("last_activity_at", "pk")
    return list(rows.values_list("pk", flat=True)[:OWNERS])


def next_of(owner: User, now: datetime) -> UUID | None:
    rows = due(now).filter(owner=owner).annotate(place=_place_among_own())
    return rows.filter(place=1).values_list("pk", flat=True).first()


def due(now: datetime) -> QuerySet[Conversation]:
    """The first line is the condition of the index `conversation_due`."""
    return (
        Conversation.objects.filter(
            cursor_seq__lt=F("last_seq"), read_only=False, stuck_at__isnull=True
        )
        .filter(Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now))
        .filter(~Q(due_trigger="") | Q(attempts__gt=0) | _idle(now) | _backlog())
        .filter(memory_on(), _has_route())
        .order_by()
    )


def unread(owner: User) -> QuerySet[Conversation]:
    """All that could be read, due or not, in the order in which to read it."""
    rows = Conversation.objects.filter(owner=owner, cursor_seq__lt=F("last_seq"), read_only=False)
    return rows.order_by(*IN_TURN)


def trigger_of(conversation: Conversation, now: datetime) -> Trigger:
    """Why a due conversation is due, the most pressing reason first."""
    if conversation.attempts > 0:
        return Trigger.RETRY
    if conversation.due_trigger:
        return Trigger(conversation.due_trigger)
    return Trigger.IDLE if conversation.last_activity_at <= now - IDLE else Trigger.BACKLOG


def _idle(now: datetime) -> Q:
    return Q(last_activity_at__lte=now - IDLE)


def _backlog() -> Q:
    """An exchange is what a person said and what followed it, so the newest word doesn't count."""
    unread = Message.objects.filter(
        conversation=OuterRef("pk"),
        seq__gt=OuterRef("cursor_seq"),
        seq__lt=OuterRef("last_seq"),
        role=Message.Role.USER,
        on_branch=True,
    )
    fifth = unread.order_by()[EXCHANGES - 1 : EXCHANGES]
    return Q(last_seq__gt=F("cursor_seq") + EXCHANGES) & Q(Exists(fifth))


def memory_on() -> Q:
    """agents.gate.allowed, as a condition."""
    chosen = [
        choice for choice in (True, False, None) if gate.allowed(settings.MEMORY_MODE, choice)
    ]
    on = Q(owner__settings__memory_enabled__in=[choice for choice in chosen if choice is not None])
    return on | Q(owner__settings__memory_enabled__isnull=True) if None in chosen else on


def _has_route() -> Q:
    """Sensitive conversations wait for a route of their own."""
    return Q() if llm.configured(llm.PRIVATE) else Q(sensitive=False)


def _place_among_own() -> Window:
    return Window(RowNumber(), partition_by="owner", order_by=IN_TURN)
