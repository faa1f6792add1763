"""Which conversations have something that was not read for cases."""

from datetime import datetime

from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from agents.models import User
from conversations.models import Conversation
from memory import llm
from memory.extraction.due import IDLE
from memory.models import CaseReading


def due(owner: User, now: datetime) -> QuerySet[Conversation]:
    """The newest first: what somebody works on now may help with the next thing.

    A conversation that goes on is left alone, because its exchange has no outcome yet. Each row
    has `case_seq`, up to where it was read.
    """
    read = CaseReading.objects.filter(conversation=OuterRef("pk")).values("seq")
    rows = Conversation.objects.filter(
        owner=owner, read_only=False, last_activity_at__lte=now - IDLE
    ).annotate(case_seq=Coalesce(Subquery(read), Value(0)))
    return (
        rows.filter(_has_route(), case_seq__lt=F("last_seq"))
        .select_related("owner", "agent__owner")
        .order_by(F("last_message_at").desc(nulls_last=True), "-pk")
    )


def _has_route() -> Q:
    names = (llm.GENERAL, llm.PRIVATE)
    general, private = (llm.configured(name) is not None for name in names)
    if general and private:
        return Q()
    return Q(sensitive=private) if general or private else Q(pk__in=[])
