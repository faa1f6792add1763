"""Agents, keys and settings over HTTP: a key hands on no more than it has itself."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents import keys
from agents.models import Agent, ApiKey, AuditEvent, User
from tests.factories import ApiKeyFactory, IssuedKey

pytestmark = pytest.mark.django_db
Api = Callable[[IssuedKey], Client]


@pytest.fixture
def admin(api: Api, alice: User) -> Client:
    return api(ApiKeyFactory.create(owner=alice, scopes=["admin", "search", "recall"]))


@pytest.fixture
def person_admin(api: Api, alice: User) -> Client:
    return api(ApiKeyFactory.create(owner=alice, scopes=["admin", "review"]))


@pytest.fixture
def bound(api: Api, agent: Agent) -> Client:
    return api(ApiKeyFactory.create(agent=agent, scopes=["admin", "search", "review"]))


def send(client: Client, method: str, path: str, **body: Any) -> Any:
    return client.generic(method, f"/api/v1/{path}", json.dumps(body), "application/json")


def test_an_agent_is_made_and_renamed(admin: Client) -> None:
    made = send(admin, "POST", "agents", name="The Garden")
    assert made.status_code == 201
    told = made.json()
    assert (told["slug"], told["reads"], told["is_default"]) == (
        "the-garden", "own_and_global", False
    )  # fmt: skip
    renamed = send(admin, "PATCH", "agents/the-garden", name="Garden", version=told["version"])
    assert renamed.json()["name"] == "Garden"
    stale = send(admin, "PATCH", "agents/the-garden", name="Patio", version=told["version"])
    assert (stale.status_code, stale.json()["code"]) == (409, "stale")
    assert stale.json()["current"]["name"] == "Garden"
    assert [one["slug"] for one in admin.get("/api/v1/agents").json()["items"]] == [
        "main", "the-garden", "work"
    ]  # fmt: skip


def test_agents_are_paged_by_their_short_name(admin: Client) -> None:
    first = admin.get("/api/v1/agents", {"limit": 1}).json()
    rest = admin.get("/api/v1/agents", {"limit": 1, "after": first["next"]}).json()
    assert [one["slug"] for page in (first, rest) for one in page["items"]] == ["main", "work"]
    assert rest["next"] is None


@pytest.mark.parametrize(
    "body",
    [
        {"name": " "},
        {"name": "音楽"},
        {"name": "x", "slug": "A B"},
        {"name": "x", "slug": "main"},
        {"name": "x", "reads": "everything"},
        {"name": "a\u0000"},
    ],
    ids=str,
)
def test_an_unfit_agent_is_not_made(admin: Client, alice: User, body: dict[str, Any]) -> None:
    answer = send(admin, "POST", "agents", **body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert Agent.objects.filter(owner=alice).count() == 2


def test_only_a_person_widens_what_an_agent_reads(
    admin: Client, person_admin: Client, bound: Client, agent: Agent, second_agent: Agent
) -> None:
    for client, slug, change in (
        (admin, "main", {"reads": "all"}),
        (admin, "work", {"is_default": True}),
        (bound, "main", {"reads": "all"}),
        (bound, "main", {"slug": "other"}),
    ):
        answer = send(client, "PATCH", f"agents/{slug}", **change)
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed"), change
    assert send(admin, "PATCH", "agents/work", reads="own").status_code == 200
    assert send(admin, "PATCH", "agents/work", reads="own_and_global").status_code == 403
    unfit = send(person_admin, "PATCH", "agents/work", reads="all")
    assert (unfit.status_code, unfit.json()["code"]) == (422, "invalid")
    assert send(person_admin, "PATCH", "agents/main", reads="all").status_code == 200
    agent.refresh_from_db()
    second_agent.refresh_from_db()
    assert (agent.reads, second_agent.reads) == ("all", "own")


def test_the_default_agent_gives_way_to_another(person_admin: Client, agent: Agent) -> None:
    assert send(person_admin, "PATCH", "agents/main", is_default=False).status_code == 422
    assert send(person_admin, "PATCH", "agents/work", is_default=True).status_code == 200
    agent.refresh_from_db()
    assert not agent.is_default


def test_a_key_is_told_once_and_works(admin: Client, alice: User, agent: Agent) -> None:
    body = {"name": "Laptop", "scopes": ["recall"], "agent": "main"}
    answer = send(admin, "POST", "keys", **body)
    assert answer.status_code == 201
    secret = answer.json()["secret"]
    key = keys.verify(secret)
    assert key is not None
    assert (key.owner, key.agent, key.scopes) == (alice, agent, ["recall"])
    assert secret not in admin.get("/api/v1/keys").content.decode()
    assert secret not in admin.get(f"/api/v1/keys/{key.pk}").content.decode()
    event = AuditEvent.objects.get(row_id=str(key.pk), action="insert")
    assert event.actor.startswith("key:")


def test_a_key_hands_on_no_more_than_it_has(
    api: Api, admin: Client, bound: Client, alice: User
) -> None:
    soon = timezone.now() + timedelta(days=1)
    brief = api(ApiKeyFactory.create(owner=alice, scopes=["admin"], expires_at=soon))
    before = ApiKey.objects.count()
    for client, body in (
        (admin, {"scopes": ["review"]}),
        (admin, {"scopes": ["admin", "forget"]}),
        (brief, {"scopes": ["admin"]}),
        (brief, {"scopes": ["admin"], "expires_at": (soon + timedelta(days=1)).isoformat()}),
    ):
        answer = send(client, "POST", "keys", name="x", **body)
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed"), body
    assert send(bound, "POST", "keys", name="x", scopes=["admin"], agent="work").status_code == 404
    past = send(admin, "POST", "keys", name="x", scopes=["admin"], expires_at="2020-01-01T00:00Z")
    assert (past.status_code, past.json()["code"]) == (422, "invalid")
    assert ApiKey.objects.count() == before
    own = send(bound, "POST", "keys", name="x", scopes=["search"])
    assert own.json()["key"]["agent"] == "main"


def test_a_key_is_rotated_to_one_that_may_do_the_same(
    admin: Client, alice: User, agent: Agent
) -> None:
    soon = timezone.now() + timedelta(days=1)
    old = ApiKeyFactory.create(agent=agent, scopes=["recall"], expires_at=soon)
    answer = send(admin, "POST", f"keys/{old.pk}/rotate")
    assert answer.status_code == 201
    assert answer["Cache-Control"] == "no-store"
    made = keys.verify(answer.json()["secret"])
    assert made is not None
    assert (made.agent, made.scopes, made.expires_at) == (agent, ["recall"], soon)
    assert keys.verify(old.plaintext) is None
    again = send(admin, "POST", f"keys/{old.pk}/rotate")
    assert (again.status_code, again.json()["code"]) == (422, "invalid")


def test_the_old_key_may_go_on_for_some_hours(admin: Client, alice: User) -> None:
    old = ApiKeyFactory.create(owner=alice, scopes=["recall"])
    assert send(admin, "POST", f"keys/{old.pk}/rotate", overlap_hours=2).status_code == 201
    assert keys.verify(old.plaintext) is not None
    old.refresh_from_db()
    assert old.expires_at is not None
    assert timezone.now() < old.expires_at <= timezone.now() + timedelta(hours=2)
    assert send(admin, "POST", f"keys/{old.pk}/rotate", overlap_hours=999).status_code == 422


def test_no_key_is_rotated_that_may_do_more(admin: Client, alice: User) -> None:
    """Its successor would be in the hands of whoever asked."""
    old = ApiKeyFactory.create(owner=alice, scopes=["review"])
    answer = send(admin, "POST", f"keys/{old.pk}/rotate")
    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")
    assert keys.verify(old.plaintext) is not None


def test_a_revoked_key_stops_and_stays_revoked(admin: Client, alice: User) -> None:
    key = ApiKeyFactory.create(owner=alice)
    first = send(admin, "POST", f"keys/{key.pk}/revoke").json()["revoked_at"]
    assert send(admin, "POST", f"keys/{key.pk}/revoke").json()["revoked_at"] == first
    assert keys.verify(key.plaintext) is None


def test_keys_are_paged_and_a_key_of_one_agent_sees_its_agents(
    admin: Client, bound: Client, alice: User, agent: Agent
) -> None:
    other = ApiKeyFactory.create(owner=alice)
    first = admin.get("/api/v1/keys", {"limit": 2}).json()
    ApiKeyFactory.create(owner=alice)
    rest = admin.get("/api/v1/keys", {"limit": 2, "after": first["next"]}).json()
    told = [one["id"] for page in (first, rest) for one in page["items"]]
    assert len(told) == len(set(told)) == 3
    assert told[0] == str(other.pk)
    assert {one["agent"] for one in bound.get("/api/v1/keys").json()["items"]} == {"main"}
    assert bound.get(f"/api/v1/keys/{other.pk}").status_code == 404
    assert send(bound, "POST", f"keys/{other.pk}/revoke").status_code == 404


def test_settings_change_only_where_they_are_named(admin: Client, alice: User) -> None:
    before = admin.get("/api/v1/settings").json()
    assert (before["memory_enabled"], before["memory_on"]) == (None, True)
    answer = send(
        admin, "PATCH", "settings",
        time_zone="Europe/Oslo", memory_enabled=False, version=before["version"],
    )  # fmt: skip
    told = answer.json()
    assert (told["time_zone"], told["memory_on"]) == ("Europe/Oslo", False)
    assert told["event_confidence"] == 0.8
    cleared = send(admin, "PATCH", "settings", event_confidence=None, cap_global=5).json()
    assert (cleared["event_confidence"], cleared["cap_global"]) == (None, 5)
    assert cleared["time_zone"] == "Europe/Oslo"
    stale = send(admin, "PATCH", "settings", cap_global=6, version=before["version"])
    assert (stale.status_code, stale.json()["current"]["cap_global"]) == (409, 5)
    event = AuditEvent.objects.filter(table="agents_ownersettings").order_by("-id").first()
    assert event is not None
    assert event.actor.startswith("key:")


def test_only_a_person_lets_memory_do_more(
    admin: Client, person_admin: Client, alice: User
) -> None:
    """Any program that looks after the account may make it do less."""

    def set_to(client: Client, **wanted: Any) -> int:
        status: int = send(client, "PATCH", "settings", **wanted).status_code
        return status

    assert set_to(admin, event_confidence=0.9) == 200
    assert set_to(admin, event_confidence=0.9, memory_enabled=False) == 200
    for wider in ({"event_confidence": 0.85}, {"memory_enabled": True}, {"memory_enabled": None}):
        answer = send(admin, "PATCH", "settings", cap_global=5, **wider)
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed"), wider
    assert set_to(admin, event_confidence=None) == 200
    assert set_to(admin, event_confidence=1.0) == 403
    alice.settings.refresh_from_db()
    assert (alice.settings.memory_enabled, alice.settings.cap_global) == (False, None)
    assert set_to(person_admin, event_confidence=0.8, memory_enabled=True) == 200


@pytest.mark.parametrize(
    "body",
    [
        {"time_zone": "Mars"},
        {"language": "xx"},
        {"time_zone": None},
        {"cap_global": 0},
        {"recall_budget": 10},
        {"event_confidence": 0.5},
        {"memory_enabled": "perhaps"},
        {"password": "x"},
    ],
    ids=str,
)
def test_unfit_settings_change_nothing(admin: Client, alice: User, body: dict[str, Any]) -> None:
    answer = send(admin, "PATCH", "settings", **body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    alice.settings.refresh_from_db()
    assert (alice.settings.time_zone, alice.settings.cap_global) == ("UTC", None)
