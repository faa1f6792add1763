"""Documents come in: files, an address, a text. What can't be is said, and the rest is taken."""

from dataclasses import dataclass, field
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from agents.audit import person
from agents.desk import DeskRequest, desk
from agents.gate import MemoryOff
from knowledge import ingest
from knowledge.access import collection_of
from knowledge.models import Collection
from knowledge.pages.collections import show
from knowledge.pages.forms import AddressForm, TextForm
from knowledge.uploads import limit
from knowledge.vocabulary import DocumentOrigin

OFF = "Memory is switched off, so nothing is stored."


@dataclass
class Outcome:
    """`stored`: title, page, and whether it was there before. `problems`: name and what's wrong."""

    stored: list[tuple[str, str, bool]] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)

    def add(self, added: ingest.Added) -> None:
        row = added.document
        self.stored.append((row.title, reverse("document", args=[row.pk]), not added.is_new))

    def as_json(self) -> JsonResponse:
        told = {
            "stored": [{"title": t, "url": u, "known": k} for t, u, k in self.stored],
            "problems": [{"name": name, "why": why} for name, why in self.problems],
        }
        return JsonResponse(told, status=200 if self.stored else 422)

    def tell(self, request: HttpRequest) -> None:
        new = [title for title, _, known in self.stored if not known]
        known = [title for title, _, known in self.stored if known]
        if new:
            messages.success(request, f"{_named(new)} stored, and read now.")
        if known:
            messages.info(request, f"{_named(known)} there already.")
        for name, why in self.problems:
            messages.error(request, f"{name}: {why}")


def _named(titles: list[str]) -> str:
    if len(titles) > 3:
        return f"{len(titles)} documents are"
    return ", ".join(f"“{title}”" for title in titles) + (" is" if len(titles) == 1 else " are")


@csrf_exempt  # checked below, because the check reads the whole form
@require_POST
@desk
def upload(request: DeskRequest, collection_id: UUID) -> HttpResponse:
    """Nothing of the files is read before it is known that they are welcome here."""
    row = collection_of(request.user, collection_id)
    limited = limit(request)
    return _upload(request, row, limited.too_large)


@csrf_protect
def _upload(request: DeskRequest, row: Collection, too_large: list[str]) -> HttpResponse:
    outcome = Outcome()
    for file in request.FILES.getlist("files"):
        _take(request, row, file, outcome)
    outcome.problems += [(name, ingest.too_large()) for name in too_large]
    if not outcome.stored and not outcome.problems:
        outcome.problems.append(("Nothing was uploaded", "choose a file first."))
    if request.accepts("text/html"):
        outcome.tell(request)
        return redirect("collection", row.pk)
    return outcome.as_json()


def _take(request: DeskRequest, row: Collection, file: object, outcome: Outcome) -> None:
    name = str(getattr(file, "name", ""))
    try:
        added = ingest.add_file(
            owner=request.user,
            collection=row,
            file_name=name,
            stream=file,
            origin=DocumentOrigin.UPLOAD,
            actor=person(request.user),
        )
    except MemoryOff:
        outcome.problems.append((name, OFF))
    except ingest.Refused as refusal:
        outcome.problems.append((name, str(refusal)))
    else:
        outcome.add(added)


@require_POST
@desk
def address(request: DeskRequest, collection_id: UUID) -> HttpResponse:
    row = collection_of(request.user, collection_id)
    form = AddressForm(request.POST, label_suffix="")
    if not form.is_valid():
        return show(request, row, address=form, status=422)
    try:
        added = ingest.add_address(
            owner=request.user,
            collection=row,
            address=form.cleaned_data["address"],
            actor=person(request.user),
        )
    except (MemoryOff, ingest.Refused) as refusal:
        form.add_error("address", OFF if isinstance(refusal, MemoryOff) else str(refusal))
        return show(request, row, address=form, status=422)
    return _stored(request, row, added)


@require_POST
@desk
def text(request: DeskRequest, collection_id: UUID) -> HttpResponse:
    row = collection_of(request.user, collection_id)
    form = TextForm(request.POST, label_suffix="")
    if not form.is_valid():
        return show(request, row, text=form, status=422)
    try:
        added = ingest.add_text(
            owner=request.user,
            collection=row,
            title=form.cleaned_data["title"],
            text=form.cleaned_data["text"],
            origin=DocumentOrigin.UPLOAD,
            actor=person(request.user),
        )
    except (MemoryOff, ingest.Refused) as refusal:
        form.add_error("text", OFF if isinstance(refusal, MemoryOff) else str(refusal))
        return show(request, row, text=form, status=422)
    return _stored(request, row, added)


def _stored(request: DeskRequest, row: Collection, added: ingest.Added) -> HttpResponse:
    outcome = Outcome()
    outcome.add(added)
    outcome.tell(request)
    return redirect("collection", row.pk)
