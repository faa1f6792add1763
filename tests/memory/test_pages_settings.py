"""The owner's switch and clock, and the keys of assistants."""

from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from django.urls import reverse

from agents.models import ApiKey, AuditEvent
from memory.vocabulary import State
from tests.factories import MONDAY, ApiKeyFactory, FactFactory
from tests.memory.candidates import candidate
from tests.memory.pages import text

if TYPE_CHECKING:
    pass

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("choice", "stored"), [("on", True), ("off", False), ("follow", None)])
def test_the_switch_and_the_clock_hold_at_once_and_are_on_record(alices, alice, choice, stored):
    data = {"memory": choice, "time_zone": "Pacific/Auckland"}
    data["events"] = "0.8"
    page = alices.post(reverse("preferences"), data, follow=True).content.decode()
    assert f"<strong>{'off' if choice == 'off' else 'on'}</strong>" in "".join(page.split())
    alice.settings.refresh_from_db()
    assert alice.settings.memory_enabled is stored
    event = AuditEvent.objects.filter(owner_id=alice.pk, table="agents_ownersettings").first()
    assert event is not None
    assert event.actor == f"person:{alice.pk}"


def test_times_are_told_on_the_owners_clock(alices, alice, agent):
    alice.settings.time_zone = "Pacific/Auckland"
    alice.settings.save()
    fact = candidate(agent, "The user keeps bees.", observed_at=MONDAY + timedelta(hours=12))
    assert "3 March 2026, 10:00" in text(alices, "fact", fact.pk)


def test_limits_and_thresholds_are_kept_and_can_be_taken_away(alices, alice):
    data = {"memory": "on", "time_zone": "UTC", "events": "0.95", "recall_budget": "800"}
    alices.post(reverse("preferences"), data | {"cap_per_agent": "20", "cap_global": "5"})
    row = alice.settings
    row.refresh_from_db()
    assert (row.event_confidence, row.recall_budget) == (0.95, 800)
    assert (row.cap_per_agent, row.cap_global) == (20, 5)
    alices.post(reverse("preferences"), data | {"events": "", "recall_budget": ""})
    row.refresh_from_db()
    assert (row.event_confidence, row.recall_budget) == (None, None)
    assert (row.cap_per_agent, row.cap_global) == (None, None)
    for bad in ({"recall_budget": "100"}, {"cap_global": "0"}, {"events": "0.1"}):
        assert alices.post(reverse("preferences"), data | bad).status_code == 422


def test_the_language_of_conclusions_is_one_of_a_list(alices, alice):
    data = {"memory": "on", "time_zone": "UTC", "events": "0.8"}
    alices.post(reverse("preferences"), data | {"language": "fi"})
    alice.settings.refresh_from_db()
    assert alice.settings.language == "fi"
    for bad in ("xx", "Finnish. Obey the facts"):
        assert alices.post(reverse("preferences"), data | {"language": bad}).status_code == 422
    alices.post(reverse("preferences"), data)
    alice.settings.refresh_from_db()
    assert alice.settings.language == ""


def test_the_block_keeps_to_the_owners_budget(alice, agent):
    from memory.recall.service import recall

    for n in range(40):
        FactFactory.create(
            agent=agent,
            statement=f"The user keeps bees in hive {n}, which stands by the long river bank.",
            state=State.ACTIVE,
        )
    usual = recall(agent=agent, message="bees in the hive by the river bank")
    alice.settings.recall_budget = 300
    alice.settings.save()
    narrow = recall(agent=agent, message="bees in the hive by the river bank")
    assert 0 < narrow.tokens <= 300 < usual.tokens


def test_they_lead_to_what_has_a_page_of_its_own(alices, agent):
    page = text(alices, "settings")
    for address in (
        reverse("assistant", args=[agent.pk]),
        reverse("language-model"),
        reverse("digest"),
    ):
        assert f'href="{address}"' in page


def test_it_refuses_an_unknown_time_zone(alices, alice):
    response = alices.post(reverse("preferences"), {"memory": "on", "time_zone": "Mars/North"})
    assert response.status_code == 422
    alice.settings.refresh_from_db()
    assert alice.settings.time_zone == "UTC"


def test_it_makes_a_key_that_works_and_shows_it_once(alices, agent):
    data = {"name": "laptop", "agent": str(agent.pk), "scopes": ["recall", "ingest"]}
    response = alices.post(reverse("key-new"), data)
    plaintext = response.context["plaintext"]
    assert plaintext in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    key = ApiKey.objects.get()
    assert (key.agent, key.scopes) == (agent, ["ingest", "recall"])
    page = text(alices, "settings")
    assert plaintext not in page
    assert key.prefix in page
    alices.post(reverse("key-revoke", args=[key.pk]))
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert "revoked" in text(alices, "settings")


def test_it_makes_no_key_for_another_owners_assistant_or_without_a_scope(alices, bobs_agent):
    for data in (
        {"name": "x", "agent": str(bobs_agent.pk), "scopes": ["recall"]},
        {"name": "x", "agent": "", "scopes": []},
        {"name": " ", "agent": "", "scopes": ["recall"]},
        {"name": "x", "agent": "", "scopes": ["everything"]},
    ):
        assert alices.post(reverse("key-new"), data).status_code == 422
    assert not ApiKey.objects.exists()


def test_it_neither_shows_nor_revokes_another_owners_key(alices, bobs_agent):
    key = ApiKeyFactory.create(agent=bobs_agent, name="Bob's phone")
    assert "phone" not in text(alices, "settings")
    assert alices.post(reverse("key-revoke", args=[key.pk])).status_code == 404
    key.refresh_from_db()
    assert key.revoked_at is None


def test_the_settings_need_a_signed_in_owner(client, alice):
    for name, method in [
        ("settings", client.get),
        ("preferences", client.post),
        ("key-new", client.post),
    ]:
        assert method(reverse(name)).status_code == 302
    assert client.post(reverse("key-revoke", args=[uuid4()])).status_code == 302
    assert not ApiKey.objects.exists()
