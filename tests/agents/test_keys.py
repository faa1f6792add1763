from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from agents import keys
from agents.audit import command, person
from agents.models import Agent, ApiKey, AuditEvent, User
from tests.factories import ApiKeyFactory, IssuedKey

pytestmark = pytest.mark.django_db


def test_it_issues_a_key_that_verifies(alice: User, agent: Agent) -> None:
    key, plaintext = keys.issue(
        owner=alice, agent=agent, name="Laptop", scopes=["recall", "ingest"], actor=person(alice)
    )
    found = keys.verify(plaintext)
    assert found == key
    assert found is not None
    assert (found.owner, found.agent, found.scopes) == (alice, agent, ["ingest", "recall"])


def test_it_stores_no_plaintext(alice: User) -> None:
    _, plaintext = keys.issue(
        owner=alice, agent=None, name="x", scopes=["recall"], actor=person(alice)
    )
    secret_part = plaintext[keys.PREFIX_LENGTH :]
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(k)::text FROM agents_apikey k")
        (row,) = cursor.fetchone()
        cursor.execute("SELECT string_agg(to_jsonb(e)::text, '') FROM agents_auditevent e")
        (trail,) = cursor.fetchone()
    assert plaintext[: keys.PREFIX_LENGTH] in row
    assert secret_part not in row + trail


def test_keys_differ_and_carry_a_checksum(alice: User) -> None:
    first, second = (ApiKeyFactory.create(owner=alice).plaintext for _ in range(2))
    assert first != second
    assert first.startswith("rmb_")
    assert keys.is_well_formed(first)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda key: "",
        lambda key: key[:-1],
        lambda key: key + "a",
        lambda key: "xyz_" + key[4:],
        lambda key: key[:20] + ("a" if key[20] != "a" else "b") + key[21:],
        lambda key: key[:-1] + "ä",
        lambda key: "\x00" + key[1:],
    ],
    ids=["empty", "cut", "longer", "other mark", "one letter", "not ascii", "nul"],
)
def test_it_refuses_a_malformed_key_without_asking_the_database(
    alice_key: IssuedKey, spoil: Callable[[str], str]
) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert keys.verify(spoil(alice_key.plaintext)) is None
    assert not queries.captured_queries


def test_it_refuses_a_well_formed_key_with_the_prefix_of_another(alice_key: IssuedKey) -> None:
    body = alice_key.plaintext[: keys.PREFIX_LENGTH] + "0" * 24
    forged = body + keys._checksum(body)
    assert keys.is_well_formed(forged)
    assert keys.verify(forged) is None


def test_it_refuses_revoked_keys(alice: User, alice_key: IssuedKey) -> None:
    assert keys.verify(alice_key.plaintext)
    keys.revoke(key=alice_key, actor=person(alice))
    assert keys.verify(alice_key.plaintext) is None


def test_revoking_twice_keeps_the_first_time(alice: User, alice_key: IssuedKey) -> None:
    first = keys.revoke(key=alice_key, actor=person(alice)).revoked_at
    assert first is not None
    assert keys.revoke(key=alice_key, actor=person(alice)).revoked_at == first


def test_it_refuses_expired_keys(alice_key: IssuedKey) -> None:
    ApiKey.objects.filter(pk=alice_key.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert keys.verify(alice_key.plaintext) is None


def test_it_refuses_keys_of_closed_accounts(alice: User, alice_key: IssuedKey) -> None:
    alice.is_active = False
    alice.save(update_fields=["is_active"])
    assert keys.verify(alice_key.plaintext) is None


def test_keys_survive_a_change_of_the_secret_by_its_fallback(
    alice_key: IssuedKey, settings: Settings
) -> None:
    old = settings.SECRET_KEY
    settings.SECRET_KEY = "another secret"
    assert keys.verify(alice_key.plaintext) is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert keys.verify(alice_key.plaintext) == alice_key


def test_it_notes_the_last_use_at_most_once_a_minute(alice_key: IssuedKey) -> None:
    keys.verify(alice_key.plaintext)
    first = ApiKey.objects.get(pk=alice_key.pk).last_used_at
    assert first is not None
    keys.verify(alice_key.plaintext)
    assert ApiKey.objects.get(pk=alice_key.pk).last_used_at == first
    earlier = first - timedelta(minutes=2)
    ApiKey.objects.filter(pk=alice_key.pk).update(last_used_at=earlier)
    keys.verify(alice_key.plaintext)
    assert ApiKey.objects.filter(pk=alice_key.pk, last_used_at__gt=earlier).exists()


def test_issue_and_revoke_are_in_the_audit_trail_and_use_is_not(
    alice: User, alice_key: IssuedKey
) -> None:
    keys.verify(alice_key.plaintext)
    keys.revoke(key=alice_key, actor=command("apikey"), reason="lost laptop")
    trail = AuditEvent.objects.filter(table="agents_apikey", row_id=str(alice_key.pk))
    assert [(event.action, event.actor, event.reason) for event in trail.order_by("id")] == [
        ("insert", f"person:{alice.pk}", "key issued"),
        ("update", "command:apikey", "lost laptop"),
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"scopes": []}, "needs a scope"),
        ({"scopes": ["recall", "everything"]}, "Unknown scope 'everything'"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 121}, "120"),
        ({"expires_at": timezone.now() - timedelta(days=1)}, "expired"),
    ],
)
def test_it_refuses_senseless_keys(alice: User, change: dict[str, Any], says: str) -> None:
    asked = {"name": "x", "scopes": ["recall"]} | change
    with pytest.raises(keys.KeyRefused, match=says):
        keys.issue(owner=alice, agent=None, actor=person(alice), **asked)
    assert not ApiKey.objects.exists()


def test_it_refuses_the_agent_of_another_owner(alice: User, bobs_agent: Agent) -> None:
    with pytest.raises(keys.KeyRefused, match="somebody else"):
        keys.issue(owner=alice, agent=bobs_agent, name="x", scopes=["recall"], actor=person(alice))


def test_what_a_key_may_do_never_changes(alice_key: IssuedKey) -> None:
    with pytest.raises(DatabaseError, match="fixed"):
        ApiKey.objects.filter(pk=alice_key.pk).update(scopes=["review"])
