"""What was imported, and what came of each import."""

from uuid import UUID

from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.desk import DeskRequest, desk
from conversations.access import conversations_of, import_of, imports_of
from memory.pages.paging import newest_first
from memory.sources import FactSource, SourceKind, contents


@require_GET
@desk
def imports(request: DeskRequest) -> HttpResponse:
    listing = newest_first(imports_of(request.user), "started_at", request.GET.get("after", ""))
    talks = conversations_of(request.user).filter(imported_by__in=[row.pk for row in listing.rows])
    counted = talks.order_by().values_list("imported_by").annotate(Count("pk"))
    counts = dict(counted)
    rows = [(row, counts.get(row.pk, 0)) for row in listing.rows]
    return render(request, "memory/imports.html", {"rows": rows, "next_key": listing.next_key})


@require_GET
@desk
def import_page(request: DeskRequest, import_id: UUID) -> HttpResponse:
    row = import_of(request.user, import_id)
    talks = conversations_of(request.user).filter(imported_by=row)
    context = {
        "row": row,
        "counts": [
            (name.replace("_", " "), value)
            for name, value in sorted(row.counts.items())
            if isinstance(value, int)
        ],
        "listing": newest_first(talks, "last_activity_at", request.GET.get("after", "")),
        "contents": contents(FactSource(request.user, SourceKind.IMPORT, row.pk, str(row))),
    }
    return render(request, "memory/import.html", context)
