"""The collections of an owner: the list, one with its documents, make, change, delete."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.audit import person
from agents.desk import DeskRequest, desk
from knowledge import ingest
from knowledge.access import collection_of
from knowledge.collections import Overtaken, store
from knowledge.consequence import consequence
from knowledge.models import Collection
from knowledge.pages.forms import AddressForm, CollectionForm, QuestionForm, TextForm
from knowledge.scope import collections_of, documents_of
from knowledge.vocabulary import BUSY, DocumentState
from memory.pages.paging import newest_first

WORD = "delete"
KINDS = "PDF, Word, PowerPoint, Excel, EPUB, web pages, mails, Markdown, plain text and images"
# What the browser offers to choose; what is really in a file is looked at when it is read.
ACCEPT = ".pdf,.docx,.pptx,.xlsx,.epub,.html,.htm,.eml,.md,.markdown,.txt,image/*"


@require_GET
@desk
def knowledge(request: DeskRequest) -> HttpResponse:
    rows = (
        collections_of(request.user)
        .select_related("agent__heir")
        .annotate(
            all=Count("documents"),
            failed=Count("documents", Q(documents__state=DocumentState.FAILED)),
            coming=Count("documents", Q(documents__state__in=(DocumentState.WAITING, *BUSY))),
        )
        .order_by("name", "id")
    )
    collections = list(rows)
    context = {
        "collections": collections,
        "failed": sum(row.failed for row in collections),
        "question": QuestionForm(request.user),
    }
    return render(request, "knowledge/knowledge.html", context)


@require_http_methods(["GET", "POST"])
@desk
def new(request: DeskRequest) -> HttpResponse:
    row = Collection(owner=request.user)
    form = CollectionForm(row, request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid() or not _stored(request, form, "collection made"):
        status = 422 if form.is_bound else 200
        return render(request, "knowledge/edit.html", {"form": form}, status=status)
    messages.success(request, f"“{form.row.name}” is there. Put documents into it.")
    return redirect("collection", form.row.pk)


@require_http_methods(["GET", "POST"])
@desk
def edit(request: DeskRequest, collection_id: UUID) -> HttpResponse:
    row = collection_of(request.user, collection_id)
    form = CollectionForm(row, request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid() or not _stored(request, form, "collection changed"):
        context = {"form": form, "collection": collection_of(request.user, collection_id)}
        return render(request, "knowledge/edit.html", context, status=422 if form.is_bound else 200)
    messages.success(request, "Saved.")
    return redirect("collection", row.pk)


@require_GET
@desk
def collection(request: DeskRequest, collection_id: UUID) -> HttpResponse:
    row = collection_of(request.user, collection_id)
    if request.htmx:
        return render(request, "knowledge/_documents.html", documents_in(request, row))
    return show(request, row)


@require_http_methods(["GET", "POST"])
@desk
def delete(request: DeskRequest, collection_id: UUID) -> HttpResponse:
    row = collection_of(request.user, collection_id)
    if request.method == "POST" and request.POST.get("word", "").strip() == WORD:
        ingest.delete_collection(collection=row, actor=person(request.user))
        messages.success(request, f"“{row.name}” is deleted, with all that was in it.")
        return redirect("knowledge")
    documents = list(documents_of(request.user).filter(collection=row).values_list("pk", flat=True))
    context = {
        "collection": row,
        "lost": consequence(request.user, documents),
        "word": WORD,
        "problem": f"Nothing was done. Type “{WORD}” to delete it."
        if request.method == "POST"
        else "",
    }
    return render(
        request, "knowledge/delete.html", context, status=422 if context["problem"] else 200
    )


@require_POST
@desk
def retry_all(request: DeskRequest, collection_id: UUID | None = None) -> HttpResponse:
    rows = documents_of(request.user)
    if collection_id is not None:
        rows = rows.filter(collection=collection_of(request.user, collection_id))
    count = ingest.retry_all(documents=rows, actor=person(request.user))
    if count:
        messages.success(request, f"{count} {'are' if count > 1 else 'is'} tried again.")
    else:
        messages.info(request, "None has failed.")
    return redirect("collection", collection_id) if collection_id else redirect("knowledge")


def show(
    request: DeskRequest,
    row: Collection,
    address: AddressForm | None = None,
    text: TextForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "address": address or AddressForm(label_suffix=""),
        "text": text or TextForm(label_suffix=""),
        "question": QuestionForm(request.user, initial={"collection": row.pk}),
        "most_bytes": settings.KNOWLEDGE_MAX_BYTES,
        "too_large": ingest.too_large(),
        "kinds": KINDS,
        "accept": ACCEPT,
    }
    context |= documents_in(request, row)
    return render(request, "knowledge/collection.html", context, status=status)


def documents_in(request: DeskRequest, row: Collection) -> dict[str, Any]:
    """The list as it is now, and how soon it may be another: `again`, in seconds; 0 for never."""
    documents = documents_of(request.user).filter(collection=row)
    counts = dict(documents.order_by().values_list("state").annotate(Count("pk")))
    after = request.GET.get("after", "")
    listing = newest_first(documents, "created_at", after)
    coming = sum(counts.get(state, 0) for state in (DocumentState.WAITING, *BUSY))
    return {
        "collection": row,
        "listing": listing,
        "after": after,
        "total": sum(counts.values()),
        "ready": counts.get(DocumentState.READY, 0),
        "failed": counts.get(DocumentState.FAILED, 0),
        "coming": coming,
        "again": _again(documents) if coming else 0,
    }


def _again(documents: Any) -> int:
    """What only waits for its next attempt changes in minutes."""
    due = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=timezone.now())
    at_work = Q(state__in=BUSY) | Q(state=DocumentState.WAITING) & due
    return 2 if documents.filter(at_work).exists() else 30


def _stored(request: DeskRequest, form: CollectionForm, reason: str) -> bool:
    """False where another tab took the name meanwhile."""
    try:
        store(row=form.row, wanted=form.wanted(), actor=person(request.user), reason=reason)
    except Overtaken as refusal:
        form.add_error("name", str(refusal))
        return False
    return True
