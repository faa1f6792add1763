"""The profile as a page."""

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from agents.access import agents_of
from agents.desk import DeskRequest, desk
from agents.models import Agent, User
from memory.profile.reading import view_of


class AgentForm(forms.Form):
    """Without a choice: the default assistant."""

    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(), required=False, empty_label=None, label="As seen by"
    )

    def __init__(self, owner: User, data: object = None) -> None:
        super().__init__(data, label_suffix="")  # type: ignore[arg-type]
        chosen = agents_of(owner).filter(heir__isnull=True)
        self.fields["agent"].queryset = chosen.order_by("-is_default", "name", "id")  # type: ignore[attr-defined]


@require_GET
@desk
def profile(request: DeskRequest) -> HttpResponse:
    """Somebody else's assistant, or none at all, is answered with one's own first."""
    asked = AgentForm(request.user, request.GET)
    first = asked.fields["agent"].queryset.select_related("owner")  # type: ignore[attr-defined]
    chosen = asked.cleaned_data.get("agent") if asked.is_valid() else None
    agent: Agent | None = chosen or first.first()
    view = view_of(agent, timezone.now()) if agent else None
    form = AgentForm(request.user, {"agent": agent.pk if agent else ""})
    return render(request, "memory/profile.html", {"form": form, "view": view})
