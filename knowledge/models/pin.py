"""Collections that a conversation is about."""

from django.db import models
from django.utils import timezone

from agents.models import User, new_id
from agents.triggers import fixed
from conversations.models import Conversation
from knowledge.models.collection import Collection


class PinnedCollection(models.Model):
    """In that conversation its passages weigh more, and recall says that it should be asked."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["created_at", "id"]
        constraints = [
            # Also what recall looks at each turn.
            models.UniqueConstraint(
                fields=["owner", "conversation", "collection"], name="collection_pinned_once"
            ),
        ]
        triggers = [
            fixed(
                "id",
                "owner",
                "conversation",
                "collection",
                name="pin_fixed",
                message="A pin is set or taken away, never moved.",
            ),
        ]

    def __str__(self) -> str:
        return f"pin of {self.collection_id}"
