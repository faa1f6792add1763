"""The steps of a case's life, and the rules that the database holds by itself."""

from typing import Any

import pytest

from agents.audit import POLICY, Actor, key_holder, person
from agents.models import AuditEvent, User
from memory.branches import on_branch_left
from memory.cases import lifecycle
from memory.cases.values import CaseConflict, SameCase
from memory.lifecycle import NotAllowed
from memory.models import Case
from memory.vocabulary import CaseArchivedReason, State, Withheld
from tests.factories import ApiKeyFactory, CaseFactory, ConversationFactory, MessageFactory
from tests.memory.raw import allowed, insert, refused, update
from tests.memory.test_database_owners import columns_of

pytestmark = pytest.mark.django_db
FORGOTTEN = CaseArchivedReason.FORGOTTEN


@pytest.fixture
def by(alice: User) -> Actor:
    return person(alice)


def a_case(agent: Any, state: State = State.PENDING, **values: Any) -> Case:
    return CaseFactory.create(
        conversation=ConversationFactory.create(agent=agent), state=state, **values
    )


def test_a_person_confirms_takes_back_rejects_and_reconsiders(agent, by):
    case = a_case(agent)
    assert lifecycle.confirm(case=case, actor=by, seen=0).state == State.ACTIVE
    assert lifecycle.undo(case=case, actor=by).reviewer is None
    assert lifecycle.reject(case=case, actor=by, reason="no").state == State.REJECTED
    row = lifecycle.reconsider(case=case, actor=by)
    assert (row.state, row.revision, row.reviewed_at) == (State.PENDING, 4, None)
    states = [
        (event.after or {}).get("state")
        for event in AuditEvent.objects.filter(table="memory_case").order_by("id")
    ]
    assert states == ["pending", "active", "pending", "rejected", "pending"]


@pytest.mark.parametrize("state", [State.PENDING, State.ACTIVE])
def test_what_is_forgotten_can_be_restored_to_where_it_was(agent, by, state):
    case = a_case(agent, state)
    row = lifecycle.archive(case=case, why=FORGOTTEN, actor=by)
    assert (row.state, row.archived_from) == (State.ARCHIVED, state)
    row = lifecycle.restore(case=case, actor=by)
    assert (row.state, row.archived_reason) == (state, "")


def test_one_decision_per_version(agent, by):
    """Two tabs: the second one is told, even when it went round to the same state."""
    case = a_case(agent)
    lifecycle.confirm(case=case, actor=by, seen=0)
    with pytest.raises(CaseConflict, match="active now"):
        lifecycle.reject(case=case, actor=by, seen=0)
    lifecycle.undo(case=case, actor=by)
    with pytest.raises(CaseConflict, match="pending now"):
        lifecycle.confirm(case=case, actor=by, seen=0)
    assert lifecycle.confirm(case=case, actor=by, seen=2).state == State.ACTIVE


@pytest.mark.parametrize("name", ["confirm", "reject", "undo", "reconsider", "restore"])
def test_only_the_owner_decides(agent, bob, name):
    states = {"undo": State.ACTIVE, "reconsider": State.REJECTED, "restore": State.ARCHIVED}
    case = a_case(agent, states.get(name, State.PENDING))
    step = getattr(lifecycle, name)
    key = key_holder(ApiKeyFactory.create(agent=agent))
    for stranger in (POLICY, key, person(bob)):
        with pytest.raises(NotAllowed):
            step(case=case, actor=stranger)
    case.refresh_from_db()
    assert case.state == states.get(name, State.PENDING)
    step(case=case, actor=key_holder(ApiKeyFactory.create(agent=agent, scopes=["review"])))


def test_code_withdraws_what_waits_and_forgets_nothing(agent):
    case = a_case(agent)
    with pytest.raises(NotAllowed):
        lifecycle.archive(case=case, why=FORGOTTEN, actor=POLICY)
    with pytest.raises(CaseConflict):
        lifecycle.archive(case=case, why=CaseArchivedReason.STALE, actor=POLICY)
    row = lifecycle.archive(case=case, why=CaseArchivedReason.AGED_OUT, actor=POLICY)
    assert row.state == State.ARCHIVED


def test_two_of_one_text_are_never_live(agent, by):
    rejected = a_case(agent, State.REJECTED, goal="Mend the tyre")
    a_case(agent, goal="Mend the tyre")
    with pytest.raises(SameCase):
        lifecycle.reconsider(case=rejected, actor=by)


def test_a_quarantine_sends_active_ones_back_and_is_itself_reversible(agent, by):
    talk = ConversationFactory.create(agent=agent)
    mine = CaseFactory.create(conversation=talk, state=State.ACTIVE)
    other = a_case(agent, State.ACTIVE)
    chosen = Case.objects.filter(conversation=talk)
    assert lifecycle.quarantine(cases=chosen, actor=by, reason="poisoned") == 1
    mine.refresh_from_db()
    other.refresh_from_db()
    assert (mine.state, mine.withheld_for) == (State.PENDING, [Withheld.QUARANTINED])
    assert other.state == State.ACTIVE
    assert lifecycle.reinstate(cases=chosen, actor=by, reason="it was fine") == 1
    mine.refresh_from_db()
    assert (mine.state, mine.withheld_for) == (State.ACTIVE, [])


def test_a_case_whose_messages_all_left_the_branch_waits_again(agent):
    talk = ConversationFactory.create(agent=agent)
    message = MessageFactory.create(conversation=talk)
    case = CaseFactory.create(conversation=talk, message=message, state=State.ACTIVE)
    on_branch_left(None, owner=agent.owner, message_ids=[message.pk])
    case.refresh_from_db()
    assert case.state == State.ACTIVE
    type(message).objects.filter(pk=message.pk).update(on_branch=False)
    on_branch_left(None, owner=agent.owner, message_ids=[message.pk])
    case.refresh_from_db()
    assert case.state == State.PENDING


# What the database refuses, whoever asks.


@pytest.mark.parametrize(
    "changes",
    [
        {"goal": "Another goal altogether"},
        {"outcome": "Another outcome"},
        {"lessons": "Another lesson"},
        {"quality": "failure"},
        {"actors": ["somebody else"]},
        {"language": "finnish"},
        {"revision": 5},
        {"state": "active", "revision": 1},
        {"state": "rejected", "revision": 1},
        {"archived_reason": "forgotten"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_no_text_changes_and_no_state_without_its_rule(agent, changes):
    case = a_case(agent)
    with refused():
        update(case, **changes)


def test_a_change_of_state_needs_the_next_revision_and_a_person(agent, alice, bob):
    case = a_case(agent)
    decided = {"state": "active", "reviewed_at": case.created_at}
    with refused("revision"):
        update(case, **decided, reviewer_id=alice.pk)
    with refused("reviewed by its owner"):
        update(case, **decided, reviewer_id=bob.pk, revision=1)
    with allowed():
        update(case, **decided, reviewer_id=alice.pk, revision=1)


@pytest.mark.parametrize(
    ("state", "to"),
    [("active", "rejected"), ("rejected", "active"), ("rejected", "archived")],
)
def test_steps_that_lead_nowhere(agent, state, to):
    case = a_case(agent, State(state))
    with refused():
        update(case, state=to, revision=case.revision + 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"goal": "x" * 9},
        {"goal": " " * 20},
        {"context": "x" * 9},
        {"approach": " padded text here"},
        {"outcome": "x" * 9},
        {"actors": []},
        {"actors": ["x"] * 11},
        {"quality": "great"},
        {"state": "active"},
        {"state": "rejected"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_case_is_born_whole_and_pending(agent, changes):
    values = columns_of(a_case(agent))
    with refused():
        insert("memory_case", **values | changes)
    with allowed():
        insert("memory_case", **values)


def test_it_is_never_deleted(agent):
    case = a_case(agent)
    with refused():
        Case.objects.filter(pk=case.pk).delete()
