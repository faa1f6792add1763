"""Entities: names, facts, and the merge of two, which is one step and can be taken back."""

import pytest
from django.urls import reverse

from agents.audit import person
from agents.models import AuditEvent
from memory import entities
from memory.lifecycle import NotAllowed
from memory.models import Entity, EntityAlias, EntityMerge, FactEntity
from memory.text import normalise
from memory.vocabulary import EntityType, State
from tests.factories import FactFactory
from tests.memory.pages import text

pytestmark = pytest.mark.django_db


def an_entity(owner, name, *aliases, kind=EntityType.PERSON):
    entity = Entity.objects.create(owner=owner, type=kind, name=name, normal_name=normalise(name))
    for alias in (name, *aliases):
        EntityAlias.objects.create(
            owner=owner, entity=entity, name=alias, normal_name=normalise(alias)
        )
    return entity


def a_fact(owner, statement, *about):
    fact = FactFactory.create(owner=owner, statement=statement, state=State.ACTIVE)
    for entity in about:
        FactEntity.objects.create(owner=owner, fact=fact, entity=entity)
    return fact


@pytest.fixture
def liz(alice):
    return an_entity(alice, "Elizabeth", "Liz")


@pytest.fixture
def beth(alice):
    return an_entity(alice, "Beth", "Liz", "Bess")


def names(entity):
    return set(entity.aliases.values_list("name", flat=True))


def facts(entity):
    return set(FactEntity.objects.filter(entity=entity).values_list("fact__statement", flat=True))


def test_a_merge_and_back_leaves_everything_as_it_was(alice, liz, beth):
    a_fact(alice, "Elizabeth sails.", liz)
    a_fact(alice, "Beth rows.", beth)
    a_fact(alice, "They met.", liz, beth)
    by = person(alice)
    record = entities.merge(kept=liz, gone=beth, actor=by, reason="one person")
    assert names(liz) == {"Elizabeth", "Liz", "Beth", "Bess"}
    assert facts(liz) == {"Elizabeth sails.", "Beth rows.", "They met."}
    assert list(Entity.objects.filter(owner=alice)) == [liz]
    back = entities.undo(record=record, actor=by)
    assert (back.pk, back.name, back.type) == (beth.pk, "Beth", EntityType.PERSON)
    assert names(liz) == {"Elizabeth", "Liz"}
    assert names(back) == {"Beth", "Liz", "Bess"}
    assert facts(liz) == {"Elizabeth sails.", "They met."}
    assert facts(back) == {"Beth rows.", "They met."}
    with pytest.raises(entities.MergeRefused):
        entities.undo(record=record, actor=by)


def test_it_is_on_record_without_any_name(alice, liz, beth):
    entities.merge(kept=liz, gone=beth, actor=person(alice), reason="one person")
    event = AuditEvent.objects.get(table="memory_entitymerge")
    assert (event.actor, event.reason) == (f"person:{alice.pk}", "one person")
    assert "Beth" not in str(event.after)


def test_what_came_since_stays_with_the_one_that_was_kept(alice, liz, beth):
    record = entities.merge(kept=liz, gone=beth, actor=person(alice))
    a_fact(alice, "Elizabeth flies.", liz)
    back = entities.undo(record=record, actor=person(alice))
    assert facts(liz) == {"Elizabeth flies."}
    assert facts(back) == set()


def test_it_is_refused_where_the_name_is_taken_again(alice, liz):
    ship = an_entity(alice, "Beth", kind=EntityType.PROJECT)
    record = entities.merge(kept=liz, gone=ship, actor=person(alice))
    an_entity(alice, "Beth", kind=EntityType.PROJECT)
    with pytest.raises(entities.MergeRefused, match="by now"):
        entities.undo(record=record, actor=person(alice))


def test_nothing_is_merged_with_itself_with_anothers_or_by_another(alice, bob, liz, beth):
    his = an_entity(bob, "Beth")
    with pytest.raises(entities.MergeRefused):
        entities.merge(kept=liz, gone=liz, actor=person(alice))
    with pytest.raises(NotAllowed):
        entities.merge(kept=liz, gone=his, actor=person(alice))
    with pytest.raises(NotAllowed):
        entities.merge(kept=liz, gone=beth, actor=person(bob))
    entities.merge(kept=liz, gone=beth, actor=person(alice))
    with pytest.raises(entities.MergeRefused, match="not there any more"):
        entities.merge(kept=liz, gone=beth, actor=person(alice))
    assert EntityMerge.objects.count() == 1


def test_the_pages_lead_through_a_merge_and_back(alices, alice, liz, beth):
    a_fact(alice, "Beth rows.", beth)
    assert "Elizabeth" in text(alices, "entities", q="liz")
    assert "Beth" not in text(alices, "entities", q="eliza")
    assert "Beth rows." not in text(alices, "entity", liz.pk)
    assert reverse("entity-merge-preview", args=[liz.pk, beth.pk]) in text(
        alices, "entity", liz.pk, q="bess"
    )
    preview = text(alices, "entity-merge-preview", liz.pk, beth.pk)
    assert "Bess" in preview
    assert "1 fact" in preview
    url = reverse("entity-merge", args=[liz.pk, beth.pk])
    page = alices.post(url, follow=True).content.decode()
    assert "Beth rows." in page
    record = EntityMerge.objects.get()
    alices.post(reverse("entity-unmerge", args=[record.pk]))
    assert "Beth rows." not in text(alices, "entity", liz.pk)
    assert "Beth rows." in text(alices, "entity", beth.pk)


def test_the_list_is_paged_by_name(alices, alice, monkeypatch):
    monkeypatch.setattr("memory.pages.entities.PAGE", 2)
    for name in ("Cay", "Abe", "Bo", "Dee", "Eve"):
        an_entity(alice, name)
    seen, after = [], ""
    while True:
        context = alices.get(reverse("entities"), {"after": after}).context
        seen += [row.name for row, _ in context["rows"]]
        after = context["next_key"]
        if not after:
            break
    assert seen == ["Abe", "Bo", "Cay", "Dee", "Eve"]
    assert "Abe" in text(alices, "entities", after="nonsense_x")
