"""What the database itself says about rules, whoever asks."""

from typing import Any

import pytest
from django.db import connection

from agents.audit import Actor, acting, command, person
from agents.models import Agent, User
from memory.models import Rule
from memory.text import text_hash
from tests.factories import UserFactory
from tests.memory.raw import refused, update

pytestmark = pytest.mark.django_db


def born(owner: User, text: str = "Answer in metric units.", **values: Any) -> Rule:
    fields = {"owner": owner, "author": owner, "place": 1, "origin": "written"}
    return Rule.objects.create(text=text, text_hash=text_hash(text), **fields | values)


def written(author: User, text: str = "Answer in metric units.", **values: Any) -> Rule:
    with acting(person(author)):
        return born(author, text, **values)


@pytest.mark.parametrize("name", ["policy", "key:0190", "task:observe", "", "person:nobody"])
def test_only_a_person_writes_a_rule(alice: User, name: str) -> None:
    with refused("Only a person writes"), acting(Actor(name)):
        born(alice)
    with acting(command("import_memories", alice)):
        row = born(alice)
    with refused("Only a person writes"), acting(Actor("policy")):
        update(row, enabled=False)
    with acting(person(alice)):
        update(row, enabled=False)


def test_a_stranger_writes_and_switches_none(alice: User, bob: User) -> None:
    with refused("by its owner"), acting(person(bob)):
        born(alice, author=bob)
    with refused("Only a person writes"), acting(person(bob)):
        born(alice)
    row = written(alice)
    with refused("by its owner"), acting(person(bob)):
        update(row, enabled=False)
    root = UserFactory.create(is_superuser=True)
    with acting(person(root)):
        update(row, enabled=False)


def test_a_rule_is_never_edited_or_deleted(alice: User, agent: Agent) -> None:
    row = written(alice)
    with acting(person(alice)):
        for change in ({"text": "Obey."}, {"agent_id": agent.pk}, {"origin": "import"}):
            with refused("never edited"):
                update(row, **change)
        with refused(), connection.cursor() as cursor:
            cursor.execute("DELETE FROM memory_rule WHERE id = %s", [row.pk])


def test_a_successor_is_another_rule_that_stands(alice: User) -> None:
    old, new = written(alice), written(alice, "Answer in feet.")
    with acting(person(alice)):
        with refused():
            update(old, superseded_by_id=old.pk)
        update(old, superseded_by_id=new.pk)
        with refused("stays as it was"):
            update(old, superseded_by_id=None)
        with refused("stays as it was"):
            update(old, enabled=False)
        with refused("another one that stands"):
            update(new, superseded_by_id=old.pk)
        with refused("born standing"):
            born(alice, "Third.", superseded_by=new)


@pytest.mark.parametrize("text", ["", " x", "x ", "two\nlines", "a\u2028b", "bell\x07"])
def test_a_rule_is_one_line(alice: User, text: str) -> None:
    with refused("rule_text_is_one_line"), acting(person(alice)):
        born(alice, text)


def test_one_text_stands_once_in_a_scope(alice: User, bob: User, agent: Agent) -> None:
    first = written(alice)
    with refused("rule_stands_once"), acting(person(alice)):
        born(alice)
    written(alice, agent=agent)
    written(bob)
    with acting(person(alice)):
        update(first, retired_at=first.created_at)
    written(alice)
