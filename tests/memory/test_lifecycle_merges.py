"""A person merges facts, and confirms into another scope; and takes both back."""

from datetime import timedelta

import pytest

from agents.audit import POLICY
from memory import lifecycle
from memory.lifecycle import AtCap, Conflict, Duplicate, Edit, NotAllowed, Scope, Stale
from memory.models import EntityAlias, FactEntity
from memory.vocabulary import ArchivedReason, EntityType, Origin, State, Tag
from tests.factories import MONDAY
from tests.memory.steps import (
    HELSINKI,
    OSLO,
    TURKU,
    active,
    by,
    candidate,
    correction,
    edit,
    everything,
    now_is,
    quotes,
    said,
    state,
)

pytestmark = pytest.mark.django_db

BOTH = "The user lives in Helsinki and in Oslo."


def test_a_merge_takes_the_place_of_candidates_and_active_facts_with_all_they_rest_on(alice):
    names = lifecycle.EntityRef(EntityType.PLACE, "Helsinki")
    waiting = candidate(alice, HELSINKI, sources=(said(alice),), entities=(names,))
    old = active(alice, OSLO, last_confirmed_at=MONDAY - timedelta(days=90))
    lifecycle.add_evidence(fact=old, sources=[said(alice, "I live in Oslo.")], actor=POLICY)
    merged = lifecycle.merge(
        facts=[waiting, old], edit=edit(BOTH, tags=(Tag.LOCATION,)), actor=by(alice)
    )
    assert (merged.statement, merged.state, merged.origin) == (BOTH, State.ACTIVE, Origin.MERGE)
    assert merged.tags == [Tag.LOCATION]
    assert merged.last_confirmed_at == MONDAY - timedelta(days=90)
    assert quotes(merged) == {"I moved to Helsinki.", "I live in Oslo."}
    assert FactEntity.objects.get(fact=merged).entity == EntityAlias.objects.get().entity
    for member in (waiting, old):
        row = now_is(member)
        assert (row.state, row.archived_reason) == (State.ARCHIVED, ArchivedReason.MERGED)
        assert row.superseded_by == merged


def test_undo_of_a_merge_leaves_every_member_as_it_was(alice):
    old = active(alice, OSLO)
    members = [candidate(alice, HELSINKI), candidate(alice, TURKU), old]
    merged = lifecycle.merge(facts=members, edit=edit(HELSINKI), actor=by(alice))
    back = lifecycle.undo(fact=merged, actor=by(alice))
    assert back in members[:2]
    assert [state(member) for member in members] == [State.PENDING, State.PENDING, State.ACTIVE]
    assert state(merged) == State.ARCHIVED


def test_a_correction_merges_with_the_very_fact_that_it_would_replace(alice):
    old = active(alice, OSLO)
    waiting = correction(alice, old)
    merged = lifecycle.merge(facts=[old, waiting], edit=edit(BOTH), actor=by(alice))
    assert now_is(old).superseded_by == waiting
    assert now_is(waiting).superseded_by == merged
    lifecycle.undo(fact=merged, actor=by(alice))
    assert (state(old), state(waiting)) == (State.ACTIVE, State.PENDING)


def test_a_merge_that_is_refused_changes_nothing(alice, bob, agent):
    one, two = candidate(alice, HELSINKI), candidate(alice, TURKU)
    elsewhere = candidate(alice, OSLO, agent=agent)
    taken = active(alice, "The user lives abroad.")
    rejected = candidate(alice, "The user lives in Rome.")
    lifecycle.reject(fact=rejected, actor=by(alice))
    before = everything(alice)
    for refusal, facts, text, actor in (
        (NotAllowed, [one], BOTH, by(alice)),
        (NotAllowed, [one, one], BOTH, by(alice)),
        (NotAllowed, [one, elsewhere], BOTH, by(alice)),
        (NotAllowed, [one, two], BOTH, by(bob)),
        (NotAllowed, [one, two], BOTH, POLICY),
        (Conflict, [one, rejected], BOTH, by(alice)),
        (Duplicate, [one, two], taken.statement, by(alice)),
    ):
        with pytest.raises(refusal):
            lifecycle.merge(facts=facts, edit=edit(text), actor=actor)
    with pytest.raises(Stale):
        lifecycle.merge(facts=[one, two], edit=edit(BOTH), actor=by(alice), seen={two.pk: "older"})
    assert everything(alice) == before


def test_a_merge_counts_once_against_the_cap(alice):
    alice.settings.cap_global = 1
    alice.settings.save()
    one, two = candidate(alice, HELSINKI), candidate(alice, TURKU)
    merged = lifecycle.merge(facts=[one, two], edit=edit(BOTH), actor=by(alice))
    three, four = candidate(alice, OSLO), candidate(alice, "The user lives in Rome.")
    with pytest.raises(AtCap):
        lifecycle.merge(facts=[three, four], edit=edit("The user moves."), actor=by(alice))
    lifecycle.merge(facts=[merged, three], edit=edit("The user moves."), actor=by(alice))


def test_a_candidate_is_confirmed_for_every_assistant_in_one_step(alice, agent):
    waiting = candidate(alice, HELSINKI, agent=agent, sources=(said(alice),))
    wider = lifecycle.confirm_with_edit(
        fact=waiting, edit=Edit.of(waiting, scope=Scope(None)), actor=by(alice)
    )
    assert (wider.agent, wider.statement, wider.state) == (None, HELSINKI, State.ACTIVE)
    assert quotes(wider) == {"I moved to Helsinki."}
    assert lifecycle.undo(fact=wider, actor=by(alice)) == waiting
    assert state(waiting) == State.PENDING


def test_a_candidate_goes_to_no_assistant_of_another_and_past_no_cap(alice, agent, bobs_agent):
    waiting = candidate(alice, HELSINKI, agent=agent)
    before = everything(alice)
    with pytest.raises(NotAllowed):
        lifecycle.confirm_with_edit(
            fact=waiting, edit=Edit.of(waiting, scope=Scope(bobs_agent)), actor=by(alice)
        )
    assert everything(alice) == before
    alice.settings.cap_global = 0
    alice.settings.save()
    before = everything(alice)
    with pytest.raises(AtCap):
        lifecycle.confirm_with_edit(
            fact=waiting, edit=Edit.of(waiting, scope=Scope(None)), actor=by(alice)
        )
    assert everything(alice) == before


def test_the_snoozed_comes_back_when_a_person_says_so(alice):
    waiting = candidate(alice, HELSINKI)
    lifecycle.snooze(fact=waiting, until=MONDAY + timedelta(days=9_000), actor=by(alice))
    lifecycle.snooze(fact=waiting, until=None, actor=by(alice))
    assert now_is(waiting).snoozed_until is None
