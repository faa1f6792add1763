"""One document: how far it is read, its passages, its original, and what can be done with it."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from agents.access import agents_of
from agents.audit import person
from agents.desk import DeskRequest, desk
from agents.models import Agent
from knowledge import ingest
from knowledge.access import document_of
from knowledge.consequence import consequence
from knowledge.models import Document
from knowledge.pages.forms import AgentForm
from knowledge.pictures import costs
from knowledge.proposals import answering, can_read, talks_of
from knowledge.search.service import pages_of
from knowledge.storage import read_original
from knowledge.vocabulary import BUSY, DocumentState

SHOWN = 30  # passages on one page
COMING = (DocumentState.WAITING, *BUSY)


@require_GET
@desk
def document(request: DeskRequest, document_id: UUID) -> HttpResponse:
    row = document_of(request.user, document_id)
    if request.htmx:
        return _progress(request, row)
    return show(request, row)


@require_GET
@desk
def original(request: DeskRequest, document_id: UUID) -> HttpResponse:
    """Always a download, never a page of this site: what is in it comes from anywhere."""
    row = document_of(request.user, document_id)
    if not row.size:
        raise Http404("There is no original yet.")
    headers = {
        "Content-Disposition": content_disposition_header(True, row.file_name or "document"),
        "Content-Length": str(row.size),
        "X-Content-Type-Options": "nosniff",
    }
    return StreamingHttpResponse(  # type: ignore[return-value]
        read_original(row), content_type="application/octet-stream", headers=headers
    )


@require_POST
@desk
def retry(request: DeskRequest, document_id: UUID) -> HttpResponse:
    row = document_of(request.user, document_id)
    if ingest.retry(document=row, actor=person(request.user)):
        messages.success(request, "It is tried again.")
    else:
        messages.info(request, "It has not failed.")
    return redirect("document", row.pk)


@require_POST
@desk
def reingest(request: DeskRequest, document_id: UUID) -> HttpResponse:
    row = document_of(request.user, document_id)
    if ingest.reingest(document=row, actor=person(request.user)):
        messages.success(
            request, "It is read again. Until that is done, what was read before answers."
        )
    else:
        messages.info(request, "It is being read just now.")
    return redirect("document", row.pk)


@require_http_methods(["GET", "POST"])
@desk
def delete(request: DeskRequest, document_id: UUID) -> HttpResponse:
    row = document_of(request.user, document_id)
    if request.method == "POST":
        ingest.delete(document=row, actor=person(request.user))
        messages.success(request, f"“{row.title}” is deleted.")
        return redirect("collection", row.collection_id)
    context = {"document": row, "lost": consequence(request.user, [row.pk])}
    return render(request, "knowledge/delete.html", context)


def show(request: DeskRequest, row: Document, problem: str = "", status: int = 200) -> HttpResponse:
    talks = talks_of(request.user, [row.pk]).select_related("agent").order_by("created_at")
    context = _passages(request, row) | {
        "document": row,
        "again": _again(row),
        "seen": row.generation or 0,
        "collection": row.collection,
        "can_read": can_read(),
        "reader": _reader(request, row),
        "for_agent": AgentForm(request.user),
        "talks": talks,
        "costs": costs(row),
        "problem": problem,
    }
    return render(request, "knowledge/document.html", context, status=status)


def _progress(request: DeskRequest, row: Document) -> HttpResponse:
    """How far it is; once it is done, what was read. Whoever reads an earlier reading goes on."""
    seen, again = request.GET.get("seen", ""), _again(row)
    is_newer = not again and str(row.generation or 0) != seen
    if is_newer and seen == "0":
        return HttpResponseClientRefresh()
    context = {"document": row, "again": again, "seen": seen, "read_anew": is_newer}
    return render(request, "knowledge/_document.html", context)


def _passages(request: DeskRequest, row: Document) -> dict[str, Any]:
    start = _start(request)
    found = list(answering(row).filter(ordinal__gte=start)[: SHOWN + 1])
    shown = found[:SHOWN]
    return {
        "passages": [(passage, pages_of(passage)) for passage in shown],
        "earlier": max(start - SHOWN, 0) if start else None,
        "later": shown[-1].ordinal + 1 if len(found) > SHOWN else None,
    }


def _again(row: Document) -> int:
    """How soon it may be otherwise, in seconds; 0: never."""
    if row.state not in COMING:
        return 0
    return 30 if row.state == DocumentState.WAITING and row.attempts else 2


def _reader(request: DeskRequest, row: Document) -> Agent | None:
    """For whom a single passage is read: whoever the collection is for, else the default one."""
    agent = row.collection.agent
    if agent is not None:
        return agent.acting()
    return agents_of(request.user).order_by("-is_default", "name").first()


def _start(request: DeskRequest) -> int:
    """`at` is the passage to be seen, with some before it; `from` the first one of the page."""
    at, first = request.GET.get("at", ""), request.GET.get("from", "")
    if at.isdecimal() and len(at) < 10:
        return max(int(at) - 2, 0)
    return int(first) if first.isdecimal() and len(first) < 10 else 0
