"""The list of facts: what each filter leaves in and out, the orders, and the pages."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from memory.models import Entity, FactEntity, FactUsage
from memory.pages import paging
from memory.vocabulary import EntityType, Kind, Origin, State, Tag
from tests.factories import MONDAY, FactFactory
from tests.memory.pages import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def bees(alice, agent):
    """What every filter below keeps."""
    fact = FactFactory.create(
        agent=agent,
        statement="The user keeps bees.",
        state=State.ACTIVE,
        kind=Kind.EPISODIC,
        tags=[Tag.PROJECT],
        confidence=0.72,
        prompt_version="observer-v9",
        created_at=timezone.now() - timedelta(days=40),
        last_confirmed_at=timezone.now() - timedelta(days=40),
    )
    FactUsage.objects.create(owner=alice, fact=fact, last_retrieved_at=MONDAY)
    return fact


@pytest.mark.parametrize(
    "query",
    [
        {"kind": "episodic"},
        {"tag": "project"},
        {"origin": "extraction"},
        {"agent": "own"},
        {"sure": "70"},
        {"prompt": "observer-v9"},
        {"used": "yes"},
        {"unconfirmed": "30"},
        {"older": "30"},
    ],
    ids=str,
)
def test_a_filter_leaves_the_rest_out(alices, alice, agent, bees, query):
    FactFactory.create(
        owner=alice,
        statement="The user keeps hens.",
        state=State.ACTIVE,
        origin=Origin.REFLECTION,
        confidence=0.8,
        last_confirmed_at=timezone.now(),
    )
    if query.get("agent") == "own":
        query = {"agent": str(agent.pk)}
    page = text(alices, "facts", **query)
    assert "keeps bees" in page
    assert "keeps hens" not in page
    assert "keeps hens" in text(alices, "facts")


def test_what_no_assistant_was_told_and_what_is_for_all_of_them(alices, alice, bees):
    FactFactory.create(owner=alice, statement="The user keeps hens.", state=State.ACTIVE)
    for query in ({"used": "no"}, {"agent": "global"}, {"newer": "7"}, {"prompt": "-"}):
        page = text(alices, "facts", **query)
        assert "keeps hens" in page, query
        assert "keeps bees" not in page, query


def test_facts_about_one_entity(alices, alice, bees, bob):
    FactFactory.create(owner=alice, statement="The user keeps hens.", state=State.ACTIVE)
    entity = Entity.objects.create(
        owner=alice, type=EntityType.TOPIC, name="Apiary", normal_name="apiary"
    )
    FactEntity.objects.create(owner=alice, fact=bees, entity=entity)
    page = text(alices, "facts", entity=str(entity.pk))
    assert "keeps bees" in page
    assert "Apiary" in page
    assert "keeps hens" not in page


@pytest.mark.parametrize("sort", ["newest", "oldest", "unconfirmed", "confirmed"])
def test_each_order_is_paged_without_a_gap(alices, alice, monkeypatch, sort):
    monkeypatch.setitem(paging.by_moment.__kwdefaults__, "size", 2)
    facts = [
        FactFactory.create(
            owner=alice,
            statement=f"The user has {n} hives.",
            state=State.ACTIVE,
            created_at=MONDAY + timedelta(days=n),
            last_confirmed_at=MONDAY - timedelta(days=n),
        )
        for n in range(5)
    ]
    seen, query = [], {"sort": sort}
    while True:
        listing = alices.get(reverse("facts"), query).context["listing"]
        seen += listing.rows
        if not listing.next_key:
            break
        query["after"] = listing.next_key
    rising = sort in ("oldest", "confirmed")
    assert seen == (facts if rising else facts[::-1])


def test_a_filter_without_sense_is_named_and_ignored(alices, bees, bobs_agent):
    for query in ({"kind": "odd"}, {"sure": "x"}, {"agent": str(bobs_agent.pk)}, {"entity": "1"}):
        page = text(alices, "facts", **query)
        assert "keeps bees" in page
        assert "errorlist" in page


def test_filters_go_along_to_the_next_page_and_the_other_states(alices, alice, monkeypatch):
    monkeypatch.setitem(paging.by_moment.__kwdefaults__, "size", 1)
    for n in range(2):
        FactFactory.create(owner=alice, statement=f"The user has {n} hens.", state=State.ACTIVE)
    page = text(alices, "facts", kind="semantic", q="hens")
    assert "?kind=semantic&amp;q=hens&amp;after=" in page
    assert "?kind=semantic&amp;q=hens&amp;state=rejected" in page
