"""Reading somebody's memory in the admin: a permission of its own, and never unseen."""

from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents import long_lists
from agents.models import TextAccess, User
from agents.readings import note
from memory.models import Fact
from memory.vocabulary import State
from tests.factories import AgentFactory, FactFactory, UserFactory

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db

FACTS = "admin:memory_fact_changelist"
HERS = "The user keeps bees in Turku."
MINE = "The user runs this server."


@pytest.fixture
def boss() -> User:
    boss = UserFactory.create(username="boss", is_staff=True, is_superuser=True)
    FactFactory.create(agent=AgentFactory.create(owner=boss), statement=MINE, state=State.ACTIVE)
    return boss


@pytest.fixture
def hers() -> Fact:
    return FactFactory.create(statement=HERS, state=State.ACTIVE)


@pytest.fixture
def desk(client: "Client", boss: User) -> "Client":
    client.force_login(boss)
    return client


def may_read() -> Permission:
    return Permission.objects.get(codename="read_others_memory")


def told(client: "Client", name: str = FACTS, *arguments: Any, **query: Any) -> str:
    answer = client.get(reverse(name, args=arguments), query, follow=True)
    return answer.content.decode()


def test_a_superuser_without_the_permission_sees_only_their_own_memory(desk, hers):
    page = told(desk)
    assert MINE in page
    assert HERS not in page
    assert "each reading is noted" in page
    assert HERS not in told(desk, FACTS, q="bees")
    assert HERS not in told(desk, "admin:memory_fact_change", hers.pk)
    assert not TextAccess.objects.exists()


@pytest.mark.parametrize("through", ["user", "group"])
def test_with_it_they_see_everybodys_and_each_owner_is_told(desk, boss, hers, through):
    if through == "user":
        boss.user_permissions.add(may_read())
    else:
        group = Group.objects.create(name="readers")
        group.permissions.add(may_read())
        boss.groups.add(group)
    page = told(desk)
    assert MINE in page
    assert HERS in page
    noted = TextAccess.objects.get()
    assert (noted.owner, noted.reader, noted.table, noted.rows, noted.row_id) == (
        hers.owner, boss, "memory_fact", 1, "",
    )  # fmt: skip
    assert HERS in told(desk, "admin:memory_fact_change", hers.pk)
    assert TextAccess.objects.filter(owner=hers.owner, row_id=str(hers.pk)).exists()
    assert not TextAccess.objects.filter(owner=boss).exists()


def test_the_permission_alone_makes_nobody_see_more(client, hers):
    staff = UserFactory.create(is_staff=True)
    staff.user_permissions.set(Permission.objects.all())
    client.force_login(staff)
    assert HERS not in told(client)
    assert not TextAccess.objects.exists()


def test_suggestions_name_nobody_elses_memory(desk, boss, hers):
    from memory.models import Entity, FactEntity
    from memory.vocabulary import EntityType

    boss.user_permissions.add(may_read())
    entity = Entity.objects.create(
        owner=hers.owner, type=EntityType.PLACE, name="Turku", normal_name="turku"
    )
    FactEntity.objects.create(owner=hers.owner, fact=hers, entity=entity)
    asked = {"app_label": "memory", "model_name": "factentity", "field_name": "entity", "term": "T"}
    assert "Turku" not in told(desk, "admin:autocomplete", **asked)
    assert "Turku" in told(desk, "admin:memory_entity_changelist")


def test_that_somebody_read_is_neither_changed_nor_forgotten(desk, boss, hers):
    boss.user_permissions.add(may_read())
    told(desk)
    with pytest.raises(IntegrityError), transaction.atomic():
        TextAccess.objects.update(rows=0)
    with pytest.raises(ProgrammingError), transaction.atomic():
        TextAccess.objects.all()._raw_delete("default")


def test_owners_see_in_their_settings_who_read_what_and_nobody_elses_readings(
    client, boss, hers, alice, bob
):
    boss.user_permissions.add(may_read())
    client.force_login(boss)
    FactFactory.create(owner=alice, agent=None)
    FactFactory.create(owner=alice, agent=None)
    told(client)
    other = UserFactory.create(username="curious", is_staff=True, is_superuser=True)
    note(reader=other, table="conversations_message", owners=[bob.pk])

    def page_of(user: User) -> str:
        client.force_login(user)
        return " ".join(told(client, "settings").split())

    assert "<strong>boss</strong> read 1 fact <time" in page_of(hers.owner)
    assert "<strong>boss</strong> read 2 facts <time" in page_of(alice)
    his = page_of(bob)
    assert "<strong>curious</strong> read 1 message <time" in his
    assert "boss" not in his
    assert "curious" not in page_of(alice)
    assert "<li>Nobody.</li>" in page_of(boss)


def test_a_list_counts_no_further_than_it_must(desk, boss, monkeypatch):
    monkeypatch.setattr(long_lists, "COUNTED", 2)
    for n in range(4):
        FactFactory.create(owner=boss, agent=None, statement=f"The user has {n} hens.")
    page = told(desk)
    assert "More than 2 rows" in page


def test_the_dates_above_a_list_are_not_read_from_its_rows(desk, hers):
    hers_year = Fact.objects.latest("pk").created_at.year
    with CaptureQueriesContext(connection) as queries:
        page = told(desk)
    assert f"created_at__year={hers_year}" in page
    assert not [query for query in queries if "DATE_TRUNC" in query["sql"]]
    page = told(desk, FACTS, created_at__year=hers_year)
    assert f"created_at__month=2&amp;created_at__year={hers_year}" in page
    page = told(desk, FACTS, created_at__year=2024, created_at__month=2)
    assert "created_at__day=29" in page
    assert "created_at__day=30" not in page
    assert told(desk, FACTS, created_at__year=2024, created_at__month=13)


def test_few_rows_are_found_before_they_are_sorted(desk, boss, hers):
    """The planner would walk the key backwards through everybody's rows to find them in order."""
    for n in range(3):
        FactFactory.create(owner=boss, agent=None, statement=f"The user has {n} hens.")
    with CaptureQueriesContext(connection) as queries:
        page = told(desk, FACTS, q="hens")
    assert [page.index(f"The user has {n} hens.") for n in (2, 1, 0)] == sorted(
        page.index(f"The user has {n} hens.") for n in range(3)
    )
    assert MINE not in page
    of_facts = [query["sql"] for query in queries if '"memory_fact"."search" @@' in query["sql"]]
    by_key = [sql for sql in of_facts if 'ORDER BY "memory_fact"."id"' in sql]
    assert of_facts
    assert all("IN (" in sql for sql in by_key)
