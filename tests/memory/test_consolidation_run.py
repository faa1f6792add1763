"""Runs: when one is due, where it stops, what it lists, and the way back."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
from pytest_django.fixtures import Settings

from agents.gate import MemoryOff
from agents.models import AuditEvent, OwnerSettings, User
from memory import lifecycle, tasks
from memory.consolidation import archive_episodic, breaker, due, registry
from memory.consolidation.run import Trigger, consolidate, consolidate_if_due, go_on, plan
from memory.consolidation.undo import CannotUndo, undo_change, undo_run
from memory.extraction.lease import LeaseTaken, claim
from memory.extraction.lease import release as let_go
from memory.models import ConsolidationRun, ConsolidationSchedule, Fact
from memory.vocabulary import State
from tests.factories import UserFactory
from tests.memory.consolidating import (
    DAY,
    NOW,
    STAGES,
    ago,
    by,
    changes,
    durable,
    event,
    run,
    states,
    waiting,
)
from tests.memory.steps import now_is

pytestmark = pytest.mark.django_db

HELSINKI, NEW_YORK, TOKYO = "Europe/Helsinki", "America/New_York", "Asia/Tokyo"


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc,arg-type]


def in_zone(owner: User, zone: str) -> User:
    OwnerSettings.objects.filter(owner=owner).update(time_zone=zone)
    return owner


def ran(owner: User, at: datetime, **values: Any) -> None:
    ConsolidationSchedule.objects.update_or_create(
        owner=owner, defaults={"last_run_at": at, "last_started_at": at} | values
    )


def is_due(owner: User, now: datetime) -> bool:
    return due.is_due(owner, now)


# When


def test_who_never_had_a_run_is_due_whenever_the_process_started(alice: User) -> None:
    """Timothy: a ticker waited 24 hours from each start, and a daily restart never consolidated."""
    assert is_due(alice, NOW)
    made = consolidate_if_due(alice.pk)
    assert made is not None
    assert made.trigger == Trigger.DAILY
    assert consolidate_if_due(alice.pk) is None


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        (HELSINKI, utc(2026, 2, 10, 2)),
        (NEW_YORK, utc(2026, 2, 10, 9)),
        (TOKYO, utc(2026, 2, 9, 19)),
    ],
)
def test_a_day_begins_at_four_on_the_owners_clock(alice: User, zone: str, hour: datetime) -> None:
    in_zone(alice, zone)
    ran(alice, hour - 2 * timedelta(hours=1))
    assert not is_due(alice, hour - timedelta(seconds=1))
    assert is_due(alice, hour)
    ran(alice, hour)
    assert not is_due(alice, hour + timedelta(hours=23, minutes=59))
    assert is_due(alice, hour + timedelta(hours=24))


@pytest.mark.parametrize(
    ("zone", "days"),
    [
        (HELSINKI, [utc(2026, 3, 28, 2), utc(2026, 3, 29, 1), utc(2026, 3, 30, 1)]),
        (HELSINKI, [utc(2026, 10, 24, 1), utc(2026, 10, 25, 2), utc(2026, 10, 26, 2)]),
        (NEW_YORK, [utc(2026, 3, 7, 9), utc(2026, 3, 8, 8), utc(2026, 3, 9, 8)]),
        (NEW_YORK, [utc(2026, 10, 31, 8), utc(2026, 11, 1, 9), utc(2026, 11, 2, 9)]),
    ],
    ids=["spring", "autumn", "spring across the sea", "autumn across the sea"],
)
def test_a_day_of_23_or_25_hours_has_one_run(alice: User, zone: str, days: list[datetime]) -> None:
    in_zone(alice, zone)
    ran(alice, days[0])
    runs, moment = [], days[0] + timedelta(minutes=30)
    while moment <= days[2] + timedelta(hours=2):
        if is_due(alice, moment):
            ran(alice, moment)
            runs.append(moment)
        moment += timedelta(minutes=30)
    assert runs == days[1:]


def test_after_a_downtime_one_run_makes_up_for_all(alice: User) -> None:
    ran(alice, NOW - 20 * DAY)
    fact = durable(alice)
    made = consolidate(owner=alice, now=NOW, trigger=Trigger.DAILY)
    assert made.state == ConsolidationRun.State.DONE
    assert not is_due(alice, NOW + timedelta(minutes=1))
    assert now_is(fact).confidence == pytest.approx(0.8)


def test_a_run_that_killed_its_worker_is_tried_again_after_an_hour(alice: User) -> None:
    ran(alice, NOW - 2 * DAY, last_started_at=NOW)
    assert not is_due(alice, NOW + timedelta(minutes=59))
    assert is_due(alice, NOW + timedelta(minutes=60))


def test_what_a_person_asked_for_is_due_at_once(alice: User) -> None:
    ran(alice, NOW)
    due.ask_for_run(alice, NOW)
    assert is_due(alice, NOW)
    made = consolidate_if_due(alice.pk)
    assert made is not None
    assert made.trigger == Trigger.REQUEST
    assert not due.is_asked_for(alice)


def test_a_single_stage_does_not_count_as_the_days_run(alice: User) -> None:
    run(alice, "decay_semantic")
    assert is_due(alice, NOW)


def test_the_sweep_hands_out_who_is_due_and_not_at_work(alice: User, bob: User) -> None:
    off = UserFactory.create(settings__memory_enabled=False)
    ran(bob, datetime.now(UTC))
    assert list(due.sweep(NOW + 3650 * DAY)) == sorted([alice.pk, bob.pk])
    assert off.pk not in due.sweep(NOW + 3650 * DAY)
    lease = claim(alice)
    try:
        assert list(due.sweep(NOW + 3650 * DAY)) == [bob.pk]
    finally:
        let_go(lease)


def test_the_task_does_the_run_and_a_lost_hint_changes_nothing(alice: User) -> None:
    tasks.consolidate_owner(str(alice.pk))
    assert ConsolidationRun.objects.filter(owner=alice).count() == 1
    tasks.consolidate_owner(str(alice.pk))
    assert ConsolidationRun.objects.filter(owner=alice).count() == 1


# Whether


def test_where_memory_is_off_nothing_happens(alice: User, settings: Settings) -> None:
    """Khoj: its backfill never looked at the switch."""
    facts = [event(alice), durable(alice), waiting(alice)]
    settings.MEMORY_MODE = "disabled"
    with pytest.raises(MemoryOff):
        run(alice)
    with pytest.raises(MemoryOff):
        plan(owner=alice, now=NOW)
    assert not is_due(alice, NOW)
    assert not ConsolidationRun.objects.exists()
    assert states(*facts) == [State.ACTIVE, State.ACTIVE, State.PENDING]


def test_switching_memory_off_meanwhile_ends_the_run(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = event(alice, days=300), event(alice, days=200)
    archive = lifecycle.archive

    def and_switch_off(**arguments: Any) -> Fact:
        fact = archive(**arguments)
        OwnerSettings.objects.filter(owner=alice).update(memory_enabled=False)
        return fact

    monkeypatch.setattr(lifecycle, "archive", and_switch_off)
    made = run(alice)
    assert made.state == ConsolidationRun.State.SWITCHED_OFF
    assert states(first, second) == [State.ARCHIVED, State.ACTIVE]
    assert len(changes(made)) == 1


def test_two_at_once_one_runs_and_the_other_is_told(alice: User) -> None:
    lease = claim(alice)
    try:
        with pytest.raises(LeaseTaken):
            run(alice)
    finally:
        let_go(lease)
    assert not ConsolidationRun.objects.exists()


def test_a_stage_that_fails_is_none_of_the_others_business(
    alice: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    fact, weak = durable(alice, "The user plays the tuba."), waiting(alice)

    def fail(**_: Any) -> Any:
        raise ValueError("The user plays the tuba.")

    stages = [
        registry.Stage("merge", "Merge", fail, lambda change, actor: None),
        *registry.STAGES[1:],
    ]
    made = consolidate(owner=alice, now=NOW, trigger=Trigger.DAILY, stages=stages)
    assert made.state == ConsolidationRun.State.FAILED
    assert made.errors == {"merge": "An unexpected error (ValueError)."}
    assert now_is(fact).decayed_at == NOW
    assert states(weak) == [State.ARCHIVED]
    assert "tuba" not in str(made.errors)


def test_a_run_left_behind_is_marked_as_lost(alice: User) -> None:
    dead = ConsolidationRun.objects.create(owner=alice, trigger=Trigger.DAILY)
    run(alice)
    dead.refresh_from_db()
    assert dead.state == ConsolidationRun.State.LOST


# Where it stops


def test_a_run_archives_five_of_few_facts_and_then_asks(alice: User) -> None:
    facts = [event(alice, days=300 - n) for n in range(8)]
    made = run(alice)
    assert made.stopped_by == "run"
    assert states(*facts) == [State.ARCHIVED] * 5 + [State.ACTIVE] * 3
    held = [change.facts[0] for change in changes(made) if change.held]
    assert held == [fact.pk for fact in facts[5:]]


def test_a_big_store_loses_five_per_cent_a_run_and_ten_in_30_days() -> None:
    assert breaker.limit(breaker.PER_RUN, 99) == 5
    assert breaker.limit(breaker.PER_RUN, 200) == 10
    assert breaker.limit(breaker.PER_MONTH, 99) == 10
    assert breaker.limit(breaker.PER_MONTH, 1000) == 100


@pytest.mark.parametrize(("days", "more"), [(29, 0), (30, 5), (31, 5)])
def test_thirty_days_archive_ten_of_few_facts(alice: User, days: int, more: int) -> None:
    facts = [event(alice, days=900 - n) for n in range(20)]
    run(alice, now=ago(1))
    run(alice, now=NOW)
    assert states(*facts).count(State.ARCHIVED) == 10
    made = run(alice, now=NOW + (days - 1) * DAY)
    assert made.stopped_by == ("" if more > 5 else "month" if not more else "run")
    assert states(*facts).count(State.ARCHIVED) == 10 + more


def test_what_was_taken_back_does_not_count(alice: User) -> None:
    for n in range(5):
        event(alice, days=300 + n)
    undo_run(run=run(alice), actor=by(alice))
    assert breaker.archived_since(alice, ago(30)) == 0


def test_a_person_lets_it_go_on_and_gets_just_what_was_listed(alice: User) -> None:
    facts = [event(alice, days=300 - n) for n in range(8)]
    made = run(alice)
    later = event(alice, days=500)
    lifecycle.set_pinned(fact=facts[7], pinned=True, actor=by(alice))
    new = go_on(run=made, now=NOW, actor=by(alice))
    assert states(*facts, later) == [State.ARCHIVED] * 7 + [State.ACTIVE] * 2
    assert len(changes(new)) == 2
    assert not made.changes.filter(held=True).exists()


def test_nobody_else_lets_it_go_on(alice: User, bob: User) -> None:
    facts = [event(alice) for _ in range(8)]
    with pytest.raises(lifecycle.NotAllowed):
        go_on(run=run(alice), now=NOW, actor=by(bob))
    assert states(*facts).count(State.ACTIVE) == 3


def test_the_newest_list_of_what_is_held_back_stands_for_the_older(alice: User) -> None:
    for n in range(30):
        event(alice, days=900 - n)
    runs = [run(alice, now=NOW + n * DAY) for n in range(3)]
    assert [made.changes.filter(held=True).count() for made in runs] == [0, 0, 20]


def test_a_dry_run_lists_what_the_real_one_does_breaker_included(alice: User) -> None:
    for n in range(8):
        event(alice, days=300 - n)
    durable(alice)
    waiting(alice)
    trail = AuditEvent.objects.count()
    found = plan(owner=alice, now=NOW, stages=STAGES)
    assert AuditEvent.objects.count() == trail
    assert not ConsolidationRun.objects.exists()
    made = run(alice)
    assert found.stopped_by == made.stopped_by == "run"
    told = [(c.stage, c.action, list(c.facts), c.held) for c in found.changes]
    assert told == [(c.stage, c.action, c.facts, c.held) for c in changes(made)]


# The way back


def test_a_whole_run_is_taken_back(alice: User) -> None:
    facts = [event(alice), durable(alice), waiting(alice)]
    before = list(Fact.objects.order_by("pk").values("state", "confidence", "last_confirmed_at"))
    made = run(alice)
    outcome = undo_run(run=made, actor=by(alice))
    assert (outcome.done, outcome.refused) == (3, [])
    assert (
        list(Fact.objects.order_by("pk").values("state", "confidence", "last_confirmed_at"))
        == before
    )
    assert states(*facts) == [State.ACTIVE, State.ACTIVE, State.PENDING]
    assert undo_run(run=made, actor=by(alice)).done == 0


def after_archive(owner: User) -> tuple[Fact, Callable[[], Any]]:
    fact = event(owner, "The user saw Hamlet.")
    twin = {"kind": "episodic", "origin": "manual", "observed_at": NOW}

    def again() -> Any:
        return lifecycle.propose(
            owner=owner,
            agent=None,
            draft=lifecycle.Draft("The user saw Hamlet.", **twin),  # type: ignore[arg-type]
            actor=by(owner),
            state=State.ACTIVE,
        )

    return fact, again


def after_decay(owner: User) -> tuple[Fact, Callable[[], Any]]:
    fact = durable(owner)
    return fact, lambda: lifecycle.reconfirm(fact=fact, actor=by(owner))


def after_decay_and_end(owner: User) -> tuple[Fact, Callable[[], Any]]:
    fact = durable(owner)
    return fact, lambda: lifecycle.end(fact=fact, actor=by(owner))


def after_demotion(owner: User) -> tuple[Fact, Callable[[], Any]]:
    fact = waiting(owner)
    return fact, lambda: lifecycle.restore(fact=now_is(fact), actor=by(owner))


@pytest.mark.parametrize(
    ("case", "why"),
    [
        (after_archive, "same text"),
        (after_decay, "confirmed"),
        (after_decay_and_end, "no longer holds"),
        (after_demotion, "pending"),
    ],
)
def test_a_change_on_which_something_rests_is_not_undone_and_says_on_what(
    alice: User, case: Any, why: str
) -> None:
    _, happens = case(alice)
    [change] = changes(run(alice))
    happens()
    before = list(Fact.objects.order_by("pk").values())
    with pytest.raises(CannotUndo, match=why) as refused:
        undo_change(change=change, actor=by(alice))
    assert refused.value.fact is not None
    assert list(Fact.objects.order_by("pk").values()) == before
    change.refresh_from_db()
    assert change.undone_at is None


def test_an_undo_keeps_to_the_owners_limit(alice: User) -> None:
    fact = event(alice)
    [change] = changes(run(alice))
    durable(alice, days=1)
    OwnerSettings.objects.filter(owner=alice).update(cap_global=1)
    with pytest.raises(CannotUndo, match="limit"):
        undo_change(change=change, actor=by(alice))
    assert states(fact) == [State.ARCHIVED]


def test_only_the_owner_takes_a_run_back(alice: User, bob: User) -> None:
    fact = event(alice)
    [change] = changes(run(alice))
    with pytest.raises(lifecycle.NotAllowed):
        undo_change(change=change, actor=by(bob))
    assert states(fact) == [State.ARCHIVED]


def test_two_tabs_take_it_back_and_one_is_told(alice: User) -> None:
    event(alice)
    [change] = changes(run(alice))
    undo_change(change=change, actor=by(alice))
    with pytest.raises(CannotUndo, match="already"):
        undo_change(change=change, actor=by(alice))


def test_a_restored_event_is_kept_for_another_half_year(alice: User) -> None:
    fact = event(alice)
    [change] = changes(run(alice))
    undo_change(change=change, actor=by(alice))
    reviewed = now_is(fact).reviewed_at
    assert reviewed is not None
    for days, kept in ((179, True), (180, False)):
        found = archive_episodic.unused(alice, reviewed + timedelta(days=days))
        assert found.exists() != kept


# Pages


def test_the_run_page_lists_every_change_with_its_reason_and_an_undo(
    alice: User, alices: Client
) -> None:
    fact = durable(alice, "The user plays the tuba.")
    made = run(alice)
    page = alices.get(reverse("consolidation-run", args=[made.pk])).content.decode()
    assert "The user plays the tuba." in page
    assert changes(made)[0].reason in page
    [change] = changes(made)
    answer = alices.post(reverse("consolidation-undo-one", args=[change.pk]), follow=True)
    assert "Taken back." in answer.content.decode()
    assert now_is(fact).decayed_at is None


def test_a_refused_undo_leads_to_what_stands_in_the_way(alice: User, alices: Client) -> None:
    fact = durable(alice)
    made = run(alice)
    lifecycle.reconfirm(fact=fact, actor=by(alice))
    answer = alices.post(reverse("consolidation-undo", args=[made.pk]))
    assert answer.status_code == 409
    assert "confirmed" in answer.content.decode()
    assert reverse("fact", args=[fact.pk]) in answer.content.decode()


def test_the_run_page_asks_and_goes_on(alice: User, alices: Client) -> None:
    facts = [event(alice, days=300 - n) for n in range(8)]
    made = run(alice)
    page = alices.get(reverse("consolidation-run", args=[made.pk])).content.decode()
    assert "do all 3" in page
    alices.post(reverse("consolidation-go-on", args=[made.pk]))
    assert states(*facts) == [State.ARCHIVED] * 8


def test_the_button_leaves_a_note_that_the_worker_finds(
    alice: User, alices: Client, settings: Settings
) -> None:
    alices.post(reverse("consolidation-start"))
    assert due.is_asked_for(alice)
    assert "begins within a minute" in alices.get(reverse("consolidation")).content.decode()
    settings.MEMORY_MODE = "disabled"
    ConsolidationSchedule.objects.all().delete()
    answer = alices.post(reverse("consolidation-start"), follow=True)
    assert "Memory is off" in answer.content.decode()
    assert not due.is_asked_for(alice)


def test_the_preview_changes_nothing(alice: User, alices: Client) -> None:
    durable(alice, "The user plays the tuba.")
    trail = AuditEvent.objects.count()
    page = alices.get(reverse("consolidation-preview")).content.decode()
    assert "The user plays the tuba." in page
    assert AuditEvent.objects.count() == trail


# Command


def test_the_command_says_what_it_would_do_and_then_does_it(
    alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    fact = durable(alice)
    call_command("consolidate", owner="alice", dry_run=True)
    told = capsys.readouterr().out
    assert str(fact.pk) in told
    assert "Reflect on the week: nothing to do\n  No language model is configured" in told
    assert "Nothing was changed." in told
    assert now_is(fact).decayed_at is None
    call_command("consolidate", owner="alice")
    assert "1 decay" in capsys.readouterr().out
    assert now_is(fact).decayed_at is not None


def test_the_command_keeps_to_a_stage_and_stops_with_its_own_code(
    alice: User, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in range(8):
        event(alice, days=300 - n)
    fact = durable(alice)
    with pytest.raises(SystemExit) as stopped:
        call_command("consolidate", owner="alice", stage=["archive_episodic"])
    assert stopped.value.code == 3
    assert "asks" in capsys.readouterr().err
    assert now_is(fact).decayed_at is None


@pytest.mark.parametrize(
    ("arguments", "why"), [({"owner": "nobody"}, "no owner"), ({"owner": "alice"}, "Memory is off")]
)
def test_the_command_explains_what_it_can_not_do(
    alice: User, settings: Settings, arguments: dict[str, str], why: str
) -> None:
    settings.MEMORY_MODE = "disabled"
    with pytest.raises(CommandError, match=why):
        call_command("consolidate", **arguments)
