"""Facts out of a document: only when its owner asks, and each waits in the review."""

from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from agents.desk import DeskRequest, desk
from agents.gate import MemoryOff
from agents.models import Agent
from knowledge.access import document_of, passage_of
from knowledge.models import Document
from knowledge.pages.adding import OFF
from knowledge.pages.documents import show
from knowledge.pages.forms import AgentForm
from knowledge.proposals import NotNow, propose


@require_POST
@desk
def extract(request: DeskRequest, document_id: UUID) -> HttpResponse:
    row = document_of(request.user, document_id)
    form = AgentForm(request.user, request.POST)
    if not form.is_valid():
        return show(request, row, problem="Choose one of your assistants.", status=422)
    return _propose(request, row, form.cleaned_data["agent"], None)


@require_POST
@desk
def extract_passage(request: DeskRequest, passage_id: UUID) -> HttpResponse:
    passage = passage_of(request.user, passage_id)
    form = AgentForm(request.user, request.POST)
    if not form.is_valid():
        return show(request, passage.document, problem="Choose one of your assistants.", status=422)
    return _propose(request, passage.document, form.cleaned_data["agent"], [passage.pk])


def _propose(
    request: DeskRequest, row: Document, agent: Agent, passages: Sequence[UUID] | None
) -> HttpResponse:
    try:
        stored = propose(document=row, agent=agent, passages=passages)
    except (NotNow, MemoryOff) as refusal:
        problem = OFF if isinstance(refusal, MemoryOff) else str(refusal)
        return show(request, row, problem=problem, status=409)
    if stored.new:
        which = "It is" if passages is None else "That passage is"
        messages.success(
            request, f"{which} read now. What is found about you waits in {agent.name}’s review."
        )
    else:
        messages.info(request, "That was read before. Nothing new was asked.")
    return redirect("conversation", stored.conversation.pk)
