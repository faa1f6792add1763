"""The list of an owner's facts: searched, filtered, sorted, and paged by a key."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from agents.access import agents_of
from agents.desk import DeskRequest, desk
from agents.models import User
from memory.entities import entities_of
from memory.models import Entity, Fact, FactUsage
from memory.pages.paging import by_moment
from memory.review.search import matching
from memory.scope import facts_of
from memory.vocabulary import ArchivedReason, Kind, Origin, State, Tag

# In the order in which the page offers them.
STATES = (State.ACTIVE, State.PENDING, State.REJECTED, State.ARCHIVED)
GLOBAL = "global"
NO_PROMPT = "-"  # what no prompt made: the rules, imports, the owner
# Its value, the moment that it goes by, and whether the latest comes first.
SORTS = {
    "newest": ("Newest first", "created_at", True),
    "oldest": ("Oldest first", "created_at", False),
    "unconfirmed": ("Longest unconfirmed first", "last_confirmed_at", False),
    "confirmed": ("Lately confirmed first", "last_confirmed_at", True),
}
UNCONFIRMED = [("30", "30 days"), ("90", "90 days"), ("180", "half a year"), ("365", "a year")]
USED = [("no", "Never told to an assistant"), ("yes", "Told at least once")]
ANY = ("", "Any")
# Filters that fold away; the page opens them when one is set.
FOLDED = ("kind", "agent", "tag", "origin", "unconfirmed", "used", "sort")


class FilterForm(forms.Form):
    q = forms.CharField(max_length=300, required=False)
    state = forms.ChoiceField(choices=State.choices, required=False)
    kind = forms.ChoiceField(choices=[ANY, *Kind.choices], required=False)
    agent = forms.ChoiceField(label="Who may read it", required=False)
    tag = forms.ChoiceField(choices=[ANY, *Tag.choices], required=False)
    origin = forms.ChoiceField(label="Came by", choices=[ANY, *Origin.choices], required=False)
    unconfirmed = forms.ChoiceField(
        label="Unconfirmed for", choices=[ANY, *UNCONFIRMED], required=False
    )
    used = forms.ChoiceField(label="Recall", choices=[ANY, *USED], required=False)
    sort = forms.ChoiceField(
        label="Order", choices=[(name, sort[0]) for name, sort in SORTS.items()], required=False
    )
    # Set by links, not by hand.
    entity = forms.UUIDField(required=False)
    prompt = forms.CharField(max_length=64, required=False)
    # In per cent, from 0 to below 10, ..., from 90 to 100.
    sure = forms.IntegerField(min_value=0, max_value=90, required=False)
    # In days since a fact was recorded: at least, and fewer than.
    older = forms.IntegerField(min_value=0, max_value=36_500, required=False)
    newer = forms.IntegerField(min_value=0, max_value=36_500, required=False)
    after = forms.CharField(max_length=100, required=False)

    def __init__(self, owner: User, data: Mapping[str, Any]) -> None:
        super().__init__(data, label_suffix="")
        agents = [(str(agent.pk), agent.name) for agent in agents_of(owner)]
        field: Any = self.fields["agent"]
        field.choices = [("", "Any"), (GLOBAL, "All assistants"), *agents]

    def chosen(self) -> dict[str, Any]:
        """What makes sense of it; the rest counts as not chosen, and the page says why."""
        self.is_valid()
        numbers = {name: self.cleaned_data.get(name) for name in ("sure", "older", "newer")}
        return {name: self.cleaned_data.get(name) or "" for name in self.fields} | numbers


@require_GET
@desk
def facts(request: DeskRequest) -> HttpResponse:
    form = FilterForm(request.user, request.GET)
    chosen = form.chosen()
    state = State(chosen["state"] or State.ACTIVE)
    found = selected(request.user, state, chosen).select_related("agent", "conversation")
    _, field, falling = SORTS[chosen["sort"] or "newest"]
    context = {
        "listing": by_moment(found, field, chosen["after"], falling=falling),
        "state": state,
        "states": STATES,
        "chosen": chosen,
        "form": form,
        "entity": _entity(request.user, chosen),
        "folded": FOLDED,
        "folds_open": any(chosen[name] for name in FOLDED),
        "narrowed": any(value not in ("", None) for value in _narrowing(chosen).values()),
        "without_state": _query(request.GET, "state", "after"),
        "without_place": _query(request.GET, "after"),
    }
    return render(request, "memory/facts.html", context)


def selected(owner: User, state: State, chosen: Mapping[str, Any]) -> QuerySet[Fact]:
    """Conditions on columns that the index `fact_list` holds, but for words, names and use."""
    found = facts_of(owner).filter(state=state)
    if state == State.ARCHIVED:
        found = found.exclude(archived_reason=ArchivedReason.PURGED)
    if chosen["agent"]:
        found = found.filter(agent=None if chosen["agent"] == GLOBAL else chosen["agent"])
    for name in ("kind", "origin"):
        if chosen[name]:
            found = found.filter(**{name: chosen[name]})
    if chosen["tag"]:
        found = found.filter(tags__contains=[chosen["tag"]])
    if chosen["prompt"]:
        found = found.filter(prompt_version=chosen["prompt"].removeprefix(NO_PROMPT))
    if chosen["unconfirmed"]:
        found = found.filter(last_confirmed_at__lte=_ago(int(chosen["unconfirmed"])))
    if chosen["older"] is not None:
        found = found.filter(created_at__lte=_ago(chosen["older"]))
    if chosen["newer"] is not None:
        found = found.filter(created_at__gt=_ago(chosen["newer"]))
    if chosen["sure"] is not None:
        found = found.filter(**_sure(chosen["sure"]))
    return _named_and_used(found, chosen)


def _named_and_used(found: QuerySet[Fact], chosen: Mapping[str, Any]) -> QuerySet[Fact]:
    if chosen["used"]:
        usage = Exists(FactUsage.objects.filter(fact=OuterRef("pk")))
        found = found.filter(usage if chosen["used"] == "yes" else ~usage)
    if chosen["entity"]:
        found = found.filter(entities=chosen["entity"])
    if chosen["q"]:
        found = matching(found, chosen["q"])
    return found


def _ago(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


def _sure(tenth: int) -> dict[str, float]:
    bounds = {"confidence__gte": tenth / 100}
    return bounds if tenth >= 90 else bounds | {"confidence__lt": (tenth + 10) / 100}


def _entity(owner: User, chosen: Mapping[str, Any]) -> Entity | None:
    return entities_of(owner).filter(pk=chosen["entity"]).first() if chosen["entity"] else None


def _narrowing(chosen: Mapping[str, Any]) -> dict[str, Any]:
    return {name: chosen[name] for name in chosen if name not in ("state", "after", "sort")}


def _query(asked: QueryDict, *without: str) -> str:
    kept = asked.copy()
    for name in without:
        kept.pop(name, None)
    return kept.urlencode()
