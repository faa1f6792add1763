"""What came in: the conversations of an owner, their messages, and the facts found in each."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, F, Prefetch
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from agents.audit import person
from agents.desk import DeskRequest, back, desk
from agents.models import User
from conversations.access import conversation_of, conversations_of
from conversations.models import Conversation
from memory.extraction import run
from memory.extraction.lease import LeaseTaken
from memory.models import Evidence
from memory.pages.paging import newest_first
from memory.pages.sketches import notes_of
from memory.scope import facts_of

MESSAGES = 50  # on one page


@require_GET
@desk
def conversations(request: DeskRequest) -> HttpResponse:
    found = conversations_of(request.user)
    only = request.GET.get("only", "")
    if only == "stuck":
        found = found.filter(stuck_at__isnull=False)
    elif only == "unread":
        found = found.filter(cursor_seq__lt=F("last_seq"), read_only=False)
    listing = newest_first(found, "last_activity_at", request.GET.get("after", ""))
    counts = _facts_in(request.user, listing.rows)
    rows = [(row, counts[row.pk]) for row in listing.rows]
    context = {"rows": rows, "next_key": listing.next_key, "only": only}
    return render(request, "conversations/conversations.html", context)


@require_GET
@desk
def conversation(request: DeskRequest, conversation_id: UUID) -> HttpResponse:
    row = conversation_of(request.user, conversation_id)
    start = _start(request, row)
    evidence = Evidence.objects.select_related("fact").order_by("created_at")
    said = list(
        row.messages.filter(seq__gte=start)
        .order_by("seq")
        .prefetch_related(Prefetch("evidence", evidence))[:MESSAGES]
    )
    last = said[-1].seq if said else 0
    context = {
        "conversation": row,
        "said": said,
        "notes": notes_of(row),
        "counts": _facts_in(request.user, [row])[row.pk],
        "earlier": max(start - MESSAGES, 1) if start > 1 else None,
        "later": last + 1 if last < row.last_seq else None,
    }
    return render(request, "conversations/conversation.html", context)


@require_POST
@desk
def retry(request: DeskRequest, conversation_id: UUID) -> HttpResponse:
    row = conversation_of(request.user, conversation_id)
    if run.retry(conversation=row):
        messages.success(request, "It is read again with the next sweep, within a minute.")
    else:
        messages.info(request, "Nothing in it is unread.")
    return back(request, reverse("conversation", args=[row.pk]))


@require_POST
@desk
def skip(request: DeskRequest, conversation_id: UUID) -> HttpResponse:
    """Passes over the window that would be read next; the skip is on record as a run."""
    row = conversation_of(request.user, conversation_id)
    try:
        skipped = run.skip_window(conversation=row, actor=person(request.user))
    except LeaseTaken:
        messages.error(request, "Something is being read just now. Try again in a minute.")
        return redirect("conversation", row.pk)
    if skipped is None:
        messages.info(request, "Nothing in it is unread.")
        return redirect("conversation", row.pk)
    messages.success(
        request, f"Messages {skipped.first_seq} to {skipped.last_seq} are passed over."
    )
    return redirect("run", skipped.pk)


def _start(request: DeskRequest, row: Conversation) -> int:
    """`at` is the message to be seen, with a few before it; `from` the first one of the page."""
    at, first = request.GET.get("at", ""), request.GET.get("from", "")
    if at.isdecimal() and len(at) < 10:
        return max(int(at) - 5, 1)
    return max(int(first), 1) if first.isdecimal() and len(first) < 10 else 1


def _facts_in(owner: User, rows: Sequence[Conversation]) -> dict[UUID, dict[str, int]]:
    """For each conversation how many facts it has in each state."""
    counts: dict[UUID, dict[str, int]] = defaultdict(dict)
    found = (
        facts_of(owner)
        .filter(conversation__in=[row.pk for row in rows])
        .order_by()
        .values_list("conversation", "state")
        .annotate(Count("pk"))
    )
    for conversation, state, count in found:
        counts[conversation][state] = count
    return counts
