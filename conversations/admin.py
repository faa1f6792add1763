from typing import Any

from django.contrib import admin
from django.contrib.postgres.search import SearchQuery
from django.db.models import QuerySet
from django.http import HttpRequest

from agents.desk_admin import ReadOnlyAdmin
from agents.long_lists import RecentValues
from conversations.models import (
    Conversation,
    Import,
    IndexedPassage,
    Message,
    Passage,
    PassageEmbedding,
    PassageTerm,
    ShownPassages,
    Sketch,
)

CUT = 120  # characters of a text that a list shows


@admin.register(Import)
class ImportAdmin(ReadOnlyAdmin[Import]):
    list_display = ("file_name", "format", "owner", "started_at", "finished_at", "counts")
    list_filter = (("format", RecentValues), ("finished_at", admin.EmptyFieldListFilter))
    list_select_related = ("owner",)
    search_fields = ("file_name", "owner__username")
    date_hierarchy = "started_at"


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin[Conversation]):
    list_display = (
        "__str__",
        "owner",
        "agent",
        "source",
        "last_seq",
        "cursor_seq",
        "attempts",
        "stuck_at",
        "last_activity_at",
    )
    list_filter = (
        ("stuck_at", admin.EmptyFieldListFilter),
        ("source", RecentValues),
        "read_only",
        "sensitive",
        "due_trigger",
    )
    list_select_related = ("owner", "agent")
    search_fields = ("title", "=external_id", "owner__username")
    date_hierarchy = "created_at"


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin[Message]):
    list_display = (
        "beginning",
        "conversation",
        "seq",
        "role",
        "speaker",
        "from_owner",
        "on_branch",
        "sent_at",
    )
    list_filter = ("role", "kind", "from_owner", "on_branch", "sent_at")
    list_select_related = ("conversation",)
    search_fields = ("=client_id", "=conversation__external_id")
    search_help_text = "An id (its own or its conversation's), or one that the client gave"
    id_fields = ("pk", "conversation")
    date_hierarchy = "created_at"

    @admin.display(description="message")
    def beginning(self, message: Message) -> str:
        return message.content[:CUT]


@admin.register(Passage)
class PassageAdmin(ReadOnlyAdmin[Passage]):
    list_display = ("beginning", "conversation", "kind", "piece", "language", "said_at")
    list_filter = ("kind", "said_at")
    list_select_related = ("conversation",)
    search_fields = ("text",)
    search_help_text = "An id (its own, its message's or conversation's), or words in the text"
    id_fields = ("pk", "message", "conversation")
    exclude = ("search",)

    @admin.display(description="passage")
    def beginning(self, passage: Passage) -> str:
        return passage.text[:CUT]

    def by_words(self, request: HttpRequest, rows: QuerySet[Any], words: str) -> QuerySet[Any]:
        """By the full-text index; LIKE would read the whole table."""
        return rows.filter(search=SearchQuery(words, config="simple", search_type="websearch"))


@admin.register(IndexedPassage)
class IndexedPassageAdmin(ReadOnlyAdmin[IndexedPassage]):
    holds_text = False
    id_fields = ("passage", "conversation_id")
    list_display = ("passage_id", "conversation_id", "stretch", "place", "language", "owner")
    list_filter = (("language", RecentValues),)
    list_select_related = ("owner",)


@admin.register(PassageTerm)
class PassageTermAdmin(ReadOnlyAdmin[PassageTerm]):
    id_fields = ("passage",)
    list_display = ("passage_id", "term", "tf", "owner")
    list_select_related = ("owner",)


@admin.register(PassageEmbedding)
class PassageEmbeddingAdmin(ReadOnlyAdmin[PassageEmbedding]):
    holds_text = False
    id_fields = ("passage",)
    list_display = ("passage_id", "model", "owner")
    list_filter = (("model", RecentValues),)
    list_select_related = ("owner",)
    exclude = ("vector",)


@admin.register(ShownPassages)
class ShownPassagesAdmin(ReadOnlyAdmin[ShownPassages]):
    id_fields = ("conversation",)
    list_display = ("conversation", "owner")
    list_select_related = ("conversation", "owner")


@admin.register(Sketch)
class SketchAdmin(ReadOnlyAdmin[Sketch]):
    list_display = ("key", "conversation", "owner", "kept", "revision", "updated_at")
    list_filter = ("kept", "updated_at")
    list_select_related = ("conversation", "owner")
    search_fields = ("=key",)
    search_help_text = "An id (its own or its conversation's), or a section's whole name"
    id_fields = ("pk", "conversation")
    exclude = ("terms",)
