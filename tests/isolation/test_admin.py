"""The admin in the hands of staff who are no superusers, whatever permissions they were given."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from agents.models import Agent, ApiKey, AuditEvent, OwnerSettings, SignInToken, User
from memory.models import BulkJob, Fact
from memory.vocabulary import State
from tests.isolation.household import SHARED, Household

AsUser = Callable[[User], Client]
OURS = {
    model: model_admin
    for model, model_admin in admin.site._registry.items()
    if model._meta.app_label in {"agents", "conversations", "memory", "knowledge"}
}


def staff(owner: User) -> None:
    owner.is_staff = True
    owner.save()
    owner.user_permissions.set(Permission.objects.all())


def url(model: Any, name: str, *arguments: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=arguments)


def text_of(answer: Any) -> str:
    assert isinstance(answer, HttpResponse)
    return answer.content.decode() + str(answer.headers)


def rows_of(home: Household, model: Any) -> list[Any]:
    field = getattr(OURS[model], "owner_field", "pk")
    if not field:
        return []
    return list(model._default_manager.filter(**{field: home.owner.pk}))


@pytest.fixture
def both(hers: Household, his: Household) -> None:
    for home in (hers, his):
        staff(home.owner)


@pytest.mark.usefixtures("both")
def test_every_list_holds_ones_own_rows_only(
    hers: Household, his: Household, as_user: AsUser
) -> None:
    for model in OURS:
        place = url(model, "changelist")
        for me, other in ((hers, his), (his, hers)):
            client = as_user(me.owner)
            answer = client.get(place)
            assert answer.context["cl"].result_count == len(rows_of(me, model)), model
            assert other.mark not in text_of(answer), model
            for words in (SHARED, str(other.facts["active"].pk)):
                answer = client.get(place, {"q": words})
                assert answer.status_code == 200, model
                assert other.mark not in text_of(answer), model
    assert hers.mark in text_of(as_user(hers.owner).get(url(Fact, "changelist"), {"q": SHARED}))


@pytest.mark.usefixtures("both")
def test_no_row_of_another_opens(hers: Household, his: Household, as_user: AsUser) -> None:
    client, opened = as_user(his.owner), 0
    for model in OURS:
        for row in rows_of(hers, model)[:3]:
            for name in ("change", "delete", "history"):
                answer = client.get(url(model, name, row.pk), follow=True)
                assert hers.mark not in text_of(answer), (model, name)
                assert answer.redirect_chain or answer.status_code in {403, 404}, (model, name)
            opened += as_user(hers.owner).get(url(model, "change", row.pk)).status_code == 200
    assert opened > len(OURS)


@pytest.mark.usefixtures("both")
def test_no_action_reaches_another(hers: Household, his: Household, as_user: AsUser) -> None:
    client, fact = as_user(his.owner), hers.facts["other"]
    before = AuditEvent.objects.filter(owner_id=hers.owner.pk).count()
    for name, chosen in (("pending", "confirm"), ("active", "archive"), ("rejected", "reconsider")):
        ids = [str(hers.facts[name].pk)]
        for more in ({}, {"select_across": "1"}):
            data = {"action": chosen, "_selected_action": ids} | more
            answer = client.post(url(Fact, "changelist"), data, follow=True)
            assert hers.mark not in text_of(answer)
    client.post(
        url(ApiKey, "changelist"), {"action": "revoke", "_selected_action": [str(hers.key.pk)]}
    )
    assert AuditEvent.objects.filter(owner_id=hers.owner.pk).count() == before

    data = {"action": "confirm", "_selected_action": [str(fact.pk)]}
    as_user(hers.owner).post(url(Fact, "changelist"), data)
    job = BulkJob.objects.get(owner=hers.owner)
    client.post(url(BulkJob, "start", job.pk))
    fact.refresh_from_db()
    assert fact.state == State.PENDING
    as_user(hers.owner).post(url(BulkJob, "start", job.pk))
    fact.refresh_from_db()
    assert fact.state == State.ACTIVE


@pytest.mark.usefixtures("both")
def test_nothing_of_another_is_changed(hers: Household, his: Household, as_user: AsUser) -> None:
    client = as_user(his.owner)
    before = AuditEvent.objects.filter(owner_id=hers.owner.pk).count()
    renamed = {"name": "Taken", "slug": "main", "reads": "own", "is_default": "on"}
    client.post(url(Agent, "change", hers.main.pk), renamed)
    client.post(url(OwnerSettings, "change", hers.owner.pk), {"time_zone": "Asia/Tokyo"})
    client.post(url(User, "change", hers.owner.pk), {"username": "taken", "is_superuser": "on"})
    password = {"password1": "a long new one 77", "password2": "a long new one 77"}
    place = reverse("admin:auth_user_password_change", args=[hers.owner.pk])
    client.post(place, password | {"usable_password": "true"})
    hers.owner.refresh_from_db()
    assert (hers.owner.username, hers.owner.password) == ("alicewort", "!")
    assert AuditEvent.objects.filter(owner_id=hers.owner.pk).count() == before
    as_user(hers.owner).post(url(Agent, "change", hers.main.pk), renamed)
    hers.main.refresh_from_db()
    assert hers.main.name == "Taken"


@pytest.mark.usefixtures("both")
def test_nothing_is_made_for_another(hers: Household, his: Household, as_user: AsUser) -> None:
    def add(owner: User) -> Any:
        data = {"owner": str(owner.pk), "name": "New", "slug": "new", "reads": "own"}
        return as_user(his.owner).post(url(Agent, "add"), data)

    answer = add(hers.owner)
    assert not Agent.objects.filter(owner=hers.owner, slug="new").exists()
    assert answer.status_code in {200, 403}
    add(his.owner)
    assert Agent.objects.filter(owner=his.owner, slug="new").exists()


@pytest.mark.usefixtures("both")
def test_nobody_is_offered_by_name(hers: Household, his: Household, as_user: AsUser) -> None:
    asked = {"app_label": "agents", "model_name": "agent", "field_name": "owner", "term": "e"}
    told = as_user(his.owner).get(reverse("admin:autocomplete"), asked).content.decode()
    assert "bobweed" in told
    assert "alicewort" not in told


@pytest.mark.usefixtures("both")
def test_no_secret_is_shown_even_to_its_owner(hers: Household, as_user: AsUser) -> None:
    from agents import signin

    token = signin.issue(user=hers.owner)
    digest = SignInToken.objects.get(user=hers.owner).digest
    client = as_user(hers.owner)
    pages = [
        client.get(url(SignInToken, "changelist")),
        client.get(url(ApiKey, "changelist")),
        client.get(url(ApiKey, "change", hers.key.pk)),
    ]
    for answer in pages:
        told = text_of(answer)
        assert hers.key.digest not in told
        assert hers.key.plaintext not in told
        assert token not in told
        assert digest not in text_of(client.get(url(ApiKey, "changelist")))


def test_who_is_no_staff_is_not_let_in(hers: Household, as_user: AsUser, client: Client) -> None:
    for model in OURS:
        for somebody in (as_user(hers.owner), client):
            answer = somebody.get(url(model, "changelist"))
            assert answer.status_code == 302, model
            assert answer["Location"].startswith(reverse("admin:login")), model
