from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client

    from agents.models import User


@pytest.fixture
def alices(client: "Client", alice: "User") -> "Client":
    """Alice's browser, signed in."""
    client.force_login(alice)
    return client
