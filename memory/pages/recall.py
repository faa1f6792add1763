"""What an assistant would be told for a message, and how each item came to be there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from agents.access import agents_of
from agents.desk import DeskRequest, desk
from agents.models import Agent, User
from conversations.models import Conversation
from memory.models import Fact
from memory.recall import withheld
from memory.recall.as_of import DayToCome, end_of
from memory.recall.service import Recall, recall
from memory.recall.trace import Candidate, Leg, NearMiss, Part, Standing

# Conversations to choose from; more would be no choice.
LISTED = 50

LEG_NAMES = {
    Leg.VECTOR: "Meaning",
    Leg.TEXT: "Words",
    Leg.ENTITY: "Names",
    Leg.TIME: "Time",
    Leg.RECENCY: "Recent",
    Leg.RAW: "Excerpts",
    Leg.CASES: "Cases",
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
    conversation = forms.ModelChoiceField(
        queryset=Conversation.objects.none(),
        required=False,
        empty_label="none",
        help_text="Of a conversation that was summarised, excerpts may ride along.",
    )
    as_of = forms.DateField(
        required=False,
        label="As of",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        help_text="What it would have been told when that day ended. Empty: now.",
    )

    withheld = forms.BooleanField(
        required=False,
        label="Also list what recall never looks at",
        help_text="What waits, was rejected or archived, has expired, or is another assistant's.",
    )

    def __init__(self, owner: User, data: object = None) -> None:
        super().__init__(data, label_suffix="")  # type: ignore[arg-type]
        agents = agents_of(owner).order_by("-is_default", "name", "id")
        self.fields["agent"].queryset = agents  # type: ignore[attr-defined]
        talks = Conversation.objects.filter(owner=owner, compacted_seq__gt=0)
        newest = talks.order_by("-last_activity_at").values("pk")[:LISTED]
        self.fields["conversation"].queryset = talks.filter(  # type: ignore[attr-defined]
            pk__in=newest
        ).order_by("-last_activity_at")
        if not talks.exists():
            del self.fields["conversation"]

    def clean_as_of(self) -> date | None:
        day: date | None = self.cleaned_data["as_of"]
        if day is not None:
            try:
                end_of(day, timezone.localtime())
            except DayToCome as error:
                raise forms.ValidationError("This day is yet to come.") from error
        return day

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        talk, agent = data.get("conversation"), data.get("agent")
        if talk is not None and agent is not None and talk.agent_id != agent.pk:
            self.add_error("conversation", "This conversation is another assistant's.")
        return data


@dataclass(frozen=True, slots=True)
class Row:
    """`parts` in the order of the table's columns; None where a fact has nothing of it."""

    fact: Fact
    note: str
    found_by: list[tuple[str, Standing]]
    parts: list[tuple[str, float | None]]
    candidate: Candidate | None


@require_http_methods(["GET", "POST"])
@desk
def recall_page(request: DeskRequest) -> HttpResponse:
    form = RecallForm(request.user, request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "memory/recall.html", {"form": form}, status=status)
    asked = form.cleaned_data
    told = recall(
        agent=asked["agent"],
        message=asked["message"],
        conversation=asked.get("conversation"),
        as_of=asked["as_of"],
    )
    kept_back = []
    if asked["withheld"] and told.trace.as_of is None:
        kept_back = withheld.look(agent=asked["agent"], message=asked["message"], other_agents=True)
    context = {"form": form, "agent": asked["agent"], "told": told, **_rows(told, kept_back)}
    return render(request, "memory/recall.html", context)


def _rows(told: Recall, kept_back: Iterable[NearMiss]) -> dict[str, object]:
    trace = told.trace
    return {
        "parts": list(PART_NAMES.values()),
        "items": [
            _row(item.fact, item.candidate, "pinned" if item.pinned else "") for item in told.items
        ],
        "misses": [_row(miss.fact, miss.candidate, miss.why) for miss in trace.near_misses],
        "withheld": [_row(miss.fact, miss.candidate, miss.why) for miss in kept_back],
        "legs": [(LEG_NAMES[report.leg], report) for report in trace.legs],
        "milliseconds": sum(trace.timings.values()),
    }


def _row(fact: Fact, found: Candidate | None, note: str) -> Row:
    return Row(
        fact=fact,
        note=note,
        found_by=_named(found.legs) if found else [],
        parts=[
            (heading, found.parts.get(part) if found else None)
            for part, heading in PART_NAMES.items()
        ],
        candidate=found,
    )


def _named(legs: Mapping[Leg, Standing]) -> list[tuple[str, Standing]]:
    order: Iterable[Leg] = (leg for leg in LEG_NAMES if leg in legs)
    return [(LEG_NAMES[leg], legs[leg]) for leg in order]
