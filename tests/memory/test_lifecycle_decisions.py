from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents.audit import POLICY, person
from agents.models import User
from memory import lifecycle
from memory.lifecycle import corrections
from memory.lifecycle.rows import move
from memory.models import Fact
from memory.vocabulary import ArchivedReason, Kind, Origin, Precision, State, Tag
from tests.factories import MONDAY, FactFactory
from tests.memory.raw import update
from tests.memory.steps import (
    HELSINKI,
    OSLO,
    TURKU,
    active,
    candidate,
    confirmed_correction,
    correction,
    edit,
    everything,
    now_is,
    quotes,
    said,
    soon,
    state,
    trail,
)

pytestmark = pytest.mark.django_db

JUNE = MONDAY + timedelta(days=100)


# Confirm


def test_a_confirmed_candidate_is_active_from_now(alice: User) -> None:
    fact = candidate(alice)
    before = timezone.now()
    lifecycle.confirm(fact=fact, actor=person(alice), reason="looks right")
    row = now_is(fact)
    assert (row.state, row.reviewer) == (State.ACTIVE, alice)
    assert row.reviewed_at is not None
    assert row.reviewed_at == row.last_confirmed_at >= before
    last = trail(row)[-1]
    assert (last.actor, last.reason) == (f"person:{alice.pk}", "looks right")
    assert last.before == {
        "state": "pending",
        "reviewer_id": None,
        "reviewed_at": None,
        "last_confirmed_at": "2026-03-02T09:00:00+00:00",
    }


def test_a_confirmed_correction_takes_the_place_of_its_target(alice: User) -> None:
    target = active(alice, OSLO, message=said(alice, "I live in Oslo.").message)
    waiting = correction(alice, target, sources=(said(alice, "I moved."),))
    lifecycle.confirm(fact=waiting, actor=person(alice))
    old, new = now_is(target), now_is(waiting)
    assert (old.state, old.archived_from) == (State.ARCHIVED, State.ACTIVE)
    assert (old.archived_reason, old.superseded_by) == (ArchivedReason.SUPERSEDED, new)
    assert new.state == State.ACTIVE
    # What the owner said of Oslo is no ground for Helsinki.
    assert quotes(new) == {"I moved."}


def test_a_confirmed_merge_keeps_the_oldest_confirmation_and_all_evidence(alice: User) -> None:
    members = [
        active(
            alice,
            f"The user owns {n}.",
            observed_at=MONDAY + timedelta(days=age),
            message=said(alice, n).message,
        )
        for n, age in (("a boat", 3), ("a car", 1))
    ]
    merged = correction(alice, *members, statement="The user owns a boat and a car.")
    lifecycle.confirm(fact=merged, actor=person(alice))
    row = now_is(merged)
    assert row.last_confirmed_at == MONDAY + timedelta(days=1)
    assert quotes(row) == {"a boat", "a car"}
    for member in members:
        old = now_is(member)
        assert (old.archived_reason, old.superseded_by) == (ArchivedReason.MERGED, row)


@pytest.mark.parametrize("step", ["confirm", "reject", "confirm_with_edit"])
def test_only_a_person_decides(alice: User, bob: User, step: str) -> None:
    fact = candidate(alice)
    more: dict[str, Any] = {"edit": edit(OSLO)} if step == "confirm_with_edit" else {}
    before = everything(alice)
    for actor in (POLICY, person(bob)):
        with pytest.raises(lifecycle.NotAllowed):
            getattr(lifecycle, step)(fact=fact, actor=actor, **more)
    assert everything(alice) == before


def _confirm(fact: Fact, owner: User, seen: str = "") -> Fact:
    return lifecycle.confirm(fact=fact, actor=person(owner), seen=seen)


def _reject(fact: Fact, owner: User, seen: str = "") -> Fact:
    return lifecycle.reject(fact=fact, actor=person(owner), seen=seen)


def _edit(fact: Fact, owner: User, seen: str = "") -> Fact:
    return lifecycle.confirm_with_edit(fact=fact, edit=edit(TURKU), actor=person(owner), seen=seen)


@pytest.mark.parametrize("first", [_confirm, _reject, _edit])
@pytest.mark.parametrize("second", [_confirm, _reject, _edit])
def test_of_two_tabs_one_wins_and_the_other_is_told(alice: User, first: Any, second: Any) -> None:
    tab, other_tab = candidate(alice), Fact.objects.get()
    seen = lifecycle.version(tab)
    first(tab, alice, seen)
    before = everything(alice)
    with pytest.raises(lifecycle.Conflict, match="already decided elsewhere") as refusal:
        second(other_tab, alice, seen)
    assert refusal.value.fact.state == state(tab) != State.PENDING
    assert everything(alice) == before


def test_a_hand_that_takes_no_lock_is_noticed_too(alice: User) -> None:
    """Raw SQL comes between the look and the step."""
    looked_at = candidate(alice)
    update(looked_at, state="archived", archived_from="pending", archived_reason="aged_out")
    with pytest.raises(lifecycle.Conflict):
        move(looked_at, to=State.REJECTED, reviewer=alice, reviewed_at=timezone.now())
    assert state(looked_at) == State.ARCHIVED


@pytest.mark.parametrize("kind", [State.ACTIVE, State.REJECTED, State.ARCHIVED])
def test_what_does_not_wait_is_not_decided(alice: User, kind: State) -> None:
    fact = FactFactory.create(owner=alice, state=kind)
    for step in (_confirm, _reject, _edit):
        with pytest.raises(lifecycle.Conflict):
            step(fact, alice)


def test_an_old_view_is_refused(alice: User) -> None:
    target = active(alice, OSLO)
    waiting = correction(alice, target)
    seen = lifecycle.version(now_is(waiting))
    confirmed_to = lifecycle.supersede(targets=[target], draft=_by_hand(TURKU), actor=person(alice))
    for step in (_confirm, _reject, _edit):
        with pytest.raises(lifecycle.Stale) as refusal:
            step(waiting, alice, seen)
        assert refusal.value.fact == waiting
    assert state(confirmed_to) == State.ACTIVE
    _confirm(waiting, alice, lifecycle.version(now_is(waiting)))
    assert now_is(confirmed_to).superseded_by == waiting


def test_a_view_is_old_once_something_that_an_edit_sets_has_changed(alice: User) -> None:
    fact = active(alice)
    seen = lifecycle.version(now_is(fact))
    assert lifecycle.version(now_is(fact)) == seen
    lifecycle.correct(fact=fact, edit=edit(OSLO, tags=(Tag.LOCATION,)), actor=person(alice))
    with pytest.raises(lifecycle.Stale):
        lifecycle.correct(fact=fact, edit=edit(TURKU), actor=person(alice), seen=seen)
    assert now_is(fact).tags == [Tag.LOCATION]


def _by_hand(statement: str) -> lifecycle.Draft:
    return lifecycle.Draft(statement, Kind.SEMANTIC, Origin.MANUAL, MONDAY)


# Confirm with edit, correct


def test_an_edited_confirmation_shows_the_whole_chain(alice: User) -> None:
    target = active(alice, OSLO)
    source = said(alice, "I moved.")
    waiting = correction(alice, target, sources=(source,))
    new = _edit(waiting, alice)
    assert now_is(target).superseded_by == waiting
    assert now_is(waiting).superseded_by == new
    row = now_is(new)
    assert (row.statement, row.state, row.origin) == (TURKU, State.ACTIVE, Origin.MANUAL)
    assert (row.reviewer, quotes(row)) == (alice, {"I moved."})
    assert [Fact.objects.filter(state=State.ACTIVE).get()] == [new]


@pytest.mark.parametrize("statement", ["the user lives in HELSINKI", "The user lives in Helsinki!"])
def test_an_edit_may_change_no_more_than_case_or_punctuation(alice: User, statement: str) -> None:
    waiting = candidate(alice, HELSINKI)
    new = lifecycle.confirm_with_edit(fact=waiting, edit=edit(statement), actor=person(alice))
    assert (new.statement, new.text_hash) == (statement, waiting.text_hash)
    assert (state(waiting), state(new)) == (State.ARCHIVED, State.ACTIVE)
    with pytest.raises(lifecycle.Duplicate):
        candidate(alice, HELSINKI)


def test_an_edit_of_the_kind_alone_makes_a_new_fact(alice: User) -> None:
    waiting = candidate(alice)
    new = lifecycle.confirm_with_edit(
        fact=waiting, edit=edit(HELSINKI, kind=Kind.EPISODIC), actor=person(alice)
    )
    assert (new.kind, now_is(waiting).superseded_by) == (Kind.EPISODIC, new)


def test_tags_dates_and_pin_change_on_the_same_fact(alice: User) -> None:
    waiting = candidate(alice)
    changed = edit(
        HELSINKI,
        tags=(Tag.LOCATION,),
        valid_from=MONDAY,
        valid_until=JUNE,
        valid_precision=Precision.MONTH,
        pinned=True,
    )
    lifecycle.confirm_with_edit(fact=waiting, edit=changed, actor=person(alice))
    row = Fact.objects.get(owner=alice)
    assert (row.state, row.tags, row.pinned) == (State.ACTIVE, [Tag.LOCATION], True)
    assert (row.valid_from, row.valid_until) == (MONDAY, JUNE)
    assert row.valid_precision == Precision.MONTH
    assert trail(row)[-1].after == {
        "tags": ["location"],
        "pinned": True,
        "valid_from": "2026-03-02T09:00:00+00:00",
        "valid_until": "2026-06-10T09:00:00+00:00",
        "valid_precision": "month",
    }


def test_an_edit_into_the_text_of_another_fact_is_refused_whole(alice: User) -> None:
    active(alice, TURKU)
    waiting = correction(alice, active(alice, OSLO))
    before = everything(alice)
    with pytest.raises(lifecycle.Duplicate):
        _edit(waiting, alice)
    assert everything(alice) == before


def test_an_active_fact_is_corrected_by_a_new_one(alice: User) -> None:
    fact = active(alice, OSLO)
    new = lifecycle.correct(fact=fact, edit=edit(TURKU, pinned=True), actor=person(alice))
    assert (new.pinned, now_is(fact).superseded_by) == (True, new)
    with pytest.raises(lifecycle.Conflict):
        lifecycle.correct(fact=fact, edit=edit(HELSINKI), actor=person(alice))
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.correct(fact=new, edit=edit(HELSINKI), actor=POLICY)
    same = lifecycle.correct(fact=new, edit=edit(TURKU), actor=person(alice))
    assert (same.pk, now_is(new).pinned) == (new.pk, False)


@pytest.mark.parametrize(
    ("step", "part"),
    [
        (_confirm, "corrections.set_aside"),
        (_confirm, "decisions.replace"),
        (_edit, "corrections.set_aside"),
        (_edit, "births.copy_sources"),
        (_edit, "births.check_text_rule"),
    ],
)
def test_a_step_that_fails_midway_changes_nothing(
    alice: User, monkeypatch: pytest.MonkeyPatch, step: Any, part: str
) -> None:
    old = [active(alice, OSLO), active(alice, "The user lives in Norway.")]
    waiting = correction(alice, *old, sources=(said(alice),))
    before = everything(alice)

    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("lost the connection")

    monkeypatch.setattr(f"memory.lifecycle.{part}", fail)
    with pytest.raises(RuntimeError):
        step(waiting, alice)
    assert everything(alice) == before
    assert {fact.pk for fact in corrections.open_targets(waiting)} == {fact.pk for fact in old}
    # Nor does the next change in this session pass as this person's.
    with connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(current_setting('remembrancer.actor', true), '')")
        assert cursor.fetchone() == ("",)


# Reject, reconsider


def test_a_rejection_names_its_person_and_can_be_taken_back(alice: User) -> None:
    fact = candidate(alice)
    lifecycle.snooze(fact=fact, until=soon(), actor=person(alice))
    rejected = now_is(lifecycle.reject(fact=fact, actor=person(alice), reason="not true"))
    assert (rejected.state, rejected.reviewer) == (State.REJECTED, alice)
    assert trail(fact)[-1].reason == "not true"
    again = now_is(lifecycle.reconsider(fact=fact, actor=person(alice)))
    assert (again.state, again.reviewer, again.reviewed_at) == (State.PENDING, None, None)
    # It waits now, not when it would have come up again.
    assert again.snoozed_until is None


def test_reconsidering_needs_a_person_and_a_rejected_fact(alice: User) -> None:
    fact = candidate(alice)
    with pytest.raises(lifecycle.Conflict):
        lifecycle.reconsider(fact=fact, actor=person(alice))
    lifecycle.reject(fact=fact, actor=person(alice))
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.reconsider(fact=fact, actor=POLICY)
    assert state(fact) == State.REJECTED


def test_reconsidering_does_not_make_twins(alice: User) -> None:
    fact = lifecycle.reject(fact=candidate(alice), actor=person(alice))
    twin = active(alice, HELSINKI)
    with pytest.raises(lifecycle.Duplicate) as refusal:
        lifecycle.reconsider(fact=fact, actor=person(alice))
    assert refusal.value.existing == twin
    assert state(fact) == State.REJECTED


def test_a_reconsidered_correction_aims_at_what_is_active_now(alice: User) -> None:
    oslo = active(alice, OSLO)
    waiting = correction(alice, oslo)
    lifecycle.reject(fact=waiting, actor=person(alice))
    head = confirmed_correction(alice, oslo, TURKU)
    lifecycle.reconsider(fact=waiting, actor=person(alice))
    assert corrections.open_targets(waiting) == [head]
    lifecycle.confirm(fact=waiting, actor=person(alice))
    assert now_is(head).superseded_by == waiting


def test_rejecting_a_fact_that_was_sent_back_returns_what_it_had_replaced(alice: User) -> None:
    oslo = active(alice, OSLO)
    wrong = confirmed_correction(alice, oslo)
    lifecycle.quarantine(
        facts=Fact.objects.filter(pk=wrong.pk), actor=person(alice), reason="a bad source"
    )
    assert state(oslo) == State.ARCHIVED
    lifecycle.reject(fact=wrong, actor=person(alice))
    assert (state(wrong), state(oslo)) == (State.REJECTED, State.ACTIVE)
