"""How the memory is doing: figures and charts, each with a way to the rows behind it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_POST

from agents.desk import DeskRequest, desk
from agents.gate import allowed
from agents.models import User
from conversations.access import conversations_of
from memory import figures
from memory.access import runs_of
from memory.consolidation import access as consolidation
from memory.extraction import run
from memory.models import DroppedCandidate
from memory.pages.fact_list import NO_PROMPT
from memory.review import queue
from memory.scope import facts_of
from memory.vocabulary import Gate, Kind, State

DAYS = 90
TOKEN_DAYS = 30
STUCK = 10
AGE_NAMES = ("a day or less", "2 to 7 days", "8 to 30 days", "31 to 90 days", "longer")


@dataclass(frozen=True, slots=True)
class Row:
    """Of a table that is drawn as a chart: each number with the address of what was counted."""

    label: str
    cells: list[tuple[int, str]]


@require_GET
@desk
def dashboard(request: DeskRequest) -> HttpResponse:
    owner, now = request.user, timezone.now()
    rows, talks = facts_of(owner), conversations_of(owner)
    facts = figures.facts(rows)
    use = figures.use(rows, facts.states[State.ACTIVE])
    asleep = queue.snoozed(owner, now).order_by().count()
    dropped = DroppedCandidate.objects.filter(owner=owner)
    context = {
        "states": facts.states,
        "waiting": max(facts.states[State.PENDING] - asleep, 0),
        "asleep": asleep,
        "oldest": queue.oldest_waiting(owner, now),
        "unread": figures.unread_count(talks),
        "memory_on": allowed(settings.MEMORY_MODE, owner.settings.memory_enabled),
        "over_time": figures.states_over_time(owner, now, DAYS, facts.states),
        "ages": list(_ages(figures.waiting_by_age(rows, now))),
        "kinds": [_facts(Kind(kind).label, n, kind=kind) for kind, n in _most(facts.kinds)],
        "sureness": [
            _facts(f"{10 * tenth} to {10 * tenth + 10} %", facts.sureness[tenth], sure=10 * tenth)
            for tenth in range(10)
        ],
        "use": [
            _facts("Told at least once", use.told, used="yes"),
            _facts("Never told", use.never, used="no"),
        ],
        "drops": [
            Row(Gate(gate).label, [(count, _to("dropped", gate=gate))])
            for gate, count in figures.drops(dropped).items()
        ],
        "prompts": list(_prompts(facts)),
        "tokens": list(_tokens(owner, now)),
        "stuck": talks.filter(stuck_at__isnull=False)[:STUCK],
        "stuck_count": figures.stuck_count(talks),
        "days": DAYS,
    }
    return render(request, "memory/dashboard.html", context)


@require_POST
@desk
def retry_all(request: DeskRequest) -> HttpResponse:
    again = run.retry_stuck(owner=request.user)
    if again:
        messages.success(request, f"{again} taken up again, with the next sweep, within a minute.")
    else:
        messages.info(request, "Nothing is stuck.")
    return redirect("dashboard")


def _most(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: -item[1])


def _ages(counts: list[int]) -> Iterator[Row]:
    newest = (0, *figures.AGES)
    for number, count in enumerate(counts):
        bounds: dict[str, str | int] = {"older": newest[number]} if number else {}
        if number < len(figures.AGES):
            bounds["newer"] = figures.AGES[number]
        url = _to("facts", state=State.PENDING, sort="oldest", **bounds)
        yield Row(AGE_NAMES[number], [(count, url)])


def _prompts(facts: figures.Facts) -> Iterator[Row]:
    for version in sorted(facts.prompts, reverse=True):
        counts = facts.prompts[version]
        urls = {state: _to("facts", state=state, prompt=version or NO_PROMPT) for state in State}
        cells = [(counts[state], urls[state]) for state in State]
        yield Row(version or "without a prompt", cells)


def _tokens(owner: User, now: datetime) -> Iterator[Row]:
    since = now - timedelta(days=TOKEN_DAYS)
    read = {day.day: day for day in figures.tokens_by_day(runs_of(owner), since)}
    upkeep = figures.upkeep_by_day(consolidation.runs_of(owner), since)
    kept = {day.day: day.input + day.output for day in upkeep}
    elsewhere = figures.elsewhere_by_day(owner, since)
    seen = {day.day: day.input + day.output for day in elsewhere}
    for day in sorted(read.keys() | kept.keys() | seen.keys()):
        tokens = read.get(day, figures.Tokens(day, 0, 0, 0))
        runs, upkeep_runs = (_to(page, day=day.isoformat()) for page in ("runs", "consolidation"))
        cells = [
            (tokens.input, runs),
            (tokens.output, runs),
            (kept.get(day, 0), upkeep_runs),
            (seen.get(day, 0), reverse("knowledge")),
        ]
        yield Row(day.isoformat(), cells)


def _facts(label: str, count: int, **chosen: str | int) -> Row:
    return Row(label, [(count, _to("facts", state=State.ACTIVE, **chosen))])


def _to(page: str, **query: str | int) -> str:
    return f"{reverse(page)}?{urlencode(query)}"
