"""A fact that the owner writes by hand: shown beside the nearest ones there are, then saved."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from agents.access import agents_of
from agents.audit import person
from agents.desk import DeskRequest, desk
from agents.gate import MemoryOff, memory_on
from agents.models import Agent, User
from memory import lifecycle
from memory.extraction.neighbours import STATES, nearest_to
from memory.handwritten import write
from memory.models import Fact
from memory.policy.activation import sensitive_reasons
from memory.review.forms import EVERYBODY, EditForm
from memory.scope import facts_of
from memory.text import detect_language, text_hash
from memory.vocabulary import Kind, State, Withheld

# In words for what a person wrote, who knows why they wrote it.
CAUTIONS = {
    Withheld.DIRECTIVE: "It reads like an instruction; assistants will take it as data.",
    Withheld.ADDRESSES_ASSISTANT: "It speaks to the assistant rather than about you.",
    Withheld.CONTACT: "It holds contact or payment data, or a key: assistants and the model that "
    "they use will see it.",
    Withheld.HIDDEN_TEXT: "It holds characters that can't be seen.",
}


class NewFactForm(EditForm):
    """`looked` says beside what wording the nearest facts were shown."""

    looked = forms.CharField(max_length=300, required=False, widget=forms.HiddenInput)

    def __init__(self, owner: User, data: Any = None) -> None:
        agents = {str(agent.pk): agent for agent in agents_of(owner)}
        initial = {"kind": Kind.SEMANTIC, "scope": EVERYBODY}
        super().__init__(agents, data, initial=initial, auto_id="new-%s", label_suffix="")

    def agent(self) -> Agent | None:
        return self.agents.get(self.cleaned_data.get("scope") or EVERYBODY)


@require_http_methods(["GET", "POST"])
@desk
def new_fact(request: DeskRequest) -> HttpResponse:
    form = NewFactForm(request.user, request.POST if request.method == "POST" else None)
    if not form.is_bound:
        return _page(request, form)
    if not form.is_valid():
        return _page(request, form, status=422)
    if form.cleaned_data["looked"] != _mark(form):
        return _page(request, form, not_yet=True, **_beside(request.user, form))
    try:
        fact = _save(request.user, form)
    except (lifecycle.LifecycleError, MemoryOff) as refusal:
        return _page(request, form, problem=refusal, status=409, **_beside(request.user, form))
    messages.success(request, "Added. Your assistants may be told it from now on.")
    return redirect("fact", fact.pk)


@require_POST
@desk
def nearest(request: DeskRequest) -> HttpResponse:
    """What stands beside the wording that is being written: a part of the page, for htmx."""
    form = NewFactForm(request.user, request.POST)
    form.is_valid()
    beside = _beside(request.user, form) if form.cleaned_data.get("statement") else {}
    return render(request, "memory/fact_new.html#nearest", {"form": form, **beside})


def _beside(owner: User, form: NewFactForm) -> dict[str, Any]:
    """Facts of every scope and state but archived: the owner decides which of them matter."""
    statement = form.cleaned_data["statement"]
    scope = facts_of(owner).filter(state__in=STATES).select_related("agent")
    return {
        "looked": _mark(form),
        "near": nearest_to(scope, statement, detect_language(statement)),
        "same": _same(owner, statement),
        "cautions": [CAUTIONS[why] for why, _ in sensitive_reasons((statement,))],
    }


def _same(owner: User, statement: str) -> Fact | None:
    """A fact of this text that does not hold: the owner once said no to it."""
    given_up = facts_of(owner).filter(text_hash=text_hash(statement))
    return given_up.filter(state__in=[State.REJECTED, State.ARCHIVED]).first()


def _mark(form: NewFactForm) -> str:
    """Another wording or reader has other neighbours, so it is looked at again."""
    return f"{text_hash(form.cleaned_data['statement'])} {form.cleaned_data.get('scope') or ''}"


def _save(owner: User, form: NewFactForm) -> Fact:
    now = timezone.now()
    edit = form.edit(Fact(observed_at=now))
    return write(owner=owner, agent=form.agent(), edit=edit, at=now, actor=person(owner))


def _page(
    request: DeskRequest, form: NewFactForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    context |= {"form": form, "memory_off": not memory_on(request.user)}
    return render(request, "memory/fact_new.html", context, status=status)
