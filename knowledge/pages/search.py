"""What an assistant's search of the documents would find."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from agents.desk import DeskRequest, desk
from agents.gate import MemoryOff
from knowledge.pages.forms import QuestionForm
from knowledge.scope import collections_readable_by
from knowledge.search import Found, search_kb
from memory.search.failures import Failures

FOUND = 10
OFF = "Memory is switched off, so nothing is searched."


@require_http_methods(["GET", "POST"])
@desk
def search(request: DeskRequest) -> HttpResponse:
    form = QuestionForm(request.user, request.POST if request.method == "POST" else None)
    found: list[Found] | None = None
    failures = Failures()
    if form.is_bound and form.is_valid() and _may_search(form):
        found = _found(form, failures)
    status = 422 if form.is_bound and found is None else 200
    context = {"question": form, "found": found, "failed": failures.in_words()}
    return render(request, "knowledge/search.html", context, status=status)


def _may_search(form: QuestionForm) -> bool:
    agent, collection = form.cleaned_data["agent"], form.cleaned_data["collection"]
    if collection is None or collections_readable_by(agent).filter(pk=collection.pk).exists():
        return True
    form.add_error("collection", f"{agent.name} may not search that collection.")
    return False


def _found(form: QuestionForm, failures: Failures) -> list[Found] | None:
    asked: dict[str, Any] = form.cleaned_data
    within = asked["collection"]
    try:
        return search_kb(asked["agent"], asked["q"], FOUND, collection=within, failures=failures)
    except MemoryOff:
        form.add_error("q", OFF)
        return None
