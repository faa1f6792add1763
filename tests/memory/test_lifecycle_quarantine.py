import pytest
from django.db.models import QuerySet

from agents.audit import POLICY, person
from agents.models import User
from conversations.models import Conversation
from memory import lifecycle
from memory.models import Fact
from memory.vocabulary import State, Withheld
from tests.factories import MONDAY, ConversationFactory, FactFactory
from tests.memory.steps import (
    HELSINKI,
    OSLO,
    active,
    candidate,
    confirmed_correction,
    correction,
    everything,
    now_is,
    soon,
    state,
    trail,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def conversation(alice: User) -> Conversation:
    return ConversationFactory.create(owner=alice)


def from_it(conversation: Conversation) -> QuerySet[Fact]:
    return Fact.objects.filter(owner=conversation.owner, conversation=conversation)


def test_what_came_from_a_bad_source_waits_again_and_can_come_back(
    alice: User, conversation: Conversation
) -> None:
    bad = [active(alice, f"The user has {n} cats.", conversation=conversation) for n in (1, 2)]
    other = active(alice, OSLO)
    waiting = candidate(alice, "The user has a dog.", conversation=conversation)
    sent = lifecycle.quarantine(facts=from_it(conversation), actor=person(alice), reason="spam")
    assert sent == 2
    assert {state(fact) for fact in bad} == {State.PENDING}
    assert now_is(bad[0]).withheld_for == [Withheld.QUARANTINED]
    assert trail(bad[0])[-1].reason == "spam"
    assert state(other) == State.ACTIVE

    again = lifecycle.reinstate(facts=from_it(conversation), actor=person(alice), reason="mistake")
    assert again == 2
    row = now_is(bad[0])
    assert (row.state, row.withheld_for, row.last_confirmed_at) == (State.ACTIVE, [], MONDAY)
    # It had never been active, so it isn't now.
    assert state(waiting) == State.PENDING


def test_both_ways_are_for_a_person_and_twice_is_once(
    alice: User, bob: User, conversation: Conversation
) -> None:
    active(alice, conversation=conversation)
    before = everything(alice)
    for actor in (POLICY, person(bob)):
        with pytest.raises(lifecycle.NotAllowed):
            lifecycle.quarantine(facts=from_it(conversation), actor=actor, reason="spam")
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.quarantine(facts=Fact.objects.none(), actor=POLICY, reason="spam")
    assert everything(alice) == before
    for step, counts in ((lifecycle.quarantine, [1, 0]), (lifecycle.reinstate, [1, 0])):
        done = [step(facts=from_it(conversation), actor=person(alice), reason="") for _ in range(2)]
        assert done == counts
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.reinstate(facts=from_it(conversation), actor=POLICY, reason="")


def test_a_quarantine_is_whole_or_not_at_all(alice: User, bob: User) -> None:
    active(alice), active(bob)
    everyones = Fact.objects.all()
    with pytest.raises(lifecycle.NotAllowed):
        lifecycle.quarantine(facts=everyones, actor=person(alice), reason="")
    assert not Fact.objects.exclude(state=State.ACTIVE).exists()


def test_what_was_decided_meanwhile_stays_decided(alice: User, conversation: Conversation) -> None:
    kept, dropped, undone = (
        active(alice, f"The user has {n} cats.", conversation=conversation) for n in (1, 2, 3)
    )
    lifecycle.undo(fact=undone, actor=person(alice))
    lifecycle.quarantine(facts=from_it(conversation), actor=person(alice), reason="")
    lifecycle.confirm(fact=kept, actor=person(alice))
    lifecycle.reject(fact=dropped, actor=person(alice))
    assert lifecycle.reinstate(facts=from_it(conversation), actor=person(alice), reason="") == 0
    assert [state(fact) for fact in (kept, dropped, undone)] == ["active", "rejected", "pending"]


def test_a_chain_goes_and_comes_back(alice: User, conversation: Conversation) -> None:
    oslo = active(alice, OSLO, conversation=conversation)
    helsinki = confirmed_correction(alice, oslo)
    mine = Fact.objects.filter(owner=alice)
    lifecycle.quarantine(facts=mine, actor=person(alice), reason="")
    assert (state(oslo), state(helsinki)) == (State.ARCHIVED, State.PENDING)
    lifecycle.restore(fact=oslo, actor=person(alice))
    lifecycle.reinstate(facts=mine, actor=person(alice), reason="")
    assert now_is(oslo).superseded_by == helsinki


def test_a_quarantined_fact_comes_up_at_once(alice: User) -> None:
    fact = candidate(alice, HELSINKI)
    lifecycle.snooze(fact=fact, until=soon(), actor=person(alice))
    lifecycle.confirm(fact=fact, actor=person(alice))
    lifecycle.quarantine(facts=Fact.objects.all(), actor=person(alice), reason="")
    assert now_is(fact).snoozed_until is None


def test_a_correction_of_a_quarantined_fact_is_a_plain_candidate(alice: User) -> None:
    target = active(alice, OSLO)
    waiting = correction(alice, target)
    lifecycle.quarantine(facts=Fact.objects.filter(pk=target.pk), actor=person(alice), reason="")
    row = now_is(waiting)
    assert (row.withheld_for, row.targets.count()) == ([Withheld.TARGET_GONE], 0)


def test_a_fact_whose_messages_were_replaced_waits_again(alice: User) -> None:
    fact = active(alice)
    lifecycle.unsay(fact=fact, actor=POLICY, reason="its branch was left")
    assert (state(fact), trail(fact)[-1].actor) == (State.PENDING, "policy")
    before = everything(alice)
    lifecycle.unsay(fact=fact, actor=POLICY, reason="its branch was left")
    lifecycle.unsay(fact=FactFactory.create(state=State.REJECTED), actor=POLICY, reason="")
    assert everything(alice) == before
