"""The owner's webhooks, one of them, and what it was told."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agents.access import agents_of
from agents.audit import person
from agents.desk import DeskRequest, desk
from agents.models import Agent, User
from memory.models import Webhook
from memory.pages.paging import newest_first
from memory.vocabulary import WebhookEvent
from memory.webhooks import deliver, keeping
from memory.webhooks.access import deliveries_of, delivery_of, hook_of, hooks_of
from memory.webhooks.keeping import HookRefused


class WebhookForm(forms.Form):
    address = forms.CharField(
        label="Address",
        max_length=2000,
        widget=forms.TextInput(attrs={"inputmode": "url", "placeholder": "https://"}),
    )
    agent = forms.ModelChoiceField(
        queryset=Agent.objects.none(),
        required=False,
        label="Is told of",
        empty_label="Everything of mine",
    )
    events = forms.MultipleChoiceField(
        label="When",
        choices=WebhookEvent.choices,
        initial=WebhookEvent.values,
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, owner: User, data: Any = None, hook: Webhook | None = None) -> None:
        initial = {"address": hook.address, "events": hook.events} if hook else None
        super().__init__(data, label_suffix="", initial=initial)
        if hook:
            del self.fields["agent"]
            return
        agents = self.fields["agent"]
        agents.queryset = agents_of(owner)  # type: ignore[attr-defined]
        agents.label_from_instance = (  # type: ignore[attr-defined]
            lambda agent: f"What {agent.name} may read"
        )

    def refused(self, refusal: HookRefused) -> None:
        self.add_error(refusal.field or None, str(refusal))


@require_http_methods(["GET", "POST"])
@desk
def webhooks(request: DeskRequest) -> HttpResponse:
    """Answers a new secret itself, without a redirect: it exists only in this response."""
    if request.method != "POST":
        return _list(request, WebhookForm(request.user))
    form = WebhookForm(request.user, request.POST)
    if not form.is_valid():
        return _list(request, form, status=422)
    try:
        hook, secret = keeping.add(
            owner=request.user, actor=person(request.user), **form.cleaned_data
        )
    except HookRefused as refusal:
        form.refused(refusal)
        return _list(request, form, status=422)
    return _one(request, hook, secret=secret)


@require_http_methods(["GET", "POST"])
@desk
def webhook(request: DeskRequest, webhook_id: UUID) -> HttpResponse:
    hook = hook_of(request.user, webhook_id)
    if request.method != "POST":
        return _one(request, hook)
    form = WebhookForm(request.user, request.POST, hook)
    if not form.is_valid():
        return _one(request, hook, form, status=422)
    try:
        keeping.change(hook=hook, actor=person(request.user), **form.cleaned_data)
    except HookRefused as refusal:
        form.refused(refusal)
        return _one(request, hook, form, status=422)
    messages.success(request, "Saved. It holds from now on.")
    return redirect("webhook", hook.pk)


@require_POST
@desk
def switch(request: DeskRequest, webhook_id: UUID) -> HttpResponse:
    hook = hook_of(request.user, webhook_id)
    on = request.POST.get("on") == "yes"
    keeping.change(hook=hook, actor=person(request.user), enabled=on)
    told = "is on." if on else "is off. What happens meanwhile it is never told."
    messages.success(request, f"The webhook {told}")
    return redirect("webhook", hook.pk)


@require_POST
@desk
def renew(request: DeskRequest, webhook_id: UUID) -> HttpResponse:
    hook = hook_of(request.user, webhook_id)
    secret = keeping.renew_secret(hook=hook, actor=person(request.user))
    return _one(request, hook, secret=secret)


@require_POST
@desk
def remove(request: DeskRequest, webhook_id: UUID) -> HttpResponse:
    keeping.remove(hook=hook_of(request.user, webhook_id), actor=person(request.user))
    messages.success(request, "The webhook is removed. It is told nothing more.")
    return redirect("webhooks")


@require_POST
@desk
def ping(request: DeskRequest, webhook_id: UUID) -> HttpResponse:
    hook = hook_of(request.user, webhook_id)
    try:
        keeping.ping(hook=hook)
    except HookRefused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "A ping is on its way; look again in a few seconds.")
    return redirect("webhook", hook.pk)


@require_POST
@desk
def send_again(request: DeskRequest, delivery_id: UUID) -> HttpResponse:
    delivery = delivery_of(request.user, delivery_id)
    try:
        keeping.send_again(delivery=delivery)
    except HookRefused as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "It is on its way again, with the same id.")
    return redirect("webhook", delivery.webhook_id)


def _list(request: DeskRequest, form: WebhookForm, status: int = 200) -> HttpResponse:
    context = {"hooks": hooks_of(request.user), "form": form, "most": keeping.MOST}
    return render(request, "memory/webhooks.html", context, status=status)


def _one(
    request: DeskRequest,
    hook: Webhook,
    form: WebhookForm | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    after = request.GET.get("after", "")
    context = {
        "hook": hook,
        "form": form or WebhookForm(request.user, hook=hook),
        "secret": secret,
        "listing": newest_first(deliveries_of(hook), "created_at", after),
        "kept": deliver.KEPT.days,
    }
    return render(request, "memory/webhook.html", context, status=status)
