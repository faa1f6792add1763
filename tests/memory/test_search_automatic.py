"""Excerpts that ride in a prompt unasked."""

from datetime import timedelta

import pytest

from agents.models import Agent
from conversations.ingest import compact
from conversations.models import Conversation, ShownPassages
from memory.search import automatic
from memory.search.automatic import LEDGER, excerpts_for, told
from tests.factories import MONDAY
from tests.memory.recalling import known, model
from tests.memory.searching import said, understood

__all__ = ["model"]
pytestmark = pytest.mark.django_db
ASKED = "How is the red cello?"


def summarised(agent: Agent, *texts: str) -> Conversation:
    conversation = said(agent, *texts)
    compact(agent=agent, source="api", external_id="c1", up_to=f"m{len(texts)}")
    conversation.refresh_from_db()
    return conversation


def given(agent: Agent, conversation: Conversation, query: str = ASKED) -> list[str]:
    found = excerpts_for(agent=agent, conversation=conversation, query=query)
    return [excerpt.text for excerpt in found]


def test_nothing_rides_before_the_conversation_is_compacted(agent: Agent) -> None:
    conversation = said(agent, "The red cello is broken.")
    assert given(agent, conversation) == []
    compact(agent=agent, source="api", external_id="c1", up_to="m1")
    conversation.refresh_from_db()
    assert given(agent, conversation) == ["The red cello is broken."]


def test_what_the_assistant_still_sees_does_not_ride(agent: Agent) -> None:
    conversation = summarised(agent, "The red cello is broken.")
    said(agent, "The red cello is mended.")
    assert given(agent, conversation) == ["The red cello is broken."]


def test_two_shared_words_or_a_like_meaning_are_needed(agent: Agent, model: None) -> None:
    conversation = summarised(agent, "The red cello is broken.", "My car broke down yesterday.")
    understood()
    assert given(agent, conversation, "Is anything red here?") == []
    close = given(agent, conversation, "Yesterday my automobile broke down")
    assert close == ["My car broke down yesterday."]


def test_at_most_two_ride_and_never_the_same_again(agent: Agent) -> None:
    conversation = summarised(agent, *(f"The red cello number {n} is here." for n in range(5)))
    seen: list[str] = []
    for count in (2, 2, 1, 0):
        found = excerpts_for(agent=agent, conversation=conversation, query=ASKED)
        assert len(found) == count
        told(conversation, found)
        seen += [excerpt.text for excerpt in found]
    assert len(set(seen)) == 5


def test_the_ledger_forgets_the_oldest(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    assert LEDGER == 100
    monkeypatch.setattr(automatic, "LEDGER", 2)
    conversation = summarised(agent, *(f"The red cello number {n} is here." for n in range(4)))
    first = excerpts_for(agent=agent, conversation=conversation, query=ASKED)
    told(conversation, first)
    told(conversation, excerpts_for(agent=agent, conversation=conversation, query=ASKED))
    assert len(ShownPassages.objects.get().passage_ids) == 2
    again = excerpts_for(agent=agent, conversation=conversation, query=ASKED)
    assert {one.passage for one in again} == {one.passage for one in first}


def test_what_a_newer_fact_overrides_never_rides(agent: Agent, model: None) -> None:
    conversation = summarised(agent, "The red cello is in Turku.", "The red cello has strings.")
    understood()
    known(agent, "The red cello is kept in Turku no more.", observed_at=MONDAY + timedelta(days=1))
    found = given(agent, conversation, "What of the red cello in Turku?")
    assert "The red cello is in Turku." not in found


def test_small_talk_brings_nothing(agent: Agent) -> None:
    conversation = summarised(agent, "Good morning, thanks for your help.")
    assert given(agent, conversation, "Good morning, thanks") == []


def test_another_conversation_or_owner_gives_nothing(
    agent: Agent, second_agent: Agent, bobs_agent: Agent
) -> None:
    conversation = summarised(agent, "The red cello is broken.")
    said(agent, "The red cello is elsewhere.", to="c2")
    assert given(agent, conversation) == ["The red cello is broken."]
    for other in (second_agent, bobs_agent):
        with pytest.raises(ValueError, match="another agent"):
            given(other, conversation)


def test_secrets_do_not_ride(agent: Agent) -> None:
    secret = "sk-ant-" + "Zx9Qw8Er7Ty6Ui5Op4As3Df2"
    conversation = summarised(agent, f"The red cello has the key {secret}.")
    (text,) = given(agent, conversation)
    assert secret not in text
    assert "red cello" in text
