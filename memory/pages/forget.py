"""Forgetting and purging in the browser: choose, see what would go, then say so.

Choices travel by POST, because addresses end up in logs and what is searched for is memory text.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from agents.audit import person
from agents.desk import DeskRequest, back, desk
from conversations.access import conversation_of
from memory.access import fact_of
from memory.lifecycle import LifecycleError
from memory.pages.forget_forms import ChooseForm
from memory.purge import execute, requests
from memory.purge.plan import Deed, Plan, plan_of
from memory.purge.selection import BadSelection, Selection, chosen

WORD = "purge"


@require_http_methods(["GET", "POST"])
@desk
def forget(request: DeskRequest) -> HttpResponse:
    """The form; with a choice the plan; with a deed as well, it is done."""
    if request.method != "POST":
        return render(request, "memory/forget.html", {"form": ChooseForm(request.user)})
    form = ChooseForm(request.user, request.POST)
    if not form.is_valid():
        return render(request, "memory/forget.html", {"form": form}, status=422)
    try:
        selection = form.selection()
    except BadSelection as error:
        form.add_error(None, str(error))
        return render(request, "memory/forget.html", {"form": form}, status=422)
    return _answer(request, selection, form.hidden())


@require_GET
@desk
def purge_fact(request: DeskRequest, fact_id: UUID) -> HttpResponse:
    row = fact_of(request.user, fact_id)
    selection = chosen(owner=request.user, facts=(row.pk,))
    return _show(request, selection, {"facts": str(row.pk)})


@require_GET
@desk
def forget_conversation(request: DeskRequest, conversation_id: UUID) -> HttpResponse:
    row = conversation_of(request.user, conversation_id)
    selection = chosen(owner=request.user, conversation=row)
    return _show(request, selection, {"conversation": str(row.pk)})


@require_POST
@desk
def accept(request: DeskRequest, request_id: UUID) -> HttpResponse:
    return _decide(request, request_id, requests.accept, "Forgotten, as you were asked.")


@require_POST
@desk
def decline(request: DeskRequest, request_id: UUID) -> HttpResponse:
    return _decide(request, request_id, requests.decline, "Declined: the fact stays.")


def _decide(request: DeskRequest, request_id: UUID, step: Any, done: str) -> HttpResponse:
    row = requests.request_of(request.user, request_id)
    try:
        step(request=row, actor=person(request.user))
    except LifecycleError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, done)
    return back(request, "/review/")


def _answer(request: DeskRequest, selection: Selection, fields: Mapping[str, str]) -> HttpResponse:
    deed = request.POST.get("deed", "")
    if deed not in list(Deed):
        return _show(request, selection, fields)
    plan = plan_of(selection, Deed(deed))
    if request.POST.get("seen") != plan.seen:
        problem = "What would go has changed since you looked. Look at it again."
        return _show(request, selection, fields, problem=problem, status=409)
    if plan.deed == Deed.PURGE and request.POST.get("word", "").strip() != _word(selection):
        problem = f"Nothing was done. Type “{_word(selection)}” to purge."
        return _show(request, selection, fields, problem=problem, status=422)
    messages.success(request, _do(request, selection, plan))
    return redirect("facts")


def _do(request: DeskRequest, selection: Selection, plan: Plan) -> str:
    actor = person(request.user)
    if plan.deed == Deed.FORGET:
        count = execute.forget(selection=selection, actor=actor)
        return f"Forgotten: {count}. They are among the archived facts, and can be restored."
    erased = execute.purge(selection=selection, actor=actor)
    return f"Purged: facts {erased['facts']}, messages {erased['messages']}."


def _word(selection: Selection) -> str:
    return selection.owner.get_username() if selection.everything else WORD


def _show(
    request: DeskRequest,
    selection: Selection,
    fields: Mapping[str, str],
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        "purge": plan_of(selection, Deed.PURGE),
        "forget": None if selection.everything else plan_of(selection, Deed.FORGET),
        "fields": fields,
        "word": _word(selection),
        "problem": problem,
        "now": timezone.now(),
    }
    return render(request, "memory/forget_plan.html", context, status=status)
