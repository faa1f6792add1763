from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth import get_user
from django.db import connection
from django.test import Client
from django.utils import timezone

from agents import accounts, signin
from agents.audit import command
from agents.models import Agent, AuditEvent, OwnerSettings, SignInToken, User
from tests.factories import UserFactory


def url(token: str) -> str:
    return f"/sign-in/{token}"


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_looking_at_the_link_neither_signs_in_nor_uses_it_up(client: Client, alice: User) -> None:
    token = signin.issue(user=alice)
    for _ in range(2):
        page = client.get(url(token))
        assert page.status_code == 200
        assert b"Sign in to Remembrancer" in page.content
    assert not signed_in(client)
    assert client.post(url(token)).status_code == 302


def test_the_button_signs_in_and_leads_to_the_queue(client: Client, alice: User) -> None:
    answer = client.post(url(signin.issue(user=alice)))
    assert answer["Location"] == "/review/"
    assert client.session["_auth_user_id"] == str(alice.pk)


def test_a_link_works_once(client: Client, alice: User) -> None:
    token = signin.issue(user=alice)
    client.post(url(token))
    second = Client()
    for answer in (second.get(url(token)), second.post(url(token))):
        assert answer.status_code == 410
        assert b"no longer works" in answer.content
        assert b"manage.py signin" in answer.content
    assert not signed_in(second)


def test_a_link_ends_after_ten_minutes(client: Client, alice: User) -> None:
    token = signin.issue(user=alice)
    row = SignInToken.objects.get()
    assert timedelta(minutes=9) < row.expires_at - timezone.now() <= timedelta(minutes=10)
    SignInToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.get(url(token)).status_code == 410
    assert client.post(url(token)).status_code == 410
    assert not signed_in(client)


def test_an_unknown_token_looks_like_a_used_one(client: Client, alice: User) -> None:
    assert client.post(url("x" * 43)).status_code == 410


def test_a_closed_account_is_not_let_in(client: Client, alice: User) -> None:
    token = signin.issue(user=alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert client.post(url(token)).status_code == 410
    assert not signed_in(client)


def test_the_button_needs_the_pages_own_token(alice: User) -> None:
    token = signin.issue(user=alice)
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(url(token)).status_code == 403
    strict.get(url(token))
    csrf = strict.cookies["remembrancer_csrf"].value
    assert strict.post(url(token), {"csrfmiddlewaretoken": csrf}).status_code == 302


def test_the_table_holds_nothing_that_lets_one_in(alice: User) -> None:
    token = signin.issue(user=alice)
    stored = SignInToken.objects.get().digest
    assert token not in stored
    assert signin.consume(token=stored) is None


@pytest.mark.django_db(transaction=True)
def test_of_two_at_the_same_time_one_is_let_in() -> None:
    token = signin.issue(user=UserFactory.create())

    def consume(_: int) -> User | None:
        try:
            return signin.consume(token=token)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        let_in = [user for user in threads.map(consume, range(4)) if user is not None]
    assert len(let_in) == 1


def test_signing_in_with_a_password_works_too(client: Client, alice: User) -> None:
    alice.set_password("correct horse battery")
    alice.save()
    form = {"username": alice.username, "password": "correct horse battery"}
    assert client.post("/accounts/login/", {**form, "password": "wrong"}).status_code == 200
    assert not signed_in(client)
    assert client.post("/accounts/login/", form)["Location"] == "/review/"
    client.post("/accounts/logout/")
    assert get_user(client).is_anonymous


def test_an_owner_comes_with_settings_and_a_default_agent(db: None) -> None:
    owner = accounts.create_owner(username="new", actor=command("test"), reason="because")
    assert OwnerSettings.objects.get(owner=owner).memory_enabled is None
    assert Agent.objects.get(owner=owner).is_default
    assert not owner.has_usable_password()
    assert not owner.is_superuser
    trail = AuditEvent.objects.filter(owner_id=owner.pk)
    assert {(event.actor, event.reason) for event in trail} == {("command:test", "because")}


def test_the_first_owner_is_made_once_and_runs_the_server(db: None) -> None:
    first = accounts.first_owner(actor=command("test"), time_zone="Europe/Helsinki")
    assert first == accounts.first_owner(actor=command("test"))
    assert first.username == "owner"
    assert first.is_superuser
    assert OwnerSettings.objects.get(owner=first).time_zone == "Europe/Helsinki"
