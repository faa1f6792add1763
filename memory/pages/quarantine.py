"""Sends everything from one source back to the queue, and takes that back. With a look first."""

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from agents.audit import person
from agents.desk import DeskRequest, desk
from agents.wording import counted
from memory import lifecycle
from memory.cases import lifecycle as case_steps
from memory.sources import (
    FactSource,
    SourceKind,
    cases_from,
    contents,
    facts_from,
    source_of,
)
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
    actor = person(request.user)
    with transaction.atomic():
        sent = lifecycle.quarantine(facts=facts_from(source), actor=actor, reason=reason)
        cases = case_steps.quarantine(cases=cases_from(source), actor=actor, reason=reason)
    if sent or cases:
        facts = "1 fact waits" if sent == 1 else f"{sent} facts wait"
        told = f"{facts} for you again; no assistant is told them."
        messages.success(request, f"{told}{_and(cases)}")
    else:
        messages.info(request, "Nothing active came from it.")
    return redirect("quarantine", kind, source_id)


@require_POST
@desk
def reinstate(request: DeskRequest, kind: str, source_id: UUID) -> HttpResponse:
    source = source_of(request.user, kind, source_id)
    actor, reason = person(request.user), "quarantine taken back"
    try:
        with transaction.atomic():
            back = lifecycle.reinstate(facts=facts_from(source), actor=actor, reason=reason)
            cases = case_steps.reinstate(cases=cases_from(source), actor=actor, reason=reason)
    except lifecycle.LifecycleError as refusal:
        return _page(request, source, problem=f"Nothing has changed. {refusal}", status=409)
    facts = "1 fact is" if back == 1 else f"{back} facts are"
    messages.success(request, f"{facts} active again.{_and(cases)}")
    return redirect("quarantine", kind, source_id)


def _and(cases: int) -> str:
    return f" So for {counted(cases, 'case')}." if cases else ""


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
