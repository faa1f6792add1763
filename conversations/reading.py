"""Pages of conversations and messages for one agent. Keys, not offsets: new rows shift nothing."""

import base64
import binascii
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from agents.models import Agent
from conversations.access import conversations_of
from conversations.ingest import NoSuchConversation
from conversations.models import Conversation, Message


class BadCursor(ValueError):
    def __init__(self) -> None:
        super().__init__("after: is not the `next` of a page.")


def page_of_conversations(
    *, agent: Agent, source: str | None, after: str | None, limit: int
) -> tuple[list[Conversation], str | None]:
    """Latest activity first, with the cursor of the next page. Raises BadCursor."""
    rows = conversations_of(agent.owner).filter(agent=agent)
    if source is not None:
        rows = rows.filter(source=source)
    if after is not None:
        rows = rows.filter(_older_than(after))
    found = list(rows.order_by("-last_activity_at", "-id")[: limit + 1])
    return found[:limit], _cursor(found[limit - 1]) if len(found) > limit else None


def conversation(agent: Agent, source: str, external_id: str) -> Conversation:
    """Raises NoSuchConversation."""
    rows = conversations_of(agent.owner).filter(agent=agent, source=source)
    found = rows.filter(external_id=external_id).first()
    if found is None:
        raise NoSuchConversation
    return found


def page_of_messages(
    *, conversation: Conversation, after: int, limit: int
) -> tuple[list[Message], int | None]:
    """In order of arrival, those off the branch included."""
    rows: QuerySet[Message] = conversation.messages.select_related("parent", "replaces")
    found = list(rows.filter(seq__gt=after).order_by("seq")[: limit + 1])
    return found[:limit], found[limit - 1].seq if len(found) > limit else None


def _cursor(conversation: Conversation) -> str:
    text = f"{conversation.last_activity_at.isoformat()}|{conversation.pk}"
    return base64.urlsafe_b64encode(text.encode()).decode()


def _older_than(cursor: str) -> Q:
    try:
        at, _, row = base64.urlsafe_b64decode(cursor.encode()).decode().partition("|")
        moment, pk = datetime.fromisoformat(at), UUID(row)
    except (ValueError, binascii.Error) as error:
        raise BadCursor from error
    if moment.tzinfo is None:
        raise BadCursor
    return Q(last_activity_at__lt=moment) | Q(last_activity_at=moment, pk__lt=pk)
