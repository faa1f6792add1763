"""Webhooks over HTTP, for programs that look after an owner's account. A key of one agent looks
after that agent's hooks alone. Thin: the steps are those of memory/webhooks."""

from datetime import datetime, timedelta
from typing import Annotated, Self
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Status
from pydantic import BaseModel, Field, WithJsonSchema

from agents.audit import key_holder
from agents.auth import KeyRequest, agent_for, require_scope
from agents.models import ApiKey
from agents.schemas import Slug, Strict, Version
from agents.versions import Outdated, seen_in, version_of
from memory.api_paging import Cursor, Limit, page_of
from memory.models import Webhook, WebhookDelivery
from memory.vocabulary import WebhookEvent
from memory.webhooks import keeping
from memory.webhooks.access import deliveries_of, delivery_of, hook_of, hooks_of

router = Router()
ADMIN = require_scope(ApiKey.Scope.ADMIN)
Address = Annotated[
    str, Field(min_length=1, max_length=2000, examples=["https://hooks.example.org/memory"])
]
Event = Annotated[WebhookEvent, WithJsonSchema({"type": "string", "enum": WebhookEvent.values})]
# Written out, because other schemas have the name of the class.
DeliveryState = Annotated[
    WebhookDelivery.State, WithJsonSchema({"type": "string", "enum": WebhookDelivery.State.values})
]
Events = Annotated[list[Event], Field(min_length=1, max_length=len(WebhookEvent))]


class WebhookOut(BaseModel):
    """`agent`: it is told only what that one may read; null: everything of the owner's. `stopped`:
    `failing` or `gone` where it was switched off because nothing got through. The secret is told
    once, when it is made."""

    id: UUID
    agent: str | None
    address: str
    events: list[Event]
    enabled: bool
    stopped: Annotated[str, WithJsonSchema({"type": "string", "enum": ["", "failing", "gone"]})]
    failing_since: datetime | None
    old_secret_until: datetime | None
    created_at: datetime
    version: str

    @classmethod
    def of(cls, hook: Webhook) -> Self:
        own = {n: getattr(hook, n) for n in cls.model_fields if n not in {"agent", "version"}}
        version = version_of(hook.address, hook.events, hook.enabled, hook.stopped)
        return cls(**own, agent=hook.agent.slug if hook.agent else None, version=version)


class MadeWebhookOut(BaseModel):
    """`secret` verifies the signatures; it is in this answer and nowhere else."""

    webhook: WebhookOut
    secret: str


class WebhooksOut(BaseModel):
    """All of them: there are at most 20."""

    items: list[WebhookOut]


class WebhookIn(Strict):
    """Without `agent`, and by a key of no one agent, it is told everything of the owner's."""

    address: Address
    events: Events
    agent: Slug | None = None


class WebhookChangeIn(Strict):
    """What is left out stays. `version`, or the header If-Match, is what you saw."""

    address: Address | None = None
    events: Events | None = None
    enabled: bool | None = None
    version: Version = ""


class SecretIn(Strict):
    """`overlap_hours`: so long the old secret signs beside the new one, at most a week."""

    overlap_hours: Annotated[int, Field(ge=0, le=168)] = 0


class DeliveryOut(BaseModel):
    """`id` is the header webhook-id. `fact`: what it is about, null for a ping. `status` and
    `failure`: what came of the last attempt; the receiver's own words are not kept."""

    id: UUID
    event: str
    fact: UUID | None
    successor: UUID | None
    state: DeliveryState
    attempts: int
    created_at: datetime
    next_attempt_at: datetime | None
    ended_at: datetime | None
    status: int | None
    failure: str

    @classmethod
    def of(cls, row: WebhookDelivery) -> Self:
        own = {n: getattr(row, n) for n in cls.model_fields if n not in {"fact", "successor"}}
        return cls(**own, fact=row.fact_id, successor=row.successor_id)


class DeliveryPage(BaseModel):
    """`next` is the `after` of the next page; null on the last one."""

    items: list[DeliveryOut]
    next: str | None


class DeliveriesAsked(Strict):
    """Latest first, of the last 30 days. `after` is the `next` of the page before."""

    state: DeliveryState | None = None
    after: Cursor | None = None
    limit: Limit = 50


@router.get(
    "/webhooks",
    auth=ADMIN,
    response=WebhooksOut,
    operation_id="list_webhooks",
    summary="List the webhooks",
)
def list_webhooks(request: KeyRequest) -> WebhooksOut:
    rows = hooks_of(request.auth.owner, request.auth.agent)
    return WebhooksOut(items=[WebhookOut.of(row) for row in rows])


@router.post(
    "/webhooks",
    auth=ADMIN,
    response={201: MadeWebhookOut},
    operation_id="add_webhook",
    summary="Have an address told when something happens to the memory",
)
def add_webhook(
    request: KeyRequest, asked: WebhookIn, response: HttpResponse
) -> Status[MadeWebhookOut]:
    """The secret is in this answer and nowhere else. The address may not lead to a private network,
    unless the operator opened it."""
    response["Cache-Control"] = "no-store"
    key = request.auth
    any_agent = key.agent is None and asked.agent is None
    hook, secret = keeping.add(
        owner=key.owner,
        agent=None if any_agent else agent_for(key, asked.agent),
        address=asked.address,
        events=asked.events,
        actor=key_holder(key),
    )
    return Status(201, MadeWebhookOut(webhook=WebhookOut.of(hook), secret=secret))


@router.get(
    "/webhooks/{uuid:webhook_id}",
    auth=ADMIN,
    response=WebhookOut,
    operation_id="read_webhook",
    summary="Read one webhook's particulars",
)
def read_webhook(request: KeyRequest, webhook_id: UUID, response: HttpResponse) -> WebhookOut:
    return _told(WebhookOut.of(_hook(request.auth, webhook_id)), response)


@router.patch(
    "/webhooks/{uuid:webhook_id}",
    auth=ADMIN,
    response=WebhookOut,
    operation_id="change_webhook",
    summary="Change a webhook's address or events, or switch it on or off",
)
def change_webhook(
    request: KeyRequest, webhook_id: UUID, asked: WebhookChangeIn, response: HttpResponse
) -> WebhookOut:
    with transaction.atomic():
        hook = _locked(request.auth, webhook_id)
        _refuse_outdated(request, asked.version, WebhookOut.of(hook))
        given = asked.model_dump(exclude_none=True, exclude={"version"})
        changed = keeping.change(hook=hook, actor=key_holder(request.auth), **given)
    return _told(WebhookOut.of(changed), response)


@router.delete(
    "/webhooks/{uuid:webhook_id}",
    auth=ADMIN,
    response={204: None},
    operation_id="remove_webhook",
    summary="Remove a webhook, with what it was yet to be told",
)
def remove_webhook(request: KeyRequest, webhook_id: UUID) -> Status[None]:
    keeping.remove(hook=_hook(request.auth, webhook_id), actor=key_holder(request.auth))
    return Status(204, None)


@router.post(
    "/webhooks/{uuid:webhook_id}/secret",
    auth=ADMIN,
    response={201: MadeWebhookOut},
    operation_id="renew_webhook_secret",
    summary="Make a webhook's secret anew",
)
def renew_webhook_secret(
    request: KeyRequest, webhook_id: UUID, asked: SecretIn, response: HttpResponse
) -> Status[MadeWebhookOut]:
    """The secret is in this answer and nowhere else."""
    response["Cache-Control"] = "no-store"
    hook, overlap = _hook(request.auth, webhook_id), timedelta(hours=asked.overlap_hours)
    secret = keeping.renew_secret(hook=hook, actor=key_holder(request.auth), overlap=overlap)
    return Status(201, MadeWebhookOut(webhook=WebhookOut.of(hook), secret=secret))


@router.post(
    "/webhooks/{uuid:webhook_id}/test",
    auth=ADMIN,
    response={202: DeliveryOut},
    operation_id="test_webhook",
    summary="Send a ping, which is about nothing",
)
def test_webhook(request: KeyRequest, webhook_id: UUID) -> Status[DeliveryOut]:
    """It is sent within seconds; what came of it is told by its delivery."""
    return Status(202, DeliveryOut.of(keeping.ping(hook=_hook(request.auth, webhook_id))))


@router.get(
    "/webhooks/{uuid:webhook_id}/deliveries",
    auth=ADMIN,
    response=DeliveryPage,
    operation_id="list_deliveries",
    summary="List what a webhook was told, and what it is yet to be",
)
def list_deliveries(
    request: KeyRequest, webhook_id: UUID, asked: Query[DeliveriesAsked]
) -> DeliveryPage:
    rows = deliveries_of(_hook(request.auth, webhook_id))
    if asked.state is not None:
        rows = rows.filter(state=asked.state)
    found, following = page_of(rows, "created_at", asked.after, asked.limit)
    return DeliveryPage(items=[DeliveryOut.of(row) for row in found], next=following)


@router.get(
    "/webhooks/deliveries/{uuid:delivery_id}",
    auth=ADMIN,
    response=DeliveryOut,
    operation_id="read_delivery",
    summary="Read what came of one delivery",
)
def read_delivery(request: KeyRequest, delivery_id: UUID) -> DeliveryOut:
    return DeliveryOut.of(delivery_of(request.auth.owner, delivery_id, request.auth.agent))


@router.post(
    "/webhooks/deliveries/{uuid:delivery_id}/send",
    auth=ADMIN,
    response={202: DeliveryOut},
    operation_id="send_delivery_again",
    summary="Send a delivery again, with the same id",
)
def send_delivery_again(request: KeyRequest, delivery_id: UUID) -> Status[DeliveryOut]:
    delivery = delivery_of(request.auth.owner, delivery_id, request.auth.agent)
    return Status(202, DeliveryOut.of(keeping.send_again(delivery=delivery)))


def _hook(key: ApiKey, webhook_id: UUID) -> Webhook:
    """Raises Http404."""
    return hook_of(key.owner, webhook_id, key.agent)


def _locked(key: ApiKey, webhook_id: UUID) -> Webhook:
    hook = _hook(key, webhook_id)
    list(Webhook.objects.select_for_update(no_key=True).filter(pk=hook.pk).values("pk"))
    return _hook(key, webhook_id)


def _told(hook: WebhookOut, response: HttpResponse) -> WebhookOut:
    response["ETag"] = f'"{hook.version}"'
    return hook


def _refuse_outdated(request: HttpRequest, version: str, current: WebhookOut) -> None:
    seen = seen_in(request, version)
    if seen and seen != current.version:
        raise Outdated(current)
