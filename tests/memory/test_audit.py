"""The trail of every change: who, when, why, before and after."""

from typing import Any

import pytest
from django.db import transaction

from agents import keys
from agents.audit import Actor, acting, command, context, key_holder, person
from agents.models import Agent, ApiKey, AuditEvent, User
from memory import lifecycle
from memory.models import Fact
from memory.vocabulary import State
from tests.factories import AgentFactory, ApiKeyFactory, FactFactory
from tests.memory.invariants import check_trail, memory_of
from tests.memory.raw import sql
from tests.memory.steps import HELSINKI, OSLO, TURKU, active, candidate, correction, edit

pytestmark = pytest.mark.django_db


def last(row: Any) -> AuditEvent:
    return AuditEvent.objects.filter(row_id=str(row.pk)).latest("id")


def test_every_change_of_an_agent_is_told(alice: User) -> None:
    with acting(person(alice), "made"):
        agent = AgentFactory.create(owner=alice, slug="travel")
    made = last(agent)
    assert (made.action, made.table, made.owner_id) == ("insert", "agents_agent", alice.pk)
    assert made.after is not None
    assert made.after["slug"] == "travel"
    with acting(person(alice), "renamed"):
        Agent.objects.filter(pk=agent.pk).update(name="Trips")
    told = last(agent)
    assert (told.action, told.reason) == ("update", "renamed")
    assert (told.before, told.after) == ({"name": "Travel"}, {"name": "Trips"})


def test_a_keys_digest_and_its_use_are_not_told(alice: User) -> None:
    key = ApiKeyFactory.create(owner=alice)
    made = last(key)
    assert made.after is not None
    assert "digest" not in made.after
    assert key.digest not in str(list(AuditEvent.objects.values()))
    assert keys.verify(key.plaintext) is not None
    assert last(key) == made
    keys.revoke(key=key, actor=person(alice), reason="lost")
    assert (last(key).reason, set(last(key).after or {})) == ("lost", {"revoked_at"})


def test_an_update_that_changes_nothing_leaves_no_line(alice: User) -> None:
    fact = FactFactory.create(owner=alice)
    before = AuditEvent.objects.count()
    Fact.objects.filter(pk=fact.pk).update(pinned=False)
    assert AuditEvent.objects.count() == before


def test_a_bulk_change_is_told_row_by_row(alice: User) -> None:
    facts = FactFactory.create_batch(3, owner=alice)
    with acting(command("repair"), "pin them all"):
        Fact.objects.filter(owner=alice).update(pinned=True)
    for fact in facts:
        assert (last(fact).actor, last(fact).reason) == ("command:repair", "pin them all")
        assert last(fact).after == {"pinned": True}


def test_an_actor_names_what_it_stands_for(alice: User) -> None:
    reviewer = ApiKeyFactory.create(owner=alice, scopes=[ApiKey.Scope.REVIEW])
    plain = ApiKeyFactory.create(owner=alice, scopes=[ApiKey.Scope.ADMIN, ApiKey.Scope.REMEMBER])
    assert person(alice) == Actor(f"person:{alice.pk}", alice)
    assert key_holder(reviewer) == Actor(f"key:{reviewer.pk}", alice)
    assert key_holder(plain) == Actor(f"key:{plain.pk}", None)
    assert command("purge").person is None


def test_the_outer_actor_is_back_after_the_inner_one(alice: User) -> None:
    first, second, third = FactFactory.create_batch(3, owner=alice)

    def pin(fact: Fact) -> None:
        Fact.objects.filter(pk=fact.pk).update(pinned=True)

    with acting(person(alice), "outer"):
        with acting(command("inner"), "inner"):
            pin(first)
        pin(second)
        with pytest.raises(RuntimeError), acting(command("failed"), "inner"):
            raise RuntimeError
        pin(third)
    assert [last(fact).reason for fact in (first, second, third)] == ["inner", "outer", "outer"]
    assert last(third).actor == f"person:{alice.pk}"


def test_nobody_acts_after_the_block(alice: User) -> None:
    fact = FactFactory.create(owner=alice)
    with acting(person(alice), "in the block"):
        pass
    Fact.objects.filter(pk=fact.pk).update(pinned=True)
    assert (last(fact).actor, last(fact).reason) == ("db:remembrancer_app", "")


@pytest.mark.django_db(transaction=True)
def test_nobody_acts_in_the_next_transaction_of_the_session(alice: User) -> None:
    fact = FactFactory.create(owner=alice)
    with acting(person(alice), "in the block"):
        Fact.objects.filter(pk=fact.pk).update(pinned=True)
    Fact.objects.filter(pk=fact.pk).update(pinned=False)
    assert (last(fact).actor, last(fact).reason) == ("db:remembrancer_app", "")


def test_the_request_or_task_is_named_beside_the_actor(alice: User) -> None:
    token = context.set("task:memory.tasks.sweep")
    try:
        fact = candidate(alice)
    finally:
        context.reset(token)
    assert last(fact).context == "task:memory.tasks.sweep"
    assert last(candidate(alice, OSLO)).context == ""


def test_long_reasons_are_cut_and_odd_ones_kept(alice: User) -> None:
    fact = candidate(alice)
    lifecycle.reject(fact=fact, actor=person(alice), reason="'; DROP TABLE x; -- % 😀 " * 40)
    assert len(last(fact).reason) == 300
    assert last(fact).reason.startswith("'; DROP TABLE x; -- % 😀")


def test_what_is_rolled_back_was_not_done(alice: User) -> None:
    before = AuditEvent.objects.count()
    with transaction.atomic():
        candidate(alice)
        assert AuditEvent.objects.count() == before + 1
        transaction.set_rollback(True)
    assert AuditEvent.objects.count() == before


def test_any_moment_can_be_read_back(alice: User) -> None:
    """What the facts were after each step, from the trail alone."""
    moments = []

    def remember() -> None:
        event = AuditEvent.objects.latest("id")
        moments.append((event.id, memory_of(alice).facts))

    oslo = active(alice, OSLO)
    remember()
    waiting = correction(alice, oslo)
    remember()
    lifecycle.confirm(fact=waiting, actor=person(alice))
    remember()
    lifecycle.correct(fact=waiting, edit=edit(TURKU), actor=person(alice))
    remember()
    lifecycle.restore(fact=oslo, actor=person(alice))
    remember()
    for number, then in moments:
        told: dict[str, dict[str, Any]] = {}
        for event in AuditEvent.objects.filter(
            owner_id=alice.pk, table="memory_fact", id__lte=number
        ).order_by("id"):
            told.setdefault(event.row_id, {}).update(event.after or {})
        assert told == then
    assert HELSINKI in str(moments)


def test_the_trail_follows_raw_sql_too(alice: User) -> None:
    fact = FactFactory.create(owner=alice, statement=OSLO)
    sql("UPDATE memory_fact SET confidence = 0.5, tags = '{fact}' WHERE id = %s", [fact.pk])
    check_trail(memory_of(alice), alice)
    assert last(fact).before == {"confidence": 1, "tags": []}
    assert last(fact).after == {"confidence": 0.5, "tags": ["fact"]}


def test_anothers_changes_are_anothers(alice: User, bob: User) -> None:
    lifecycle.reject(fact=candidate(alice), actor=person(alice))
    assert not AuditEvent.objects.filter(owner_id=bob.pk, table="memory_fact").exists()
    assert AuditEvent.objects.filter(owner_id=alice.pk, after__state=State.REJECTED).count() == 1
