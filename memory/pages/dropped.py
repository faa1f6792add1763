"""Proposals that a gate stopped, over all runs."""

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from agents.desk import DeskRequest, desk
from memory.models import DroppedCandidate
from memory.pages.paging import newest_first
from memory.vocabulary import Gate


@require_GET
@desk
def dropped(request: DeskRequest) -> HttpResponse:
    gate = request.GET.get("gate", "")
    gate = gate if gate in Gate.values else Gate.NOT_ABOUT_OWNER.value
    rows: QuerySet[DroppedCandidate] = DroppedCandidate.objects.filter(
        owner=request.user, gate=gate
    ).select_related("run", "message", "fact")
    context = {
        "listing": newest_first(rows, "created_at", request.GET.get("after", "")),
        "gate": gate,
        "label": Gate(gate).label,
        "gates": Gate.choices,
    }
    return render(request, "memory/dropped.html", context)
