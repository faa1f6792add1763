"""Which conversations are due, and that the sweep hands each owner's next one out."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone

from agents.models import Agent, OwnerSettings, User
from conversations.models import Conversation, Message
from memory import tasks
from memory.extraction.due import due, next_of, sweep, trigger_of
from memory.extraction.lease import claim
from memory.vocabulary import Trigger
from tests.factories import AgentFactory, ConversationFactory, MessageFactory, UserFactory

pytestmark = pytest.mark.django_db

NOW = timezone.now()
LONG_AGO = NOW - timedelta(minutes=21)
JUST_NOW = NOW - timedelta(minutes=1)


def unread(
    agent: Agent, messages: int = 1, *, roles: Sequence[str] = ("user",), **values: Any
) -> Conversation:
    """A conversation with this many unread messages, quiet for long unless said otherwise."""
    conversation = ConversationFactory.create(agent=agent, **values)
    for n in range(messages):
        MessageFactory.create(conversation=conversation, role=roles[n % len(roles)])
    quiet = {"last_activity_at": LONG_AGO} | values
    Conversation.objects.filter(pk=conversation.pk).update(**quiet)
    conversation.refresh_from_db()
    return conversation


def is_due(conversation: Conversation) -> bool:
    return due(NOW).filter(pk=conversation.pk).exists()


@pytest.fixture
def eager():
    """Tasks run where they are sent."""
    current_app.conf.task_always_eager = True
    yield
    current_app.conf.task_always_eager = False


def choose(owner: User, choice: bool | None) -> None:
    OwnerSettings.objects.filter(owner=owner).update(memory_enabled=choice)


def test_a_quiet_conversation_with_something_unread_is_due(agent):
    conversation = unread(agent)
    assert is_due(conversation)
    assert trigger_of(conversation, NOW) == Trigger.IDLE


def test_a_read_one_or_a_lively_one_is_not_due(agent):
    read = unread(agent)
    Conversation.objects.filter(pk=read.pk).update(cursor_seq=1)
    assert not is_due(read)
    assert not is_due(unread(agent, 2, last_activity_at=JUST_NOW))


@pytest.mark.parametrize(("messages", "expected"), [(8, False), (9, False), (10, True), (11, True)])
def test_five_unread_exchanges_are_due_while_the_talk_goes_on(agent, messages, expected):
    roles = ("user", "assistant")
    conversation = unread(agent, messages, roles=roles, last_activity_at=JUST_NOW)
    assert is_due(conversation) is expected
    if expected:
        assert trigger_of(conversation, NOW) == Trigger.BACKLOG


def test_messages_off_the_branch_make_no_exchange(agent):
    conversation = unread(agent, 12, last_activity_at=JUST_NOW)
    assert is_due(conversation)
    Message.objects.filter(conversation=conversation, seq__lt=8).update(on_branch=False)
    assert not is_due(conversation)


def test_what_was_asked_for_is_due_at_once(agent):
    conversation = unread(agent, last_activity_at=JUST_NOW, due_trigger="compaction")
    assert is_due(conversation)
    assert trigger_of(conversation, NOW) == Trigger.COMPACTION


@pytest.mark.parametrize(
    "values",
    [
        {"read_only": True},
        {"stuck_at": NOW},
        {"next_attempt_at": NOW + timedelta(minutes=1)},
    ],
)
def test_these_are_never_due_even_when_asked_for(agent, values):
    assert not is_due(unread(agent, due_trigger="request", **values))


def test_a_failed_one_is_due_again_when_its_time_has_come(agent):
    conversation = unread(agent, last_activity_at=JUST_NOW, attempts=1, next_attempt_at=JUST_NOW)
    assert is_due(conversation)
    assert trigger_of(conversation, NOW) == Trigger.RETRY


@pytest.mark.parametrize("mode", ["disabled", "default_off", "default_on"])
@pytest.mark.parametrize("choice", [True, False, None])
def test_the_double_gate_decides(agent, settings, mode, choice):
    settings.MEMORY_MODE = mode
    choose(agent.owner, choice)
    on = {
        ("default_off", True), ("default_on", True), ("default_on", None)
    }  # fmt: skip
    assert is_due(unread(agent)) is ((mode, choice) in on)


def test_a_sensitive_one_waits_until_the_private_route_is_set(agent, settings):
    conversation = unread(agent, sensitive=True)
    assert is_due(unread(agent))
    assert not is_due(conversation)
    settings.LLM_ROUTES = {**settings.LLM_ROUTES, "private": {"model": "local"}}
    assert is_due(conversation)


def test_the_sweep_takes_one_of_each_owner_and_what_was_asked_for_first(agent, bobs_agent):
    unread(agent)
    asked = unread(agent, last_activity_at=JUST_NOW, due_trigger="request")
    oldest = unread(bobs_agent, last_activity_at=NOW - timedelta(hours=2))
    unread(bobs_agent)
    assert list(sweep(NOW)) == [oldest.pk, asked.pk]
    assert next_of(agent.owner, NOW) == asked.pk


def test_the_sweep_leaves_an_owner_at_work_alone(agent, bobs_agent):
    unread(agent)
    of_bob = unread(bobs_agent)
    claim(agent.owner)
    assert list(sweep(NOW)) == [of_bob.pk]


def test_many_due_conversations_cost_as_many_queries_as_few(django_assert_num_queries):
    for _ in range(3):
        agent = AgentFactory.create(owner=UserFactory.create())
        for _ in range(3):
            unread(agent)
    with django_assert_num_queries(2):
        assert len(sweep(NOW)) == 3


def test_the_sweep_task_starts_a_chain_that_reads_everything_due(agent, bobs_agent, eager):
    of_alice = [unread(agent, roles=("assistant",)) for _ in range(3)]
    of_bob = unread(bobs_agent, roles=("assistant",))
    # The task goes by the clock, and the suite may have been running for longer than one is quiet.
    lively = unread(agent, last_activity_at=timezone.now())
    assert tasks.sweep() == 2
    read = Conversation.objects.filter(cursor_seq=1)
    assert set(read) == {*of_alice, of_bob}
    assert lively not in read


def test_tasks_have_the_names_that_others_send():
    from config.celery import app

    app.loader.import_default_modules()
    assert {"memory.tasks.sweep", "memory.tasks.extract_conversation"} <= set(app.tasks)
