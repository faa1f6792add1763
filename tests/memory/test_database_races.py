"""Two sessions at once must not do together what neither may do alone. They are stepped by hand,
so that the interleaving is the same every time."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import DatabaseError

from agents.audit import person
from agents.gate import MemoryOff
from agents.models import OwnerSettings, User
from conversations.models import Conversation
from memory import lifecycle
from memory.lifecycle.corrections import open_targets
from memory.models import CorrectionTarget, Fact
from memory.vocabulary import State
from tests.factories import FactFactory
from tests.memory.raw import NOT_ARCHIVED, UNDECIDED, reviewed, superseding, update
from tests.memory.sessions import PATIENCE, Session, waits
from tests.memory.steps import HELSINKI, OSLO, TURKU, active, candidate, correction, edit, now_is

pytestmark = pytest.mark.django_db(transaction=True)

# Postgres' words for "not both of you".
LOST = {"40001": "serialisation", "40P01": "deadlock", "23514": "check", "23P01": "exclusion"}


@pytest.fixture
def one() -> Iterator[Session]:
    session = Session()
    yield session
    session.close()


@pytest.fixture
def two() -> Iterator[Session]:
    session = Session()
    yield session
    session.close()


def outcome(step: Callable[[], Any]) -> str:
    """ "done", or why the database refused."""
    try:
        step()
    except DatabaseError as error:
        return LOST[getattr(error.__cause__, "sqlstate", "")]
    return "done"


def together(
    one: Session, two: Session, first: Callable[[], Any], second: Callable[[], Any], isolation: str
) -> list[str]:
    """Both begin before either has ended; what came of each, commit included."""
    ends = []
    for session in (one, two):
        session.begin(isolation)
    one.do(first)
    other = two.start(second)
    if waits(other):
        ends.append(outcome(one.commit))
        ends.append(outcome(lambda: other.result(timeout=PATIENCE)))
    else:
        ends.append(outcome(lambda: other.result(timeout=PATIENCE)))
        ends.insert(0, outcome(one.commit))
    if ends[1] == "done":
        ends[1] = outcome(two.commit)
    return ends


LEVELS = pytest.mark.parametrize("isolation", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])


@LEVELS
def test_two_sessions_close_no_circle(
    alice: User, one: Session, two: Session, isolation: str
) -> None:
    left, right = active(alice, "left"), active(alice, "right")
    ends = together(
        one,
        two,
        lambda: update(left, **superseding(right)),
        lambda: update(right, **superseding(left)),
        isolation,
    )
    assert ends[0] == "done"
    assert ends[1] != "done"
    assert (now_is(left).superseded_by, now_is(right).state) == (right, State.ACTIVE)


@LEVELS
def test_nobody_supersedes_by_a_fact_that_is_just_going(
    alice: User, one: Session, two: Session, isolation: str
) -> None:
    left, right = active(alice, "left"), active(alice, "right")
    gone = {"state": "archived", "archived_from": "active", "archived_reason": "stale"}
    ends = together(
        one,
        two,
        lambda: update(right, **gone),
        lambda: update(left, **superseding(right)),
        isolation,
    )
    assert ends == ["done", ends[1]]
    assert ends[1] != "done"
    assert now_is(left).state == State.ACTIVE


@LEVELS
def test_an_old_fact_and_its_successor_do_not_come_back_together(
    alice: User, one: Session, two: Session, isolation: str
) -> None:
    """The pair is a correction and its target: one transaction wakes each."""
    target = active(alice, OSLO)
    waiting = correction(alice, target)
    lifecycle.confirm(fact=waiting, actor=person(alice))
    update(waiting, state="pending", **UNDECIDED)
    ends = together(
        one,
        two,
        lambda: update(waiting, state="active", **reviewed(alice)),
        lambda: update(target, **NOT_ARCHIVED, state="active", **reviewed(alice)),
        isolation,
    )
    assert ends.count("done") == 1
    states = {now_is(fact).state for fact in (target, waiting)}
    assert State.ACTIVE in states
    assert states != {State.ACTIVE}


@LEVELS
def test_two_sessions_make_no_twins(
    alice: User, one: Session, two: Session, isolation: str
) -> None:
    def make() -> None:
        FactFactory.create(owner=alice, statement=OSLO)

    ends = together(one, two, make, make, isolation)
    assert ends == ["done", "exclusion"]
    assert Fact.objects.get(owner=alice).statement == OSLO


def test_a_correction_that_is_decided_meanwhile_opens_no_target(
    alice: User, one: Session, two: Session
) -> None:
    target, waiting = active(alice, OSLO), candidate(alice)

    def aim() -> None:
        CorrectionTarget.objects.create(owner=alice, fact=waiting, target=target)

    def decide() -> None:
        update(waiting, state="rejected", **reviewed(alice))

    assert together(one, two, aim, decide, "READ COMMITTED") == ["done", "done"]
    assert (now_is(waiting).state, open_targets(waiting)) == (State.REJECTED, [])


# The lifecycle


def decide(step: Any, fact: Fact, owner: User, **more: Any) -> Callable[[], str]:
    def decided() -> str:
        try:
            step(fact=fact, actor=person(owner), **more)
        except lifecycle.Conflict:
            return "lost"
        return "won"

    return decided


@pytest.mark.parametrize("second", ["confirm", "reject", "confirm_with_edit"])
@pytest.mark.parametrize("first", ["confirm", "reject", "confirm_with_edit"])
def test_of_two_tabs_at_once_exactly_one_wins(
    alice: User, one: Session, two: Session, first: str, second: str
) -> None:
    target = active(alice, OSLO)
    waiting = correction(alice, target)
    steps = []
    for name, statement in ((first, TURKU), (second, "The user lives in Bergen.")):
        more = {"edit": edit(statement)} if name == "confirm_with_edit" else {}
        steps.append(decide(getattr(lifecycle, name), waiting, alice, **more))
    futures = [session.start(step) for session, step in zip((one, two), steps, strict=True)]
    assert sorted(future.result(timeout=PATIENCE) for future in futures) == ["lost", "won"]
    live = Fact.objects.filter(owner=alice, state=State.ACTIVE)
    assert live.count() == 1


def test_two_proposals_of_one_text_make_one_fact(alice: User, one: Session, two: Session) -> None:
    def propose() -> str:
        try:
            candidate(alice, HELSINKI)
        except lifecycle.Duplicate:
            return "duplicate"
        return "born"

    futures = [session.start(propose) for session in (one, two)]
    assert sorted(future.result(timeout=PATIENCE) for future in futures) == ["born", "duplicate"]


def test_the_cap_holds_when_two_confirm_at_once(alice: User, one: Session, two: Session) -> None:
    OwnerSettings.objects.filter(owner=alice).update(cap_global=1)
    waiting = [candidate(alice, f"The user has {n} cats.") for n in (1, 2)]

    def confirm(fact: Fact) -> Callable[[], str]:
        def confirmed() -> str:
            try:
                lifecycle.confirm(fact=fact, actor=person(alice))
            except lifecycle.AtCap:
                return "at cap"
            return "confirmed"

        return confirmed

    futures = [
        session.start(confirm(fact)) for session, fact in zip((one, two), waiting, strict=True)
    ]
    assert sorted(future.result(timeout=PATIENCE) for future in futures) == ["at cap", "confirmed"]


# The switch


def switch(owner: User, on: bool) -> Callable[[], None]:
    def turned() -> None:
        OwnerSettings.objects.filter(owner=owner).update(memory_enabled=on)

    return turned


def test_switching_off_waits_for_a_write_that_has_begun(
    alice: User, one: Session, two: Session
) -> None:
    one.begin()
    one.do(lambda: candidate(alice))
    off = two.start(switch(alice, on=False))
    assert waits(off)
    one.commit()
    off.result(timeout=PATIENCE)
    assert Fact.objects.filter(owner=alice).count() == 1
    with pytest.raises(MemoryOff):
        candidate(alice, OSLO)


def test_a_write_waits_for_a_switch_that_has_begun_and_is_refused(
    alice: User, one: Session, two: Session
) -> None:
    one.begin()
    one.do(switch(alice, on=False))
    write = two.start(lambda: candidate(alice))
    assert waits(write)
    one.commit()
    with pytest.raises(MemoryOff):
        write.result(timeout=PATIENCE)
    assert not Fact.objects.filter(owner=alice).exists()
    assert not Conversation.objects.exists()


def test_writers_do_not_wait_for_each_others_switch(
    alice: User, bob: User, one: Session, two: Session
) -> None:
    one.begin()
    one.do(lambda: candidate(alice))
    two.do(lambda: candidate(bob))
    one.commit()
    assert Fact.objects.count() == 2
