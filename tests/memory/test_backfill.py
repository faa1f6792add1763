"""manage.py backfill: what it reads, what it leaves, what it says, and how it is stopped."""

import os
import signal
from datetime import timedelta
from io import StringIO
from threading import Event
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, OwnerSettings
from conversations.models import Conversation
from memory.backfill import End, Limits, Pace, Report, Scope, backfill
from memory.extraction.lease import claim
from memory.models import ExtractionRun, Fact
from memory.vocabulary import Trigger
from tests.factories import MONDAY, ConversationFactory, FactFactory
from tests.llm_server import Recorded, ScriptedLlm, fails, meanwhile, scripted_llm
from tests.memory.extraction_cases import candidate, decided, marks, observed, route, run_once, say

pytestmark = pytest.mark.django_db

CAT = candidate("The user has a cat.", "I have a cat")


def run(*arguments: str, **options: Any) -> tuple[int, str]:
    """Exit code and everything that was written."""
    out = StringIO()
    try:
        call_command("backfill", *arguments, "--no-vectors", stdout=out, stderr=out, **options)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue()
    return 0, out.getvalue()


def unread(agent: Agent, external_id: str, **values: Any) -> Conversation:
    conversation = ConversationFactory.create(agent=agent, external_id=external_id, **values)
    say(conversation, "I have a cat")
    return conversation


def long_one(agent: Agent, external_id: str = "long", messages: int = 45) -> Conversation:
    conversation = ConversationFactory.create(agent=agent, external_id=external_id)
    say(conversation, *(f"I have {n} cats" for n in range(messages)))
    return conversation


def nothing_found(llm: ScriptedLlm) -> None:
    llm.observe_with(lambda request: observed())


def test_it_reads_what_is_unread_and_sums_it_up(llm: ScriptedLlm, agent: Agent) -> None:
    one, two = unread(agent, "one"), unread(agent, "two")
    dull = candidate("Cats purr.", "I have a cat", general_knowledge=True)
    llm.observer(observed(CAT, dull), observed())
    code, said = run()
    assert code == 0
    assert "alice: 2 conversations to read, 2 unread messages in 2 windows." in said
    assert "Read by scripted." in said
    assert "Read to their end: 2 conversations; 2 windows" in said
    assert "2 candidates: 1 new (0 active at once), 0 corrections" in said
    assert "1 dropped (general knowledge: 1)" in said
    assert "asked 2 times: 200 tokens in, 40 out" in said
    assert (marks(one), marks(two)) == ((1, 0), (1, 0))
    assert "cat" not in said.lower().replace("candidate", "")
    assert {run.trigger for run in ExtractionRun.objects.all()} == {Trigger.BACKFILL}


def test_what_was_read_is_not_read_again(llm: ScriptedLlm, agent: Agent) -> None:
    conversation = unread(agent, "one")
    llm.observer(observed(CAT))
    run_once(conversation)  # the live path
    say(conversation, "And a dog")
    llm.observer(observed())
    assert run()[0] == 0
    assert "I have a cat" in llm.requests[-1].user  # as context only
    assert Fact.objects.count() == 1
    code, said = run()
    assert (code, len(llm.requests)) == (0, 2)
    assert "0 conversations to read" in said


def test_what_it_finds_is_as_old_as_what_was_said(llm: ScriptedLlm, agent: Agent) -> None:
    conversation = ConversationFactory.create(agent=agent)
    said_at = MONDAY - timedelta(days=700)
    say(conversation, "I have a cat", sent_at=said_at)
    llm.observer(observed(CAT))
    assert run()[0] == 0
    fact = Fact.objects.get()
    assert (fact.observed_at, fact.last_confirmed_at) == (said_at, said_at)


def test_a_dry_run_reads_nothing(llm: ScriptedLlm, agent: Agent) -> None:
    conversation = unread(agent, "one", stuck_at=timezone.now(), attempts=5)
    code, said = run("--dry-run", "--conversation", "one")
    assert (code, llm.requests) == (0, [])
    assert "1 conversation to read, 1 unread message in 1 window." in said
    assert marks(conversation) == (0, 5)


def test_it_reads_in_the_order_in_which_it_was_said(llm: ScriptedLlm, agent: Agent) -> None:
    later, earlier = unread(agent, "later"), unread(agent, "earlier")
    Conversation.objects.filter(pk=later.pk).update(last_message_at=timezone.now())
    nothing_found(llm)
    assert run("--batch-size", "1")[0] == 0
    runs = ExtractionRun.objects.order_by("started_at").values_list("conversation", flat=True)
    assert list(runs) == [earlier.pk, later.pk]


def test_only_the_named_agent_is_read(
    llm: ScriptedLlm, agent: Agent, second_agent: Agent, bobs_agent: Agent
) -> None:
    mine, works, his = unread(agent, "a"), unread(second_agent, "b"), unread(bobs_agent, "c")
    nothing_found(llm)
    assert run("--owner", "alice", "--agent", "work")[0] == 0
    assert (marks(works)[0], marks(mine)[0], marks(his)[0]) == (1, 0, 0)


def test_an_owner_is_never_read_in_anothers_name(
    llm: ScriptedLlm, agent: Agent, bobs_agent: Agent
) -> None:
    mine, his = unread(agent, "mine"), unread(bobs_agent, "his")
    nothing_found(llm)
    assert run("--owner", "alice")[0] == 0
    assert (marks(mine)[0], marks(his)[0]) == (1, 0)


def test_days_bound_what_is_read(llm: ScriptedLlm, agent: Agent) -> None:
    """On the owner's clock: the first message of the 3rd in Helsinki is still the 2nd in UTC."""
    OwnerSettings.objects.update(time_zone="Europe/Helsinki")
    old, goes_on = (ConversationFactory.create(agent=agent) for _ in range(2))
    say(old, "Long ago", sent_at=MONDAY - timedelta(days=30))
    say(goes_on, "The day before", sent_at=MONDAY - timedelta(days=1))
    say(goes_on, "On the day", sent_at=MONDAY)
    say(goes_on, "Just before midnight", sent_at=MONDAY.replace(hour=21, minute=59))
    say(goes_on, "At midnight", sent_at=MONDAY.replace(hour=22))
    nothing_found(llm)
    code, said = run("--since", "2026-03-02", "--until", "2026-03-03")
    assert code == 0, said
    assert (marks(old)[0], marks(goes_on)[0]) == (0, 3)
    assert run("--since", "2026-03-02", "--until", "2026-03-03")[1].startswith("alice: 0 conv")
    assert run()[0] == 0
    assert (marks(old)[0], marks(goes_on)[0]) == (1, 4)


def test_automations_and_temporary_chats_are_left_alone(llm: ScriptedLlm, agent: Agent) -> None:
    unread(agent, "automation", read_only=True)
    assert run()[1].startswith("alice: 0 conversations")
    with pytest.raises(CommandError, match="read-only"):
        run("--conversation", "automation")
    assert llm.requests == []


@pytest.mark.parametrize("choice", [False, None])
def test_a_backfill_obeys_an_owner_who_switched_memory_off_or_never_said_yes(
    llm: ScriptedLlm, agent: Agent, settings: Settings, choice: bool | None
) -> None:
    settings.MEMORY_MODE = "default_off"
    OwnerSettings.objects.update(memory_enabled=choice)
    unread(agent, "one")
    with pytest.raises(CommandError, match="Memory is off for alice"):
        run()
    assert llm.requests == []


def test_memory_that_is_switched_off_meanwhile_ends_it(llm: ScriptedLlm, agent: Agent) -> None:
    def switch_off(request: Recorded) -> None:
        OwnerSettings.objects.filter(owner=agent.owner).update(memory_enabled=False)

    conversation = long_one(agent)
    one = candidate("The user has 1 cats.", "I have 1 cats", message=2)
    scope = Scope(agent.owner)
    report, steps = Report(), None
    llm.observer(observed(one))
    steps = backfill(scope=scope, limits=Limits(), stop=Event(), report=report)
    assert next(steps) == 20
    OwnerSettings.objects.filter(owner=agent.owner).update(memory_enabled=False)
    with pytest.raises(Exception, match="Memory is off"):
        next(steps)
    assert (marks(conversation)[0], Fact.objects.count()) == (20, 1)


def test_sensitive_ones_are_read_over_the_private_route_or_wait(
    llm: ScriptedLlm, agent: Agent, settings: Settings
) -> None:
    secret, plain = unread(agent, "secret", sensitive=True), unread(agent, "plain")
    nothing_found(llm)
    code, said = run()
    assert code == 0
    assert "Waiting until LLM_PRIVATE_MODEL is set: 1 sensitive conversation." in said
    assert (marks(plain)[0], marks(secret)[0], len(llm.requests)) == (1, 0, 1)
    with scripted_llm() as private:
        settings.LLM_ROUTES = {"general": route(llm), "private": route(private, "local")}
        private.observer(observed())
        code, said = run()
    assert (code, len(llm.requests), marks(secret)[0]) == (0, 1, 1)
    assert "Read by local." in said


def test_it_says_that_the_rules_read(settings: Settings, agent: Agent, no_vectors: None) -> None:
    settings.LLM_ROUTES = {"general": {"model": ""}, "private": {"model": ""}}
    unread(agent, "one")
    code, said = run()
    assert code == 0
    assert "built-in rules" in said
    assert "LLM_MODEL" in said


def test_one_that_is_named_is_read_even_if_it_was_stuck(llm: ScriptedLlm, agent: Agent) -> None:
    stuck = unread(agent, "stuck", stuck_at=timezone.now(), attempts=5)
    other = unread(agent, "other")
    llm.observer(observed(CAT))
    assert run("--conversation", "stuck")[0] == 0
    assert (marks(stuck), marks(other)) == ((1, 0), (0, 0))


def test_a_failure_is_told_and_costs_only_its_conversation(llm: ScriptedLlm, agent: Agent) -> None:
    unread(agent, "one")
    unread(agent, "two")
    llm.observer(fails(500), observed(CAT))
    code, said = run()
    assert code == 1
    assert "one: The language model's server failed (HTTP 500)." in said
    assert "1 conversation failed. Run it again" in said
    assert Fact.objects.count() == 1


def test_an_endpoint_that_is_down_is_not_asked_for_every_conversation(
    llm: ScriptedLlm, agent: Agent
) -> None:
    rows = [unread(agent, f"c{n}") for n in range(5)]
    llm.observer(*[fails(500)] * 5)
    code, said = run()
    assert (code, len(llm.requests)) == (1, 3)
    assert "3 conversations failed in a row, so it stopped" in said
    assert [marks(row) for row in rows[3:]] == [(0, 0), (0, 0)]


def test_a_failing_head_keeps_nobody_behind_it_from_being_read(
    llm: ScriptedLlm, agent: Agent
) -> None:
    rows = [unread(agent, f"c{n}") for n in range(6)]
    llm.observer(fails(500), fails(500), *[observed()] * 4)
    assert run("--batch-size", "2")[0] == 1
    assert [marks(row)[0] for row in rows] == [0, 0, 1, 1, 1, 1]


def test_ctrl_c_stops_after_the_window_and_the_next_run_goes_on(
    llm: ScriptedLlm, agent: Agent
) -> None:
    conversation = long_one(agent)
    one = candidate("The user has 1 cats.", "I have 1 cats", message=2)
    llm.observer(meanwhile(lambda request: os.kill(os.getpid(), signal.SIGINT), observed(one)))
    code, said = run()
    assert code == 130
    assert "Stopping after this step" in said
    assert "1 window " in said
    assert (marks(conversation), Fact.objects.count()) == ((20, 0), 1)
    nothing_found(llm)
    assert run()[0] == 0
    assert (marks(conversation), Fact.objects.count()) == ((45, 0), 1)
    assert [run.first_seq for run in ExtractionRun.objects.order_by("first_seq")] == [1, 21, 41]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_stopped_run_goes_on_with_the_owners_other_conversations(
    llm: ScriptedLlm, agent: Agent
) -> None:
    """Khoj: an owner was marked as done after the first one, and a resumed run skipped the rest."""
    talks = [unread(agent, name) for name in ("one", "two", "three")]
    llm.observer(meanwhile(lambda request: os.kill(os.getpid(), signal.SIGINT), observed()))
    assert run()[0] == 130
    assert [marks(talk) for talk in talks] == [(1, 0), (0, 0), (0, 0)]
    llm.observer(observed(), observed(CAT))
    assert run()[0] == 0
    assert [marks(talk) for talk in talks] == [(1, 0)] * 3
    assert ExtractionRun.objects.count() == 3


def test_stopping_at_once_counts_no_attempt(llm: ScriptedLlm, agent: Agent) -> None:
    def twice(request: Recorded) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        llm.wait(0.2)
        os.kill(os.getpid(), signal.SIGINT)
        llm.wait(1)

    conversation = unread(agent, "one")
    llm.observer(meanwhile(twice, observed(CAT)))
    code, said = run()
    assert (code, marks(conversation)) == (130, (0, 0)), said
    assert ExtractionRun.objects.get().error.startswith("It was stopped by hand")
    llm.observer(observed(CAT))
    assert run()[0] == 0
    assert (marks(conversation), Fact.objects.count()) == ((1, 0), 1)


def test_no_window_begins_once_the_tokens_are_spent(llm: ScriptedLlm, agent: Agent) -> None:
    conversation = long_one(agent)
    nothing_found(llm)
    code, said = run("--max-tokens", "200")  # each question costs 120
    assert code == 3
    assert "The tokens are spent" in said
    assert marks(conversation)[0] == 40
    assert run("--max-tokens", "200")[0] == 0
    assert marks(conversation)[0] == 45


def test_questions_are_spread_over_the_minute() -> None:
    now = 100.0
    pace = Pace(calls_per_minute=30, clock=lambda: now)
    pace.spent(2)
    assert pace.free_at == 104.0
    pace.spent(1)
    assert pace.free_at == 106.0
    now = 200.0
    pace.spent(1)
    assert pace.free_at == 202.0


def test_waiting_for_its_turn_is_stopped_too(llm: ScriptedLlm, agent: Agent) -> None:
    long_one(agent)
    llm.observer(meanwhile(lambda request: os.kill(os.getpid(), signal.SIGINT), observed()))
    code, _ = run("--per-minute", "1")
    assert (code, len(llm.requests)) == (130, 1)


def test_it_gives_up_on_a_lease_that_another_keeps(
    llm: ScriptedLlm, agent: Agent, settings: Settings
) -> None:
    unread(agent, "one")
    claim(agent.owner)
    settings.EXTRACTION_LEASE_SECONDS = 0
    with pytest.raises(CommandError, match="Another extraction"):
        run()


def test_it_asks_the_reflector_too(llm: ScriptedLlm, agent: Agent) -> None:
    FactFactory.create(owner=agent.owner, statement="The user sold a cat.")
    unread(agent, "one")
    llm.observer(observed(CAT))
    llm.reflector(decided((1, "skip", [])))
    assert "1 dropped (the reflector saw nothing new: 1)" in run()[1]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--per-minute", "0"], "above 0"),
        (["--max-tokens", "-5"], "above 0"),
        (["--batch-size", "many"], "above 0"),
        (["--batch-size", "100000"], "at most 1000"),
        (["--since", "yesterday"], "is not a day"),
        (["--since", "2026-03-02", "--until", "2026-03-02"], "must be before"),
        (["--agent", "nobody"], "has no agent 'nobody'"),
        (["--owner", "nobody"], "There is no owner 'nobody'"),
        (["--conversation", "nowhere"], "has no conversation 'nowhere'"),
    ],
)
def test_wrong_arguments_are_refused(
    llm: ScriptedLlm, agent: Agent, arguments: list[str], why: str
) -> None:
    conversation = unread(agent, "one")
    with pytest.raises(CommandError, match=why):
        run(*arguments)
    assert (llm.requests, marks(conversation)) == ([], (0, 0))


def test_a_run_ends_as_read_only_when_all_of_it_is(llm: ScriptedLlm, agent: Agent) -> None:
    nothing_found(llm)
    long_one(agent)
    report = Report()
    list(backfill(scope=Scope(agent.owner), limits=Limits(), stop=Event(), report=report))
    assert (report.end, report.windows, report.conversations) == (End.READ, 3, 1)
