"""What the database refuses of successors and corrections, in raw SQL."""

from typing import Any

import pytest

from agents.models import Agent, User, new_id
from conversations.models import Import
from memory.models import CorrectionTarget, Fact
from memory.vocabulary import State
from tests.factories import FactFactory
from tests.memory.raw import (
    NOT_ARCHIVED,
    UNDECIDED,
    allowed,
    born,
    insert,
    refused,
    reviewed,
    sql,
    superseding,
    update,
)
from tests.memory.steps import active, confirmed_correction, correction

pytestmark = pytest.mark.django_db

CHAIN = "A successor is another fact, and active."
STALE = {"state": "archived", "archived_from": "active", "archived_reason": "stale"}


def archived_behind(head: Fact, **changes: Any) -> Fact:
    row: Fact = FactFactory.create(
        owner=head.owner, state=State.ARCHIVED, superseded_by=head, **changes
    )
    return row


def is_open(row: CorrectionTarget) -> bool:
    return CorrectionTarget.objects.get(pk=row.pk).open


def back(owner: User) -> dict[str, Any]:
    return {**NOT_ARCHIVED, "state": "active", **reviewed(owner)}


# Successors


def test_a_successor_is_named_by_the_step_that_archives(alice: User) -> None:
    one, two = active(alice, "one"), active(alice, "two")
    with allowed():
        update(one, **superseding(two))
    for columns in (
        {"superseded_by_id": two.pk},
        {**superseding(two), "state": "active"},
        {**superseding(two), "state": "pending"},
        {**superseding(two), "archived_reason": "forgotten"},
        {**superseding(two), "superseded_by_id": None},
    ):
        with refused():
            update(one, **columns)


@pytest.mark.parametrize("state", [State.PENDING, State.REJECTED, State.ARCHIVED])
def test_a_successor_is_active(alice: User, state: State) -> None:
    one = active(alice)
    with refused(CHAIN):
        update(one, **superseding(FactFactory.create(owner=alice, state=state)))


def test_a_successor_is_another_fact_and_there(alice: User) -> None:
    one = active(alice)
    for nowhere in (one.pk, new_id()):
        with refused(CHAIN):
            update(one, **superseding(one) | {"superseded_by_id": nowhere})
    with refused(CHAIN):
        sql("SET CONSTRAINTS ALL DEFERRED")
        update(one, **superseding(one) | {"superseded_by_id": new_id()})


def test_two_facts_do_not_supersede_each_other(alice: User) -> None:
    one, two = active(alice, "one"), active(alice, "two")
    with refused(CHAIN):
        update(one, **superseding(two))
        update(two, **superseding(one))
    # Nor at one stroke, whichever comes first.
    with refused(CHAIN):
        sql(
            "UPDATE memory_fact SET state = 'archived', archived_from = 'active',"
            " archived_reason = 'superseded',"
            " superseded_by_id = CASE WHEN id = %s THEN %s::uuid ELSE %s::uuid END"
            " WHERE id IN (%s, %s)",
            [one.pk, two.pk, one.pk, one.pk, two.pk],
        )


def test_a_long_chain_never_closes(alice: User) -> None:
    chain = [active(alice, name) for name in ("one", "two", "three")]
    update(chain[0], **superseding(chain[1]))
    update(chain[1], **superseding(chain[2]))
    for step in chain[:2]:
        with refused(CHAIN):
            update(chain[2], **superseding(step))


def test_an_import_does_not_bring_in_a_circle(alice: User) -> None:
    one, two, three = new_id(), new_id(), new_id()
    approved = Import.objects.create(owner=alice, format="x", file_name="x", approved_by=alice)
    more = {"imported_by_id": approved.pk, "state": "archived", "archived_from": "active"}
    more["archived_reason"] = "superseded"
    with refused("own successor"):
        born(alice, id=one, superseded_by_id=one, **more)
    with refused("own successor"):
        sql("SET CONSTRAINTS ALL DEFERRED")
        born(alice, id=one, superseded_by_id=two, **more)
        born(alice, id=two, superseded_by_id=three, **more)
        born(alice, id=three, superseded_by_id=one, **more)


# Coming back


def test_a_fact_does_not_come_back_beside_what_took_its_place(alice: User) -> None:
    head = active(alice, "head")
    middle = active(alice, "middle")
    oldest = archived_behind(middle, statement="oldest")
    update(middle, **superseding(head))
    for row in (oldest, middle):
        with refused("taken the place"):
            update(row, **back(alice))
    # Whatever becomes of the head: after that there is room.
    with allowed():
        update(head, **STALE)
        update(oldest, **back(alice))
    with allowed():
        update(head, state="pending", **UNDECIDED)
        update(middle, **back(alice))


def test_a_fact_comes_back_without_its_successor(alice: User) -> None:
    head = active(alice, "head")
    old = archived_behind(head)
    update(head, **STALE)
    with refused():
        update(old, **back(alice) | {"superseded_by_id": head.pk})


def test_bringing_everything_back_at_one_stroke_is_refused(alice: User) -> None:
    head = active(alice, "head")
    archived_behind(head)
    with refused("taken the place"):
        Fact.objects.filter(owner=alice, state=State.ARCHIVED).update(**back(alice))


# Corrections


def test_approving_corrections_in_bulk_is_refused(alice: User) -> None:
    """They would be active beside what they correct."""
    target = active(alice)
    waiting = correction(alice, target)
    with refused("cannot both be active"):
        Fact.objects.filter(state=State.PENDING).update(state=State.ACTIVE, **reviewed(alice))
    with allowed():
        update(waiting, state="active", **reviewed(alice))
        update(target, **superseding(waiting))


def test_a_replaced_fact_is_not_active_beside_its_correction(alice: User) -> None:
    target = active(alice)
    head = confirmed_correction(alice, target)
    update(head, **STALE)
    update(target, **back(alice))
    with refused("cannot both be active"):
        update(head, **back(alice))


def test_nobody_sets_whether_a_target_is_open(alice: User) -> None:
    target = active(alice, "one")
    waiting = correction(alice, target)
    row = waiting.targets.get()
    update(row, open=False)
    assert is_open(row)
    update(target, **STALE)
    update(row, open=True)
    assert not is_open(row)
    decided = active(alice, "two")
    other = active(alice, "three")
    insert(
        "memory_correctiontarget",
        id=new_id(), owner_id=alice.pk, fact_id=decided.pk, target_id=other.pk, open=True,
    )  # fmt: skip
    assert not CorrectionTarget.objects.get(fact=decided).open


@pytest.mark.parametrize("end", [State.REJECTED, State.ARCHIVED])
def test_a_decided_correction_closes_its_targets(alice: User, end: State) -> None:
    waiting = correction(alice, active(alice))
    row = waiting.targets.get()
    if end == State.REJECTED:
        update(waiting, state=end, **reviewed(alice))
    else:
        update(waiting, state=end, archived_from="pending", archived_reason="aged_out")
    assert not is_open(row)
    update(waiting, state="pending", **NOT_ARCHIVED, **UNDECIDED)
    assert is_open(row)


def test_a_target_has_one_open_correction(alice: User) -> None:
    target = active(alice)
    correction(alice, target)
    rival = FactFactory.create(owner=alice)
    with refused("target_one_open"):
        insert(
            "memory_correctiontarget",
            id=new_id(), owner_id=alice.pk, fact_id=rival.pk, target_id=target.pk, open=False,
        )  # fmt: skip


def test_a_correction_keeps_the_scope_of_its_target(
    alice: User, agent: Agent, second_agent: Agent
) -> None:
    waiting = correction(alice, active(alice))
    for scope in (agent, second_agent):
        elsewhere = active(alice, "elsewhere", agent=scope)
        with refused("keeps the scope"):
            update(waiting.targets.get(), target_id=elsewhere.pk)
        with refused("keeps the scope"):
            CorrectionTarget.objects.create(owner=alice, fact=elsewhere, target=active(alice, "x"))


def test_a_correction_does_not_correct_itself_or_change_hands(alice: User, bob: User) -> None:
    target = active(alice)
    waiting = correction(alice, target)
    row, other = waiting.targets.get(), FactFactory.create(owner=alice)
    for change in ({"target_id": waiting.pk}, {"fact_id": other.pk}, {"owner_id": bob.pk}):
        with refused():
            update(row, **change)
