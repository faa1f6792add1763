"""Everything from one source goes back to the queue, with a look first, and comes back."""

import pytest
from django.urls import reverse

from conversations.models import Import
from memory.models import Fact
from memory.vocabulary import State, Withheld
from tests.factories import ApiKeyFactory, ConversationFactory, FactFactory
from tests.memory.candidates import a_run
from tests.memory.pages import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def sources(alice, agent):
    """One of each kind, all behind the same facts."""
    brought = Import.objects.create(owner=alice, format="jsonl", file_name="old.jsonl")
    key = ApiKeyFactory.create(agent=agent, name="laptop")
    talk = ConversationFactory.create(agent=agent, imported_by=brought, client=key)
    run = a_run(talk)
    for n, state in enumerate((State.ACTIVE, State.ACTIVE, State.PENDING, State.REJECTED)):
        FactFactory.create(
            agent=agent,
            conversation=talk,
            run=run,
            statement=f"The user has {n} hives.",
            state=state,
        )
    FactFactory.create(agent=agent, statement="The user keeps hens.", state=State.ACTIVE)
    return {"conversation": talk, "run": run, "import": brought, "client": key}


def states():
    return dict(Fact.objects.values_list("statement", "state"))


@pytest.mark.parametrize("kind", ["conversation", "run", "import", "client"])
def test_it_shows_sends_and_brings_back(alices, sources, kind):
    arguments = [kind, sources[kind].pk]
    page = text(alices, "quarantine", *arguments)
    assert "Send 2 back to the queue" in page
    assert "has 0 hives" in page
    assert "hens" not in page
    before = states()
    page = alices.post(reverse("quarantine", args=arguments), follow=True).content.decode()
    assert "2 facts wait for you again" in page
    assert "Make 2 active again" in page
    assert list(states().values()).count(State.ACTIVE) == 1
    assert states()["The user keeps hens."] == State.ACTIVE
    assert Fact.objects.filter(withheld_for__contains=[Withheld.QUARANTINED]).count() == 2
    page = alices.post(reverse("reinstate", args=arguments), follow=True).content.decode()
    assert "2 facts are active again" in page
    assert states() == before


def test_one_that_was_decided_meanwhile_stays_decided(alices, alice, sources):
    from agents.audit import person
    from memory import lifecycle

    arguments = ["run", sources["run"].pk]
    alices.post(reverse("quarantine", args=arguments))
    lifecycle.reject(fact=Fact.objects.get(statement="The user has 0 hives."), actor=person(alice))
    alices.post(reverse("reinstate", args=arguments))
    assert states()["The user has 0 hives."] == State.REJECTED
    assert states()["The user has 1 hives."] == State.ACTIVE


def test_nothing_comes_back_in_part(alices, alice, agent, sources):
    arguments = ["run", sources["run"].pk]
    alices.post(reverse("quarantine", args=arguments))
    alice.settings.cap_per_agent = 2
    alice.settings.save()
    response = alices.post(reverse("reinstate", args=arguments))
    assert response.status_code == 409
    assert "Nothing has changed." in response.content.decode()
    assert states()["The user has 0 hives."] == State.PENDING


def test_a_kind_that_is_none_is_not_there(alices, sources):
    url = reverse("quarantine", args=["planet", sources["run"].pk])
    assert alices.get(url).status_code == 404


def test_imports_are_listed_and_lead_there(alices, sources, bob):
    Import.objects.create(owner=bob, format="jsonl", file_name="bobs.jsonl")
    page = text(alices, "imports")
    assert "old.jsonl" in page
    assert "1 new conversation" in page
    assert "bobs.jsonl" not in page
    page = text(alices, "import", sources["import"].pk)
    assert reverse("quarantine", args=["import", sources["import"].pk]) in page
    assert "2 active" in page
