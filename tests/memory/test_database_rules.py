"""What the database refuses of facts, whoever asks and however: here in raw SQL."""

from itertools import product
from typing import Any

import pytest
from django.db import transaction

from agents.models import Agent, AuditEvent, User
from conversations.models import Import
from memory.models import Fact
from memory.vocabulary import ArchivedReason, Kind, Origin, State
from tests.factories import MONDAY, ConversationFactory, FactFactory, UserFactory
from tests.memory.raw import (
    NOT_ARCHIVED,
    UNDECIDED,
    allowed,
    born,
    fact_columns,
    refused,
    reviewed,
    sql,
    superseding,
    update,
)

pytestmark = pytest.mark.django_db

ARCHIVED = {"state": "archived", "archived_from": "active", "archived_reason": "stale"}


def fact(owner: User, state: State = State.ACTIVE, **changes: Any) -> Fact:
    row: Fact = FactFactory.create(owner=owner, state=state, **changes)
    return row


# Births


def test_a_fact_is_born_pending_or_active(alice: User) -> None:
    with allowed():
        born(alice)
        born(alice, statement="The user has a dog.", state="active", **reviewed(alice))
    for columns in (
        {"state": "rejected", **reviewed(alice)},
        {**ARCHIVED, **reviewed(alice)},
        {"state": "deleted"},
        {"state": ""},
    ):
        with refused():
            born(alice, **columns)


@pytest.mark.parametrize(("kind", "origin"), list(product(Kind, Origin)))
def test_without_a_person_only_two_kinds_of_fact_are_active(
    alice: User, kind: Kind, origin: Origin
) -> None:
    """At birth, and by a later step."""
    waiting = fact(alice, State.PENDING, kind=kind, origin=origin)
    by_rule = (kind == Kind.EPISODIC and origin == Origin.EXTRACTION) or origin == Origin.REMEMBER
    for attempt in (
        lambda: born(alice, state="active", kind=kind, origin=origin),
        lambda: update(waiting, state="active"),
    ):
        with allowed() if by_rule else refused("fact_active_was_reviewed"):
            attempt()


def test_nobody_is_born_decided_over_and_waiting(alice: User) -> None:
    with refused("fact_pending_undecided"):
        born(alice, **reviewed(alice))
    with refused("fact_review_complete"):
        born(alice, state="active", reviewer_id=alice.pk)


def test_a_review_is_the_owners_or_an_administrators(alice: User, bob: User) -> None:
    root = UserFactory.create(is_superuser=True)
    waiting = fact(alice, State.PENDING)
    with allowed():
        born(alice, state="active", **reviewed(root))
    with refused("reviewed by its owner"):
        born(alice, state="active", **reviewed(bob))
    with refused("reviewed by its owner"):
        update(waiting, state="active", **reviewed(bob))


def test_an_import_that_a_person_approved_may_bring_any_state(alice: User) -> None:
    head = fact(alice)
    approved, waiting = (
        Import.objects.create(owner=alice, format="ours", file_name="x", approved_by=by)
        for by in (alice, None)
    )
    more = {"imported_by_id": approved.pk, **reviewed(alice)}
    with allowed():
        born(alice, **more, state="rejected")
        born(alice, **more, **superseding(head))
        born(alice, **more, **ARCHIVED)
        born(alice, **more | UNDECIDED, **ARCHIVED)
    for columns in (
        {**more, "state": "rejected", **UNDECIDED},
        {**more, "state": "rejected", "imported_by_id": waiting.pk},
        {**more, "state": "rejected", "imported_by_id": None, "origin": "import"},
        {**more, **superseding(head), "superseded_by_id": None},
        {**more, **ARCHIVED, "superseded_by_id": head.pk},
        {**more, **ARCHIVED, "archived_from": "rejected"},
        {**more, **ARCHIVED, "archived_reason": ""},
        {**more, "state": "active", "superseded_by_id": head.pk},
    ):
        with refused():
            born(alice, **columns)


def test_an_import_is_approved_by_its_owner_and_when_it_begins(alice: User, bob: User) -> None:
    row = {"owner": alice, "format": "ours", "file_name": "x"}
    by_a_stranger = Import.objects.create(**row, approved_by=bob)
    with refused("reviewed by its owner"):
        born(alice, **ARCHIVED, imported_by_id=by_a_stranger.pk)
    waiting = Import.objects.create(**row)
    with refused("approved when it begins"):
        update(waiting, approved_by_id=alice.pk)


def test_bulk_create_meets_the_same_rules(alice: User) -> None:
    row = {"owner": alice, "kind": "semantic", "origin": "extraction", "text_hash": "0" * 64}
    times = {"observed_at": MONDAY, "last_confirmed_at": MONDAY}
    for state in (State.ACTIVE, State.REJECTED, State.ARCHIVED):
        with refused():
            Fact.objects.bulk_create([Fact(**row, **times, statement="x", state=state)])
    # One bad row takes its neighbours with it.
    good = Fact(**row, **times, statement="The user has a cat.")
    with refused():
        Fact.objects.bulk_create([good, Fact(**row, **times, statement="x", state="rejected")])
    assert not Fact.objects.exists()


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        ("statement", ""),
        ("statement", " \n"),
        ("statement", "x" * 501),
        ("text_hash", ""),
        ("text_hash", "not a hash"),
        ("kind", "episode"),
        ("origin", "observer"),
        ("confidence", 1.01),
        ("confidence", -0.1),
        ("confidence", float("nan")),
        ("tags", ["instruction"]),
        ("valid_precision", "hour"),
        ("observed_at", None),
    ],
)
def test_values_outside_their_range_are_refused(alice: User, column: str, bad: Any) -> None:
    with refused():
        born(alice, **{column: bad})


def test_a_validity_that_ends_before_it_begins_is_refused(alice: User) -> None:
    with refused("fact_validity_order"):
        born(alice, valid_from=MONDAY, valid_until=MONDAY)


# The matrix of steps

LEGAL = {
    ("pending", "active"),
    ("pending", "rejected"),
    ("pending", "archived"),
    ("active", "archived"),
    ("active", "pending"),
    ("rejected", "pending"),
    ("archived from pending", "pending"),
    ("archived from active", "active"),
}
STARTS = ["pending", "active", "rejected", "archived from pending", "archived from active"]
# For each state, the columns that a careful hand would set with it.
CAREFUL: dict[str, list[dict[str, Any]]] = {
    "pending": [{**NOT_ARCHIVED, **UNDECIDED}],
    "active": [{**NOT_ARCHIVED, "reviewer_id": "me", "reviewed_at": MONDAY}],
    "rejected": [{**NOT_ARCHIVED, "reviewer_id": "me", "reviewed_at": MONDAY}],
    "archived": [
        {"archived_from": origin, "archived_reason": why, "superseded_by_id": successor}
        for origin, why, successor in product(State.values, ArchivedReason.values, [None, "head"])
    ],
}
LEGAL_ENDS = {
    ("pending", "duplicate", None),
    ("pending", "aged_out", None),
    ("pending", "undone", None),
    ("pending", "replaced", None),
    ("pending", "forgotten", None),
    ("active", "stale", None),
    ("active", "forgotten", None),
    ("active", "undone", None),
    ("active", "ended", None),
    ("active", "superseded", "head"),
    ("active", "merged", "head"),
}


def start(owner: User, name: str) -> Fact:
    state, _, origin = name.partition(" from ")
    if not origin:
        return fact(owner, State(state))
    why = "forgotten"
    return fact(owner, State.ARCHIVED, archived_from=origin, archived_reason=why)


@pytest.mark.parametrize(("origin", "end"), list(product(STARTS, State.values)))
def test_only_the_drawn_steps_are_possible(alice: User, origin: str, end: str) -> None:
    row, head = start(alice, origin), fact(alice)
    for columns in CAREFUL[end]:
        values = {
            name: {"me": alice.pk, "head": head.pk}.get(value, value)
            if isinstance(value, str)
            else value
            for name, value in columns.items()
        }
        legal = (origin, end) in LEGAL
        if end == "archived":
            ending = tuple(columns.values())
            legal = legal and columns["archived_from"] == origin and ending in LEGAL_ENDS
        stays = origin.partition(" ")[0] == end and all(
            getattr(row, name) == value for name, value in values.items() if name != "reviewed_at"
        )
        with allowed() if legal or stays else refused():
            assert update(row, state=end, **values) == 1


@pytest.mark.parametrize(("origin", "end"), list(product(STARTS, State.values)))
def test_a_careless_hand_sets_no_other_state(alice: User, origin: str, end: str) -> None:
    """UPDATE … SET state = …, and nothing with it."""
    row = start(alice, origin)
    same = origin.partition(" ")[0] == end
    with allowed() if same else refused():
        update(row, state=end)


def test_a_bulk_update_meets_the_same_rules(alice: User) -> None:
    waiting = [fact(alice, State.PENDING) for _ in range(3)]
    FactFactory.create(owner=alice, state=State.REJECTED)
    everything = Fact.objects.filter(owner=alice)
    with refused():
        everything.update(state=State.ACTIVE)
    with refused("cannot go from rejected"):
        everything.update(state=State.ACTIVE, reviewer=alice, reviewed_at=MONDAY)
    with allowed():
        ids = [row.pk for row in waiting]
        mine = Fact.objects.filter(pk__in=ids)
        assert mine.update(state=State.ACTIVE, reviewer=alice, reviewed_at=MONDAY) == 3
    assert {row.state for row in everything} == {State.PENDING, State.REJECTED}


def test_an_upsert_is_no_way_around(alice: User) -> None:
    row = fact(alice, State.PENDING)
    columns = fact_columns(alice, id=row.pk, statement=row.statement)
    names, marks = ", ".join(columns), ", ".join(["%s"] * len(columns))
    with refused("never edited"):
        sql(
            f"INSERT INTO memory_fact ({names}) VALUES ({marks})"
            " ON CONFLICT (id) DO UPDATE SET statement = 'The user has a dog.'",
            list(columns.values()),
        )


# What never changes


def test_nothing_of_a_birth_ever_changes(alice: User, bob: User, agent: Agent) -> None:
    other = ConversationFactory.create(owner=alice)
    changes: dict[str, Any] = {
        "id": other.pk,
        "owner_id": bob.pk,
        "agent_id": agent.pk,
        "kind": "procedural",
        "statement": "The user has a dog.",
        "text_hash": "0" * 64,
        "language": "german",
        "origin": "manual",
        "created_at": MONDAY,
        "observed_at": MONDAY.replace(year=2020),
        "conversation_id": other.pk,
        "prompt_version": "v2",
        "similar_to_id": fact(alice).pk,
    }
    for state in State:
        row = fact(alice, state)
        for column, new in changes.items():
            with refused("never edited"):
                update(row, **{column: new})
        # Nor in the course of a step that is allowed.
        with refused("never edited"):
            update(row, statement="x", **ARCHIVED | {"archived_from": state})


def test_how_a_fact_was_archived_is_never_retold(alice: User) -> None:
    head, other = fact(alice), fact(alice)
    old = fact(alice, State.ARCHIVED, superseded_by=head)
    forgotten = fact(alice, State.ARCHIVED)
    for row, change in (
        (old, {"superseded_by_id": other.pk}),
        (old, {"archived_reason": "merged"}),
        (forgotten, {"archived_reason": "stale"}),
        (forgotten, {"archived_from": "pending"}),
        (forgotten, {"archived_reason": "superseded", "superseded_by_id": head.pk}),
    ):
        with refused():
            update(row, **change)


def test_rejection_and_durable_facts_need_their_reviewer(alice: User) -> None:
    waiting, rejected, held = (
        fact(alice, State.PENDING),
        fact(alice, State.REJECTED),
        fact(alice, State.ACTIVE, kind=Kind.SEMANTIC),
    )
    with refused("fact_rejected_by_person"):
        update(waiting, state="rejected")
    with refused("fact_rejected_by_person"):
        update(rejected, **UNDECIDED)
    with refused("fact_active_was_reviewed"):
        update(held, **UNDECIDED)


# One live text per scope


@pytest.mark.parametrize("states", list(product(["pending", "active"], repeat=2)))
def test_a_scope_holds_a_live_text_once(
    alice: User, bob: User, agent: Agent, states: tuple[str, str]
) -> None:
    first, second = ({"state": s, **(reviewed(alice) if s == "active" else {})} for s in states)
    for scope in (None, agent.pk):
        with refused("fact_one_live_per_text"):
            born(alice, agent_id=scope, **first)
            born(alice, agent_id=scope, **second)
    with allowed():
        born(alice, **first)
        born(alice, agent_id=agent.pk, **second)
        born(bob)


def test_a_twin_may_come_before_its_place_is_free_but_not_stay(alice: User) -> None:
    old = fact(alice, statement="The user has a cat.")
    with allowed():
        sql("SET CONSTRAINTS fact_one_live_per_text DEFERRED")
        born(alice)
        update(old, **ARCHIVED)
    with refused("fact_one_live_per_text"):
        sql("SET CONSTRAINTS ALL DEFERRED")
        born(alice)


def test_a_raw_change_is_in_the_trail_under_the_roles_name(alice: User) -> None:
    row = fact(alice, State.PENDING)
    with transaction.atomic():
        Fact.objects.filter(pk=row.pk).update(**ARCHIVED_PENDING)
    last = AuditEvent.objects.filter(row_id=str(row.pk)).latest("id")
    assert (last.actor, last.reason, last.owner_id) == ("db:remembrancer_app", "", alice.pk)
    assert last.before == {"state": "pending", "archived_from": "", "archived_reason": ""}
    assert last.after == ARCHIVED_PENDING


ARCHIVED_PENDING = {"state": "archived", "archived_from": "pending", "archived_reason": "aged_out"}
