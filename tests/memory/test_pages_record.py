"""What came in, what extraction made of it, and what an assistant would be told."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone

from agents.audit import person
from conversations.models import Conversation, Message
from memory import lifecycle
from memory.models import DroppedCandidate, ExtractionRun
from memory.vocabulary import Gate, State, Trigger
from tests.factories import ConversationFactory, MessageFactory
from tests.memory.candidates import a_run, candidate
from tests.memory.pages import text

if TYPE_CHECKING:
    from django.test import Client

    from agents.models import Agent

pytestmark = pytest.mark.django_db


def test_it_lists_conversations_with_what_came_of_them(alices, agent, bobs_agent):
    conversation = ConversationFactory.create(agent=agent, title="Bees")
    candidate(agent, "The user keeps bees.", conversation=conversation, state=State.ACTIVE)
    candidate(agent, "The user keeps hens.", conversation=conversation)
    ConversationFactory.create(agent=agent, title="Never learned", read_only=True)
    ConversationFactory.create(agent=bobs_agent, title="Wasps")
    page = text(alices, "conversations")
    for shown in (
        "Bees",
        "2 messages",
        "not read yet",
        "1 active",
        "1 pending",
        "never learned from",
    ):
        assert shown in page
    assert "Wasps" not in page
    page = text(alices, "conversations", only="unread")
    assert "Bees" in page
    assert "Never learned" not in page


def test_it_shows_each_message_with_the_facts_from_it_and_marks_other_branches(alices, agent):
    conversation = ConversationFactory.create(agent=agent)
    fact = candidate(
        agent, "The user keeps bees.", "I keep <b>bees</b>.", conversation=conversation
    )
    MessageFactory.create(
        conversation=conversation, role=Message.Role.ASSISTANT, content="Nice!", on_branch=False
    )
    page = text(alices, "conversation", conversation.pk)
    assert "I keep &lt;b&gt;bees&lt;/b&gt;." in page
    assert reverse("fact", args=[fact.pk]) in page
    assert "Nice!" in page
    assert page.count("not on the branch that was kept") == 1


def test_it_opens_a_long_conversation_at_a_message(alices, agent):
    conversation = ConversationFactory.create(agent=agent)
    for n in range(1, 121):
        MessageFactory.create(conversation=conversation, content=f"Hive number {n}.")
    page = text(alices, "conversation", conversation.pk, at=100)
    assert "Hive number 100." in page
    assert "Hive number 94." not in page
    assert "?from=45" in page
    page = text(alices, "conversation", conversation.pk)
    assert "Hive number 50." in page
    assert "Hive number 51." not in page
    assert "?from=51" in page
    assert "Earlier" not in page
    assert text(alices, "conversation", conversation.pk, at="9" * 30)
    assert text(alices, "conversation", conversation.pk, at="²")


def stuck(agent: "Agent") -> Conversation:
    conversation = ConversationFactory.create(agent=agent)
    MessageFactory.create(conversation=conversation, content="I keep bees.")
    Conversation.objects.filter(pk=conversation.pk).update(
        stuck_at=timezone.now(), attempts=5, last_error="The model refused."
    )
    return conversation


def test_a_stuck_conversation_is_shown_and_taken_up_again(alices, agent):
    conversation = stuck(agent)
    page = text(alices, "conversations", only="stuck")
    assert "after 5 attempts: The model refused." in page
    page = post_to(alices, "conversation-retry", conversation)
    assert "within a minute" in page
    conversation.refresh_from_db()
    assert conversation.stuck_at is None
    assert conversation.due_trigger == Trigger.RETRY


def test_a_stuck_window_is_passed_over_on_record(alices, agent):
    conversation = stuck(agent)
    page = post_to(alices, "conversation-skip", conversation)
    assert "Messages 1 to 1 are passed over." in page
    conversation.refresh_from_db()
    assert conversation.cursor_seq == 1
    assert ExtractionRun.objects.get().state == ExtractionRun.State.SKIPPED
    assert "Nothing in it is unread." in post_to(alices, "conversation-skip", conversation)
    assert "Nothing in it is unread." in post_to(alices, "conversation-retry", conversation)


def post_to(client: "Client", name: str, conversation: Conversation) -> str:
    address = reverse(name, args=[conversation.pk])
    return client.post(address, follow=True).content.decode()


def test_it_shows_what_a_run_found_and_dropped_and_why(alices, agent):
    conversation = ConversationFactory.create(agent=agent, title="Bees")
    run = a_run(
        conversation,
        state=ExtractionRun.State.APPLIED,
        observer="some-model",
        prompt_version="observer-1",
        input_tokens=1234,
        llm_calls=2,
        counts={"candidates": 3, "created": 1, "dropped": {Gate.CREDENTIAL: 2}},
        finished_at=timezone.now(),
    )
    fact = candidate(agent, "The user keeps bees.", conversation=conversation, run=run)
    DroppedCandidate.objects.create(
        owner=agent.owner,
        run=run,
        gate=Gate.SAME_AS_PENDING,
        statement="The user is a <i>beekeeper</i>.",
        quote="I am a beekeeper",
        detail="named by the reflector",
        fact=fact,
    )
    page = text(alices, "run", run.pk)
    for shown in ("some-model", "observer-1", "1234 tokens in", "The user keeps bees."):
        assert shown in page
    assert Gate.CREDENTIAL.label in page
    assert "The user is a &lt;i&gt;beekeeper&lt;/i&gt;." in page
    assert "already waiting" in page.lower()
    assert "named by the reflector" in page
    assert "some-model" in text(alices, "runs")
    assert "some-model" not in text(alices, "runs", state="failed")


def test_what_waits_from_a_run_is_decided_at_once(alices, alice, agent):
    run = a_run(ConversationFactory.create(agent=agent), state=ExtractionRun.State.APPLIED)
    fact = candidate(agent, "The user keeps bees.", conversation=run.conversation, run=run)
    elsewhere = candidate(agent, "The user keeps hens.")
    address = f"{reverse('bulk')}?run={run.pk}"
    assert f'href="{address}"' in text(alices, "run", run.pk)
    page = alices.get(address).content.decode()
    assert fact.statement in page
    assert elsewhere.statement not in page
    lifecycle.reject(fact=fact, actor=person(alice))
    assert address not in text(alices, "run", run.pk)


def test_it_shows_the_block_that_an_assistant_would_get(alices, agent, second_agent, bobs_agent):
    candidate(agent, "The user keeps bees in Hamburg.", state=State.ACTIVE)
    candidate(agent, "The user waits for bees from Bremen.", state=State.PENDING)
    candidate(second_agent, "The user sells bees in Kiel.", state=State.ACTIVE)
    candidate(bobs_agent, "The user fears bees in Rome.", state=State.ACTIVE)
    response = alices.post(
        reverse("recall"), {"message": "Where do I keep my bees?", "agent": str(agent.pk)}
    )
    page = response.content.decode()
    assert "&lt;memory trust=" in page
    assert "The user keeps bees in Hamburg." in page
    assert "tokens at most" in page
    found_by = " ".join(page.split())
    assert "Words 1 (" in found_by
    for absent in ("Bremen", "Kiel", "Rome"):
        assert absent not in page


def test_it_says_when_nothing_is_recalled_and_why(alices, alice, agent):
    candidate(agent, "The user keeps bees in Hamburg.", state=State.ACTIVE)
    data = {"message": "How do volcanoes erupt?", "agent": str(agent.pk)}
    assert "nothing relevant was found" in alices.post(reverse("recall"), data).content.decode()
    alice.settings.memory_enabled = False
    alice.settings.save()
    data["message"] = "Where do I keep my bees?"
    page = alices.post(reverse("recall"), data).content.decode()
    assert "memory is off" in page
    assert "Hamburg" not in page


@pytest.mark.parametrize("message", ["", "nul \0", "x" * 8001])
def test_it_says_what_is_wrong_with_a_message(alices, agent, message):
    response = alices.post(reverse("recall"), {"message": message, "agent": str(agent.pk)})
    assert response.status_code == 422
    assert b'class="errorlist"' in response.content


def test_it_recalls_for_no_assistant_of_another(alices, bobs_agent):
    candidate(bobs_agent, "The user fears bees in Rome.", state=State.ACTIVE)
    response = alices.post(
        reverse("recall"), {"message": "Which bees do I fear?", "agent": str(bobs_agent.pk)}
    )
    assert response.status_code == 422
    assert b"Rome" not in response.content
