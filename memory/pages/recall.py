"""What an assistant would be told for a message, and how each item came to be there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from agents.access import agents_of
from agents.desk import DeskRequest, desk
from agents.models import Agent, User
from memory.models import Fact
from memory.recall.service import Recall, recall
from memory.recall.trace import Candidate, Leg, Part, Standing

LEG_NAMES = {
    Leg.VECTOR: "Meaning",
    Leg.TEXT: "Words",
    Leg.ENTITY: "Names",
    Leg.TIME: "Time",
    Leg.RECENCY: "Recent",
}
PART_NAMES = {
    Part.MEANING: "Meaning",
    Part.WORDS: "Words",
    Part.LENGTH: "Length",
    Part.WHEN: "Times",
    Part.NAME: "Name",
    Part.PERIOD: "Period",
}


class RecallForm(forms.Form):
    """The message is posted, never part of an address: addresses end up in logs."""

    message = forms.CharField(
        max_length=8000, widget=forms.Textarea(attrs={"rows": 3, "autofocus": True})
    )
    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(), empty_label=None, label="Assistant"
    )

    def __init__(self, owner: User, data: object = None) -> None:
        super().__init__(data, label_suffix="")  # type: ignore[arg-type]
        agents = agents_of(owner).order_by("-is_default", "name", "id")
        self.fields["agent"].queryset = agents  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Row:
    """`parts` in the order of the table's columns; None where a fact has nothing of it."""

    fact: Fact
    note: str
    found_by: list[tuple[str, Standing]]
    parts: list[float | None]
    candidate: Candidate | None


@require_http_methods(["GET", "POST"])
@desk
def recall_page(request: DeskRequest) -> HttpResponse:
    form = RecallForm(request.user, request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "memory/recall.html", {"form": form}, status=status)
    told = recall(agent=form.cleaned_data["agent"], message=form.cleaned_data["message"])
    context = {"form": form, "agent": form.cleaned_data["agent"], "told": told, **_rows(told)}
    return render(request, "memory/recall.html", context)


def _rows(told: Recall) -> dict[str, object]:
    trace = told.trace
    return {
        "parts": list(PART_NAMES.values()),
        "items": [
            _row(item.fact, item.candidate, "pinned" if item.pinned else "") for item in told.items
        ],
        "misses": [_row(miss.fact, miss.candidate, miss.why) for miss in trace.near_misses],
        "legs": [(LEG_NAMES[report.leg], report) for report in trace.legs],
        "milliseconds": sum(trace.timings.values()),
    }


def _row(fact: Fact, found: Candidate | None, note: str) -> Row:
    return Row(
        fact=fact,
        note=note,
        found_by=_named(found.legs) if found else [],
        parts=[found.parts.get(part) if found else None for part in PART_NAMES],
        candidate=found,
    )


def _named(legs: Mapping[Leg, Standing]) -> list[tuple[str, Standing]]:
    order: Iterable[Leg] = (leg for leg in LEG_NAMES if leg in legs)
    return [(LEG_NAMES[leg], legs[leg]) for leg in order]
