"""Makes, changes and removes webhooks. The steps of page and API alike."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from agents import outbound
from agents.audit import Actor, acting
from agents.models import Agent, User
from memory import tasks_webhooks
from memory.models import Webhook, WebhookDelivery
from memory.vocabulary import WebhookEvent
from memory.webhooks import signing
from memory.webhooks.access import hooks_of

MOST = 20


class HookRefused(ValueError):
    """Why not, in words for the person who asked; `field` names what to change, if anything."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def add(
    *, owner: User, agent: Agent | None, address: str, events: Iterable[str], actor: Actor
) -> tuple[Webhook, str]:
    """The hook, and its signing secret, which is shown this once. Raises HookRefused."""
    checked, chosen = _address(address), _events(events)
    with acting(actor, "webhook made"):
        list(User.objects.select_for_update(no_key=True).filter(pk=owner.pk).values("pk"))
        if hooks_of(owner).count() >= MOST:
            raise HookRefused(f"{MOST} webhooks are the most; remove one first.")
        hook = Webhook.objects.create(owner=owner, agent=agent, address=checked, events=chosen)
    return hook, signing.shown(hook)


def change(
    *,
    hook: Webhook,
    actor: Actor,
    address: str | None = None,
    events: Iterable[str] | None = None,
    enabled: bool | None = None,
) -> Webhook:
    """What is None stays. Switching it on forgets that it failed. Raises HookRefused."""
    values: dict[str, Any] = {}
    if address is not None and address != hook.address:
        values["address"] = _address(address)
    if events is not None:
        values["events"] = _events(events)
    if enabled is not None and enabled != hook.enabled:
        values |= {"enabled": enabled, "stopped": "", "failing_since": None, "rests_until": None}
    for name, value in values.items():
        setattr(hook, name, value)
    with acting(actor, "webhook changed"):
        # No more than these: a worker may have switched it off since it was read.
        hook.save(update_fields=list(values))
    return hook


def renew_secret(*, hook: Webhook, actor: Actor, overlap: timedelta = timedelta()) -> str:
    """A new secret, shown this once. Until the overlap is over the old one signs beside it."""
    until: datetime | None = timezone.now() + overlap if overlap else None
    with acting(actor, "webhook's secret renewed"):
        row = Webhook.objects.select_for_update().get(pk=hook.pk)
        row.secret_number += 1
        row.old_secret_until = until
        row.save(update_fields=["secret_number", "old_secret_until"])
    hook.secret_number, hook.old_secret_until = row.secret_number, until
    return signing.shown(row)


def remove(*, hook: Webhook, actor: Actor) -> None:
    """With all that it was told and was yet to be."""
    with acting(actor, "webhook removed"):
        Webhook.objects.filter(pk=hook.pk).delete()


def ping(*, hook: Webhook) -> WebhookDelivery:
    """A delivery that is about nothing. Raises HookRefused."""
    _need_on(hook)
    with transaction.atomic():
        sent = WebhookDelivery.objects.create(
            owner=hook.owner, webhook=hook, event=WebhookDelivery.PING
        )
        _hint(hook)
    return sent


def send_again(*, delivery: WebhookDelivery) -> WebhookDelivery:
    """With the same id, so that whoever has it already can tell. Raises HookRefused."""
    hook = delivery.webhook
    _need_on(hook)
    delivery.state, delivery.attempts = WebhookDelivery.State.WAITING, 0
    delivery.next_attempt_at, delivery.ended_at = timezone.now(), None
    with transaction.atomic():
        delivery.save(update_fields=["state", "attempts", "next_attempt_at", "ended_at"])
        Webhook.objects.filter(pk=hook.pk).update(rests_until=None)
        _hint(hook)
    return delivery


def _need_on(hook: Webhook) -> None:
    if not hook.enabled:
        raise HookRefused("The webhook is off; switch it on first.")


def _address(address: str) -> str:
    try:
        outbound.look(address.strip())
    except outbound.Refused as refusal:
        raise HookRefused(str(refusal), "address") from None
    return address.strip()


def _events(events: Iterable[str]) -> list[str]:
    asked = set(events)
    if unknown := sorted(asked - set(WebhookEvent.values)):
        known = ", ".join(WebhookEvent.values)
        raise HookRefused(f"There is no event {unknown[0]!r}; there are {known}.", "events")
    if not asked:
        raise HookRefused("Choose at least one event.", "events")
    return [event for event in WebhookEvent.values if event in asked]


def _hint(hook: Webhook) -> None:
    transaction.on_commit(lambda: tasks_webhooks.hint(hook.pk))
