"""What extraction did: its runs, what each found, and what each dropped and why."""

from datetime import timedelta
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from agents.desk import DeskRequest, desk
from memory.access import run_of, runs_of
from memory.models import ExtractionRun
from memory.pages.paging import day_of, newest_first
from memory.review import queue
from memory.scope import facts_of
from memory.vocabulary import Gate

# What one run can hold at most is a few dozen; this only bounds the page.
SHOWN = 200
COUNTS = {
    "candidates": "Proposed",
    "created": "New candidates",
    "activated": "Made active by policy",
    "superseding": "Corrections",
    "reinforced": "Restated active facts",
    "evidence_added": "Added evidence to a waiting one",
}


@require_GET
@desk
def runs(request: DeskRequest) -> HttpResponse:
    found = runs_of(request.user)
    state = request.GET.get("state", "")
    if state in ExtractionRun.State.values:
        found = found.filter(state=state)
    day = day_of(request.GET.get("day", ""))
    if day is not None:
        found = found.filter(started_at__gte=day, started_at__lt=day + timedelta(days=1))
    listing = newest_first(found, "started_at", request.GET.get("after", ""))
    context = {
        "rows": [(row, _seconds(row), _dropped(row)) for row in listing.rows],
        "next_key": listing.next_key,
        "state": state,
        "states": ExtractionRun.State.choices,
        "day": day,
    }
    return render(request, "memory/runs.html", context)


@require_GET
@desk
def run(request: DeskRequest, run_id: UUID) -> HttpResponse:
    row = run_of(request.user, run_id)
    waiting = queue.waiting(request.user, timezone.now()).filter(run=row)
    context = {
        "run": row,
        "waits": waiting.exists(),
        "seconds": _seconds(row),
        "counts": [(label, row.counts.get(name, 0)) for name, label in COUNTS.items()],
        "gates": _gates(row),
        "facts": facts_of(request.user).filter(run=row).select_related("agent")[:SHOWN],
        "dropped": row.dropped.select_related("message", "fact")[:SHOWN],
    }
    return render(request, "memory/run.html", context)


def _seconds(run: ExtractionRun) -> float | None:
    return (run.finished_at - run.started_at).total_seconds() if run.finished_at else None


def _dropped(run: ExtractionRun) -> int:
    return sum(run.counts.get("dropped", {}).values())


def _gates(run: ExtractionRun) -> list[tuple[str, int]]:
    dropped: dict[str, int] = run.counts.get("dropped", {})
    return [
        (Gate(gate).label if gate in Gate.values else gate, count)
        for gate, count in sorted(dropped.items(), key=lambda item: -item[1])
    ]
