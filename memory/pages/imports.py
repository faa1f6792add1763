"""What was imported, what came of each import, and a new one."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_POST

from agents.access import agents_of
from agents.desk import DeskRequest, desk
from agents.gate import MemoryOff
from agents.models import Agent, User
from agents.wording import counted
from conversations.access import conversations_of, import_of, imports_of
from conversations.importers.base import Report
from conversations.importers.run import Plan, Tally
from conversations.importers.upload import LARGEST, NotTaken, WhoAreYou, bring_in_upload
from memory.pages.brought import in_full, in_short, is_of_talk
from memory.pages.paging import newest_first
from memory.sources import FactSource, SourceKind, contents

# Lines about what is broken; the rest is counted.
SHOWN = 5
OFF = "Memory is off, so no more is brought in. Switch it on in the settings first."


class ImportForm(forms.Form):
    file = forms.FileField(label="Export")
    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(), empty_label=None, label="Who was spoken to"
    )
    me = forms.CharField(
        required=False,
        max_length=120,
        label="Your name in it",
        help_text="Only where several people speak, as in Telegram.",
    )
    sensitive = forms.BooleanField(
        required=False, label="Sensitive: only the private language model may read it"
    )

    def __init__(self, owner: User, data: Any = None, files: Any = None) -> None:
        super().__init__(data, files, label_suffix="")
        agents = agents_of(owner)
        self.fields["agent"].queryset = agents  # type: ignore[attr-defined]
        self.fields["agent"].initial = agents.filter(is_default=True).first()

    def plan(self) -> Plan:
        values = self.cleaned_data
        return Plan(values["agent"], values["me"].strip() or None, values["sensitive"])


@require_GET
@desk
def imports(request: DeskRequest) -> HttpResponse:
    return _page(request, ImportForm(request.user))


@csrf_exempt  # checked below, because the check reads the whole form
@require_POST
@desk
def bring_in(request: DeskRequest) -> HttpResponse:
    """Nothing of the file is read before it is known who sends it."""
    answer: HttpResponse = _bring_in(request)
    return answer


@csrf_protect
def _bring_in(request: DeskRequest) -> HttpResponse:
    form = ImportForm(request.user, request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, form, status=422)
    file = form.cleaned_data["file"]
    try:
        tally, report = bring_in_upload(name=file.name, chunks=file.chunks(), plan=form.plan())
    except (NotTaken, MemoryOff) as why:
        field = "me" if isinstance(why, WhoAreYou) else "file"
        form.add_error(field, OFF if isinstance(why, MemoryOff) else str(why))
        return _page(request, form, status=422)
    _tell(request, tally, report)
    return redirect("imports")


def _tell(request: DeskRequest, tally: Tally, report: Report) -> None:
    if tally.messages:
        messages.success(
            request,
            f"{counted(tally.messages, 'new message')} in"
            f" {counted(tally.conversations + tally.continued, 'conversation')}."
            " They are read from now on; what is found waits for your review.",
        )
    else:
        messages.info(request, _why_nothing(tally, report))
    for line in report.broken.lines[:SHOWN]:
        messages.warning(request, f"Could not be read: {line[:300]}")
    if len(report.broken) > SHOWN:
        messages.warning(request, f"… and {len(report.broken) - SHOWN} more.")


def _why_nothing(tally: Tally, report: Report) -> str:
    """What is broken or refused is not counted as known, and may have held messages."""
    if tally.known:
        return "Nothing in it is new."
    return "Nothing of it came in." if report.broken else "No message was found in it."


def _page(request: DeskRequest, form: ImportForm, status: int = 200) -> HttpResponse:
    listing = newest_first(imports_of(request.user), "started_at", request.GET.get("after", ""))
    talks = conversations_of(request.user).filter(imported_by__in=[row.pk for row in listing.rows])
    counts = dict(talks.order_by().values_list("imported_by").annotate(Count("pk")))
    rows = [(row, in_short(row, counts.get(row.pk, 0))) for row in listing.rows]
    context = {
        "rows": rows,
        "next_key": listing.next_key,
        "form": form,
        "most": LARGEST // 1_000_000,
    }
    return render(request, "memory/imports.html", context, status=status)


@require_GET
@desk
def import_page(request: DeskRequest, import_id: UUID) -> HttpResponse:
    row = import_of(request.user, import_id)
    talks = conversations_of(request.user).filter(imported_by=row)
    context = {
        "row": row,
        "brought": in_full(row),
        "is_of_talk": is_of_talk(row),
        "listing": newest_first(talks, "last_activity_at", request.GET.get("after", "")),
        "contents": contents(FactSource(request.user, SourceKind.IMPORT, row.pk, str(row))),
    }
    return render(request, "memory/import.html", context)
