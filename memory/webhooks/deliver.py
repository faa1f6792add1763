"""Sends what waits, hook by hook. At least once: a worker that dies after it sent and before it
wrote that down is followed by one that sends again, with the same id.

One worker at a time is at a hook, and goes through what is due in the order in which it happened.
What failed is tried again later, so that it may come after younger ones.
"""

import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from agents import outbound
from agents.audit import POLICY, acting
from agents.models import User
from memory.models import Webhook, WebhookDelivery
from memory.webhooks import signing

# After that many minutes each; then it is given up: about a day in all.
DELAYS = [timedelta(minutes=minutes) for minutes in (2, 10, 30, 60, 180, 360, 720)]
# A hook that can't be reached is left alone so long, whatever else waits for it.
REST = timedelta(minutes=2)
FAILURES_IN_A_ROW = 3
# A hook for which nothing went well for so long is switched off with the next one that is given up.
PATIENCE = timedelta(days=3)
KEPT = timedelta(days=30)
SECONDS_AN_ATTEMPT = 10
# A worker stops taking up more after the one, and is taken for dead after the other.
SECONDS_A_RUN = 60
LEASE = timedelta(seconds=2 * SECONDS_A_RUN)
GONE = 410

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`failure`: empty where it went well. `away`: it gave no answer at all."""

    status: int | None = None
    failure: str = ""
    away: bool = False


def sweep(now: datetime) -> list[UUID]:
    """The hooks with something to send. Drops what is old."""
    WebhookDelivery.objects.filter(created_at__lt=now - KEPT).delete()
    return list(_ready(now).values_list("pk", flat=True))


def work(hook_id: UUID) -> bool:
    """Sends what is due for one hook. Whether more is."""
    until = timezone.now() + LEASE
    if not _free(timezone.now()).filter(pk=hook_id).update(busy_until=until):
        return False
    try:
        _send_all(hook_id, time.monotonic() + SECONDS_A_RUN)
    finally:
        Webhook.objects.filter(pk=hook_id, busy_until=until).update(busy_until=None)
    return _ready(timezone.now()).filter(pk=hook_id).exists()


def _send_all(hook_id: UUID, end: float) -> None:
    failures = 0
    while time.monotonic() < end and (delivery := _next(hook_id)) is not None:
        outcome = attempt(delivery, timezone.now())
        _write(delivery, outcome, timezone.now())
        failures = failures + 1 if outcome.failure else 0
        if outcome.away or failures == FAILURES_IN_A_ROW:
            rests = timezone.now() + REST
            Webhook.objects.filter(pk=hook_id).update(rests_until=rests)
            return


def _ready(now: datetime) -> QuerySet[Webhook]:
    return _free(now).filter(Exists(_due(now, webhook=OuterRef("pk"))))


def _free(now: datetime) -> QuerySet[Webhook]:
    free = Q(busy_until__isnull=True) | Q(busy_until__lte=now)
    rested = Q(rests_until__isnull=True) | Q(rests_until__lte=now)
    # No join: a guarded update of joined rows looks them up first, and whoever comes second is
    # let in by what they were then.
    owners = User.objects.filter(is_active=True)
    return Webhook.objects.filter(free, rested, enabled=True, owner__in=owners)


def _due(now: datetime, **of: Any) -> QuerySet[WebhookDelivery]:
    waiting = WebhookDelivery.State.WAITING
    return WebhookDelivery.objects.filter(state=waiting, next_attempt_at__lte=now, **of)


def _next(hook_id: UUID) -> WebhookDelivery | None:
    """With the hook as it is by now: it may have been changed or switched off."""
    rows = _due(timezone.now(), webhook=hook_id, webhook__enabled=True)
    return rows.select_related("webhook").order_by("pk").first()


def attempt(delivery: WebhookDelivery, now: datetime) -> Outcome:
    body = signing.body(delivery)
    try:
        answer = outbound.fetch(
            delivery.webhook.address,
            method="POST",
            headers=signing.headers(delivery, body, now),
            content=body,
            timeout=SECONDS_AN_ATTEMPT,
            most_bytes=None,
            follow=0,
        )
    except outbound.Refused as refusal:
        return Outcome(failure=str(refusal), away=True)
    if 200 <= answer.status < 300:
        return Outcome(answer.status)
    if 300 <= answer.status < 400:
        return Outcome(answer.status, "It redirects, which is not followed.")
    return Outcome(answer.status, f"It answered {answer.status}.")


def _write(delivery: WebhookDelivery, outcome: Outcome, now: datetime) -> None:
    state, following = WebhookDelivery.State.DELIVERED, None
    if outcome.failure:
        given_up = delivery.attempts >= len(DELAYS) or outcome.status == GONE
        state = WebhookDelivery.State.FAILED if given_up else WebhookDelivery.State.WAITING
        following = None if given_up else now + DELAYS[delivery.attempts]
    hook = Webhook.objects.filter(pk=delivery.webhook_id)
    if outcome.failure:
        hook.update(failing_since=Coalesce(F("failing_since"), now))
    else:
        hook.filter(failing_since__isnull=False).update(failing_since=None, rests_until=None)
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        state=state,
        attempts=F("attempts") + 1,
        next_attempt_at=following,
        status=outcome.status,
        failure=outcome.failure,
        ended_at=None if following else now,
    )
    if outcome.status == GONE:
        _stop(hook, Webhook.Stopped.GONE)
    elif state == WebhookDelivery.State.FAILED:
        _stop(hook.filter(failing_since__lte=now - PATIENCE), Webhook.Stopped.FAILING)


def _stop(hooks: QuerySet[Webhook], why: Webhook.Stopped) -> None:
    with acting(POLICY, f"webhook switched off: {why.value}"):
        stopped = hooks.filter(enabled=True).update(enabled=False, stopped=why)
    if stopped:
        log.warning("a webhook was switched off (%s)", why.value)
