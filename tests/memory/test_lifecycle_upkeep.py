from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents.audit import POLICY, person
from agents.gate import MemoryOff
from agents.models import Agent, User
from memory import lifecycle
from memory.models import Fact
from memory.vocabulary import ArchivedReason, Kind, Origin, State
from tests.factories import MONDAY, FactFactory, UserFactory
from tests.memory.steps import (
    HELSINKI,
    OSLO,
    TURKU,
    active,
    by_hand,
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

NEXT_DAY = MONDAY + timedelta(days=1)


# Reinforce, evidence


def test_saying_it_again_confirms_at_the_time_of_the_message(alice: User) -> None:
    fact = active(alice)
    lifecycle.reinforce(fact=fact, sources=[said(alice, sent_at=NEXT_DAY)], actor=POLICY)
    row = now_is(fact)
    assert (row.last_confirmed_at, quotes(row)) == (NEXT_DAY, {"I moved to Helsinki."})
    assert Fact.objects.filter(owner=alice).count() == 1


def test_an_older_message_adds_evidence_and_takes_nothing_back(alice: User) -> None:
    fact = active(alice)
    earlier = said(alice, sent_at=MONDAY - timedelta(days=9))
    lifecycle.reinforce(fact=fact, sources=[earlier], actor=POLICY)
    assert (now_is(fact).last_confirmed_at, len(quotes(fact))) == (MONDAY, 1)


def test_a_clock_that_runs_ahead_confirms_nothing_in_the_future(alice: User) -> None:
    fact = active(alice)
    lifecycle.reinforce(fact=fact, sources=[said(alice, sent_at=soon())], actor=POLICY)
    assert MONDAY < now_is(fact).last_confirmed_at <= timezone.now()


def test_only_the_owners_words_reinforce(alice: User) -> None:
    fact = active(alice)
    answer = said(alice, "You live in Oslo.", role="assistant", sent_at=NEXT_DAY)
    for sources in ([answer], []):
        with pytest.raises(lifecycle.NotAllowed):
            lifecycle.reinforce(fact=fact, sources=sources, actor=POLICY)
    assert not quotes(fact)
    # The owner's "yes, exactly" counts, at the owner's time; what it answers is kept beside it.
    yes = said(alice, "Yes, exactly.", sent_at=NEXT_DAY - timedelta(hours=1))
    lifecycle.reinforce(fact=fact, sources=[answer, yes], actor=POLICY)
    assert now_is(fact).last_confirmed_at == NEXT_DAY - timedelta(hours=1)
    assert quotes(fact) == {"You live in Oslo.", "Yes, exactly."}


def test_reinforcing_twice_by_one_message_changes_nothing(alice: User) -> None:
    fact, source = active(alice), said(alice, sent_at=NEXT_DAY)
    lifecycle.reinforce(fact=fact, sources=[source], actor=POLICY)
    before = everything(alice)
    lifecycle.reinforce(fact=fact, sources=[source], actor=POLICY)
    assert (everything(alice), fact.evidence.count()) == (before, 1)


@pytest.mark.parametrize("gone", [State.PENDING, State.REJECTED, State.ARCHIVED])
def test_only_an_active_fact_is_reinforced(alice: User, gone: State) -> None:
    fact = FactFactory.create(owner=alice, state=gone)
    with pytest.raises(lifecycle.Conflict):
        lifecycle.reinforce(fact=fact, sources=[said(alice)], actor=POLICY)


def test_being_retrieved_is_not_being_confirmed(alice: User) -> None:
    from memory.models import FactUsage

    fact = active(alice)
    before = everything(alice)
    FactUsage.objects.create(owner=alice, fact=fact, last_retrieved_at=timezone.now())
    assert everything(alice) == before


def test_evidence_is_added_to_what_is_live(alice: User) -> None:
    source = said(alice)
    for fact in (candidate(alice), active(alice)):
        added = [
            lifecycle.add_evidence(fact=fact, sources=[source], actor=POLICY) for _ in range(2)
        ]
        assert added == [1, 0]
        assert now_is(fact).last_confirmed_at == MONDAY
    with pytest.raises(lifecycle.Conflict):
        lifecycle.add_evidence(
            fact=FactFactory.create(owner=alice, state=State.REJECTED),
            sources=[source],
            actor=POLICY,
        )


def test_nothing_is_learned_of_a_fact_while_memory_is_off() -> None:
    owner = UserFactory.create(settings__memory_enabled=False)
    fact, source = active(owner), said(owner)
    for step in (lifecycle.reinforce, lifecycle.add_evidence):
        with pytest.raises(MemoryOff):
            step(fact=fact, sources=[source], actor=POLICY)
    assert not quotes(fact)
    # The owner's own desk works.
    lifecycle.archive(fact=fact, why=ArchivedReason.FORGOTTEN, actor=person(owner))
    lifecycle.restore(fact=fact, actor=person(owner))


# Archive, restore


@pytest.mark.parametrize(
    ("born", "why", "by_code"),
    [
        (State.ACTIVE, ArchivedReason.STALE, True),
        (State.PENDING, ArchivedReason.DUPLICATE, True),
        (State.PENDING, ArchivedReason.AGED_OUT, True),
        (State.ACTIVE, ArchivedReason.FORGOTTEN, False),
        (State.PENDING, ArchivedReason.FORGOTTEN, False),
    ],
)
def test_archiving_says_why_and_can_be_taken_back(
    alice: User, born: State, why: ArchivedReason, by_code: bool
) -> None:
    fact = FactFactory.create(owner=alice, state=born)
    if not by_code:
        with pytest.raises(lifecycle.NotAllowed):
            lifecycle.archive(fact=fact, why=why, actor=POLICY)
    actor = POLICY if by_code else person(alice)
    lifecycle.archive(fact=fact, why=why, actor=actor, reason="told so")
    row = now_is(fact)
    assert (row.state, row.archived_reason, row.archived_from) == (State.ARCHIVED, why, born)
    assert trail(fact)[-1].reason == "told so"
    with pytest.raises(lifecycle.Conflict):
        lifecycle.archive(fact=fact, why=why, actor=actor)
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.restore(fact=fact, actor=POLICY)
    lifecycle.restore(fact=fact, actor=person(alice))
    row = now_is(fact)
    assert (row.state, row.archived_reason, row.archived_from) == (born, "", "")
    with pytest.raises(lifecycle.Conflict):
        lifecycle.restore(fact=fact, actor=person(alice))


@pytest.mark.parametrize(
    ("born", "why"),
    [
        (State.ACTIVE, ArchivedReason.SUPERSEDED),
        (State.ACTIVE, ArchivedReason.MERGED),
        (State.ACTIVE, ArchivedReason.UNDONE),
        (State.PENDING, ArchivedReason.REPLACED),
        (State.ACTIVE, ArchivedReason.DUPLICATE),
        (State.PENDING, ArchivedReason.STALE),
        (State.REJECTED, ArchivedReason.FORGOTTEN),
    ],
)
def test_nothing_is_archived_for_a_reason_that_does_not_fit(
    alice: User, born: State, why: ArchivedReason
) -> None:
    fact = FactFactory.create(owner=alice, state=born)
    with pytest.raises((lifecycle.NotAllowed, lifecycle.Conflict)):
        lifecycle.archive(fact=fact, why=why, actor=person(alice))
    assert state(fact) == born


def test_restoring_what_was_replaced_puts_a_copy_in_the_place_of_the_head(alice: User) -> None:
    oslo = active(alice, OSLO, message=said(alice, "I live in Oslo.").message)
    middle = confirmed_correction(alice, oslo, HELSINKI)
    head = lifecycle.correct(fact=middle, edit=edit(TURKU), actor=person(alice))
    copy = lifecycle.restore(fact=oslo, actor=person(alice))
    assert copy.pk != oslo.pk
    assert (copy.statement, state(copy), copy.reviewer) == (OSLO, State.ACTIVE, alice)
    assert "I live in Oslo." in quotes(copy)
    assert now_is(head).superseded_by == copy
    assert now_is(oslo).superseded_by == middle
    # Taken back, it is as it was.
    lifecycle.undo(fact=copy, actor=person(alice))
    assert (state(copy), state(head)) == (State.ARCHIVED, State.ACTIVE)


def test_restoring_what_was_replaced_by_something_archived_brings_it_back(alice: User) -> None:
    oslo = active(alice, OSLO)
    head = confirmed_correction(alice, oslo)
    lifecycle.archive(fact=head, why=ArchivedReason.STALE, actor=POLICY)
    assert lifecycle.restore(fact=oslo, actor=person(alice)).pk == oslo.pk
    assert (state(oslo), now_is(oslo).superseded_by) == (State.ACTIVE, None)


@pytest.mark.parametrize("live", [State.PENDING, State.ACTIVE])
@pytest.mark.parametrize("origin", [State.PENDING, State.ACTIVE])
def test_restoring_does_not_make_twins(alice: User, live: State, origin: State) -> None:
    fact = FactFactory.create(owner=alice, statement=OSLO, state=origin)
    lifecycle.archive(fact=fact, why=ArchivedReason.FORGOTTEN, actor=person(alice))
    twin = FactFactory.create(owner=alice, statement=OSLO, state=live)
    with pytest.raises(lifecycle.Duplicate) as refusal:
        lifecycle.restore(fact=fact, actor=person(alice))
    assert (refusal.value.existing, state(fact)) == (twin, State.ARCHIVED)


# Promote


def test_a_promoted_fact_is_a_copy_that_is_no_newer(alice: User, agent: Agent) -> None:
    fact = active(alice, OSLO, agent=agent, message=said(alice, "I live in Oslo.").message)
    copy = lifecycle.promote(fact=fact, agent=None, actor=person(alice))
    row = now_is(copy)
    assert (row.agent, row.state, row.statement) == (None, State.ACTIVE, OSLO)
    assert (row.last_confirmed_at, row.origin) == (MONDAY, Origin.EXTRACTION)
    assert (now_is(fact).superseded_by, quotes(row)) == (row, {"I live in Oslo."})
    lifecycle.undo(fact=copy, actor=person(alice))
    assert (state(fact), state(copy)) == (State.ACTIVE, State.ARCHIVED)


def test_a_fact_moves_to_another_agent(alice: User, agent: Agent, second_agent: Agent) -> None:
    fact = active(alice, OSLO, agent=agent)
    copy = lifecycle.promote(fact=fact, agent=second_agent, actor=person(alice))
    assert (copy.agent, state(fact)) == (second_agent, State.ARCHIVED)


def test_a_fact_moves_only_where_its_owner_may_put_it(
    alice: User, agent: Agent, second_agent: Agent, bobs_agent: Agent
) -> None:
    fact = active(alice, OSLO, agent=agent)
    active(alice, OSLO, agent=second_agent)
    waiting = candidate(alice)
    before = everything(alice)
    refusals: list[tuple[Fact, Agent | None, Any, type[Exception]]] = [
        (fact, bobs_agent, person(alice), lifecycle.NotAllowed),
        (fact, agent, person(alice), lifecycle.NotAllowed),
        (fact, None, POLICY, lifecycle.NotAllowed),
        (fact, second_agent, person(alice), lifecycle.Duplicate),
        (waiting, agent, person(alice), lifecycle.Conflict),
    ]
    for row, to, actor, error in refusals:
        with pytest.raises(error):
            lifecycle.promote(fact=row, agent=to, actor=actor)
    assert everything(alice) == before


# Undo


def test_undoing_an_activation_puts_the_candidate_back(alice: User) -> None:
    fact = lifecycle.confirm(fact=candidate(alice), actor=person(alice))
    assert lifecycle.undo(fact=fact, actor=person(alice)).pk == fact.pk
    row = now_is(fact)
    assert (row.state, row.reviewer, row.reviewed_at) == (State.PENDING, None, None)
    before = everything(alice)
    with pytest.raises(lifecycle.Conflict):
        lifecycle.undo(fact=fact, actor=person(alice))
    assert everything(alice) == before


def test_undoing_an_activation_by_policy_puts_the_fact_in_the_queue(alice: User) -> None:
    event = lifecycle.propose(
        owner=alice,
        agent=None,
        draft=by_hand("The user moved.", kind=Kind.EPISODIC, origin=Origin.EXTRACTION),
        actor=POLICY,
        state=State.ACTIVE,
    )
    lifecycle.undo(fact=event, actor=person(alice))
    assert state(event) == State.PENDING


def test_undoing_a_correction_brings_its_target_back_as_it_was(alice: User) -> None:
    oslo = active(alice, OSLO)
    before = now_is(oslo)
    helsinki = confirmed_correction(alice, oslo)
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.undo(fact=helsinki, actor=POLICY)
    lifecycle.undo(fact=helsinki, actor=person(alice))
    after = now_is(oslo)
    assert (after.state, after.superseded_by) == (State.ACTIVE, None)
    assert (after.reviewer, after.reviewed_at) == (before.reviewer, before.reviewed_at)
    assert (state(helsinki), helsinki.targets.get().open) == (State.PENDING, True)


def test_undoing_a_merge_brings_all_its_members_back(alice: User) -> None:
    members = [active(alice, f"The user owns {n} boats.") for n in (1, 2, 3)]
    merged = correction(alice, *members, statement="The user owns boats.")
    lifecycle.confirm(fact=merged, actor=person(alice))
    lifecycle.undo(fact=merged, actor=person(alice))
    assert {state(member) for member in members} == {State.ACTIVE}
    assert (state(merged), merged.targets.filter(open=True).count()) == (State.PENDING, 3)


def test_undoing_an_edited_confirmation_undoes_both_halves(alice: User) -> None:
    oslo = active(alice, OSLO)
    waiting = correction(alice, oslo)
    edited = lifecycle.confirm_with_edit(fact=waiting, edit=edit(TURKU), actor=person(alice))
    back = lifecycle.undo(fact=edited, actor=person(alice))
    assert back.pk == waiting.pk
    assert [state(fact) for fact in (oslo, waiting, edited)] == ["active", "pending", "archived"]
    assert now_is(edited).archived_reason == ArchivedReason.UNDONE


def test_undoing_a_later_correction_leaves_the_confirmation(alice: User) -> None:
    first = lifecycle.confirm(fact=candidate(alice, OSLO), actor=person(alice))
    second = lifecycle.correct(fact=first, edit=edit(TURKU), actor=person(alice))
    assert lifecycle.undo(fact=second, actor=person(alice)).pk == second.pk
    assert (state(first), state(second)) == (State.ACTIVE, State.ARCHIVED)


def test_undoing_a_change_of_punctuation_leaves_one_live_text(alice: User) -> None:
    first = active(alice, OSLO)
    second = lifecycle.correct(fact=first, edit=edit(OSLO + "!"), actor=person(alice))
    lifecycle.undo(fact=second, actor=person(alice))
    assert (state(first), state(second)) == (State.ACTIVE, State.ARCHIVED)
    # And it can be done again.
    lifecycle.restore(fact=second, actor=person(alice))
    assert (state(first), state(second)) == (State.ARCHIVED, State.ACTIVE)


def test_undoing_leaves_alone_what_has_a_live_twin_by_now(alice: User) -> None:
    oslo = active(alice, OSLO)
    helsinki = confirmed_correction(alice, oslo)
    twin = candidate(alice, OSLO)
    lifecycle.undo(fact=helsinki, actor=person(alice))
    assert [state(fact) for fact in (oslo, helsinki, twin)] == ["archived", "pending", "pending"]


# Pin, snooze


def test_pin_and_snooze_are_for_the_owner_and_for_what_is_there(alice: User, bob: User) -> None:
    fact, waiting = active(alice, OSLO), candidate(alice)
    until = soon()
    lifecycle.set_pinned(fact=fact, pinned=True, actor=person(alice))
    lifecycle.snooze(fact=waiting, until=until, actor=person(alice))
    assert (now_is(fact).pinned, now_is(waiting).snoozed_until) == (True, until)
    before = everything(alice)
    lifecycle.set_pinned(fact=fact, pinned=True, actor=person(alice))
    lifecycle.snooze(fact=waiting, until=until, actor=person(alice))
    assert everything(alice) == before
    for actor in (POLICY, person(bob)):
        with pytest.raises(lifecycle.NotAllowed):
            lifecycle.set_pinned(fact=fact, pinned=False, actor=actor)
        with pytest.raises(lifecycle.NotAllowed):
            lifecycle.snooze(fact=waiting, until=until, actor=actor)
    with pytest.raises(lifecycle.Conflict):
        lifecycle.snooze(fact=fact, until=until, actor=person(alice))
    lifecycle.reject(fact=waiting, actor=person(alice))
    with pytest.raises(lifecycle.Conflict):
        lifecycle.set_pinned(fact=waiting, pinned=True, actor=person(alice))
