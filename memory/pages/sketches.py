"""What the owner does with a conversation's working notes. Also while memory is off."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from agents.desk import DeskRequest, desk
from agents.models import User
from conversations.models import Conversation, Sketch
from conversations.sketches import writing
from conversations.sketches.reading import expires_at, sketches_in, sketches_of

GONE = "This section was gone already."


def notes_of(conversation: Conversation) -> list[dict[str, object]]:
    return [
        {"sketch": row, "expires_at": expires_at(row, conversation)}
        for row in sketches_in(conversation)
    ]


@require_POST
@desk
def keep(request: DeskRequest, sketch_id: UUID) -> HttpResponse:
    """`kept` is what the owner wants it to be, so that pressing twice is pressing once."""
    row = _sketch(request.user, sketch_id)
    kept = request.POST.get("kept") == "yes"
    if not writing.keep(sketch=row, kept=kept):
        messages.info(request, GONE)
    elif kept:
        messages.success(request, f"“{row.key}” is kept.")
    else:
        messages.success(request, f"“{row.key}” goes when the conversation is over.")
    return _back(row)


@require_POST
@desk
def remove(request: DeskRequest, sketch_id: UUID) -> HttpResponse:
    row = _sketch(request.user, sketch_id)
    if writing.remove(owner=request.user, sketch=row):
        messages.success(request, f"“{row.key}” is deleted.")
    else:
        messages.info(request, GONE)
    return _back(row)


def _sketch(owner: User, sketch_id: UUID) -> Sketch:
    row = sketches_of(owner).filter(pk=sketch_id).first()
    if row is None:
        raise Http404("There is no such section.")
    return row


def _back(row: Sketch) -> HttpResponse:
    page = reverse("conversation", args=[row.conversation_id])
    return redirect(f"{page}?notes=open#sketches")
