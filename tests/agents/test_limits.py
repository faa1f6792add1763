"""A key's calls are counted by the minute and by kind, over every process."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from agents.limits import Kind, TooManyCalls, count, kind_of
from agents.models import Agent, ApiKey, CallCount, User
from tests.factories import ApiKeyFactory, IssuedKey

pytestmark = pytest.mark.django_db
NOON = 1_800_000_000  # the first second of a minute


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[int]:
    """Its one number is the time in seconds."""
    settings.API_CALLS_PER_MINUTE = 3
    now = [NOON + 50]
    monkeypatch.setattr("agents.limits.time.time", lambda: now[0])
    return now


def refused(key: ApiKey, kind: Kind) -> TooManyCalls | None:
    try:
        count(key, kind)
    except TooManyCalls as error:
        return error
    return None


def test_the_call_after_the_last_one_is_refused_until_the_next_minute(
    clock: list[int], alice_key: IssuedKey
) -> None:
    assert [refused(alice_key, Kind.READ) for _ in range(3)] == [None] * 3
    error = refused(alice_key, Kind.READ)
    assert error is not None
    assert error.wait == 10
    clock[0] += error.wait
    assert refused(alice_key, Kind.READ) is None
    assert CallCount.objects.get().calls == 1


def test_each_key_and_each_kind_has_its_own_count(
    clock: list[int], alice_key: IssuedKey, bob_key: IssuedKey, agent: Agent
) -> None:
    for _ in range(4):
        refused(alice_key, Kind.READ)
    for key in (alice_key, bob_key, ApiKeyFactory.create(agent=agent)):
        assert refused(key, Kind.WRITE) is None
        assert refused(key, Kind.RECALL) is None
    assert refused(alice_key, Kind.READ) is not None


def test_a_clock_that_lags_behind_opens_no_second_minute(
    clock: list[int], alice_key: IssuedKey
) -> None:
    for _ in range(4):
        refused(alice_key, Kind.READ)
    clock[0] -= 60
    assert refused(alice_key, Kind.READ) is not None


def test_zero_counts_nothing(settings: Any, alice_key: IssuedKey) -> None:
    settings.API_CALLS_PER_MINUTE = 0
    count(alice_key, Kind.READ)
    assert not CallCount.objects.exists()


@pytest.mark.parametrize(
    ("scope", "method", "kind"),
    [
        (ApiKey.Scope.RECALL, "POST", Kind.RECALL),
        (ApiKey.Scope.SEARCH, "POST", Kind.READ),
        (ApiKey.Scope.REVIEW, "GET", Kind.READ),
        (ApiKey.Scope.REVIEW, "POST", Kind.WRITE),
        (ApiKey.Scope.ADMIN, "PATCH", Kind.WRITE),
        (ApiKey.Scope.PROXY, "POST", Kind.CHAT),
    ],
)
def test_what_counts_as_what(scope: str, method: str, kind: Kind) -> None:
    assert kind_of(scope, method) == kind


def test_the_client_is_told_when_to_come_back(
    clock: list[int], alice_key: IssuedKey, api: Callable[[IssuedKey], Client]
) -> None:
    client = api(alice_key)
    assert {client.get("/api/v1/conversations").status_code for _ in range(3)} == {200}
    answer = client.get("/api/v1/conversations")
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_calls")
    assert answer["Retry-After"] == "10"
    assert answer["Content-Type"] == "application/problem+json"


def test_chats_that_pass_through_are_counted_too(
    clock: list[int], alice: User, api: Callable[[IssuedKey], Client], settings: Any
) -> None:
    """And the refusal has the shape that clients of the other server read."""
    settings.UPSTREAM = {"base_url": "http://127.0.0.1:9/v1", "api_key": ""}
    client = api(ApiKeyFactory.create(owner=alice, scopes=["proxy"]))

    def ask() -> Any:
        return client.post("/v1/chat/completions", b"{", content_type="application/json")

    assert {ask().status_code for _ in range(3)} == {400}
    answer = ask()
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (429, "too_many_calls")
    assert "wait 10 s" in error["message"]
    assert answer["Retry-After"] == "10"


def test_a_call_beyond_the_keys_scopes_costs_nothing(
    clock: list[int], alice_key: IssuedKey, api: Callable[[IssuedKey], Client]
) -> None:
    assert api(alice_key).get("/api/v1/export").status_code == 403
    assert not CallCount.objects.exists()


def test_an_address_with_too_many_fields_is_too_large(
    alice_key: IssuedKey, api: Callable[[IssuedKey], Client]
) -> None:
    answer = api(alice_key).get("/api/v1/conversations?" + "x=1&" * 1001)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
