"""The tables of the knowledge base in the admin, and repair of many documents at once."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import Func, QuerySet
from django.db.models.functions import Length, Substr
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from agents.audit import person
from agents.desk_admin import AuditedAdmin, ReadOnlyAdmin, signed_in
from agents.long_lists import OwnChoices, RecentValues
from agents.wording import counted
from knowledge import ingest
from knowledge.models import (
    Collection,
    Document,
    DocumentEmbedding,
    DocumentFile,
    DocumentPassage,
    DocumentText,
    PictureReading,
    PinnedCollection,
)
from memory.sensitive.hidden import show_hidden

LISTED = 50  # of what would be deleted
# Characters of a text: on its page, and of its download at a time.
SHOWN, PIECE = 20_000, 1_000_000


@admin.register(Collection)
class CollectionAdmin(AuditedAdmin[Collection]):
    """Renamed and described here; whose it is and who may search it, its owner says."""

    list_display = ("name", "agent", "owner", "created_at")
    list_filter = (("agent", OwnChoices), ("owner", OwnChoices))
    list_select_related = ("agent", "owner")
    search_fields = ("name",)
    id_fields = ("pk", "agent")
    date_hierarchy = "created_at"
    fields = ("name", "description", "owner", "agent", "created_at")
    readonly_fields = ("owner", "agent", "created_at")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin[Document]):
    list_display = (
        "titled",
        "state",
        "failure",
        "origin",
        "collection",
        "owner",
        "size",
        "pages",
        "passages",
        "attempts",
        "created_at",
    )
    list_filter = (
        "state",
        "failure",
        "origin",
        ("media_type", RecentValues),
        ("collection", OwnChoices),
        ("owner", OwnChoices),
    )
    list_select_related = ("collection", "owner")
    search_fields = ("title", "file_name")
    search_help_text = "An id (its own or its collection's), or words in its title or file name"
    id_fields = ("pk", "collection")
    date_hierarchy = "created_at"
    exclude = ("token",)

    @admin.display(description="title")
    def titled(self, document: Document) -> str:
        return show_hidden(document.title)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        user = signed_in(request)
        steps: dict[str, Any] = {}
        if user.has_perm("knowledge.change_document"):
            steps["try_again"] = (try_again, "try_again", "Try the failed ones again")
            steps["read_again"] = (read_again, "read_again", "Read them again")
        if user.has_perm("knowledge.delete_document"):
            steps["erase"] = (erase, "erase", "Delete with all that was read of them")
        return cast("dict[str, Any]", super().get_actions(request)) | steps


def try_again(
    model_admin: DocumentAdmin, request: HttpRequest, documents: QuerySet[Document]
) -> None:
    _all(request, documents, ingest.retry_all, "tried again", "had not failed")


def read_again(
    model_admin: DocumentAdmin, request: HttpRequest, documents: QuerySet[Document]
) -> None:
    _all(request, documents, ingest.reingest_all, "read again", "being read just now")


def _all(
    request: HttpRequest,
    documents: QuerySet[Document],
    step: Callable[..., int],
    done: str,
    left: str,
) -> None:
    ids = list(documents.values_list("pk", flat=True))
    number = step(documents=Document.objects.filter(pk__in=ids), actor=person(signed_in(request)))
    messages.success(request, f"{number} {done}.")
    if number < len(ids):
        messages.info(request, f"{len(ids) - number} {left}.")


def erase(
    model_admin: DocumentAdmin, request: HttpRequest, documents: QuerySet[Document]
) -> HttpResponse | None:
    """Asks first, with what would go; what is typed there is the number of documents."""
    rows = list(documents.select_related("owner", "collection").order_by("pk"))
    word = f"delete {len(rows)}"
    if request.POST.get("word", "").strip() == word:
        for row in rows:
            ingest.delete(document=row, actor=person(signed_in(request)))
        messages.success(request, f"{len(rows)} deleted.")
        return None
    if "word" in request.POST:
        messages.error(request, f"Nothing was done: type “{word}” to go ahead.")
    context = model_admin.admin_site.each_context(request) | {
        "title": f"Delete {counted(len(rows), 'document')}",
        "word": word,
        "chosen": [row.pk for row in rows],
        "rows": [(show_hidden(row.title), row.owner) for row in rows[:LISTED]],
        "more": max(len(rows) - LISTED, 0),
        "passages": sum(row.passages for row in rows),
        "size": sum(row.size for row in rows),
    }
    return render(request, "admin/knowledge/document/erase.html", context)


@admin.register(DocumentPassage)
class DocumentPassageAdmin(ReadOnlyAdmin[DocumentPassage]):
    list_display = ("document", "generation", "ordinal", "kind", "page_from", "owner")
    list_filter = ("kind",)
    list_select_related = ("document", "owner")
    id_fields = ("pk", "document")
    search_fields = ("=document__pk",)
    search_help_text = "An id: its own or its document's"


@admin.register(DocumentText)
class DocumentTextAdmin(ReadOnlyAdmin[DocumentText]):
    """A text may have millions of characters: its page shows where it begins."""

    list_display = ("document", "generation", "owner")
    list_select_related = ("document", "owner")
    id_fields = ("document",)
    search_fields = ("=document__pk",)
    fields = ("document", "generation", "owner", "characters", "beginning")

    def get_queryset(self, request: HttpRequest) -> QuerySet[DocumentText]:
        return super().get_queryset(request).defer("markdown")

    @admin.display(description="characters")
    def characters(self, text: DocumentText) -> str:
        return f"{_column(text, Length('markdown')):,}"

    @admin.display(description="text")
    def beginning(self, text: DocumentText) -> str:
        said = str(_column(text, Substr("markdown", 1, SHOWN + 1)))
        whole = reverse("admin:knowledge_documenttext_download", args=[text.pk])
        note = f"The first {SHOWN:,} characters." if len(said) > SHOWN else "All of it."
        return format_html(
            '<p>{} <a href="{}">Download the whole text</a></p><pre class="readonly">{}</pre>',
            note,
            whole,
            show_hidden(said[:SHOWN]),
        )

    def get_urls(self) -> list[URLPattern]:
        whole = path(
            "<int:text_id>/download/",
            self.admin_site.admin_view(self.download),
            name="knowledge_documenttext_download",
        )
        return [whole, *super().get_urls()]

    def download(self, request: HttpRequest, text_id: int) -> StreamingHttpResponse:
        """A look like that at the page: scoped, and noted where it is another's."""
        text = self.get_object(request, str(text_id))
        if text is None or not self.has_view_permission(request, text):
            raise Http404("There is no such text.")
        return StreamingHttpResponse(
            _pieces(text),
            content_type="text/plain; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="text-{text_id}.md"',
                "X-Content-Type-Options": "nosniff",
            },
        )


def _column(text: DocumentText, column: Func) -> Any:
    """Worked out by the database, so that the text itself stays there."""
    return DocumentText.objects.filter(pk=text.pk).values_list(column, flat=True).get()


def _pieces(text: DocumentText) -> Iterator[bytes]:
    for start in count(1, PIECE):
        said = str(_column(text, Substr("markdown", start, PIECE)))
        yield said.encode()
        if len(said) < PIECE:
            return


@admin.register(PictureReading)
class PictureReadingAdmin(ReadOnlyAdmin[PictureReading]):
    list_display = (
        "document",
        "model",
        "asked_at",
        "answered_at",
        "error",
        "llm_calls",
        "input_tokens",
        "output_tokens",
        "owner",
    )
    list_filter = (("model", RecentValues), ("owner", OwnChoices))
    list_select_related = ("document", "owner")
    id_fields = ("pk", "document")
    search_fields = ("=document__pk",)
    search_help_text = "An id: its own or its document's"
    date_hierarchy = "asked_at"


@admin.register(DocumentFile)
class DocumentFileAdmin(ReadOnlyAdmin[DocumentFile]):
    holds_text = False
    list_display = ("document_id", "piece", "owner")
    list_select_related = ("owner",)
    id_fields = ("document",)
    exclude = ("content",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DocumentFile]:
        return super().get_queryset(request).defer("content")


@admin.register(DocumentEmbedding)
class DocumentEmbeddingAdmin(ReadOnlyAdmin[DocumentEmbedding]):
    holds_text = False
    list_display = ("passage_id", "model", "part", "generation", "owner")
    list_filter = (("model", RecentValues),)
    list_select_related = ("owner",)
    id_fields = ("passage", "document_id")
    exclude = ("vector",)


@admin.register(PinnedCollection)
class PinnedCollectionAdmin(ReadOnlyAdmin[PinnedCollection]):
    holds_text = False
    list_display = ("collection_id", "conversation_id", "owner", "created_at")
    list_select_related = ("owner",)
    id_fields = ("pk", "collection", "conversation")
