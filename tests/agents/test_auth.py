from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from agents import keys
from agents.audit import person
from agents.models import ApiKey, User
from tests.factories import ApiKeyFactory, ConversationFactory, IssuedKey

pytestmark = pytest.mark.django_db

URL = "/api/v1/conversations"


def _status(authorization: str | None) -> int:
    headers = {} if authorization is None else {"authorization": authorization}
    return Client(headers=headers).get(URL).status_code


def test_a_key_opens_what_its_scopes_name(
    api: Callable[[IssuedKey], Client], alice_key: IssuedKey
) -> None:
    assert api(alice_key).get(URL).status_code == 200


def test_without_a_good_key_nothing_opens(alice: User, alice_key: IssuedKey) -> None:
    good = alice_key.plaintext
    assert _status(f"Bearer {good}") == 200
    assert _status(f"bearer {good}") == 200
    for bad in (
        None,
        "",
        good,
        f"Basic {good}",
        "Bearer",
        f"Bearer {good[:-1]}",
        f"Bearer  {good}",
    ):
        assert _status(bad) == 401, bad
    keys.revoke(key=alice_key, actor=person(alice))
    assert _status(f"Bearer {good}") == 401


def test_an_expired_key_opens_nothing(alice_key: IssuedKey) -> None:
    past = timezone.now() - timedelta(seconds=1)
    ApiKey.objects.filter(pk=alice_key.pk).update(expires_at=past)
    assert _status(f"Bearer {alice_key.plaintext}") == 401


def test_the_refusal_says_how_to_authenticate() -> None:
    answer = Client().get(URL)
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "unauthenticated"


def test_a_missing_scope_is_named(api: Callable[[IssuedKey], Client], alice: User) -> None:
    answer = api(ApiKeyFactory.create(owner=alice, scopes=["review"])).get(URL)
    assert answer.status_code == 403
    assert answer.json()["code"] == "scope_missing"
    assert answer.json()["detail"] == "This key lacks the scope search."


def test_a_session_does_not_authenticate(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    assert client.get(URL).status_code == 401


def test_the_key_counts_and_not_the_session(
    api: Callable[[IssuedKey], Client], alice: User, bob: User, alice_key: IssuedKey
) -> None:
    ConversationFactory.create(owner=bob, agent=bob.agents.get(slug="main"), title="Bob's")
    ConversationFactory.create(owner=alice, agent=alice.agents.get(slug="main"), title="Alice's")
    client = api(alice_key)
    client.force_login(bob)
    answer = client.get(URL)
    assert [item["title"] for item in answer.json()["items"]] == ["Alice's"]
