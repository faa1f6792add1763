from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.factories import IssuedKey

# The test client's answers have more methods than their type names.
Answer = Any
Send = Callable[..., Answer]


def message(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A message as a client sends it."""
    return {
        "id": f"m{number}",
        "role": "user",
        "content": f"I have {number} bicycles.",
        "sent_at": f"2026-03-02T09:{number:02}:00+02:00",
    } | changes


@pytest.fixture
def client_of_alice(api: Callable[[IssuedKey], Client], alice_key: IssuedKey) -> Client:
    return api(alice_key)


@pytest.fixture
def send(client_of_alice: Client) -> Send:
    """`send(*messages, to="c1", read_only=True)`: Alice's assistant stores a batch."""

    def post(*messages: dict[str, Any], to: str = "c1", **batch: Any) -> Answer:
        return client_of_alice.post(
            f"/api/v1/conversations/{to}/messages",
            {"messages": list(messages)} | batch,
            content_type="application/json",
        )

    return post
