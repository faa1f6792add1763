"""Bulk repair in the admin: looked at before, told row by row after, cut short without loss."""

import csv
import io
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from celery import Celery
from django.contrib.auth.models import Permission
from django.urls import reverse
from django.utils import timezone

from agents.models import AuditEvent
from config.celery import app
from memory.bulk import jobs, steps
from memory.models import BulkItem, BulkJob, ExtractionRun, Fact, FactEmbedding
from memory.tasks_bulk import sweep_bulk, work_at_bulk
from memory.vocabulary import ArchivedReason, Repair, State, Trigger, Withheld
from tests.factories import AgentFactory, FactFactory, UserFactory
from tests.memory.candidates import candidate

if TYPE_CHECKING:
    from django.test import Client

    from agents.models import Agent, User

pytestmark = pytest.mark.django_db

FACTS = reverse("admin:memory_fact_changelist")


@pytest.fixture
def alice_at_the_admin(client: "Client", alice: "User") -> "Client":
    alice.is_staff = True
    alice.save()
    wanted = Permission.objects.filter(content_type__app_label="memory")
    alice.user_permissions.set(wanted.exclude(codename="purge_fact"))
    client.force_login(alice)
    return client


desk = alice_at_the_admin


def choose(client: "Client", step: str, *facts: Fact, **more: str) -> BulkJob:
    data = {"action": step, "_selected_action": [str(fact.pk) for fact in facts]} | more
    client.post(FACTS, data)
    job = BulkJob.objects.first()
    assert job is not None
    return job


def page_of(client: "Client", job: BulkJob) -> str:
    return client.get(reverse("admin:memory_bulkjob_change", args=[job.pk])).content.decode()


def press(client: "Client", job: BulkJob, name: str = "start", **data: str) -> str:
    url = reverse(f"admin:memory_bulkjob_{name}", args=[job.pk])
    return client.post(url, data, follow=True).content.decode()


def states(*facts: Fact) -> list[str]:
    return [Fact.objects.get(pk=fact.pk).state for fact in facts]


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        ("confirm", State.PENDING, State.ACTIVE),
        ("reject", State.PENDING, State.REJECTED),
        ("archive", State.ACTIVE, State.ARCHIVED),
        ("restore", State.ARCHIVED, State.ACTIVE),
        ("reconsider", State.REJECTED, State.PENDING),
    ],
)
def test_a_step_is_looked_at_first_and_told_row_by_row(desk, alice, agent, step, before, after):
    good = candidate(agent, "The user keeps bees.", state=before)
    wrong = State.REJECTED if before != State.REJECTED else State.ACTIVE
    bad = candidate(agent, "The user keeps <b>wasps</b>.", state=wrong)
    job = choose(desk, step, good, bad)
    page = page_of(desk, job)
    assert "1 of 2 chosen facts would change" in page
    assert page.count(f">{job}<") == 1
    assert "keeps &lt;b&gt;wasps&lt;/b&gt;" in page
    assert states(good, bad) == [before, wrong]

    page = press(desk, job, reason="tidying up")
    assert "1 done, 1 refused, 0 still to do, of 2" in page
    assert "This was already decided elsewhere" in page
    assert states(good, bad) == [after, wrong]
    event = AuditEvent.objects.filter(table="memory_fact", row_id=str(good.pk)).first()
    assert event is not None
    assert (event.actor, event.reason) == (f"person:{alice.pk}", "tidying up")
    assert "started elsewhere already" in press(desk, job)


def test_forgetting_is_what_the_owner_does(desk, agent):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    press(desk, choose(desk, "archive", fact))
    assert Fact.objects.get(pk=fact.pk).archived_reason == ArchivedReason.FORGOTTEN


def test_what_runs_is_what_the_preview_held(desk, agent):
    early = candidate(agent, "The user keeps bees.")
    job = choose(desk, "confirm", early, select_across="1")
    late = candidate(agent, "The user keeps hens.")
    press(desk, job)
    assert states(early, late) == [State.ACTIVE, State.PENDING]


def test_flagged_candidates_are_left_out_unless_asked_for(desk, agent):
    plain = candidate(agent, "The user keeps bees.")
    odd = candidate(agent, "The user wants French from now on.", withheld_for=[Withheld.DIRECTIVE])
    job = choose(desk, "confirm", plain, odd)
    assert "1 is flagged" in page_of(desk, job)
    assert "Confirm it by itself" in press(desk, job)
    assert states(plain, odd) == [State.ACTIVE, State.PENDING]
    press(desk, choose(desk, "confirm", odd), with_flagged="yes")
    assert states(odd) == [State.ACTIVE]


def test_one_owners_facts_at_a_time(client, alice, agent, bobs_agent):
    alice.is_staff = alice.is_superuser = True
    alice.save()
    alice.user_permissions.set(Permission.objects.all())
    client.force_login(alice)
    mine, his = candidate(agent, "The user keeps bees."), candidate(bobs_agent, "The user sails.")
    data = {"action": "confirm", "_selected_action": [str(mine.pk), str(his.pk)]}
    assert "one owner at a time" in client.post(FACTS, data, follow=True).content.decode()
    assert not BulkJob.objects.exists()
    press(client, choose(client, "confirm", his))
    assert states(mine, his) == [State.PENDING, State.ACTIVE]


def test_a_strangers_job_and_facts_are_out_of_reach(desk, client, bob, bobs_agent):
    his = candidate(bobs_agent, "The user sails.")
    job = jobs.draft(facts=Fact.objects.filter(pk=his.pk), step=Repair.CONFIRM, by=bob)
    for name in ("start", "stop", "go-on"):
        url = reverse(f"admin:memory_bulkjob_{name}", args=[job.pk])
        assert client.post(url).status_code == 404
    assert "sails" not in page_of(desk, job)
    data = {"action": "confirm", "_selected_action": [str(his.pk)], "select_across": "1"}
    client.post(FACTS, data)
    assert states(his) == [State.PENDING]


def test_who_may_only_look_starts_nothing(desk, client, alice, agent):
    fact = candidate(agent, "The user keeps bees.")
    job = choose(desk, "confirm", fact)
    alice.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    url = reverse("admin:memory_bulkjob_start", args=[job.pk])
    assert client.post(url).status_code == 403
    assert states(fact) == [State.PENDING]


def test_moving_promoting_and_merging(desk, alice, agent):
    work = AgentFactory.create(owner=alice, name="Work")
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    job = choose(desk, "move", fact)
    assert "Name the assistant" in press(desk, job)
    press(desk, job, agent=str(work.pk))
    moved = Fact.objects.get(state=State.ACTIVE)
    assert (moved.agent, moved.statement) == (work, "The user keeps bees.")

    press(desk, choose(desk, "promote", moved))
    everywhere = Fact.objects.get(state=State.ACTIVE)
    assert everywhere.agent is None

    other = FactFactory.create(owner=alice, agent=None, statement="The user has bees.")
    job = choose(desk, "merge", everywhere, other)
    assert "Write the statement" in press(desk, job)
    assert states(everywhere, other) == [State.ACTIVE, State.PENDING]
    press(desk, job, statement="The user keeps bees at home.")
    assert Fact.objects.get(state=State.ACTIVE).statement == "The user keeps bees at home."
    assert states(everywhere, other) == [State.ARCHIVED, State.ARCHIVED]


def test_a_vector_is_made_anew(desk, agent):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    FactEmbedding.objects.create(owner=fact.owner, fact=fact, model="old", vector=[1.0])
    press(desk, choose(desk, "reembed", fact))
    assert not FactEmbedding.objects.filter(fact=fact).exists()


def test_a_source_is_read_again_from_its_beginning(desk, agent):
    fact = candidate(agent, "The user keeps bees.")
    talk = fact.conversation
    assert talk is not None
    talk.last_seq = talk.cursor_seq = 1
    talk.save()
    run = ExtractionRun.objects.create(
        owner=agent.owner, agent=agent, conversation=talk, trigger=Trigger.IDLE, observer="rules",
        first_seq=1, last_seq=1, state="applied",
    )  # fmt: skip
    press(desk, choose(desk, "read_again", fact))
    talk.refresh_from_db()
    run.refresh_from_db()
    assert (talk.cursor_seq, talk.due_trigger, run.state) == (0, Trigger.REQUEST, "repeated")


def test_purging_is_a_right_of_its_own_and_wants_its_word(desk, alice, agent):
    facts = [candidate(agent, f"The user has {n} hens.", state=State.ACTIVE) for n in range(2)]
    data = {"action": "purge", "_selected_action": [str(facts[0].pk)]}
    desk.post(FACTS, data)
    assert not BulkJob.objects.exists()

    alice.user_permissions.add(Permission.objects.get(codename="purge_fact"))
    job = choose(desk, "purge", facts[0])
    assert "can’t be undone" in page_of(desk, job)
    for word in ("", "purge", "purge 2"):
        assert "Nothing was done" in press(desk, job, word=word)
    assert "1 done" in press(desk, job, word="purge 1")
    assert not Fact.objects.filter(statement__contains="0 hens").exists()
    assert Fact.objects.get(pk=facts[1].pk).state == State.ACTIVE

    alice.user_permissions.remove(Permission.objects.get(codename="purge_fact"))
    job = jobs.draft(facts=Fact.objects.filter(pk=facts[1].pk), step=Repair.PURGE, by=alice)
    url = reverse("admin:memory_bulkjob_start", args=[job.pk])
    assert desk.post(url, {"word": "purge 1"}).status_code == 403


def draft_of(agent: "Agent", count: int) -> BulkJob:
    for n in range(count):
        candidate(agent, f"The user has {n} hens.")
    return jobs.draft(facts=Fact.objects.all(), step=Repair.CONFIRM, by=agent.owner)


def test_what_was_cut_short_goes_on_and_takes_nothing_twice(agent, monkeypatch):
    job = draft_of(agent, 4)
    jobs.start(job=job, reason="x")
    taken: list[UUID] = []
    real = steps.STEPS[Repair.CONFIRM].take

    def killed_at_the_third(fact: Fact, *others: Any) -> None:
        if len(taken) == 2:
            raise KeyboardInterrupt
        taken.append(fact.pk)
        real(fact, *others)

    broken = steps.Step(killed_at_the_third, frozenset({State.PENDING}))
    monkeypatch.setitem(steps.STEPS, Repair.CONFIRM, broken)
    with pytest.raises(KeyboardInterrupt):
        jobs.work(job.pk, seconds=60)
    monkeypatch.undo()
    assert job.items.filter(outcome="done").count() == 2
    work_at_bulk(str(job.pk))
    job.refresh_from_db()
    assert job.state == BulkJob.State.DONE
    assert job.items.filter(outcome="done").count() == 4
    births = AuditEvent.objects.filter(table="memory_fact", after__state="active")
    assert births.count() == 4


def test_it_stops_where_it_is_and_goes_on(desk, agent):
    job = draft_of(agent, 2)
    jobs.start(job=job, reason="x")
    assert "Go on" in press(desk, job, "stop")
    assert not jobs.work(job.pk, seconds=60)
    assert Fact.objects.filter(state=State.PENDING).count() == 2
    press(desk, job, "go-on")
    assert jobs.work(job.pk, seconds=60)
    assert "2 done, 0 refused" in page_of(desk, job)


def test_a_broken_broker_fails_no_page(desk, agent, monkeypatch, caplog):
    nowhere = Celery("nowhere", broker="redis://127.0.0.1:1/0", set_as_current=False)
    for name in ("connection_for_write", "amqp"):
        monkeypatch.setattr(app, name, getattr(nowhere, name))
    job = draft_of(agent, 2)
    jobs.start(job=job, reason="x")
    jobs.stop(job)
    assert "Stop" in press(desk, job, "go-on")
    assert jobs.is_running(job.pk)
    assert "the sweep will" in caplog.text


def test_the_sweep_takes_up_what_stands_still_and_clears_old_drafts(agent):
    standing = draft_of(agent, 1)
    jobs.start(job=standing, reason="x")
    assert sweep_bulk() == 0
    BulkJob.objects.update(touched_at=timezone.now() - timedelta(minutes=3))
    assert sweep_bulk() == 1
    forgotten = jobs.draft(facts=Fact.objects.all(), step=Repair.REJECT, by=agent.owner)
    BulkJob.objects.filter(pk=forgotten.pk).update(touched_at=timezone.now() - timedelta(days=2))
    sweep_bulk()
    assert list(BulkJob.objects.all()) == [standing]
    assert not BulkItem.objects.filter(job=forgotten.pk).exists()


def test_what_the_database_refuses_is_told_and_stops_no_other(agent, monkeypatch):
    good = candidate(agent, "The user keeps bees.")
    bad = candidate(agent, "The user keeps wasps.")
    real = steps.STEPS[Repair.CONFIRM].take

    def edits(fact: Fact, *others: Any) -> None:
        if fact.pk == bad.pk:
            Fact.objects.filter(pk=bad.pk).update(statement="The user keeps nothing.")
        real(fact, *others)

    monkeypatch.setitem(steps.STEPS, Repair.CONFIRM, steps.Step(edits, frozenset({State.PENDING})))
    job = jobs.draft(facts=Fact.objects.all(), step=Repair.CONFIRM, by=agent.owner)
    jobs.start(job=job, reason="x")
    jobs.work(job.pk, seconds=60)
    assert states(good, bad) == [State.ACTIVE, State.PENDING]
    assert job.items.get(fact_id=bad.pk).why == "The database refused it."


def test_an_export_holds_ones_own_facts_and_no_formula(desk, agent, bobs_agent):
    mine = candidate(agent, "=HYPERLINK(1)", tags=["preference"])
    candidate(bobs_agent, "The user sails.")
    data = {"_selected_action": [str(mine.pk)], "select_across": "1"}
    answer = desk.post(FACTS, data | {"action": "export_csv"})
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [row["statement"] for row in rows] == ["'=HYPERLINK(1)"]
    assert rows[0]["id"] == str(mine.pk)
    answer = desk.post(FACTS, data | {"action": "export_json"})
    (line,) = answer.getvalue().decode().splitlines()
    assert json.loads(line)["statement"] == "=HYPERLINK(1)"
    assert json.loads(line)["tags"] == ["preference"]


def test_a_fact_is_corrected_not_edited(desk, agent, bobs_agent):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    url = reverse("admin:memory_fact_correct", args=[fact.pk])
    change = desk.get(reverse("admin:memory_fact_change", args=[fact.pk])).content.decode()
    assert url in change
    assert 'name="statement"' not in change
    seen = desk.get(url).context["form"]["seen"].value()
    said = {"statement": "The user keeps wild bees.", "kind": fact.kind, "seen": seen}
    page = desk.post(url, said, follow=True).content.decode()
    assert "wild bees" in page
    old = Fact.objects.get(pk=fact.pk)
    assert old.state == State.ARCHIVED
    assert old.superseded_by == Fact.objects.get(state=State.ACTIVE)
    assert "already decided" in desk.post(url, said).content.decode()
    his = candidate(bobs_agent, "The user sails.", state=State.ACTIVE)
    assert desk.get(reverse("admin:memory_fact_correct", args=[his.pk])).status_code == 404


@pytest.mark.parametrize(
    ("query", "there", "absent"),
    [("now", "bees", "wasps"), ("other", "wasps", "bees"), ("none", "hens", "bees")],
)
def test_facts_are_found_by_their_vector(desk, agent, query, there, absent):
    from memory import embedding

    for words, model in (("bees", embedding.MODEL), ("wasps", "old"), ("hens", None)):
        fact = candidate(agent, f"The user keeps {words}.")
        if model:
            vector = [1.0] + [0.0] * 383  # the size of MiniLM
            FactEmbedding.objects.create(owner=fact.owner, fact=fact, model=model, vector=vector)
    page = desk.get(FACTS, {"vector": query}).content.decode()
    assert there in page
    assert absent not in page


def test_filters_offer_nothing_of_anybody_else(desk, alice, agent, bobs_agent):
    AgentFactory.create(owner=alice, name="Work of mine")
    bobs_agent.name = "Bobs own"
    bobs_agent.save()
    candidate(bobs_agent, "The user sails.", prompt_version="bobs-v9")
    page = desk.get(FACTS).content.decode()
    assert "Work of mine" in page
    assert "Bobs own" not in page
    assert "bobs-v9" not in page


def test_a_job_shows_no_memory_to_who_may_not_read_it(client, agent):
    job = draft_of(agent, 1)
    boss = UserFactory.create(username="boss", is_staff=True, is_superuser=True)
    client.force_login(boss)
    assert "hens" not in page_of(client, job)
    assert client.post(reverse("admin:memory_bulkjob_start", args=[job.pk])).status_code == 404


def test_nobody_starts_what_another_drafted_in_that_ones_name(client, agent):
    job = draft_of(agent, 1)
    boss = UserFactory.create(username="boss", is_staff=True, is_superuser=True)
    boss.user_permissions.add(Permission.objects.get(codename="read_others_memory"))
    client.force_login(boss)
    assert "Somebody else chose these facts" in press(client, job)
    assert not Fact.objects.filter(state=State.ACTIVE).exists()
