"""The form on which a person says what is to be forgotten or purged."""

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any
from uuid import UUID

from django import forms
from django.utils import timezone

from agents.access import agents_of, keys_of
from agents.models import Agent, ApiKey, User
from conversations.access import conversations_of
from conversations.models import Conversation, Import
from memory.access import runs_of
from memory.models import ExtractionRun
from memory.purge.selection import SHORTEST, BadSelection, Selection, chosen

NOTHING: dict[str, Any] = {"required": False}


class ChooseForm(forms.Form):
    """Rules narrow each other. Facts, one conversation and one run come from their own pages."""

    match = forms.CharField(
        max_length=300,
        min_length=SHORTEST,
        label="These words",
        help_text="Whole words, in any case. A purge takes documents that hold them, each whole.",
        **NOTHING,
    )
    agent = forms.ModelChoiceField(
        Agent.objects.none(), label="Assistant", empty_label="Any assistant", **NOTHING
    )
    source = forms.ChoiceField(label="Source", **NOTHING)
    imported = forms.ModelChoiceField(
        Import.objects.none(), label="Import", empty_label="Any or none", **NOTHING
    )
    client = forms.ModelChoiceField(
        ApiKey.objects.none(), label="API key", empty_label="Any or none", **NOTHING
    )
    since = forms.DateField(
        label="Said on or after", widget=forms.DateInput({"type": "date"}), **NOTHING
    )
    until = forms.DateField(
        label="Said before", widget=forms.DateInput({"type": "date"}), **NOTHING
    )
    everything = forms.BooleanField(label="Everything: all of my memory", **NOTHING)
    # From other pages.
    facts = forms.UUIDField(widget=forms.HiddenInput, **NOTHING)
    conversation = forms.ModelChoiceField(
        Conversation.objects.none(), widget=forms.HiddenInput, **NOTHING
    )
    run = forms.ModelChoiceField(ExtractionRun.objects.none(), widget=forms.HiddenInput, **NOTHING)

    def __init__(self, owner: User, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        self.owner = owner
        fields: Any = self.fields
        fields["agent"].queryset = agents_of(owner)
        fields["imported"].queryset = Import.objects.filter(owner=owner)
        fields["client"].queryset = keys_of(owner)
        fields["conversation"].queryset = conversations_of(owner)
        fields["run"].queryset = runs_of(owner)
        sources = conversations_of(owner).order_by().values_list("source", flat=True).distinct()
        fields["source"].choices = [("", "Any"), *((name, name) for name in sorted(sources))]

    def selection(self) -> Selection:
        """Raises BadSelection."""
        given = {name: value for name, value in self.cleaned_data.items() if value}
        fact: UUID | None = given.pop("facts", None)
        if fact is not None:
            given["facts"] = (fact,)
        for name in ("since", "until"):
            if name in given:
                given[name] = _midnight(given[name])
        if not given:
            raise BadSelection("Choose at least one of these.")
        return chosen(owner=self.owner, **given)

    def hidden(self) -> Mapping[str, str]:
        """The choice, to be sent along with the deed."""
        values = {name: self[name].value() for name in self.fields}
        return {
            name: str(value) for name, value in values.items() if value not in (None, "", False)
        }


def _midnight(day: date) -> datetime:
    """On the owner's clock, which the desk has set."""
    return timezone.make_aware(datetime.combine(day, time()))
