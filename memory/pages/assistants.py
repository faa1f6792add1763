"""The owner's assistants: make one, rename it, say what it reads, delete it and name its heir."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agents.access import agent_of, agents_of, keys_of
from agents.assistants import Overtaken, Wanted, faults, slug_of, store
from agents.audit import Actor, person
from agents.desk import DeskRequest, desk
from agents.models import Agent, User
from agents.wording import counted
from memory.cases.lifecycle import LIVE
from memory.cases.scope import cases_of
from memory.lifecycle import LifecycleError
from memory.lifecycle.retire import retire
from memory.rules.scope import rules_of, standing
from memory.scope import facts_of
from memory.vocabulary import State


class AgentForm(forms.Form):
    """Reading every fact is for the default assistant alone."""

    name = forms.CharField(max_length=120)
    slug = forms.SlugField(
        max_length=64,
        required=False,
        label="Short name, which programs use",
        help_text="Lower-case letters, digits and hyphens. Left empty it is made of the name.",
    )
    reads = forms.ChoiceField(label="Reads")
    is_default = forms.BooleanField(
        label="The default one, which imports go to and which may read everything", required=False
    )

    def __init__(self, row: Agent, data: Any = None) -> None:
        initial = {name: getattr(row, name) for name in ("name", "slug", "reads", "is_default")}
        super().__init__(data, initial=initial, label_suffix="")
        self.row = row
        self.fields["reads"].choices = Agent.Reads.choices  # type: ignore[attr-defined]
        if row.is_default:
            # Another one takes it over; without any, imports would have nowhere to go.
            self.fields["is_default"].disabled = True

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        slug = (values.get("slug") or slug_of(values.get("name", ""))).lower()
        for field, fault in faults(self.row, self._wanted(values | {"slug": slug})).items():
            self.add_error(field, fault)
        return values | {"slug": slug}

    def store(self, actor: Actor, what: str) -> Agent:
        """Raises Overtaken."""
        wanted = self._wanted(self.cleaned_data)
        return store(row=self.row, wanted=wanted, actor=actor, reason=f"assistant {what}")

    def _wanted(self, values: dict[str, Any]) -> Wanted:
        return Wanted(
            name=values.get("name") or "",
            slug=values["slug"],
            reads=values.get("reads") or "",
            is_default=bool(values.get("is_default")),
        )


class HeirForm(forms.Form):
    heir = forms.ModelChoiceField(queryset=Agent.objects.none(), label="Its facts go to")

    def __init__(self, row: Agent, data: Any = None) -> None:
        super().__init__(data, label_suffix="")
        others = agents_of(row.owner).exclude(pk=row.pk)
        self.fields["heir"].queryset = others  # type: ignore[attr-defined]


@require_http_methods(["GET", "POST"])
@desk
def new(request: DeskRequest) -> HttpResponse:
    form = AgentForm(Agent(owner=request.user), request.POST if request.method == "POST" else None)
    if not form.is_bound or not form.is_valid() or not _stored(request.user, form, "made"):
        return render(
            request, "memory/assistant.html", {"form": form}, status=422 if form.is_bound else 200
        )
    messages.success(request, f"“{form.row.name}” is there. Make it a key to let it speak.")
    return redirect("settings")


@require_http_methods(["GET", "POST"])
@desk
def assistant(request: DeskRequest, agent_id: UUID) -> HttpResponse:
    row = agent_of(request.user, agent_id)
    form = AgentForm(row, request.POST if request.method == "POST" else None)
    if not form.is_bound:
        return _show(request, row, form)
    if not form.is_valid() or not _stored(request.user, form, "changed"):
        return _show(request, agent_of(request.user, agent_id), form, status=422)
    messages.success(request, "Saved. It holds from now on.")
    return redirect("assistant", row.pk)


@require_POST
@desk
def delete(request: DeskRequest, agent_id: UUID) -> HttpResponse:
    row = agent_of(request.user, agent_id)
    form = HeirForm(row, request.POST)
    if not form.is_valid():
        return _show(request, row, heir=form, status=422)
    heir = form.cleaned_data["heir"]
    try:
        moved = retire(agent=row, heir=heir, actor=person(request.user), reason="deleted")
    except LifecycleError as refusal:
        return _show(request, row, problem=f"Nothing has changed. {refusal}", status=409)
    messages.success(
        request,
        f"“{row.name}” is deleted. {heir.name} has its {counted(moved.active, 'active fact')},"
        f" {counted(moved.pending, 'pending one')}, {counted(moved.cases, 'case')} and"
        f" {counted(moved.rules, 'rule')}; {counted(moved.keys, 'key')}"
        f" {'is' if moved.keys == 1 else 'are'} revoked.",
    )
    return redirect("settings")


def _stored(owner: User, form: AgentForm, what: str) -> bool:
    """False where another tab took the short name meanwhile."""
    try:
        form.store(person(owner), what)
    except Overtaken as refusal:
        form.add_error(None, str(refusal))
        return False
    return True


def _show(
    request: DeskRequest,
    row: Agent,
    form: AgentForm | None = None,
    heir: HeirForm | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    facts = facts_of(request.user).filter(agent=row)
    context = {
        "agent": row,
        "form": form or AgentForm(row),
        "heir": heir or HeirForm(row),
        "active": facts.filter(state=State.ACTIVE).count(),
        "pending": facts.filter(state=State.PENDING).count(),
        "cases": cases_of(request.user).filter(agent=row, state__in=LIVE).count(),
        "keys": keys_of(request.user).filter(agent=row, revoked_at__isnull=True).count(),
        "rules": standing(rules_of(request.user)).filter(agent=row),
        "problem": problem,
    }
    return render(request, "memory/assistant.html", context, status=status)
