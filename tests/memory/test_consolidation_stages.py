"""Each stage but the merge at its boundaries, and what it leaves alone."""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from agents.audit import POLICY
from agents.models import AuditEvent, User
from memory import lifecycle
from memory.consolidation import (
    archive_episodic,
    decay_semantic,
    dedupe_pending,
    demote_pending,
    reconfirm,
)
from memory.consolidation.undo import undo_change
from memory.models import Fact, FactUsage
from memory.recall.service import recall
from memory.vocabulary import ArchivedReason, Kind, State, Withheld
from tests.factories import MessageFactory
from tests.memory.consolidating import (
    DAY,
    NOW,
    ago,
    by,
    changes,
    durable,
    event,
    run,
    states,
    waiting,
)
from tests.memory.steps import candidate, correction, now_is, quotes

pytestmark = pytest.mark.django_db

A_MOMENT = timedelta(microseconds=1)


def retrieved(fact: Fact, days: float) -> None:
    FactUsage.objects.create(owner=fact.owner, fact=fact, last_retrieved_at=ago(days))


# Archive episodic


@pytest.mark.parametrize(("days", "gone"), [(179, False), (180, True), (181, True)])
def test_an_event_is_archived_after_180_days_without_use(
    alice: User, days: int, gone: bool
) -> None:
    fact = event(alice, days=days)
    run(alice, "archive_episodic")
    row = now_is(fact)
    assert (row.state, row.archived_reason) == (
        (State.ARCHIVED, ArchivedReason.STALE) if gone else (State.ACTIVE, "")
    )


@pytest.mark.parametrize(("days", "gone"), [(179, False), (180, True), (181, True)])
def test_a_retrieval_keeps_an_event_for_180_days(alice: User, days: int, gone: bool) -> None:
    fact = event(alice, days=400)
    retrieved(fact, days)
    run(alice, "archive_episodic")
    assert (now_is(fact).state == State.ARCHIVED) == gone


@pytest.mark.parametrize(
    "kept",
    [
        {"pinned": True},
        {"kind": Kind.SEMANTIC},
        {"last_confirmed_at": ago(10)},
        {"reviewed_at": ago(10), "reviewer": "owner"},
        {"valid_from": NOW + DAY},
        {"days": 10, "observed_at": ago(400)},
    ],
    ids=["pinned", "durable", "said again", "decided", "yet to come", "backfilled"],
)
def test_what_is_wanted_is_not_archived(alice: User, kept: dict[str, Any]) -> None:
    if kept.get("kind") == Kind.SEMANTIC or "reviewer" in kept:
        kept = {"reviewed_at": ago(200)} | kept | {"reviewer": alice}
    fact = event(alice, **kept)
    run(alice, "archive_episodic")
    assert states(fact) == [State.ACTIVE]


# Decay semantic


@pytest.mark.parametrize(("days", "fades"), [(364, False), (365, True), (366, True)])
def test_a_durable_fact_fades_after_365_days_without_a_word(
    alice: User, days: int, fades: bool
) -> None:
    fact = durable(alice, days=days, confidence=0.9)
    run(alice, "decay_semantic")
    row = now_is(fact)
    assert row.state == State.ACTIVE
    assert row.confidence == pytest.approx(0.72 if fades else 0.9)
    assert row.decayed_at == (NOW if fades else None)
    assert [f.pk for f in reconfirm.waiting(owner=alice, now=NOW)] == ([fact.pk] if fades else [])


@pytest.mark.parametrize(("days", "again"), [(364, False), (365, True), (366, True)])
def test_it_fades_once_in_365_days(alice: User, days: int, again: bool) -> None:
    fact = durable(alice, days=500)
    run(alice, "decay_semantic")
    run(alice, "decay_semantic", now=NOW + days * DAY)
    assert now_is(fact).confidence == pytest.approx(0.64 if again else 0.8)


def test_being_retrieved_is_not_being_confirmed(alice: User) -> None:
    """Faults of peers: often recalled errors never aged."""
    fact = durable(alice, confidence=1.0)
    retrieved(fact, days=0)
    run(alice, "decay_semantic")
    assert now_is(fact).confidence == pytest.approx(0.8)


def test_every_stale_fact_gets_its_turn(alice: User) -> None:
    """Timothy: the same ten rows were taken each day, and the eleventh never."""
    facts = [durable(alice, days=700 + n) for n in range(18)]
    for day in range(4):
        run(alice, "decay_semantic", now=NOW + day * DAY)
    assert [now_is(fact).confidence for fact in facts] == [pytest.approx(0.8)] * 18


def test_a_day_fades_no_more_than_its_quota_however_often_it_runs(alice: User) -> None:
    facts = [durable(alice, days=700 - n) for n in range(8)]
    for hour in range(3):
        run(alice, "decay_semantic", now=NOW + timedelta(hours=hour))
    faded = [fact for fact in facts if now_is(fact).decayed_at]
    assert faded == facts[: decay_semantic.LEAST_PER_DAY]  # the longest unconfirmed first


def test_a_big_store_gets_round_within_a_year(alice: User) -> None:
    assert decay_semantic.quota(alice) == 5
    Fact.objects.bulk_create(
        [
            Fact(
                owner=alice, kind=Kind.SEMANTIC, statement=f"The user has {n} hens.",
                text_hash=f"{n:064x}", state=State.ACTIVE, origin="extraction", reviewer=alice,
                reviewed_at=NOW, observed_at=NOW, last_confirmed_at=NOW,
            )
            for n in range(2190)
        ]
    )  # fmt: skip
    assert decay_semantic.quota(alice) == 6


@pytest.mark.parametrize(
    "changed", [{"kind": Kind.PROCEDURAL}, {"valid_until": ago(1)}], ids=["how-to", "expired"]
)
def test_only_what_is_durable_and_holds_fades(alice: User, changed: dict[str, Any]) -> None:
    fact = durable(alice, **changed)
    run(alice, "decay_semantic")
    assert now_is(fact).decayed_at is None


def test_a_faded_fact_counts_for_less_in_recall(alice: User) -> None:
    """Timothy: confidence was no part of the score, so that decay changed nothing one could see."""
    agent = alice.agents.get(slug="main")
    durable(alice, "The user's piano is a Bechstein.")

    def score() -> float:
        [item] = recall(agent=agent, message="Is my piano a Bechstein?", now=NOW).items
        assert item.candidate is not None
        return item.candidate.score

    before = score()
    run(alice, "decay_semantic")
    assert score() == pytest.approx(before + math.log(0.8))


# Demote pending


@pytest.mark.parametrize(("days", "gone"), [(59, False), (60, True), (61, True)])
def test_a_weak_candidate_leaves_after_60_days(alice: User, days: int, gone: bool) -> None:
    fact = waiting(alice, days=days)
    run(alice, "demote_pending")
    row = now_is(fact)
    assert (row.state, row.archived_reason) == (
        (State.ARCHIVED, ArchivedReason.AGED_OUT) if gone else (State.PENDING, "")
    )


@pytest.mark.parametrize(("confidence", "gone"), [(0.79, True), (0.8, False), (0.81, False)])
def test_a_sure_candidate_stays(alice: User, confidence: float, gone: bool) -> None:
    fact = waiting(alice, confidence=confidence)
    run(alice, "demote_pending")
    assert (now_is(fact).state == State.ARCHIVED) == gone


@pytest.mark.parametrize(
    "kept",
    [{"snoozed_until": NOW + DAY}, {"withheld_for": [Withheld.QUARANTINED]}],
    ids=["put off", "quarantined"],
)
def test_what_was_put_off_or_accepted_once_stays(alice: User, kept: dict[str, Any]) -> None:
    fact = waiting(alice, **kept)
    run(alice, "demote_pending")
    assert states(fact) == [State.PENDING]


def test_what_came_back_to_the_queue_has_its_60_days_again(alice: User) -> None:
    fact = waiting(alice, confidence=0.5)
    lifecycle.confirm(fact=fact, actor=by(alice))
    lifecycle.undo(fact=fact, actor=by(alice))
    run(alice, "demote_pending")
    assert states(fact) == [State.PENDING]


# Dedupe pending

HAS_CAT = "The user has a cat."


def test_the_newer_of_two_equal_candidates_goes_and_leaves_its_evidence(alice: User) -> None:
    first, second = MessageFactory.create(conversation__owner=alice), MessageFactory.create(
        conversation__owner=alice
    )  # fmt: skip
    older = waiting(alice, HAS_CAT, days=3, message=first)
    newer = waiting(alice, "User has the cat", days=2, message=second)
    run(alice, "dedupe_pending")
    assert states(older, newer) == [State.PENDING, State.ARCHIVED]
    assert now_is(newer).archived_reason == ArchivedReason.DUPLICATE
    assert quotes(older) == {first.content, second.content}


@pytest.mark.parametrize(
    "other",
    [
        {"statement": "The user had a cat."},
        {"statement": "The user has no cat."},
        {"statement": "The user has a cat named Tom."},
        {"statement": "User has a cat", "kind": Kind.EPISODIC},
        {"statement": "User has a cat", "agent": "main"},
        {"statement": "User has a cat", "valid_from": ago(900)},
    ],
    ids=["tense", "negation", "more", "kind", "scope", "time"],
)
def test_what_differs_at_all_stays(alice: User, other: dict[str, Any]) -> None:
    if "agent" in other:
        other = other | {"agent": alice.agents.get(slug="main")}
    facts = [waiting(alice, HAS_CAT, days=3), waiting(alice, days=2, **other)]
    run(alice, "dedupe_pending")
    assert states(*facts) == [State.PENDING, State.PENDING]


def test_two_corrections_of_different_facts_are_two(alice: User) -> None:
    old = [durable(alice, "The user has a dog."), durable(alice, "The user has a hen.")]
    both = [
        correction(alice, old[0], statement=HAS_CAT),
        correction(alice, old[1], statement="User has a cat"),
    ]
    run(alice, "dedupe_pending")
    assert states(*both) == [State.PENDING, State.PENDING]


def test_a_duplicate_that_code_archived_suppresses_nothing(alice: User) -> None:
    """Timothy: a machine's rejection of a duplicate kept the fact out for good."""
    older, newer = waiting(alice, HAS_CAT, days=3), waiting(alice, "User has the cat", days=2)
    run(alice, "dedupe_pending")
    assert not Fact.objects.filter(owner=alice, state=State.REJECTED).exists()
    lifecycle.archive(fact=older, why=ArchivedReason.AGED_OUT, actor=POLICY)
    assert candidate(alice, newer.statement).state == State.PENDING


# All of them


STAGES: list[tuple[str, Callable[..., Fact], str]] = [
    ("archive_episodic", event, State.ACTIVE),
    ("decay_semantic", durable, State.ACTIVE),
    ("demote_pending", waiting, State.PENDING),
]
every_stage = pytest.mark.parametrize(("name", "make", "was"), STAGES, ids=[s[0] for s in STAGES])


@every_stage
def test_a_second_run_adds_nothing(alice: User, name: str, make: Any, was: str) -> None:
    fact = make(alice)
    assert len(changes(run(alice, name))) == 1
    row = now_is(fact)
    assert changes(run(alice, name)) == []
    assert Fact.objects.values().get(pk=fact.pk) == Fact.objects.values().get(pk=row.pk)


@every_stage
def test_a_stage_keeps_to_its_owner(alice: User, bob: User, name: str, make: Any, was: str) -> None:
    make(alice)
    his = make(bob)
    before = Fact.objects.values().get(pk=his.pk)
    run(alice, name)
    assert Fact.objects.values().get(pk=his.pk) == before


@every_stage
def test_a_dry_run_says_what_the_real_one_then_does(
    alice: User, name: str, make: Any, was: str
) -> None:
    make(alice)
    module = {
        "archive_episodic": archive_episodic,
        "decay_semantic": decay_semantic,
        "demote_pending": demote_pending,
        "dedupe_pending": dedupe_pending,
    }[name]
    trail = AuditEvent.objects.count()
    planned = module.run(owner=alice, now=NOW, dry_run=True)
    assert AuditEvent.objects.count() == trail
    assert [c.facts for c in module.run(owner=alice, now=NOW)] == [c.facts for c in planned]
    assert len(planned) == 1


@every_stage
def test_policy_did_it_and_the_trail_says_why(alice: User, name: str, make: Any, was: str) -> None:
    fact = make(alice)
    made = run(alice, name)
    last = AuditEvent.objects.filter(table="memory_fact", row_id=str(fact.pk)).latest("id")
    assert last.actor == POLICY.name
    [change] = changes(made)
    assert last.reason == change.reason or str(made.pk) in last.reason
    assert fact.statement not in str(changes(made)[0].__dict__)


@every_stage
def test_a_person_takes_it_back_and_it_is_not_done_again(
    alice: User, name: str, make: Any, was: str
) -> None:
    fact = make(alice, confidence=0.7)
    [change] = changes(run(alice, name))
    undo_change(change=change, actor=by(alice))
    row = now_is(fact)
    assert (row.state, row.confidence, row.decayed_at) == (was, 0.7, None)
    assert changes(run(alice, name, now=NOW + DAY)) == []
