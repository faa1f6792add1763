"""Webhooks by API and by page, and the snippet of the documentation."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.audit import person
from agents.models import Agent, AuditEvent, User
from memory.models import Webhook, WebhookDelivery
from memory.purge.account import close_account
from memory.webhooks import keeping, signing
from tests.factories import ApiKeyFactory, IssuedKey

pytestmark = pytest.mark.django_db
Api = Callable[[IssuedKey], Client]
ADDRESS = "https://93.184.215.14/hook"
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def admin(api: Api, alice: User) -> Client:
    return api(ApiKeyFactory.create(owner=alice, scopes=["admin"]))


@pytest.fixture
def desk(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def send(client: Client, method: str, path: str, **body: Any) -> Any:
    return client.generic(method, f"/api/v1/{path}", json.dumps(body), "application/json")


def a_hook(owner: User, agent: Agent | None = None) -> Webhook:
    return Webhook.objects.create(
        owner=owner, agent=agent, address=ADDRESS, events=["fact.activated"]
    )


def test_a_hook_is_made_changed_and_removed(admin: Client, agent: Agent) -> None:
    made = send(admin, "POST", "webhooks", address=ADDRESS, events=["fact.purged"], agent="main")
    assert (made.status_code, made["Cache-Control"]) == (201, "no-store")
    told, secret = made.json()["webhook"], made.json()["secret"]
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
    assert (told["agent"], told["enabled"], told["stopped"]) == ("main", True, "")
    place = f"webhooks/{told['id']}"
    read = admin.get(f"/api/v1/{place}")
    assert (read.json(), read["ETag"]) == (told, f'"{told["version"]}"')
    assert secret not in read.content.decode()

    changed = send(admin, "PATCH", place, enabled=False, version=told["version"])
    assert (changed.json()["enabled"], changed.json()["address"]) == (False, ADDRESS)
    stale = send(admin, "PATCH", place, enabled=True, version=told["version"])
    assert (stale.status_code, stale.json()["current"]["enabled"]) == (409, False)
    off = send(admin, "POST", f"{place}/test")
    assert (off.status_code, off.json()["detail"]) == (
        422, "The webhook is off; switch it on first."
    )  # fmt: skip
    renewed = send(admin, "POST", f"{place}/secret", overlap_hours=1).json()
    assert renewed["secret"] != secret
    assert renewed["webhook"]["old_secret_until"]
    assert send(admin, "DELETE", place).status_code == 204
    assert admin.get("/api/v1/webhooks").json() == {"items": []}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"address": "http://127.0.0.1:8000/"}, "private network"),
        ({"address": "https://localhost/"}, "private network"),
        ({"address": "https://user:pw@93.184.215.14/"}, "user name"),
        ({"address": "mailto:me@example.org"}, "begins with"),
        ({"address": ""}, "at least 1 character"),
        ({"events": []}, "at least 1 item"),
        ({"events": ["fact.forgotten"]}, "events"),
        ({"secret": "mine"}, "not permitted"),
    ],
    ids=str,
)
def test_an_unfit_hook_is_not_made(admin: Client, body: dict[str, Any], said: str) -> None:
    answer = send(
        admin, "POST", "webhooks", **({"address": ADDRESS, "events": ["fact.purged"]} | body)
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert said in answer.json()["detail"]
    assert not Webhook.objects.exists()


def test_a_change_leaves_alone_what_it_does_not_name(alice: User) -> None:
    seen = a_hook(alice)
    Webhook.objects.filter(pk=seen.pk).update(enabled=False, stopped="gone")
    keeping.change(hook=seen, events=["fact.purged"], actor=person(alice))
    hook = Webhook.objects.get(pk=seen.pk)
    assert (hook.events, hook.enabled, hook.stopped) == (["fact.purged"], False, "gone")


def test_deliveries_are_listed_and_sent_again(admin: Client, alice: User) -> None:
    hook = a_hook(alice)
    first, second = (send(admin, "POST", f"webhooks/{hook.pk}/test").json()["id"] for _ in range(2))
    WebhookDelivery.objects.filter(pk=first).update(
        state="failed", next_attempt_at=None, attempts=8, status=500, failure="It answered 500."
    )
    place = f"/api/v1/webhooks/{hook.pk}/deliveries"
    page = admin.get(place, {"limit": 1}).json()
    rest = admin.get(place, {"limit": 1, "after": page["next"]}).json()
    assert [one["id"] for one in page["items"] + rest["items"]] == [second, first]
    [failed] = admin.get(place, {"state": "failed"}).json()["items"]
    assert (failed["status"], failed["failure"], failed["fact"]) == (500, "It answered 500.", None)
    again = send(admin, "POST", f"webhooks/deliveries/{first}/send")
    assert (again.status_code, again.json()["state"], again.json()["attempts"]) == (
        202, "waiting", 0
    )  # fmt: skip
    assert admin.get(f"/api/v1/webhooks/deliveries/{first}").json() == again.json()


def test_a_key_of_one_agent_keeps_to_its_hooks(api: Api, alice: User, agent: Agent) -> None:
    whole = a_hook(alice)
    key = api(ApiKeyFactory.create(agent=agent, scopes=["admin"]))
    made = send(key, "POST", "webhooks", address=ADDRESS, events=["fact.purged"]).json()["webhook"]
    assert made["agent"] == "main"
    assert [one["id"] for one in key.get("/api/v1/webhooks").json()["items"]] == [made["id"]]
    assert key.get(f"/api/v1/webhooks/{whole.pk}").status_code == 404
    other = send(key, "POST", "webhooks", address=ADDRESS, events=["fact.purged"], agent="work")
    assert other.status_code == 404


def test_the_pages_make_a_hook_show_its_secret_once_and_what_it_was_told(
    desk: Client, alice: User
) -> None:
    refused = desk.post(
        reverse("webhooks"), {"address": "http://10.0.0.1/", "events": "fact.purged"}
    )
    assert refused.status_code == 422
    assert "private network" in refused.content.decode()
    made = desk.post(reverse("webhooks"), {"address": ADDRESS, "events": "fact.purged"})
    hook = Webhook.objects.get(owner=alice)
    secret = signing.shown(hook)
    assert f'<pre id="new-secret">{secret}</pre>' in made.content.decode()
    place = reverse("webhook", args=[hook.pk])
    assert secret not in desk.get(place).content.decode()
    Webhook.objects.filter(pk=hook.pk).update(failing_since=timezone.now())
    WebhookDelivery.objects.create(
        owner=alice, webhook=hook, event="ping", state="failed", attempts=8,
        next_attempt_at=None, failure="It answered 500.",
    )  # fmt: skip
    page = desk.get(place).content.decode()
    assert "It answered 500." in page
    assert "failing for" in page
    desk.post(reverse("webhook-send-again", args=[WebhookDelivery.objects.get().pk]))
    assert WebhookDelivery.objects.get().state == "waiting"
    Webhook.objects.filter(pk=hook.pk).update(enabled=False, stopped="failing")
    assert "It was switched off: it failed for days" in desk.get(place).content.decode()
    desk.post(reverse("webhook-switch", args=[hook.pk]), {"on": "yes"})
    hook.refresh_from_db()
    assert (hook.enabled, hook.stopped, hook.failing_since) == (True, "", None)


def test_the_number_of_queries_does_not_follow_the_number_of_hooks(
    desk: Client, alice: User, agent: Agent, django_assert_max_num_queries: Any
) -> None:
    for _ in range(8):
        a_hook(alice, agent)
    with django_assert_max_num_queries(9):
        assert desk.get(reverse("webhooks")).status_code == 200


def test_an_account_that_is_closed_tells_nobody_any_more(alice: User, bob: User) -> None:
    a_hook(alice)
    kept = a_hook(bob)
    close_account(owner=alice, actor=person(alice))
    assert list(Webhook.objects.all()) == [kept]
    trail = AuditEvent.objects.filter(owner_id=alice.pk, table="memory_webhook")
    assert trail.count() == 2
    assert ADDRESS not in str(list(trail.values("before", "after")))


def test_the_documented_check_knows_what_is_genuine(alice: User) -> None:
    [snippet] = re.findall(r"```python\n(.*?)```", (DOCS / "webhooks.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(snippet, names)  # noqa: S102
    is_genuine = names["is_genuine"]
    hook = a_hook(alice)
    delivery = WebhookDelivery.objects.create(owner=alice, webhook=hook, event="ping")
    body = signing.body(delivery)
    headers = signing.headers(delivery, body, timezone.now())
    secret = signing.shown(hook)
    assert is_genuine(secret, headers, body)
    assert is_genuine(
        secret, headers | {"webhook-signature": f"v1,x {headers['webhook-signature']}"}, body
    )
    old = str(int(time.time()) - 301)
    for wrong in (
        (secret, headers, body + b" "),
        (signing.shown(a_hook(alice)), headers, body),
        (secret, headers | {"webhook-id": "another"}, body),
        (secret, headers | {"webhook-timestamp": old}, body),
        (secret, headers | {"webhook-timestamp": "soon"}, body),
        (secret, {}, body),
    ):
        assert not is_genuine(*wrong), wrong
