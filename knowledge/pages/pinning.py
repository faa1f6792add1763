"""Collections pinned to a conversation, on its page."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from agents.desk import DeskRequest, desk
from conversations.access import conversation_of
from knowledge import pins
from knowledge.access import collection_of
from knowledge.models import Collection


@require_POST
@desk
def pin(request: DeskRequest, conversation_id: UUID) -> HttpResponse:
    talk, row = conversation_of(request.user, conversation_id), _collection(request)
    if pins.pin(conversation=talk, collection=row):
        messages.success(request, f"“{row.name}” is pinned.")
    return redirect("conversation", talk.pk)


@require_POST
@desk
def unpin(request: DeskRequest, conversation_id: UUID) -> HttpResponse:
    talk, row = conversation_of(request.user, conversation_id), _collection(request)
    if pins.unpin(conversation=talk, collection=row):
        messages.success(request, f"“{row.name}” is no longer pinned.")
    return redirect("conversation", talk.pk)


def _collection(request: DeskRequest) -> Collection:
    try:
        return collection_of(request.user, UUID(request.POST.get("collection", "")))
    except ValueError as error:
        raise Http404("There is no such collection.") from error
