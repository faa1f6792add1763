"""The dashboard's figures, the ways to their rows, what is stuck; and the same over HTTP."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from agents.audit import person
from memory import figures, lifecycle
from memory.models import ConsolidationRun, DroppedCandidate, Fact, FactUsage
from memory.scope import facts_of
from memory.vocabulary import Gate, Kind, State
from tests.factories import MONDAY, ApiKeyFactory, ConversationFactory, FactFactory, MessageFactory
from tests.memory.candidates import a_run, candidate
from tests.memory.pages import text

pytestmark = pytest.mark.django_db


def a_memory(agent):
    """2 active (one told), 1 pending, 1 rejected; a run that dropped one and took tokens; a
    consolidation that took some too."""
    used = {"calls": 2, "input_tokens": 7, "output_tokens": 3}
    for counts in ({"llm": used}, {"merge": {"fold": 1}}):
        ConsolidationRun.objects.create(owner=agent.owner, trigger="daily", counts=counts)
    talk = ConversationFactory.create(agent=agent)
    run = a_run(talk, state="applied", llm_calls=1, input_tokens=90, output_tokens=10)
    for n, state in enumerate((State.ACTIVE, State.ACTIVE, State.PENDING, State.REJECTED)):
        FactFactory.create(
            agent=agent,
            run=run,
            statement=f"The user has {n} hives.",
            state=state,
            kind=Kind.EPISODIC if n else Kind.SEMANTIC,
            confidence=0.95 if n else 0.72,
            prompt_version="observer-v9",
        )
    told = Fact.objects.get(owner=agent.owner, statement="The user has 0 hives.")
    FactUsage.objects.create(owner=agent.owner, fact=told, last_retrieved_at=MONDAY)
    DroppedCandidate.objects.create(
        owner=agent.owner, run=run, gate=Gate.CREDENTIAL, statement="A dropped one."
    )
    return run


def test_each_figure_leads_to_as_many_rows(alices, alice, agent, bobs_agent):
    a_memory(agent)
    a_memory(bobs_agent)
    context = alices.get(reverse("dashboard")).context
    cells = [
        cell
        for name in ("ages", "kinds", "sureness", "use", "prompts")
        for row in context[name]
        for cell in row.cells
    ]
    assert sum(count for count, _ in cells) == 1 + 2 + 2 + 2 + 4
    for count, url in cells:
        assert len(alices.get(url).context["listing"].rows) == count, url
    (drop,) = context["drops"]
    assert drop.cells[0][0] == 1
    assert "A dropped one." in alices.get(drop.cells[0][1]).content.decode()
    (tokens,) = context["tokens"]
    assert [count for count, _ in tokens.cells] == [90, 10, 10, 0]
    assert len(alices.get(tokens.cells[0][1]).context["rows"]) == 1
    upkeep = tokens.cells[2][1]
    assert len(alices.get(upkeep).context["listing"].rows) == 2
    another = upkeep.replace(tokens.label, "2001-01-01")
    assert alices.get(another).context["listing"].rows == []
    for none in ("x", "0001-01-01", "9999-12-31"):
        assert len(alices.get(reverse("runs"), {"day": none}).context["rows"]) == 1
        rows = alices.get(reverse("consolidation"), {"day": none}).context["listing"].rows
        assert len(rows) == 2


def test_what_sleeps_does_not_count_as_waiting(alices, alice, agent):
    candidate(agent, "The user keeps bees.")
    later = candidate(agent, "The user keeps hens.")
    tomorrow = timezone.now() + timedelta(days=1)
    lifecycle.snooze(fact=later, until=tomorrow, actor=person(alice))
    response = alices.get(reverse("dashboard"))
    assert (response.context["waiting"], response.context["asleep"]) == (1, 1)
    page = response.content.decode()
    assert f'href="{reverse("snoozed")}">1 snoozed</a>' in page
    assert f'href="{reverse("facts")}?state=pending&amp;sort=oldest">the oldest' in page


def test_states_are_counted_back_from_the_trail(alice, agent):
    fact = candidate(agent, "The user keeps bees.")
    candidate(agent, "The user keeps hens.")
    lifecycle.confirm(fact=fact, actor=person(alice))
    states = figures.facts(facts_of(alice)).states
    days = figures.states_over_time(alice, timezone.now(), 3, states)
    assert len(days) == 3
    assert (days[-1][1]["active"], days[-1][1]["pending"]) == (1, 1)
    assert set(days[0][1].values()) == {0}


def test_it_works_on_an_empty_memory(alices):
    page = text(alices, "dashboard")
    assert "Nothing yet." in page
    assert "No model was asked" in page


def test_what_is_stuck_is_taken_up_again_one_by_one_and_at_once(alices, agent, bobs_agent):
    stuck = []
    for owner_of_it in (agent, agent, bobs_agent):
        talk = ConversationFactory.create(agent=owner_of_it, title="Bees")
        MessageFactory.create(conversation=talk)
        type(talk).objects.filter(pk=talk.pk).update(
            stuck_at=MONDAY, attempts=5, last_error="The model is down."
        )
        stuck.append(talk)
    page = text(alices, "dashboard")
    assert "The model is down." in page
    assert "Try all 2 again" in page
    url = reverse("conversation-retry", args=[stuck[0].pk])
    assert alices.post(url, {"back": reverse("dashboard")})["Location"] == reverse("dashboard")
    alices.post(reverse("retry-all"))
    for talk, still in zip(stuck, (False, False, True), strict=True):
        talk.refresh_from_db()
        assert (talk.stuck_at is not None) is still
    page = alices.post(reverse("retry-all"), follow=True).content.decode()
    assert "Nothing is stuck." in page


def test_the_queries_do_not_grow_with_the_rows(alices, agent, django_assert_max_num_queries):
    for n in range(3):
        run = a_run(
            ConversationFactory.create(agent=agent, stuck_at=MONDAY),
            first_seq=n + 1,
            last_seq=n + 1,
        )
        DroppedCandidate.objects.create(
            owner=agent.owner, run=run, gate=Gate.SKIPPED, statement="x"
        )
    for name in ("dashboard", "dropped", "entities", "imports", "runs", "facts"):
        with django_assert_max_num_queries(20):
            text(alices, name)


def test_a_program_reads_the_same_numbers(alice, agent, second_agent, api):
    a_memory(agent)
    key = ApiKeyFactory.create(owner=alice, scopes=["review"])
    stats = api(key).get("/api/v1/stats").json()
    assert stats["facts"] == {"pending": 1, "active": 2, "rejected": 1, "archived": 0}
    assert (stats["waiting"], stats["told"], stats["never_told"]) == (1, 1, 1)
    assert stats["dropped"] == {"credential": 1}
    assert stats["tokens"] == {"days": 30, "runs": 2, "input": 97, "output": 13}
    waiting = Fact.objects.get(state=State.PENDING).created_at
    assert stats["oldest_waiting"][:19] == waiting.isoformat()[:19]


def test_a_key_of_one_assistant_counts_what_that_one_reads(agent, second_agent, api):
    a_memory(agent)
    key = ApiKeyFactory.create(agent=second_agent, scopes=["review"])
    stats = api(key).get("/api/v1/stats").json()
    assert set(stats["facts"].values()) == {0}
    assert (stats["dropped"], stats["tokens"]["runs"]) == ({}, 0)


def test_runs_of_one_day_on_the_owners_clock(alices, alice, agent):
    alice.settings.time_zone = "Pacific/Auckland"
    alice.settings.save()
    talk = ConversationFactory.create(agent=agent)
    a_run(talk, started_at=MONDAY + timedelta(hours=12), counts={"dropped": {"skipped": 3}})
    rows = alices.get(reverse("runs"), {"day": "2026-03-03"}).context["rows"]
    assert [dropped for _, _, dropped in rows] == [3]
    assert not alices.get(reverse("runs"), {"day": "2026-03-02"}).context["rows"]
    assert alices.get(reverse("runs"), {"day": "yesterday"}).context["rows"]
