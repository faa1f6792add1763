import pytest

from agents.audit import POLICY, person
from agents.models import Agent, User
from memory import lifecycle
from memory.lifecycle.corrections import open_targets
from memory.models import CorrectionTarget, Fact
from memory.vocabulary import ArchivedReason, State, Withheld
from tests.factories import FactFactory
from tests.memory.steps import (
    HELSINKI,
    OSLO,
    TURKU,
    active,
    by_hand,
    candidate,
    confirmed_correction,
    correction,
    draft,
    edit,
    now_is,
    quotes,
    said,
    state,
)

pytestmark = pytest.mark.django_db

BERGEN = "The user lives in Bergen."


def correct_by_hand(target: Fact, statement: str = TURKU) -> Fact:
    return lifecycle.correct(fact=target, edit=edit(statement), actor=person(target.owner))


def test_a_correction_waits_in_the_scope_of_its_target(alice: User, agent: Agent) -> None:
    target = active(alice, OSLO)
    fact = lifecycle.propose(
        owner=alice, agent=agent, draft=draft(), actor=POLICY, targets=[target, target]
    )
    assert (fact.state, fact.agent) == (State.PENDING, None)
    assert open_targets(fact) == [target]
    assert state(target) == State.ACTIVE


def test_a_correction_is_only_for_what_its_agent_may_read(
    alice: User, agent: Agent, second_agent: Agent
) -> None:
    for scope, reads in ((second_agent, "own_and_global"), (None, "own")):
        target = active(alice, OSLO, agent=scope)
        agent.reads = reads
        with pytest.raises(lifecycle.NotAllowed, match="may read"):
            lifecycle.propose(
                owner=alice, agent=agent, draft=draft(), actor=POLICY, targets=[target]
            )
    agent.reads = Agent.Reads.ALL
    theirs = active(alice, BERGEN, agent=second_agent)
    fact = lifecycle.propose(
        owner=alice, agent=agent, draft=draft(), actor=POLICY, targets=[theirs]
    )
    assert fact.agent == second_agent


def test_a_correction_is_never_active_at_birth(alice: User) -> None:
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.propose(
            owner=alice,
            agent=None,
            draft=by_hand(HELSINKI),
            actor=person(alice),
            state=State.ACTIVE,
            targets=[active(alice, OSLO)],
        )


def test_targets_are_of_one_scope(alice: User, agent: Agent) -> None:
    targets = [active(alice, OSLO), active(alice, OSLO, agent=agent)]
    with pytest.raises(lifecycle.NotAllowed, match="one scope"):
        correction(alice, *targets)


def test_a_correction_that_says_what_its_target_says_is_none(alice: User) -> None:
    target = active(alice, OSLO)
    with pytest.raises(lifecycle.Duplicate) as refusal:
        correction(alice, target, statement="the user lives in Oslo!")
    assert refusal.value.existing == target


# A newer one


def test_a_newer_correction_archives_the_open_one_and_keeps_its_evidence(alice: User) -> None:
    target = active(alice, OSLO)
    older = correction(alice, target, sources=(said(alice, "to Helsinki"),))
    newer = correction(alice, target, statement=TURKU, sources=(said(alice, "to Turku"),))
    row = now_is(older)
    assert (row.state, row.archived_reason) == (State.ARCHIVED, ArchivedReason.REPLACED)
    assert (row.archived_from, row.superseded_by) == (State.PENDING, None)
    assert quotes(newer) == {"to Helsinki", "to Turku"}
    assert quotes(older) == {"to Helsinki"}
    assert (open_targets(older), open_targets(newer)) == ([], [target])


def test_a_correction_of_one_member_archives_the_merge(alice: User) -> None:
    one, two = active(alice, OSLO), active(alice, "The user lives in Norway.")
    merge = correction(alice, one, two, statement="The user lives in Oslo, Norway.")
    newer = correction(alice, one)
    assert now_is(merge).archived_reason == ArchivedReason.REPLACED
    assert open_targets(newer) == [one]
    assert state(two) == State.ACTIVE


def test_a_replaced_correction_that_is_restored_is_a_plain_candidate(alice: User) -> None:
    target = active(alice, OSLO)
    older, newer = correction(alice, target), correction(alice, target, statement=TURKU)
    lifecycle.restore(fact=older, actor=person(alice))
    row = now_is(older)
    assert (row.state, row.withheld_for) == (State.PENDING, [Withheld.TARGET_GONE])
    assert (open_targets(older), open_targets(newer)) == ([], [target])


# Its target is superseded meanwhile


def test_a_correction_follows_its_target_to_the_active_head(alice: User) -> None:
    target = active(alice, OSLO)
    waiting = correction(alice, target)
    middle = correct_by_hand(target, TURKU)
    head = correct_by_hand(middle, BERGEN)
    assert open_targets(waiting) == [head]
    lifecycle.confirm(fact=waiting, actor=person(alice))
    assert now_is(head).superseded_by == waiting
    assert [fact.pk for fact in Fact.objects.filter(state=State.ACTIVE)] == [waiting.pk]


def test_a_correction_of_an_older_wording_is_of_the_head(alice: User) -> None:
    """The model was shown the old one, and answered after it had been replaced."""
    target = active(alice, OSLO)
    head = correct_by_hand(target)
    assert open_targets(correction(alice, target, head)) == [head]


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_corrections_that_meet_on_one_head_the_newer_stays(alice: User, order: int) -> None:
    targets = [active(alice, OSLO), active(alice, "The user lives in Norway.")]
    older = correction(alice, targets[0])
    newer = correction(alice, targets[1], statement="The user lives in Finland.")
    head = lifecycle.supersede(targets=targets[::order], draft=by_hand(TURKU), actor=person(alice))
    assert now_is(older).archived_reason == ArchivedReason.REPLACED
    assert (state(newer), open_targets(newer)) == (State.PENDING, [head])


def test_a_merge_whose_members_are_all_replaced_follows_once(alice: User) -> None:
    one, two = active(alice, OSLO), active(alice, "The user lives in Norway.")
    merge = correction(alice, one, two, statement="The user lives in Oslo, Norway.")
    head = lifecycle.supersede(targets=[one, two], draft=by_hand(TURKU), actor=person(alice))
    assert open_targets(merge) == [head]
    assert merge.targets.count() == 1


# Its target moves to another scope


def test_a_correction_follows_its_target_into_another_scope(alice: User, agent: Agent) -> None:
    target = active(alice, OSLO)
    waiting = correction(
        alice, target, sources=(said(alice, "I moved."),), withheld_for=(Withheld.CORRECTION,)
    )
    moved = lifecycle.promote(fact=target, agent=agent, actor=person(alice))
    copy = Fact.objects.get(state=State.PENDING)
    assert (copy.statement, copy.agent) == (HELSINKI, agent)
    assert (copy.withheld_for, quotes(copy)) == ([Withheld.CORRECTION], {"I moved."})
    assert open_targets(copy) == [moved]
    assert now_is(waiting).archived_reason == ArchivedReason.REPLACED


def test_a_merge_stays_with_the_members_that_did_not_move(alice: User, agent: Agent) -> None:
    one, two = active(alice, OSLO), active(alice, "The user lives in Norway.")
    merge = correction(alice, one, two, statement="The user lives in Oslo, Norway.")
    lifecycle.promote(fact=one, agent=agent, actor=person(alice))
    assert open_targets(merge) == [two]
    assert now_is(merge).withheld_for == [Withheld.TARGET_GONE]


def test_a_correction_that_is_known_in_the_new_scope_is_a_duplicate(
    alice: User, agent: Agent
) -> None:
    known = active(alice, HELSINKI, agent=agent)
    target = active(alice, OSLO)
    waiting = correction(alice, target, sources=(said(alice, "I moved."),))
    lifecycle.promote(fact=target, agent=agent, actor=person(alice))
    assert now_is(waiting).archived_reason == ArchivedReason.DUPLICATE
    assert quotes(known) == {"I moved."}


# Its target goes


@pytest.mark.parametrize("why", [ArchivedReason.FORGOTTEN, ArchivedReason.STALE])
def test_without_its_target_a_correction_is_a_plain_candidate(
    alice: User, why: ArchivedReason
) -> None:
    target = active(alice, OSLO)
    waiting = correction(alice, target, withheld_for=(Withheld.CORRECTION,))
    seen = lifecycle.version(now_is(waiting))
    lifecycle.archive(fact=target, why=why, actor=person(alice))
    row = now_is(waiting)
    assert (open_targets(row), row.state) == ([], State.PENDING)
    assert row.withheld_for == [Withheld.TARGET_GONE, Withheld.CORRECTION]
    with pytest.raises(lifecycle.Stale):
        lifecycle.confirm(fact=waiting, actor=person(alice), seen=seen)
    lifecycle.confirm(fact=waiting, actor=person(alice), seen=lifecycle.version(row))
    assert (state(waiting), state(target)) == (State.ACTIVE, State.ARCHIVED)
    assert now_is(target).superseded_by is None


def test_a_proposal_whose_targets_are_gone_is_a_plain_candidate(alice: User) -> None:
    target = active(alice, OSLO)
    lifecycle.archive(fact=target, why=ArchivedReason.STALE, actor=POLICY)
    fact = correction(alice, target, withheld_for=(Withheld.DURABLE,))
    assert (fact.state, open_targets(fact)) == (State.PENDING, [])
    assert fact.withheld_for == [Withheld.TARGET_GONE, Withheld.DURABLE]


def test_a_target_that_goes_back_to_the_queue_lets_its_correction_go(alice: User) -> None:
    target = active(alice, OSLO)
    waiting = correction(alice, target)
    lifecycle.undo(fact=target, actor=person(alice))
    assert (open_targets(waiting), state(target)) == ([], State.PENDING)
    assert now_is(waiting).withheld_for == [Withheld.TARGET_GONE]


def test_a_merge_keeps_the_targets_that_are_left(alice: User) -> None:
    one, two = active(alice, OSLO), active(alice, "The user lives in Norway.")
    merge = correction(alice, one, two, statement="The user lives in Oslo, Norway.")
    lifecycle.archive(fact=one, why=ArchivedReason.STALE, actor=POLICY)
    assert open_targets(merge) == [two]
    lifecycle.confirm(fact=merge, actor=person(alice))
    assert now_is(two).archived_reason == ArchivedReason.SUPERSEDED


# It replaced something and came back


def test_a_correction_sent_back_replaces_its_restored_target_again(alice: User) -> None:
    oslo = active(alice, OSLO)
    helsinki = confirmed_correction(alice, oslo)
    mine = Fact.objects.filter(pk=helsinki.pk)
    lifecycle.quarantine(facts=mine, actor=person(alice), reason="a bad source")
    lifecycle.restore(fact=oslo, actor=person(alice))
    assert (state(oslo), open_targets(helsinki)) == (State.ACTIVE, [oslo])
    lifecycle.confirm(fact=helsinki, actor=person(alice))
    assert now_is(oslo).superseded_by == helsinki


def test_a_chain_whose_end_waits_replaces_what_is_restored_from_it(alice: User) -> None:
    oslo = active(alice, OSLO)
    turku = correct_by_hand(oslo, TURKU)
    helsinki = confirmed_correction(alice, turku)
    mine = Fact.objects.filter(pk=helsinki.pk)
    lifecycle.quarantine(facts=mine, actor=person(alice), reason="a bad source")
    lifecycle.restore(fact=oslo, actor=person(alice))
    assert open_targets(helsinki) == [oslo]


def test_a_restored_fact_takes_the_place_of_what_it_had_replaced(alice: User) -> None:
    oslo = active(alice, OSLO)
    helsinki = correct_by_hand(oslo, HELSINKI)
    lifecycle.archive(fact=helsinki, why=ArchivedReason.STALE, actor=POLICY)
    lifecycle.restore(fact=oslo, actor=person(alice))
    lifecycle.restore(fact=helsinki, actor=person(alice))
    assert (state(helsinki), now_is(oslo).superseded_by) == (State.ACTIVE, helsinki)


def test_a_restored_fact_takes_the_place_of_all_that_came_before_it(alice: User) -> None:
    """Two steps back, where the one between them stays archived."""
    oslo = active(alice, OSLO)
    helsinki = correct_by_hand(oslo, HELSINKI)
    turku = correct_by_hand(helsinki, TURKU)
    lifecycle.archive(fact=turku, why=ArchivedReason.STALE, actor=POLICY)
    lifecycle.restore(fact=oslo, actor=person(alice))
    lifecycle.restore(fact=turku, actor=person(alice))
    assert now_is(oslo).superseded_by == turku
    assert state(helsinki) == State.ARCHIVED


def test_an_old_fact_comes_back_over_whatever_stands_in_its_place(alice: User) -> None:
    """Its successor went, it came back and went too, and then the successor came back."""
    oslo = active(alice, OSLO)
    helsinki = correct_by_hand(oslo, HELSINKI)
    lifecycle.archive(fact=helsinki, why=ArchivedReason.STALE, actor=POLICY)
    lifecycle.restore(fact=oslo, actor=person(alice))
    lifecycle.archive(fact=oslo, why=ArchivedReason.STALE, actor=POLICY)
    lifecycle.restore(fact=helsinki, actor=person(alice))
    copy = lifecycle.restore(fact=oslo, actor=person(alice))
    assert (copy.statement, now_is(helsinki).superseded_by) == (OSLO, copy)
    assert state(oslo) == State.ARCHIVED


def test_of_two_that_replaced_one_fact_only_one_is_active(alice: User) -> None:
    oslo = active(alice, OSLO)
    helsinki = confirmed_correction(alice, oslo, HELSINKI)
    lifecycle.archive(fact=helsinki, why=ArchivedReason.STALE, actor=POLICY)
    lifecycle.restore(fact=oslo, actor=person(alice))
    turku = confirmed_correction(alice, oslo, TURKU)
    lifecycle.restore(fact=helsinki, actor=person(alice))
    assert now_is(turku).superseded_by == helsinki
    # Also there and back: it waits as a correction of the other.
    lifecycle.undo(fact=helsinki, actor=person(alice))
    assert (state(turku), open_targets(helsinki)) == (State.ACTIVE, [turku])


def test_of_what_would_wait_on_a_restored_fact_the_newest_does(alice: User) -> None:
    """The steps leave no two such; a repair by hand may."""
    oslo = FactFactory.create(owner=alice, statement=OSLO, state=State.ARCHIVED)
    older, newer = candidate(alice, HELSINKI), candidate(alice, TURKU)
    for fact in (newer, older):
        CorrectionTarget.objects.create(owner=alice, fact=fact, target=oslo)
    lifecycle.restore(fact=oslo, actor=person(alice))
    assert (open_targets(newer), open_targets(older)) == ([oslo], [])
    assert now_is(older).withheld_for == [Withheld.TARGET_GONE]


def test_undoing_leaves_archived_what_was_replaced_otherwise_too(alice: User) -> None:
    oslo = active(alice, OSLO)
    helsinki = confirmed_correction(alice, oslo)
    turku = active(alice, TURKU)
    CorrectionTarget.objects.create(owner=alice, fact=turku, target=oslo)
    lifecycle.undo(fact=helsinki, actor=person(alice))
    assert [state(fact) for fact in (oslo, helsinki, turku)] == ["archived", "pending", "active"]


def test_a_correction_follows_an_edit_there_and_back(alice: User) -> None:
    oslo = active(alice, OSLO)
    waiting = correction(alice, oslo, statement=BERGEN)
    edited = correct_by_hand(oslo, TURKU)
    assert open_targets(waiting) == [edited]
    lifecycle.undo(fact=edited, actor=person(alice))
    assert open_targets(waiting) == [oslo]


def test_a_fact_that_waits_again_is_nothing_to_correct(alice: User) -> None:
    """Or an old rejection of it would aim at a mere candidate once it is reconsidered."""
    target = active(alice, OSLO)
    rejected = lifecycle.reject(fact=correction(alice, target), actor=person(alice))
    lifecycle.undo(fact=target, actor=person(alice))
    assert rejected.targets.count() == 0


def test_a_target_is_open_only_while_both_can_meet(alice: User) -> None:
    target = active(alice, OSLO)
    waiting = correction(alice, target)
    row = waiting.targets.get()
    states = []
    for step in (lifecycle.confirm, lifecycle.undo, lifecycle.reject, lifecycle.reconsider):
        step(fact=waiting, actor=person(alice))
        row.refresh_from_db()
        states.append(row.open)
    assert states == [False, True, False, True]
