"""Deliveries over real HTTP, by the code of the tasks."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from agents.audit import person
from agents.models import AuditEvent, User
from memory import tasks_webhooks
from memory.models import Webhook, WebhookDelivery
from memory.vocabulary import State, WebhookEvent
from memory.webhooks import deliver, keeping
from tests.factories import FactFactory
from tests.web_server import Asked, Page, WebServer, serving

pytestmark = pytest.mark.django_db
STATEMENT = "The user hides the spare key under the violet flower pot."


@pytest.fixture
def receiver(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    """On 127.0.0.2, the only machine here that may be asked."""
    settings.OUTBOUND_NETWORKS = [ip_network("127.0.0.2/32")]
    monkeypatch.setattr(deliver, "SECONDS_AN_ATTEMPT", 0.5)
    with serving("127.0.0.2") as server:
        server.script("/", Page(b"thanks", 204))
        yield server


def made(owner: User, address: str) -> tuple[Webhook, str]:
    return keeping.add(
        owner=owner,
        agent=None,
        address=address,
        events=WebhookEvent.values,
        actor=person(owner),
    )


def only(hook: Webhook) -> WebhookDelivery:
    return WebhookDelivery.objects.get(webhook=hook)


def is_genuine(asked: Asked, secret: str) -> bool:
    """As the specification has a receiver do it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    said = f"{asked.headers['webhook-id']}.{asked.headers['webhook-timestamp']}.".encode()
    right = hmac.new(key, said + asked.body, hashlib.sha256).digest()
    given = [one.removeprefix("v1,") for one in asked.headers["webhook-signature"].split()]
    return base64.b64encode(right).decode() in given


def later(hook: Webhook, **by: int) -> None:
    """As if so much time had passed for what waits."""
    past = timezone.now() - timedelta(**by)
    WebhookDelivery.objects.filter(webhook=hook, state="waiting").update(next_attempt_at=past)
    Webhook.objects.filter(pk=hook.pk).update(rests_until=None)


def test_what_happens_is_sent_in_order_signed_and_without_text(
    receiver: WebServer, alice: User
) -> None:
    hook, secret = made(alice, receiver.url())
    fact = FactFactory.create(owner=alice, statement=STATEMENT, state=State.ACTIVE)
    new = FactFactory.create(owner=alice, state=State.ACTIVE)
    fact.state, fact.archived_reason, fact.archived_from = "archived", "superseded", "active"
    fact.superseded_by = new
    fact.save()
    assert tasks_webhooks.sweep_webhooks() == 1
    tasks_webhooks.deliver_webhook(str(hook.pk))
    told = [json.loads(asked.body) for asked in receiver.requests]
    assert [(one["type"], one["data"]) for one in told] == [
        ("fact.activated", {"fact": str(fact.pk)}),
        ("fact.activated", {"fact": str(new.pk)}),
        ("fact.superseded", {"fact": str(fact.pk), "successor": str(new.pk)}),
    ]
    assert all(is_genuine(asked, secret) for asked in receiver.requests)
    assert not is_genuine(receiver.requests[0], "whsec_" + base64.b64encode(b"x" * 32).decode())
    assert len({asked.headers["webhook-id"] for asked in receiver.requests}) == 3
    assert "violet" not in str(receiver.requests)
    assert set(WebhookDelivery.objects.values_list("state", "status")) == {("delivered", 204)}
    tasks_webhooks.deliver_webhook(str(hook.pk))
    assert tasks_webhooks.sweep_webhooks() == 0
    assert len(receiver.requests) == 3


@pytest.mark.parametrize(
    ("page", "status", "failure"),
    [
        (Page(status=500, body=b"a secret of the receiver"), 500, "It answered 500."),
        (Page(status=404), 404, "It answered 404."),
        (Page(hangs=True), None, "within 0.5 seconds"),
        (Page(drips=True), None, "within 0.5 seconds"),
    ],
)
def test_what_fails_is_tried_again_with_the_same_id(
    receiver: WebServer, alice: User, page: Page, status: int | None, failure: str
) -> None:
    receiver.script("/", page, Page(status=200))
    hook, secret = made(alice, receiver.url())
    keeping.ping(hook=hook)
    assert not deliver.work(hook.pk)
    row = only(hook)
    assert (row.state, row.attempts, row.status) == ("waiting", 1, status)
    assert failure in row.failure
    assert "secret of the receiver" not in str(WebhookDelivery.objects.values().get())
    assert row.next_attempt_at is not None
    assert row.next_attempt_at > timezone.now() + timedelta(minutes=1)
    hook.refresh_from_db()
    assert hook.failing_since is not None

    assert not deliver.work(hook.pk)  # not yet
    later(hook, seconds=1)
    deliver.work(hook.pk)
    row = only(hook)
    assert (row.state, row.attempts, row.status, row.failure) == ("delivered", 2, 200, "")
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"] == str(row.pk)
    assert first.body == second.body
    assert is_genuine(second, secret)
    hook.refresh_from_db()
    assert hook.failing_since is None


def test_no_redirect_is_followed_and_no_private_machine_asked(
    receiver: WebServer, alice: User, settings: Settings
) -> None:
    with serving("127.0.0.1") as inside:
        receiver.script("/", Page(status=307, headers={"Location": inside.url("/admin")}))
        hook, _ = made(alice, receiver.url())
        keeping.ping(hook=hook)
        deliver.work(hook.pk)
        assert (only(hook).status, only(hook).failure) == (
            307, "It redirects, which is not followed."
        )  # fmt: skip
        with pytest.raises(keeping.HookRefused, match="private network"):
            made(alice, inside.url())
        # A name that led elsewhere when the hook was made.
        Webhook.objects.filter(pk=hook.pk).update(address=inside.url())
        later(hook, seconds=1)
        deliver.work(hook.pk)
        assert "private network" in only(hook).failure
        assert inside.requests == []


def test_after_a_day_it_is_given_up_and_can_be_sent_again(receiver: WebServer, alice: User) -> None:
    receiver.script("/", Page(status=500))
    hook, _ = made(alice, receiver.url())
    keeping.ping(hook=hook)
    waits = []
    for _ in range(len(deliver.DELAYS) + 1):
        later(hook, seconds=1)
        before = timezone.now()
        deliver.work(hook.pk)
        if following := only(hook).next_attempt_at:
            waits.append(round((following - before) / timedelta(minutes=1)))
    assert waits == [2, 10, 30, 60, 180, 360, 720]
    assert (only(hook).state, only(hook).attempts) == ("failed", 8)
    hook.refresh_from_db()
    assert hook.enabled

    receiver.script("/", Page(status=200))
    keeping.send_again(delivery=only(hook))
    deliver.work(hook.pk)
    assert only(hook).state == "delivered"
    assert len({asked.headers["webhook-id"] for asked in receiver.requests}) == 1


@pytest.mark.parametrize(
    ("status", "since", "stopped"),
    [(500, timedelta(days=4), "failing"), (500, timedelta(hours=4), ""), (410, None, "gone")],
)
def test_a_hook_that_gets_nothing_through_is_switched_off(
    receiver: WebServer, alice: User, status: int, since: timedelta | None, stopped: str
) -> None:
    receiver.script("/", Page(status=status))
    hook, _ = made(alice, receiver.url())
    sent = keeping.ping(hook=hook)
    if since:
        WebhookDelivery.objects.filter(pk=sent.pk).update(attempts=len(deliver.DELAYS))
        Webhook.objects.filter(pk=hook.pk).update(failing_since=timezone.now() - since)
    deliver.work(hook.pk)
    hook.refresh_from_db()
    assert only(hook).state == "failed"
    assert (hook.enabled, hook.stopped) == (not stopped, stopped)
    if not stopped:
        return
    line = AuditEvent.objects.filter(table="memory_webhook", row_id=str(hook.pk)).latest("id")
    assert (line.actor, line.reason) == ("policy", f"webhook switched off: {stopped}")
    with pytest.raises(keeping.HookRefused, match="switch it on"):
        keeping.ping(hook=hook)
    FactFactory.create(owner=alice)
    assert deliver.sweep(timezone.now()) == []
    keeping.change(hook=hook, actor=person(alice), enabled=True)
    receiver.script("/", Page(status=200))
    keeping.ping(hook=hook)
    deliver.work(hook.pk)
    assert len(receiver.requests) == 2


def test_a_hook_that_is_down_is_not_asked_for_each_thing_that_waits(
    receiver: WebServer, alice: User
) -> None:
    receiver.script("/", Page(hangs=True))
    hook, _ = made(alice, receiver.url())
    FactFactory.create_batch(5, owner=alice)
    deliver.work(hook.pk)
    assert len(receiver.requests) == 1
    receiver.script("/", Page(status=503))
    Webhook.objects.filter(pk=hook.pk).update(rests_until=None)
    deliver.work(hook.pk)
    assert len(receiver.requests) == 1 + deliver.FAILURES_IN_A_ROW
    assert deliver.sweep(timezone.now()) == []


def test_a_new_secret_and_the_one_before_it_sign_for_a_while(
    receiver: WebServer, alice: User, settings: Settings
) -> None:
    hook, old = made(alice, receiver.url())
    new = keeping.renew_secret(hook=hook, actor=person(alice), overlap=timedelta(hours=1))
    keeping.ping(hook=hook)
    deliver.work(hook.pk)
    newest = keeping.renew_secret(hook=hook, actor=person(alice))
    keeping.ping(hook=hook)
    deliver.work(hook.pk)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "other" * 10, [settings.SECRET_KEY]
    keeping.ping(hook=hook)
    deliver.work(hook.pk)
    right = [[is_genuine(asked, key) for key in (old, new, newest)] for asked in receiver.requests]
    assert right == [[True, True, False], [False, False, True], [False, False, True]]


def test_what_is_old_is_dropped_and_a_removed_hook_leaves_nothing(
    receiver: WebServer, alice: User
) -> None:
    hook, _ = made(alice, receiver.url())
    sent = keeping.ping(hook=hook)
    kept = keeping.ping(hook=hook)
    WebhookDelivery.objects.create(
        owner=alice, webhook=hook, event="ping", created_at=timezone.now() - timedelta(days=31)
    )
    deliver.sweep(timezone.now())
    assert set(WebhookDelivery.objects.values_list("pk", flat=True)) == {sent.pk, kept.pk}
    keeping.remove(hook=hook, actor=person(alice))
    assert not WebhookDelivery.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_send_each_thing_once(receiver: WebServer, alice: User) -> None:
    hook, _ = made(alice, receiver.url())
    FactFactory.create_batch(6, owner=alice)
    ready = threading.Barrier(2)

    def work() -> None:
        try:
            ready.wait()
            deliver.work(hook.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    deliver.work(hook.pk)  # what the one that came second left
    ids = [asked.headers["webhook-id"] for asked in receiver.requests]
    assert len(ids) == 6
    assert ids == sorted(ids)


def test_a_worker_that_died_is_followed_by_another(receiver: WebServer, alice: User) -> None:
    """It may have sent: the next one sends again, with the same id."""
    hook, _ = made(alice, receiver.url())
    sent = keeping.ping(hook=hook)
    soon = timezone.now() + timedelta(seconds=50)
    Webhook.objects.filter(pk=hook.pk).update(busy_until=soon)
    assert deliver.sweep(timezone.now()) == []
    assert not deliver.work(hook.pk)
    assert receiver.requests == []
    assert deliver.sweep(soon + timedelta(seconds=1)) == [hook.pk]
    Webhook.objects.filter(pk=hook.pk).update(busy_until=timezone.now() - timedelta(seconds=1))
    deliver.work(hook.pk)
    assert [asked.headers["webhook-id"] for asked in receiver.requests] == [str(sent.pk)]


def test_only_so_many_hooks_fit(alice: User) -> None:
    for _ in range(keeping.MOST):
        made(alice, "https://93.184.215.14/")
    with pytest.raises(keeping.HookRefused, match="remove one first"):
        made(alice, "https://93.184.215.14/")
    assert Webhook.objects.filter(owner=alice).count() == keeping.MOST
