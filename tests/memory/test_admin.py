"""The admin: every table is there, quick and scoped; a state changes only by the lifecycle."""

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agents.models import Agent, ApiKey, AuditEvent, OwnerSettings, User
from conversations.models import Import, Passage
from knowledge.models import Collection
from memory.models import (
    BulkJob,
    CorrectionTarget,
    DroppedCandidate,
    Entity,
    EntityAlias,
    ExtractionRun,
    Fact,
    FactEmbedding,
    FactEntity,
    FactUsage,
    RecalledFact,
    Tombstone,
)
from memory.vocabulary import EntityType, Gate, State, Trigger
from tests.factories import MONDAY, ApiKeyFactory, ConversationFactory, FactFactory, UserFactory
from tests.knowledge.shelves import document, shelf
from tests.memory.candidates import candidate

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db

OURS = [
    model
    for model in admin.site._registry
    if model._meta.app_label in {"agents", "conversations", "memory", "knowledge"}
]
EDITABLE = {User, Agent, OwnerSettings, Collection}


@pytest.fixture
def boss(db: None) -> User:
    boss = UserFactory.create(username="boss", is_staff=True, is_superuser=True)
    boss.user_permissions.add(Permission.objects.get(codename="read_others_memory"))
    return boss


@pytest.fixture
def bosss(client: "Client", boss: User) -> "Client":
    client.force_login(boss)
    return client


def url(model: Any, name: str = "changelist", *arguments: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{name}", args=arguments)


def fill(agent: Agent, count: int) -> None:
    """One more row of each table that owners fill, `count` times."""
    owner = agent.owner
    for n in range(count):
        document(shelf(owner, f"Papers {Collection.objects.count()}"), "Hives", "Of hives.")
        conversation = ConversationFactory.create(agent=agent)
        statement = f"The user has {Fact.objects.count()} hives."
        fact = candidate(agent, statement, conversation=conversation)
        target = FactFactory.create(
            agent=agent, statement=f"The user has {Fact.objects.count()} hens.", state=State.ACTIVE
        )
        CorrectionTarget.objects.create(owner=owner, fact=fact, target=target)
        run = ExtractionRun.objects.create(
            owner=owner,
            agent=agent,
            conversation=conversation,
            trigger=Trigger.IDLE,
            first_seq=1,
            last_seq=1,
            observer="rules",
        )
        DroppedCandidate.objects.create(
            owner=owner, run=run, gate=Gate.SKIPPED, statement="The user said hello."
        )
        name = f"Hive {Entity.objects.count()}"
        entity = Entity.objects.create(
            owner=owner, type=EntityType.TOPIC, name=name, normal_name=name.lower()
        )
        EntityAlias.objects.create(owner=owner, entity=entity, name=name, normal_name=name.lower())
        FactEntity.objects.create(owner=owner, fact=fact, entity=entity)
        FactEmbedding.objects.create(owner=owner, fact=fact, model="m", vector=[1.0, 0.0])
        FactUsage.objects.create(owner=owner, fact=fact, last_retrieved_at=MONDAY)
        RecalledFact.objects.create(owner=owner, fact=fact, conversation=conversation)
        Tombstone.objects.create(owner=owner, digest=str(Tombstone.objects.count()))
        Import.objects.create(owner=owner, format="jsonl", file_name=f"{n}.jsonl")
        Passage.objects.create(
            owner=owner,
            conversation=conversation,
            text=fact.statement,
            text_hash=str(fact.pk),
            said_at=MONDAY,
        )
        ApiKeyFactory.create(agent=agent)


def test_it_registers_every_model_of_ours():
    from django.apps import apps

    for label in ("agents", "conversations", "memory"):
        for model in apps.get_app_config(label).get_models():
            # The admin takes no composite keys; such a table is an index that nobody mends by hand.
            if not model._meta.auto_created and not model._meta.is_composite_pk:
                assert model in admin.site._registry, model


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_its_lists_cost_the_same_for_20_rows_as_for_10(bosss, agent, bobs_agent, model):
    fill(agent, 3)
    bosss.get(url(model))
    with CaptureQueriesContext(
        connection,
    ) as few:
        assert bosss.get(url(model)).status_code == 200
    fill(bobs_agent, 4)
    with CaptureQueriesContext(connection) as many:
        assert bosss.get(url(model)).status_code == 200
    assert len(few) == len(many)


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_it_searches_and_shows_a_row_and_lets_nothing_be_deleted(bosss, agent, model):
    fill(agent, 1)
    for words in ("hives", "01900000-0000-7000-8000-000000000000", "%_'\""):
        assert bosss.get(url(model), {"q": words}).status_code == 200
    row = model._default_manager.first()
    if row is None:
        return
    page = bosss.get(url(model, "change", row.pk))
    assert page.status_code == 200
    assert ('name="_save"' in page.content.decode()) == (model in EDITABLE)
    assert bosss.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def act(client: "Client", action: str, *facts: Fact) -> None:
    """Chosen in the list, looked at, and started on the page that shows what would change."""
    data = {"action": action, "_selected_action": [str(fact.pk) for fact in facts]}
    client.post(url(Fact), data)
    job = BulkJob.objects.first()
    if job is not None:
        client.post(url(BulkJob, "start", job.pk))


def test_it_finds_a_fact_by_its_words_and_by_its_conversation(bosss, agent):
    fact = candidate(agent, "The user keeps bees.")
    candidate(agent, "The user collects stamps.")
    for term in ("bee", str(fact.conversation_id)):
        page = bosss.get(url(Fact), {"q": term}).content.decode()
        assert "keeps bees" in page
        assert "stamps" not in page


def test_it_shows_staff_only_their_own_rows(client, agent, bob, bobs_agent):
    theirs = candidate(agent, "The user keeps bees.")
    candidate(bobs_agent, "The user keeps wasps.")
    bob.is_staff = True
    bob.save()
    bob.user_permissions.add(*Permission.objects.filter(content_type__app_label="memory"))
    client.force_login(bob)
    page = client.get(url(Fact)).content.decode()
    assert "wasps" in page
    assert "bees" not in page
    assert client.get(url(Fact, "change", theirs.pk)).status_code == 302
    act(client, "confirm", theirs)
    theirs.refresh_from_db()
    assert theirs.state == State.PENDING


def test_it_offers_no_action_to_staff_who_may_only_look(client, bob, bobs_agent):
    fact = candidate(bobs_agent, "The user keeps wasps.")
    bob.is_staff = True
    bob.save()
    bob.user_permissions.add(Permission.objects.get(codename="view_fact"))
    client.force_login(bob)
    assert b'value="confirm"' not in client.get(url(Fact)).content
    act(client, "confirm", fact)
    fact.refresh_from_db()
    assert fact.state == State.PENDING


def test_it_gives_a_new_account_its_settings_and_first_assistant(bosss, boss):
    password = "a long one that nobody guesses"
    data = {"username": "carol", "password1": password, "password2": password}
    bosss.post(url(User, "add"), {**data, "usable_password": "true"})
    carol = User.objects.get(username="carol")
    assert carol.settings.memory_enabled is None
    assert carol.agents.get().is_default
    event = AuditEvent.objects.filter(owner_id=carol.pk).first()
    assert event is not None
    assert event.actor == f"person:{boss.pk}"


def test_it_records_who_changed_an_agent(bosss, boss, agent):
    data = {"name": "Renamed", "slug": agent.slug, "reads": "own", "is_default": "on"}
    bosss.post(url(Agent, "change", agent.pk), data)
    agent.refresh_from_db()
    assert agent.name == "Renamed"
    event = AuditEvent.objects.filter(row_id=str(agent.pk)).first()
    assert event is not None
    assert event.actor == f"person:{boss.pk}"


def test_it_never_shows_a_keys_digest_and_can_revoke_it(bosss, agent):
    key = ApiKeyFactory.create(agent=agent)
    assert key.digest not in bosss.get(url(ApiKey, "change", key.pk)).content.decode()
    bosss.post(url(ApiKey), {"action": "revoke", "_selected_action": [str(key.pk)]})
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_it_lets_staff_give_themselves_no_rights(client, bob):
    bob.is_staff = True
    bob.save()
    bob.user_permissions.add(*Permission.objects.filter(codename__endswith="_user"))
    client.force_login(bob)
    data = {"username": "robert", "is_superuser": "on", "is_staff": "on", "is_active": "on"}
    data |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    client.post(url(User, "change", bob.pk), data)
    bob.refresh_from_db()
    assert bob.username == "robert"
    assert not bob.is_superuser


@pytest.mark.parametrize("model", OURS, ids=lambda model: model._meta.label)
def test_several_rows_have_a_name_in_english(model: Any) -> None:
    many = str(model._meta.verbose_name_plural)
    assert not re.search(r"([^aeiou]ys|ss)$", many), many
