"""The owner's own settings: the memory switch, the time zone, and the keys of assistants."""

from typing import Any
from uuid import UUID
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from agents import gate, keys, readings
from agents.access import agents_of, key_of, keys_of
from agents.audit import acting, person
from agents.desk import DeskRequest, desk
from agents.languages import languages
from agents.models import Agent, ApiKey, OwnerSettings, User

ON, OFF, FOLLOW = "on", "off", "follow"
CHOICES = {ON: True, OFF: False, FOLLOW: None}
# How sure the observer must be of them; empty: none gets in by itself.
EVENTS = [
    ("0.8", "are active at once, where the observer is 80 % sure"),
    ("0.9", "are active at once, where the observer is 90 % sure"),
    ("0.95", "are active at once, where the observer is 95 % sure"),
    ("", "wait for me, as everything else does"),
]
NUMBERS = ("recall_budget", "cap_per_agent", "cap_global")
AS_THEY_ARE = ("time_zone", "language", *NUMBERS)
# What an assistant needs day to day; none of these can approve anything.
USUAL_SCOPES = [
    ApiKey.Scope.INGEST,
    ApiKey.Scope.RECALL,
    ApiKey.Scope.SEARCH,
    ApiKey.Scope.PROPOSE,
]
SCOPE_MEANINGS = {
    ApiKey.Scope.INGEST: "send messages",
    ApiKey.Scope.RECALL: "get the memory block",
    ApiKey.Scope.SEARCH: "search facts and conversations",
    ApiKey.Scope.PROPOSE: "propose facts, which then wait for you",
    ApiKey.Scope.REMEMBER: "store what you told it to remember",
    ApiKey.Scope.FORGET: "ask that something be forgotten",
    ApiKey.Scope.REVIEW: "decide in your place: confirm, reject, restore",
    ApiKey.Scope.EXPORT: "take everything out",
    ApiKey.Scope.PROXY: "pass chats through",
    ApiKey.Scope.ADMIN: "everything that keys can do to your settings",
}


class PreferencesForm(forms.Form):
    memory = forms.ChoiceField(
        choices=[
            (ON, "On"),
            (OFF, "Off: nothing is stored, learned or told"),
            (FOLLOW, "As the server has it by default"),
        ],
        widget=forms.RadioSelect,
    )
    time_zone = forms.ChoiceField(
        label="Time zone", choices=lambda: [(zone, zone) for zone in sorted(available_timezones())]
    )

    language = forms.ChoiceField(
        label="Language of what is concluded about me",
        choices=lambda: [("", "As my facts are"), *languages().items()],
        required=False,
    )
    events = forms.ChoiceField(
        label="Events that you told of, with a date that is past",
        choices=EVENTS,
        required=False,
    )
    recall_budget = forms.IntegerField(
        label="Tokens of memory in a prompt",
        min_value=200,
        max_value=8000,
        required=False,
        help_text="From 200 to 8,000. Empty: the server’s default, 1,500 unless it says otherwise.",
    )
    cap_per_agent = forms.IntegerField(
        label="Most active facts of one assistant",
        min_value=1,
        max_value=1_000_000,
        required=False,
        help_text="Empty: no limit. At the limit proposals wait, and nothing is lost.",
    )
    cap_global = forms.IntegerField(
        label="Most active facts for all assistants",
        min_value=1,
        max_value=1_000_000,
        required=False,
    )

    @classmethod
    def of(cls, row: OwnerSettings, data: Any = None) -> "PreferencesForm":
        chosen = {value: name for name, value in CHOICES.items()}[row.memory_enabled]
        sure = row.event_confidence
        initial = {name: getattr(row, name) for name in AS_THEY_ARE}
        initial |= {"memory": chosen, "events": "" if sure is None else f"{sure:g}"}
        return cls(data, initial=initial, label_suffix="")

    def store(self, row: OwnerSettings) -> None:
        values = self.cleaned_data
        row.memory_enabled = CHOICES[values["memory"]]
        row.event_confidence = float(values["events"]) if values["events"] else None
        for name in AS_THEY_ARE:
            setattr(row, name, values[name])
        row.save(update_fields=["memory_enabled", "event_confidence", *AS_THEY_ARE])


class KeyForm(forms.Form):
    name = forms.CharField(max_length=120, label="What is it for?")
    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(),
        required=False,
        label="Speaks for",
        empty_label="Any of my assistants",
    )
    scopes = forms.MultipleChoiceField(
        label="May",
        choices=[(scope.value, f"{scope.value}: {text}") for scope, text in SCOPE_MEANINGS.items()],
        initial=USUAL_SCOPES,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, owner: User, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        self.fields["agent"].queryset = agents_of(owner)  # type: ignore[attr-defined]


@require_GET
@desk
def settings_page(request: DeskRequest) -> HttpResponse:
    return _page(request)


@require_POST
@desk
def save_preferences(request: DeskRequest) -> HttpResponse:
    row = request.user.settings
    form = PreferencesForm.of(row, request.POST)
    if not form.is_valid():
        return _page(request, preferences=form, status=422)
    with acting(person(request.user), "changed in the settings"):
        form.store(row)
    messages.success(request, "Saved. It holds from now on.")
    return redirect("settings")


@require_POST
@desk
def make_key(request: DeskRequest) -> HttpResponse:
    """Answers the plaintext itself, without a redirect: it exists only in this response."""
    form = KeyForm(request.user, request.POST)
    if not form.is_valid():
        return _page(request, new_key=form, status=422)
    try:
        key, plaintext = keys.issue(
            owner=request.user, actor=person(request.user), **form.cleaned_data
        )
    except keys.KeyRefused as refusal:
        form.add_error(None, str(refusal))
        return _page(request, new_key=form, status=422)
    return _page(request, made=key, plaintext=plaintext)


@require_POST
@desk
def revoke_key(request: DeskRequest, key_id: UUID) -> HttpResponse:
    key = keys.revoke(key=key_of(request.user, key_id), actor=person(request.user))
    messages.success(request, f"The key “{key.name}” is revoked and opens nothing any more.")
    return redirect("settings")


def _page(
    request: DeskRequest,
    preferences: PreferencesForm | None = None,
    new_key: KeyForm | None = None,
    made: ApiKey | None = None,
    plaintext: str = "",
    status: int = 200,
) -> HttpResponse:
    row = request.user.settings
    context = {
        "preferences": preferences or PreferencesForm.of(row),
        "new_key": new_key or KeyForm(request.user),
        "keys": keys_of(request.user),
        "agents": agents_of(request.user),
        "made": made,
        "plaintext": plaintext,
        "mode": settings.MEMORY_MODE,
        "is_on": gate.allowed(settings.MEMORY_MODE, row.memory_enabled),
        "readings": readings.readings_of(request.user),
        "most_readings": readings.SHOWN,
    }
    return render(request, "agents/settings.html", context, status=status)
