"""The webhooks of an owner, or of the one agent that a key speaks for. Another's is a 404."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404

from agents.models import Agent, User
from memory.models import Webhook, WebhookDelivery


def hooks_of(owner: User, agent: Agent | None = None) -> QuerySet[Webhook]:
    rows = Webhook.objects.filter(owner=_user(owner)).select_related("agent", "owner")
    return rows if agent is None else rows.filter(agent=agent)


def hook_of(owner: User, hook_id: UUID, agent: Agent | None = None) -> Webhook:
    hook = hooks_of(owner, agent).filter(pk=hook_id).first()
    if hook is None:
        raise Http404("There is no such webhook.")
    return hook


def deliveries_of(hook: Webhook) -> QuerySet[WebhookDelivery]:
    return WebhookDelivery.objects.filter(owner=hook.owner, webhook=hook)


def delivery_of(owner: User, delivery_id: UUID, agent: Agent | None = None) -> WebhookDelivery:
    rows = WebhookDelivery.objects.filter(owner=_user(owner), webhook__in=hooks_of(owner, agent))
    delivery = rows.select_related("webhook__owner").filter(pk=delivery_id).first()
    if delivery is None:
        raise Http404("There is no such delivery.")
    return delivery


def _user(owner: User) -> User:
    if not isinstance(owner, User):
        raise TypeError(f"An owner is needed, not {type(owner).__name__}.")
    return owner
