"""What a delivery says, and its signature, as the Standard Webhooks specification has them.

No secret is stored: each is made of the server's own secret, the hook's id and a number, so that a
copy of the database signs nothing.
"""

import base64
import hmac
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from memory.models import Webhook, WebhookDelivery
from memory.vocabulary import WebhookEvent

MARK = "whsec_"


def shown(hook: Webhook) -> str:
    """The secret as the receiver gets it, once."""
    secret = _secret(hook, hook.secret_number, settings.SECRET_KEY)
    return MARK + base64.b64encode(secret).decode()


def headers(delivery: WebhookDelivery, body: bytes, now: datetime) -> dict[str, str]:
    """The id is the same at each attempt, the time and so the signature are not."""
    at = str(int(now.timestamp()))
    signed = f"{delivery.pk}.{at}.".encode() + body
    signatures = [_signature(secret, signed) for secret in _secrets(delivery.webhook, now)]
    return {
        "content-type": "application/json",
        "webhook-id": str(delivery.pk),
        "webhook-timestamp": at,
        "webhook-signature": " ".join(signatures),
    }


def body(delivery: WebhookDelivery) -> bytes:
    at = delivery.created_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    said = {"type": delivery.event, "timestamp": at, "data": _data(delivery)}
    return json.dumps(said, separators=(",", ":")).encode()


def _data(delivery: WebhookDelivery) -> dict[str, Any]:
    if delivery.event == WebhookDelivery.PING:
        return {}
    if delivery.event == WebhookEvent.CANDIDATE_WAITING:
        return {"candidate": str(delivery.fact_id)}
    data: dict[str, Any] = {"fact": str(delivery.fact_id)}
    if delivery.event == WebhookEvent.FACT_SUPERSEDED:
        data["successor"] = str(delivery.successor_id) if delivery.successor_id else None
    return data


def _secrets(hook: Webhook, now: datetime) -> Iterator[bytes]:
    """The newest first. While a secret is being replaced, or the server's own was, several sign."""
    numbers = [hook.secret_number]
    if hook.old_secret_until is not None and hook.old_secret_until > now:
        numbers.append(hook.secret_number - 1)
    for server in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        for number in numbers:
            yield _secret(hook, number, server)


def _secret(hook: Webhook, number: int, server: str | bytes) -> bytes:
    made = salted_hmac("memory.webhooks", f"{hook.pk}|{number}", secret=server, algorithm="sha256")
    return bytes(made.digest())


def _signature(secret: bytes, signed: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(secret, signed, "sha256")).decode()
