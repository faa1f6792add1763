"""What is written for webhooks when a fact changes, whoever changes it."""

import pytest
from django.db import connection, transaction

from agents.audit import person
from agents.models import Agent, User
from memory import lifecycle
from memory.lifecycle import Edit
from memory.lifecycle.retire import retire
from memory.models import Fact, Webhook, WebhookDelivery
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.vocabulary import ArchivedReason, State, WebhookEvent
from tests.factories import AgentFactory, FactFactory

pytestmark = pytest.mark.django_db


def hook(owner: User, agent: Agent | None = None, **values: object) -> Webhook:
    values = {"address": "https://hooks.example/", "events": WebhookEvent.values, **values}
    return Webhook.objects.create(owner=owner, agent=agent, **values)


def told(one: Webhook) -> list[tuple[str, object]]:
    rows = WebhookDelivery.objects.filter(webhook=one).order_by("id")
    return [(row.event, row.fact_id) for row in rows]


def test_a_life_is_told_step_by_step(alice: User, bob: User, agent: Agent) -> None:
    to_alice, to_bob = hook(alice), hook(bob)
    actor = person(alice)
    fact = FactFactory.create(agent=agent, state=State.PENDING)
    lifecycle.confirm(fact=fact, actor=actor)
    edit = Edit.of(fact, statement="The user has two red bicycles.")
    new = lifecycle.correct(fact=fact, edit=edit, actor=actor)
    lifecycle.archive(fact=new, why=ArchivedReason.FORGOTTEN, actor=actor)
    lifecycle.restore(fact=new, actor=actor)
    purge(selection=chosen(owner=alice, facts=frozenset([fact.pk, new.pk])), actor=actor)
    events = told(to_alice)
    assert events[:2] == [("candidate.waiting", fact.pk), ("fact.activated", fact.pk)]
    assert set(events[2:4]) == {("fact.activated", new.pk), ("fact.superseded", fact.pk)}
    assert events[4] == ("fact.activated", new.pk)
    assert set(events[5:]) == {("fact.purged", fact.pk), ("fact.purged", new.pk)}
    superseded = WebhookDelivery.objects.get(webhook=to_alice, event="fact.superseded")
    assert superseded.successor_id == new.pk
    assert told(to_bob) == []


def test_bulk_repair_and_sql_are_told_too_and_what_is_taken_back_is_not(alice: User) -> None:
    facts = FactFactory.create_batch(3, owner=alice, state=State.PENDING)
    one = hook(alice)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_fact SET state = 'active', reviewer_id = owner_id, reviewed_at = now()"
            " WHERE owner_id = %s",
            [alice.pk],
        )
    assert sorted(told(one)) == sorted(("fact.activated", fact.pk) for fact in facts)
    with transaction.atomic():
        FactFactory.create(owner=alice)
        transaction.set_rollback(True)
    assert len(told(one)) == 3


def test_only_the_chosen_events_are_told_while_the_hook_is_on(alice: User) -> None:
    some, off = hook(alice, events=["fact.activated"]), hook(alice, enabled=False)
    FactFactory.create(owner=alice, state=State.PENDING)
    active = FactFactory.create(owner=alice, state=State.ACTIVE)
    Fact.objects.filter(pk=active.pk).update(confidence=0.5, pinned=True)
    assert told(some) == [("fact.activated", active.pk)]
    assert told(off) == []


@pytest.mark.parametrize(
    ("reads", "hears"),
    [("own", {"own"}), ("own_and_global", {"own", "global"}), ("all", {"own", "global", "other"})],
)
def test_a_hook_of_one_agent_hears_what_that_agent_may_read(
    alice: User, agent: Agent, second_agent: Agent, reads: str, hears: set[str]
) -> None:
    Agent.objects.filter(pk=agent.pk).update(reads=reads)
    one = hook(alice, agent)
    rows = {
        "own": FactFactory.create(agent=agent, state=State.ACTIVE),
        "global": FactFactory.create(owner=alice, state=State.ACTIVE),
        "other": FactFactory.create(agent=second_agent, state=State.ACTIVE),
    }
    assert told(one) == [("fact.activated", rows[name].pk) for name in rows if name in hears]


def test_a_fact_that_leaves_the_agent_takes_its_successors_id_along(
    alice: User, agent: Agent, second_agent: Agent
) -> None:
    bound, whole = hook(alice, agent), hook(alice)
    fact = FactFactory.create(agent=agent, state=State.ACTIVE)
    there = lifecycle.promote(fact=fact, agent=second_agent, actor=person(alice))
    rows = WebhookDelivery.objects.filter(event="fact.superseded", fact=fact)
    assert rows.get(webhook=bound).successor_id is None
    assert rows.get(webhook=whole).successor_id == there.pk
    assert ("fact.activated", there.pk) not in told(bound)


def test_a_hook_of_a_deleted_agent_hears_nothing(alice: User, agent: Agent) -> None:
    gone = AgentFactory.create(owner=alice)
    one = hook(alice, gone)
    retire(agent=gone, heir=agent, actor=person(alice), reason="deleted")
    FactFactory.create(owner=alice, state=State.ACTIVE)
    assert told(one) == []
