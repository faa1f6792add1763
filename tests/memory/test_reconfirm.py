"""The reconfirm queue: what waits in it, and what each answer does."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.audit import POLICY, person
from agents.models import User
from memory import lifecycle
from memory.consolidation import reconfirm
from memory.models import Fact
from memory.vocabulary import ArchivedReason, State
from tests.factories import MONDAY, FactFactory
from tests.memory.steps import HELSINKI, OSLO, active, candidate, now_is, said, state

pytestmark = pytest.mark.django_db

LONG_AGO = MONDAY - timedelta(days=365)
FADED = MONDAY
NOW = MONDAY + timedelta(days=35)


def faded(owner: User, statement: str = OSLO, **changes: Any) -> Fact:
    fact = active(owner, statement, observed_at=LONG_AGO, **changes)
    return lifecycle.decay(fact=fact, at=FADED, actor=POLICY)


def asked(owner: User, now: datetime = NOW) -> list[str]:
    return [fact.statement for fact in reconfirm.waiting(owner=owner, now=now)]


def test_only_what_faded_and_was_not_confirmed_since_is_asked_about(alice: User, bob: User) -> None:
    faded(alice)
    faded(bob, "The user lives in Bergen.")
    active(alice, "The user has a cat.")
    candidate(alice, "The user has a dog.")
    FactFactory.create(
        owner=alice, state=State.REJECTED, statement="The user has a cow.", decayed_at=FADED
    )
    faded(alice, "The user has a pass.", valid_until=NOW)
    gone = faded(alice, "The user has a hen.")
    lifecycle.archive(fact=gone, why=ArchivedReason.FORGOTTEN, actor=person(alice))
    assert asked(alice) == [OSLO]


def test_what_is_behind_the_first_ones_follows_as_they_are_answered(alice: User) -> None:
    facts = [faded(alice, f"The user has {n} hens.") for n in range(reconfirm.SHOWN + 2)]
    assert len(asked(alice)) == reconfirm.SHOWN
    assert facts[-1].statement not in asked(alice)
    for fact in facts[:2]:
        reconfirm.still_true(fact=fact, actor=person(alice))
    assert len(asked(alice)) == reconfirm.SHOWN
    assert facts[-1].statement in asked(alice)


def test_still_true_confirms_it_now_and_restores_its_confidence(alice: User) -> None:
    fact = faded(alice, confidence=0.9)
    assert now_is(fact).confidence == pytest.approx(0.72)
    before = timezone.now()
    reconfirm.still_true(fact=fact, actor=person(alice))
    row = now_is(fact)
    assert (row.state, row.confidence, row.decayed_at) == (State.ACTIVE, 1.0, None)
    assert row.last_confirmed_at >= before
    assert asked(alice) == []


def test_what_no_longer_holds_is_archived_with_its_end_and_may_be_learned_anew(
    alice: User,
) -> None:
    fact, end = faded(alice), datetime(2026, 1, 1, tzinfo=UTC)
    reconfirm.no_longer_true(fact=fact, when=end, actor=person(alice))
    row = now_is(fact)
    assert (row.state, row.archived_reason, row.valid_until) == (
        State.ARCHIVED, ArchivedReason.ENDED, end,
    )  # fmt: skip
    assert candidate(alice, OSLO).state == State.PENDING


def test_an_end_that_cannot_be_changes_nothing(alice: User) -> None:
    fact = faded(alice, valid_from=LONG_AGO)
    for when in (LONG_AGO, timezone.now() + timedelta(days=1)):
        with pytest.raises(lifecycle.NotAllowed):
            reconfirm.no_longer_true(fact=fact, when=when, actor=person(alice))
    assert asked(alice) == [OSLO]
    assert now_is(fact).valid_until is None


def test_what_ended_by_mistake_is_restored_without_its_end(alice: User) -> None:
    fact = reconfirm.no_longer_true(fact=faded(alice), actor=person(alice))
    lifecycle.restore(fact=fact, actor=person(alice))
    assert (now_is(fact).state, now_is(fact).valid_until) == (State.ACTIVE, None)


def test_what_changed_takes_its_place(alice: User) -> None:
    fact, moved = faded(alice, pinned=True), datetime(2026, 1, 1, tzinfo=UTC)
    new = reconfirm.changed_to(
        fact=fact, statement=f" {HELSINKI} ", when=moved, actor=person(alice)
    )
    assert (new.statement, new.state, new.valid_from, new.pinned) == (
        HELSINKI, State.ACTIVE, moved, True,
    )  # fmt: skip
    assert now_is(fact).superseded_by_id == new.pk
    assert asked(alice) == []


def test_an_unchanged_text_is_a_confirmation_and_an_empty_one_is_refused(alice: User) -> None:
    fact = faded(alice)
    with pytest.raises(lifecycle.NotAllowed):
        reconfirm.changed_to(fact=fact, statement=" … ", actor=person(alice))
    assert reconfirm.changed_to(fact=fact, statement=OSLO, actor=person(alice)).pk == fact.pk
    assert asked(alice) == []


def test_asking_later_is_for_then(alice: User) -> None:
    fact = faded(alice)
    reconfirm.ask_later(fact=fact, until=NOW, actor=person(alice))
    assert asked(alice, NOW - timedelta(seconds=1)) == []
    assert asked(alice, NOW) == [OSLO]


def test_saying_it_again_takes_it_out_of_the_queue(alice: User) -> None:
    fact = faded(alice)
    source = said(alice, sent_at=FADED + timedelta(days=1))
    lifecycle.reinforce(fact=fact, sources=[source], actor=POLICY)
    assert asked(alice) == []


def test_only_a_person_answers(alice: User, bob: User) -> None:
    fact = faded(alice)
    for actor in (POLICY, person(bob)):
        for answer in (
            lambda by: reconfirm.still_true(fact=fact, actor=by),
            lambda by: reconfirm.no_longer_true(fact=fact, actor=by),
            lambda by: reconfirm.changed_to(fact=fact, statement=HELSINKI, actor=by),
            lambda by: reconfirm.ask_later(fact=fact, until=NOW, actor=by),
        ):
            with pytest.raises(lifecycle.NotAllowed):
                answer(actor)
    assert asked(alice) == [OSLO]


def test_two_tabs_answer_and_one_is_told(alice: User) -> None:
    fact = faded(alice)
    reconfirm.no_longer_true(fact=fact, actor=person(alice))
    with pytest.raises(lifecycle.Conflict):
        reconfirm.still_true(fact=fact, actor=person(alice))
    assert state(fact) == State.ARCHIVED
