"""Two owners who own the same kinds of things, and somebody who owns nothing."""

from collections.abc import Callable

import pytest
from django.test import Client

from agents.models import User
from tests.isolation.household import Household, household


@pytest.fixture
def hers(db: None) -> Household:
    return household("Alicewort")


@pytest.fixture
def his(db: None) -> Household:
    return household("Bobweed")


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    def client(user: User) -> Client:
        signed_in = Client()
        signed_in.force_login(user)
        return signed_in

    return client
