"""What the forms of the knowledge base take."""

from typing import Any

from django import forms

from agents.access import agents_of
from agents.models import Agent, User
from knowledge.collections import LONGEST_DESCRIPTION, LONGEST_NAME, Wanted, faults
from knowledge.models import Collection
from knowledge.scope import collections_of
from knowledge.web import Refused, clean_address

EVERYBODY = "Every assistant that reads what is global"


class CollectionForm(forms.Form):
    name = forms.CharField(max_length=LONGEST_NAME)
    description = forms.CharField(
        max_length=LONGEST_DESCRIPTION,
        required=False,
        label="What is in it",
        help_text="Assistants are told this, so that they know when to look here.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(),
        required=False,
        label="Who may search it",
        empty_label=EVERYBODY,
    )

    def __init__(self, row: Collection, data: Any = None) -> None:
        initial = {"name": row.name, "description": row.description, "agent": row.agent_id}
        super().__init__(data, initial=initial, label_suffix="")
        self.row = row
        choice = self.fields["agent"]
        choice.queryset = agents_of(row.owner).order_by("name", "id")  # type: ignore[attr-defined]
        choice.label_from_instance = lambda agent: f"Only {agent.name}"  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors:
            for field, fault in faults(self.row, self.wanted()).items():
                self.add_error(field, fault)
        return values

    def wanted(self) -> Wanted:
        values = self.cleaned_data
        return Wanted(values["name"], values["description"], values["agent"])


class AddressForm(forms.Form):
    address = forms.CharField(
        max_length=2000,
        label="Address",
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "https://example.org/"}),
    )

    def clean_address(self) -> str:
        try:
            return clean_address(self.cleaned_data["address"])
        except Refused as refusal:
            raise forms.ValidationError(str(refusal)) from refusal


class TextForm(forms.Form):
    title = forms.CharField(max_length=300)
    text = forms.CharField(
        max_length=2_000_000,
        label="Text, plain or Markdown",
        widget=forms.Textarea(attrs={"rows": 6}),
    )


class QuestionForm(forms.Form):
    """Posted, never part of an address: addresses end up in logs."""

    q = forms.CharField(max_length=1000, label="Look for", widget=forms.TextInput)
    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(), empty_label=None, label="As searched by"
    )
    collection = forms.ModelChoiceField(
        queryset=Collection.objects.none(), required=False, empty_label="All that it may search"
    )

    def __init__(self, owner: User, data: Any = None, initial: Any = None) -> None:
        super().__init__(data, initial=initial, label_suffix="")
        agents = agents_of(owner).order_by("-is_default", "name", "id")
        self.fields["agent"].queryset = agents  # type: ignore[attr-defined]
        self.fields["collection"].queryset = collections_of(owner)  # type: ignore[attr-defined]


class AgentForm(forms.Form):
    """Whose review the candidates of a document wait in."""

    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(), empty_label=None, label="For the assistant"
    )

    def __init__(self, owner: User, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        agents = agents_of(owner).order_by("-is_default", "name", "id")
        self.fields["agent"].queryset = agents  # type: ignore[attr-defined]
