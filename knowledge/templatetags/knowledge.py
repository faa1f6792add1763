"""What pages of the apps below say of documents."""

from uuid import UUID

from django import template
from django.template.context import Context

from conversations.models import Conversation
from knowledge.ingest import in_words
from knowledge.pins import pins_of
from knowledge.proposals import document_in
from knowledge.scope import collections_readable_by, documents_of

register = template.Library()
register.filter("in_words", in_words)


@register.simple_tag
def document_of(conversation: Conversation) -> UUID | None:
    """The document that a conversation was read from, while it is there."""
    found = document_in(conversation)
    if found is None:
        return None
    rows = documents_of(conversation.owner).filter(pk=found)
    return rows.values_list("pk", flat=True).first()


@register.inclusion_tag("knowledge/_pins.html", takes_context=True)
def pins(context: Context, conversation: Conversation) -> dict[str, object]:
    """The collections that a conversation is about, and those that it could be about."""
    pinned = pins_of(conversation)
    others = collections_readable_by(conversation.agent).exclude(pk__in=[row.pk for row in pinned])
    return {
        "conversation": conversation,
        "pinned": pinned,
        "others": others.order_by("name", "id"),
        "csrf_token": context.get("csrf_token"),
    }
