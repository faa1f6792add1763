"""Sends everything from one source back to the queue, and takes that back. With a look first."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from agents.audit import person
from agents.desk import DeskRequest, desk
from memory import lifecycle
from memory.sources import FactSource, SourceKind, contents, facts_from, source_of
from memory.vocabulary import State

SHOWN = 20
PAGES = {
    SourceKind.CONVERSATION: "conversation",
    SourceKind.RUN: "run",
    SourceKind.IMPORT: "import",
}


@require_http_methods(["GET", "POST"])
@desk
def quarantine(request: DeskRequest, kind: str, source_id: UUID) -> HttpResponse:
    source = source_of(request.user, kind, source_id)
    if request.method != "POST":
        return _page(request, source)
    reason = f"quarantine of one {source.kind}"
    sent = lifecycle.quarantine(facts=facts_from(source), actor=person(request.user), reason=reason)
    if sent:
        facts = "1 fact waits" if sent == 1 else f"{sent} facts wait"
        messages.success(request, f"{facts} for you again; no assistant is told them.")
    else:
        messages.info(request, "Nothing active came from it.")
    return redirect("quarantine", kind, source_id)


@require_POST
@desk
def reinstate(request: DeskRequest, kind: str, source_id: UUID) -> HttpResponse:
    source = source_of(request.user, kind, source_id)
    try:
        back = lifecycle.reinstate(
            facts=facts_from(source), actor=person(request.user), reason="quarantine taken back"
        )
    except lifecycle.LifecycleError as refusal:
        return _page(request, source, problem=f"Nothing has changed. {refusal}", status=409)
    facts = "1 fact is" if back == 1 else f"{back} facts are"
    messages.success(request, f"{facts} active again.")
    return redirect("quarantine", kind, source_id)


def _page(
    request: DeskRequest, source: FactSource, problem: str = "", status: int = 200
) -> HttpResponse:
    active = facts_from(source).filter(state=State.ACTIVE)
    page = PAGES.get(source.kind)
    context = {
        "source": source,
        "source_url": reverse(page, args=[source.id]) if page else reverse("settings"),
        "contents": contents(source),
        "facts": active.select_related("agent").order_by("-pk")[:SHOWN],
        "problem": problem,
    }
    return render(request, "memory/quarantine.html", context, status=status)
