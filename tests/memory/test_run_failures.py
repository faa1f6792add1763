"""When the model misbehaves: nothing half-written, the cursor right, the run on record."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.audit import command, person
from agents.models import Agent
from conversations.models import Conversation
from memory.extraction import due, run
from memory.extraction.lease import LeaseTaken, claim
from memory.extraction.run import Waiting, extract, extract_if_due, retry, skip_window
from memory.lifecycle import NotAllowed
from memory.models import DroppedCandidate, Evidence, ExtractionRun, Fact, OwnerLease
from memory.vocabulary import State, Trigger
from tests.factories import ConversationFactory, FactFactory
from tests.llm_server import (
    Reply,
    answers,
    fails,
    hangs_up,
    is_cut_short,
    refuses,
    says,
    scripted_llm,
    waits,
)
from tests.memory.extraction_cases import (
    NO_ROUTE,
    candidate,
    decided,
    happened,
    marks,
    observed,
    route,
    run_once,
    say,
)

pytestmark = pytest.mark.django_db

CAT = candidate("The user has a cat.", "I have a cat")
GOOD = {"candidates": [CAT]}


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    conversation = ConversationFactory.create(agent=agent)
    say(conversation, "I have a cat")
    Conversation.objects.filter(pk=conversation.pk).update(due_trigger="request")
    return conversation


def fails_now(conversation: Conversation) -> ExtractionRun:
    """Runs once and checks that nothing but the record of the failure is left."""
    facts, evidence = Fact.objects.count(), Evidence.objects.count()
    failed = run_once(conversation)
    assert failed.state == ExtractionRun.State.FAILED
    assert failed.error
    assert failed.finished_at is not None
    assert failed.counts == {}
    assert (Fact.objects.count(), Evidence.objects.count()) == (facts, evidence)
    assert not DroppedCandidate.objects.exists()
    assert not OwnerLease.objects.exists()
    conversation.refresh_from_db()
    assert conversation.cursor_seq == 0
    assert conversation.last_error == failed.error
    return failed


def wait_of(conversation: Conversation) -> float:
    """Minutes until the next attempt."""
    conversation.refresh_from_db()
    assert conversation.next_attempt_at is not None
    return round((conversation.next_attempt_at - timezone.now()) / timedelta(minutes=1), 1)


def let_time_pass(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(next_attempt_at=timezone.now())


UNKNOWN_FIELD = answers({"candidates": [CAT | {"importance": 1}]})
MISBEHAVIOURS: dict[str, list[Reply]] = {
    "malformed JSON": [answers('{"candidates": [{"st')] * 2,
    "an unknown field": [UNKNOWN_FIELD] * 2,
    "thinking in the arguments": [answers("<think>hm</think> {}")] * 2,
    "plain text": [says("The user has a cat.")] * 2,
    "a NUL in the text": [answers(GOOD | {"candidates": [CAT | {"statement": "A\x00cat"}]})] * 2,
    "a refusal": [refuses()],
    "a rate limit": [fails(429)],
    "a server error": [fails(500)],
    "a cut connection": [hangs_up(GOOD)],
    "no answer at all": [hangs_up(GOOD, after=0)],
    "a truncated reply": [is_cut_short(GOOD)] * 2,
    "a slow reply": [waits(30, answers(GOOD))],
}


@pytest.mark.parametrize("replies", MISBEHAVIOURS.values(), ids=MISBEHAVIOURS.keys())
def test_a_failing_observer_leaves_the_window_for_the_next_attempt(
    llm, conversation, settings, replies
):
    patience = settings.LLM_TIMEOUT_SECONDS
    if replies[0].delay:
        settings.LLM_TIMEOUT_SECONDS = 0.3
    llm.observer(*replies)
    failed = fails_now(conversation)
    settings.LLM_TIMEOUT_SECONDS = patience
    assert failed.llm_calls == len(replies)
    assert "cat" not in failed.error
    assert wait_of(conversation) == 2.0
    llm.observer(observed(CAT))
    again = run_once(conversation)
    assert (again.state, again.attempt) == (ExtractionRun.State.APPLIED, 2)
    assert Fact.objects.get().statement == "The user has a cat."
    assert marks(conversation) == (1, 0)
    assert conversation.last_error == ""


@pytest.mark.parametrize("replies", MISBEHAVIOURS.values(), ids=MISBEHAVIOURS.keys())
def test_a_failing_reflector_leaves_nothing_of_the_observers_work(
    llm, conversation, settings, replies
):
    if replies[0].delay:
        settings.LLM_TIMEOUT_SECONDS = 2
    FactFactory.create(owner=conversation.owner, statement="The user sold a cat.")
    llm.observer(observed(CAT))
    llm.reflector(*replies)
    failed = fails_now(conversation)
    assert failed.llm_calls == 1 + len(replies)
    assert failed.input_tokens >= 100


def test_a_reply_mended_at_the_second_try_counts_as_one_run(llm, conversation):
    llm.observer(UNKNOWN_FIELD, observed(CAT))
    done = run_once(conversation)
    assert (done.state, done.llm_calls, done.input_tokens) == ("applied", 2, 200)


def test_it_backs_off_and_is_stuck_after_five_attempts(llm, conversation):
    waits_seen = []
    for attempt in range(1, 6):
        llm.observer(fails(500))
        assert fails_now(conversation).attempt == attempt
        waits_seen.append(wait_of(conversation))
        let_time_pass(conversation)
    assert waits_seen[:4] == [2.0, 10.0, 30.0, 30.0]
    conversation.refresh_from_db()
    assert conversation.stuck_at is not None
    assert not due.due(timezone.now()).exists()


@pytest.mark.parametrize(("seconds", "minutes"), [("600", 10.0), ("1", 2.0), ("999999999", 1440.0)])
def test_it_waits_as_long_as_the_endpoint_asks(llm, conversation, seconds, minutes):
    llm.observer(fails(429, Retry_After=seconds))
    fails_now(conversation)
    assert wait_of(conversation) == minutes


def test_it_is_not_tried_again_before_its_time(llm, conversation):
    llm.observer(fails(500), observed(CAT))
    assert extract_if_due(conversation.pk) is None
    assert extract_if_due(conversation.pk) is None
    assert len(llm.requests) == 1
    let_time_pass(conversation)
    extract_if_due(conversation.pk)
    assert ExtractionRun.objects.get(state="applied").trigger == Trigger.RETRY


def test_a_failure_stops_the_chain_but_not_the_next_conversation(llm, conversation):
    other = ConversationFactory.create(agent=conversation.agent)
    say(other, "I have a cat")
    Conversation.objects.filter(pk=other.pk).update(due_trigger="request")
    llm.observer(fails(500), observed(CAT))
    assert extract_if_due(conversation.pk) is None
    assert due.next_of(conversation.owner, timezone.now()) == other.pk
    assert extract_if_due(other.pk) is None
    assert marks(other) == (1, 0)


def test_a_fault_of_our_own_is_recorded_without_its_text(llm, conversation, monkeypatch):
    def explode(**values: object) -> None:
        raise RuntimeError("I have a cat")

    monkeypatch.setattr(run, "apply_window", explode)
    llm.observer(observed(CAT))
    assert fails_now(conversation).error == "An unexpected error (RuntimeError)."


def test_a_fact_that_cannot_be_written_takes_the_window_back(llm, conversation, monkeypatch):
    """In the middle of the transaction: the first candidate is gone with the second."""
    from memory.extraction.apply import Verdict, Writer

    write = Writer.write

    def write_one(writer: Writer, verdict: Verdict) -> None:
        if writer.born:
            raise RuntimeError
        write(writer, verdict)

    monkeypatch.setattr(Writer, "write", write_one)
    llm.observer(observed(CAT, candidate("The user owns a cat.", "I have a cat")))
    fails_now(conversation)


def test_retry_takes_a_stuck_one_up_again(llm, conversation):
    Conversation.objects.filter(pk=conversation.pk).update(
        stuck_at=timezone.now(), attempts=5, last_error="It failed."
    )
    assert not due.due(timezone.now()).exists()
    assert retry(conversation=conversation)
    llm.observer(observed(CAT))
    extract_if_due(conversation.pk)
    assert ExtractionRun.objects.get().attempt == 1
    assert Fact.objects.count() == 1
    assert not retry(conversation=conversation)


def test_skip_passes_over_one_window_on_record(llm, conversation, alice):
    say(conversation, *(f"line {n}" for n in range(2, 23)))
    Conversation.objects.filter(pk=conversation.pk).update(stuck_at=timezone.now(), attempts=5)
    skipped = skip_window(conversation=conversation, actor=person(alice))
    assert skipped is not None
    assert (skipped.state, skipped.first_seq, skipped.last_seq) == ("skipped", 1, 20)
    assert str(alice.pk) in skipped.error
    assert marks(conversation) == (20, 0)
    assert conversation.stuck_at is None
    assert llm.requests == []
    skip_window(conversation=conversation, actor=person(alice))
    assert skip_window(conversation=conversation, actor=person(alice)) is None


def test_only_a_person_skips_and_not_under_a_running_extraction(conversation, alice):
    with pytest.raises(NotAllowed):
        skip_window(conversation=conversation, actor=command("x"))
    claim(alice)
    with pytest.raises(LeaseTaken):
        skip_window(conversation=conversation, actor=person(alice))
    assert marks(conversation) == (0, 0)


def test_a_run_whose_worker_died_is_marked_lost_and_repeated(llm, conversation, agent):
    dead = ExtractionRun.objects.create(
        owner=agent.owner, agent=agent, conversation=conversation, trigger=Trigger.IDLE,
        first_seq=1, last_seq=1, observer="scripted",
    )  # fmt: skip
    llm.observer(observed(CAT))
    done = run_once(conversation)
    dead.refresh_from_db()
    assert dead.state == ExtractionRun.State.LOST
    assert "stopped" in dead.error
    assert (done.state, done.attempt) == ("applied", 2)
    assert marks(conversation) == (1, 0)


def test_a_window_that_kills_its_worker_each_time_gets_stuck(conversation, agent):
    for attempt in range(1, 6):
        ExtractionRun.objects.create(
            owner=agent.owner, agent=agent, conversation=conversation, trigger=Trigger.IDLE,
            first_seq=1, last_seq=1, observer="scripted", attempt=attempt,
        )  # fmt: skip
        lease = claim(agent.owner)
        run.bury_lost_runs(lease)
        OwnerLease.objects.all().delete()
    conversation.refresh_from_db()
    assert conversation.stuck_at is not None


def test_a_second_extraction_of_the_owner_is_refused(llm, conversation, agent):
    claim(agent.owner)
    with pytest.raises(LeaseTaken):
        extract(conversation=conversation, trigger=Trigger.REQUEST)
    assert extract_if_due(conversation.pk) is None
    assert llm.requests == []


@pytest.fixture
def sensitive(agent: Agent) -> Conversation:
    conversation = ConversationFactory.create(agent=agent, sensitive=True)
    say(conversation, "I have a cat")
    Conversation.objects.filter(pk=conversation.pk).update(due_trigger="request")
    return conversation


def test_a_sensitive_conversation_waits_without_a_private_route(llm, sensitive):
    with pytest.raises(Waiting, match="LLM_PRIVATE_MODEL"):
        extract(conversation=sensitive, trigger=Trigger.REQUEST)
    assert extract_if_due(sensitive.pk) is None
    assert llm.requests == []
    assert not ExtractionRun.objects.exists()
    assert marks(sensitive) == (0, 0)


def test_it_waits_even_where_the_rules_would_read(settings, sensitive):
    settings.LLM_ROUTES = {"general": NO_ROUTE, "private": NO_ROUTE}
    with pytest.raises(Waiting):
        extract(conversation=sensitive, trigger=Trigger.REQUEST)


def test_once_set_only_the_private_route_sees_it(llm, sensitive, settings):
    FactFactory.create(owner=sensitive.owner, statement="The user has a cat in Rome.")
    with scripted_llm() as private:
        settings.LLM_ROUTES = {"general": route(llm), "private": route(private, "local")}
        private.observer(observed(CAT))
        private.reflector(decided((1, "create", [])))
        extract_if_due(sensitive.pk)
        assert [request.task for request in private.requests] == ["ObserverReply", "ReflectorReply"]
    assert llm.requests == []
    done = ExtractionRun.objects.get()
    assert (done.state, done.route, done.observer) == ("applied", "private", "local")
    assert Fact.objects.filter(state=State.PENDING, run=done).count() == 1


def test_a_fact_from_a_sensitive_conversation_is_shown_on_no_other_route(llm, sensitive, agent):
    """What is near it waits, for the reflector could not compare the two."""
    owner = agent.owner
    FactFactory.create(
        owner=owner, conversation=sensitive, statement="The user sold the boat in secret.",
        state=State.ACTIVE,
    )  # fmt: skip
    FactFactory.create(owner=owner, statement="The user sold the car.", state=State.ACTIVE)
    talk = ConversationFactory.create(agent=agent)
    say(talk, "I sold my boat on the 27th")
    llm.observer(
        observed(
            happened("The user sold the boat on 27 February 2026.", "I sold my boat", "2026-02-27")
        )
    )
    llm.reflector(decided((1, "create", [])))
    run_once(talk)
    question = llm.asked("ReflectorReply")[0].user
    assert "sold the car" in question
    assert "in secret" not in question
    assert Fact.objects.get(statement__contains="27 February").state == State.PENDING


def test_a_private_route_that_fails_is_no_reason_to_ask_the_other(llm, sensitive, settings):
    with scripted_llm() as private:
        settings.LLM_ROUTES = {"general": route(llm), "private": route(private, "local")}
        private.observer(fails(500))
        assert run_once(sensitive).state == ExtractionRun.State.FAILED
    assert llm.requests == []
