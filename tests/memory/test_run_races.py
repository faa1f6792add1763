"""What others do while the model thinks: the scripted server does it, on its own connection."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.utils import timezone

from agents.audit import POLICY, person
from agents.gate import MemoryOff
from agents.models import Agent, OwnerSettings
from conversations.models import Conversation, Message
from memory import lifecycle
from memory.extraction import due
from memory.extraction.lease import LeaseTaken, claim
from memory.extraction.run import CHANGED, OVERTAKEN, SWITCHED_OFF, extract
from memory.lifecycle import Draft
from memory.models import Evidence, ExtractionRun, Fact, OwnerLease
from memory.vocabulary import ArchivedReason, Kind, Origin, State, Trigger, Withheld
from tests.factories import ConversationFactory, FactFactory
from tests.llm_server import Recorded, Reply, ScriptedLlm, meanwhile
from tests.memory.extraction_cases import (
    candidate,
    decided,
    handle,
    marks,
    observed,
    run_once,
    say,
)

pytestmark = pytest.mark.django_db(transaction=True)

LYON = candidate("The user lives in Lyon.", "I live in Lyon now")


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    conversation = ConversationFactory.create(agent=agent)
    say(conversation, "I live in Lyon now")
    Conversation.objects.filter(pk=conversation.pk).update(due_trigger="request")
    return conversation


def while_thinking(do: Callable[[], object], reply: Reply) -> Reply:
    def apart(request: Recorded) -> None:
        try:
            do()
        finally:
            connections.close_all()

    return meanwhile(apart, reply)


def switch(conversation: Conversation, on: bool | None) -> None:
    OwnerSettings.objects.filter(owner=conversation.owner).update(memory_enabled=on)


def wrote_nothing(conversation: Conversation) -> bool:
    conversation.refresh_from_db()
    return conversation.cursor_seq == 0 and not Evidence.objects.exists()


@pytest.mark.parametrize(
    ("mode", "choice"),
    [("disabled", True), ("disabled", None), ("default_off", None), ("default_off", False),
     ("default_on", False)],
)  # fmt: skip
def test_with_memory_off_nothing_leaves_the_house(llm, conversation, settings, mode, choice):
    settings.MEMORY_MODE = mode
    switch(conversation, choice)
    with pytest.raises(MemoryOff):
        extract(conversation=conversation, trigger=Trigger.REQUEST)
    assert llm.requests == []
    assert not ExtractionRun.objects.exists()


@pytest.mark.parametrize(
    ("mode", "choice"), [("default_off", True), ("default_on", True), ("default_on", None)]
)
def test_with_memory_on_it_reads(llm, conversation, settings, mode, choice):
    settings.MEMORY_MODE = mode
    switch(conversation, choice)
    llm.observer(observed(LYON))
    assert run_once(conversation).counts["created"] == 1


def test_the_owner_switches_off_while_the_observer_thinks(llm, conversation):
    llm.observer(while_thinking(lambda: switch(conversation, False), observed(LYON)))
    run = run_once(conversation)
    assert (run.state, run.error) == (ExtractionRun.State.FAILED, SWITCHED_OFF)
    assert run.llm_calls == 1
    assert wrote_nothing(conversation)
    assert (conversation.attempts, conversation.next_attempt_at) == (0, None)
    assert not due.due(timezone.now()).exists()

    switch(conversation, True)
    llm.observer(observed(LYON))
    assert due.due(timezone.now()).exists()
    assert run_once(conversation).attempt == 1
    assert Fact.objects.count() == 1


def test_off_means_off_for_a_window_that_yields_nothing_too(llm, conversation):
    """It would move the cursor: what was said would never be learned once memory is on again."""
    llm.observer(while_thinking(lambda: switch(conversation, False), observed()))
    assert run_once(conversation).error == SWITCHED_OFF
    assert wrote_nothing(conversation)


def test_the_server_is_disabled_while_the_reflector_thinks(llm, conversation, settings):
    FactFactory.create(owner=conversation.owner, statement="The user lives in Paris.")
    llm.observer(observed(LYON))
    llm.reflector(
        while_thinking(
            lambda: setattr(settings, "MEMORY_MODE", "disabled"), decided((1, "create", []))
        )
    )
    assert run_once(conversation).error == SWITCHED_OFF
    assert wrote_nothing(conversation)


def test_a_run_that_lost_its_lease_writes_nothing(llm, conversation, alice):
    """Its successor has read the window meanwhile; what that one wrote stands."""

    def overtake() -> None:
        OwnerLease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        own = Conversation.objects.get(pk=conversation.pk)
        assert run_once(own).state == ExtractionRun.State.APPLIED

    llm.observer(while_thinking(overtake, observed(candidate("The user is slow.", "I live"))))
    llm.observer(observed(LYON))
    run = run_once(conversation)
    assert run.state == ExtractionRun.State.LOST
    assert [fact.statement for fact in Fact.objects.all()] == ["The user lives in Lyon."]
    assert marks(conversation) == (1, 0)
    assert not OwnerLease.objects.exists()


def test_a_lease_that_went_to_another_stops_the_run_before_its_next_question(
    llm, conversation, alice
):
    FactFactory.create(owner=alice, statement="The user lives in Paris.")

    def overtake() -> None:
        OwnerLease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        claim(alice)

    llm.observer(while_thinking(overtake, observed(LYON)))
    run = run_once(conversation)
    assert (run.state, run.error) == (ExtractionRun.State.LOST, OVERTAKEN)
    assert llm.asked("ReflectorReply") == []
    assert wrote_nothing(conversation)
    assert OwnerLease.objects.count() == 1


def test_a_lease_that_went_to_another_at_the_last_question_stops_the_final_write(
    llm, conversation, alice
):
    FactFactory.create(owner=alice, statement="The user lives in Paris.")

    def overtake() -> None:
        OwnerLease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        claim(alice)

    llm.observer(observed(LYON))
    llm.reflector(while_thinking(overtake, decided((1, "create", []))))
    run = run_once(conversation)
    assert (run.state, run.error) == (ExtractionRun.State.LOST, OVERTAKEN)
    assert wrote_nothing(conversation)
    assert Fact.objects.count() == 1


def test_two_at_once_are_one(llm, conversation):
    refused = []

    def second() -> None:
        own = Conversation.objects.get(pk=conversation.pk)
        try:
            extract(conversation=own, trigger=Trigger.IDLE)
        except LeaseTaken as error:
            refused.append(error)

    llm.observer(while_thinking(second, observed(LYON)))
    run_once(conversation)
    assert len(refused) == 1
    assert ExtractionRun.objects.count() == Fact.objects.count() == 1


def test_no_transaction_is_open_while_the_model_thinks(llm, conversation):
    open_ones = []

    def look() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND (xact_start IS NOT NULL"
                " OR state LIKE 'idle in transaction%')"
            )
            open_ones.append(cursor.fetchone()[0])

    FactFactory.create(owner=conversation.owner, statement="The user lives in Paris.")
    llm.observer(while_thinking(look, observed(LYON)))
    llm.reflector(while_thinking(look, decided((1, "create", []))))
    run_once(conversation)
    assert open_ones == [0, 0]


@pytest.mark.parametrize("change", [{"on_branch": False}, {"on_branch": True}])
def test_a_message_that_is_taken_back_meanwhile_leaves_nothing(llm, conversation, change):
    llm.observer(
        while_thinking(lambda: Message.objects.update(**change), observed(LYON)), observed()
    )
    [run] = extract(conversation=conversation, trigger=Trigger.IDLE)
    if change["on_branch"]:
        assert run.counts["created"] == 1
        return
    assert (run.state, run.error) == (ExtractionRun.State.FAILED, CHANGED)
    assert wrote_nothing(conversation)
    assert (conversation.attempts, conversation.next_attempt_at) == (0, None)


def test_what_arrives_meanwhile_is_read_next(llm, conversation):
    llm.observer(
        while_thinking(lambda: say(conversation, "I own a boat"), observed(LYON)),
        observed(candidate("The user owns a boat.", "I own a boat", 2)),
    )
    llm.reflect_with(lambda request: decided((1, "create", [])))
    runs = extract(conversation=conversation, trigger=Trigger.REQUEST)
    assert [(run.first_seq, run.last_seq) for run in runs] == [(1, 1), (2, 2)]
    assert Fact.objects.count() == 2


def paris(agent: Agent) -> Fact:
    return FactFactory.create(
        owner=agent.owner, state=State.ACTIVE, statement="The user lives in Paris."
    )


def nice(**values: object) -> Draft:
    fields = {
        "statement": "The user lives in Nice.", "kind": Kind.SEMANTIC, "origin": Origin.MANUAL,
        "observed_at": timezone.now(),
    }  # fmt: skip
    return Draft(**(fields | values))  # type: ignore[arg-type]


def correcting(llm: ScriptedLlm, target: Fact, do: Callable[[], object]) -> None:
    """The reflector has Lyon take the place of the target, and meanwhile something happens."""
    llm.observer(observed(LYON))

    def reply(request: Recorded) -> Reply:
        number = handle(request, target)
        return while_thinking(do, decided((1, "supersede", [number])))

    llm.reflect_with(reply)


def test_a_target_that_was_replaced_meanwhile_is_followed_to_its_head(llm, conversation, agent):
    old = paris(agent)
    correcting(
        llm,
        old,
        lambda: lifecycle.supersede(targets=[old], draft=nice(), actor=person(agent.owner)),
    )
    assert run_once(conversation).counts["superseding"] == 1
    correction = Fact.objects.get(statement="The user lives in Lyon.")
    assert [row.target.statement for row in correction.targets.all()] == ["The user lives in Nice."]


def test_a_target_that_is_gone_leaves_an_ordinary_candidate(llm, conversation, agent):
    old = paris(agent)
    correcting(
        llm,
        old,
        lambda: lifecycle.archive(
            fact=old, why=ArchivedReason.FORGOTTEN, actor=person(agent.owner)
        ),
    )
    assert run_once(conversation).counts["created"] == 1
    candidate_ = Fact.objects.get(statement="The user lives in Lyon.")
    assert candidate_.withheld_for[0] == Withheld.TARGET_GONE
    assert candidate_.targets.count() == 0


def add_lyon(agent: Agent, state: State = State.PENDING) -> None:
    actor = person(agent.owner)
    draft = nice(statement="The user lives in Lyon.", origin=Origin.EXTRACTION)
    fact = lifecycle.propose(owner=agent.owner, agent=agent, draft=draft, actor=POLICY)
    if state == State.ACTIVE:
        lifecycle.confirm(fact=fact, actor=actor)
    if state == State.REJECTED:
        lifecycle.reject(fact=fact, actor=actor)


@pytest.mark.parametrize(
    ("state", "count", "gate", "evidence"),
    [
        (State.PENDING, "evidence_added", None, 1),
        (State.ACTIVE, "reinforced", None, 1),
        (State.REJECTED, None, "same_as_rejected", 0),
    ],
)
def test_the_same_text_that_came_in_meanwhile_is_not_doubled(
    llm, conversation, agent, state, count, gate, evidence
):
    llm.observer(while_thinking(lambda: add_lyon(agent, state), observed(LYON)))
    run = run_once(conversation)
    assert run.state == ExtractionRun.State.APPLIED
    assert run.counts["created"] == 0
    if count:
        assert run.counts[count] == 1
    assert run.counts["dropped"] == ({gate: 1} if gate else {})
    assert Fact.objects.get().evidence.count() == evidence
    assert Fact.objects.get().state == state


def test_a_fact_that_was_archived_meanwhile_takes_no_evidence(llm, conversation, agent):
    known = FactFactory.create(
        owner=agent.owner, agent=agent, state=State.ACTIVE, statement="The user lives in Lyon, now."
    )
    llm.observer(observed(LYON))

    def reply(request: Recorded) -> Reply:
        number = handle(request, known)
        return while_thinking(
            lambda: lifecycle.archive(fact=known, why=ArchivedReason.STALE, actor=POLICY),
            decided((1, "reinforce", [number])),
        )

    llm.reflect_with(reply)
    run = run_once(conversation)
    assert run.counts["dropped"] == {"same_as_active": 1}
    assert not Evidence.objects.exists()
