"""Excerpts that ride in a prompt unasked."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from agents.models import Agent, new_id
from conversations.ingest import compact
from conversations.models import Conversation, ShownPassages
from memory import tokens
from memory.recall import block
from memory.recall.block import Quote
from memory.recall.service import recall
from memory.search import automatic
from memory.search.automatic import LEDGER, excerpts_for, told
from tests.factories import MONDAY, ApiKeyFactory, IssuedKey
from tests.memory.hostile import FENCES, ROLES
from tests.memory.recalling import known, model
from tests.memory.searching import said, understood

__all__ = ["model"]
pytestmark = pytest.mark.django_db
Api = Callable[[IssuedKey], Client]
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


# In the block


def post(client: Client, **body: Any) -> Any:
    answer = client.post("/api/v1/recall", json.dumps(body), content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_recall_brings_them_once_with_where_they_are_from(
    api: Api, alice_key: IssuedKey, agent: Agent
) -> None:
    summarised(agent, *(f"The red cello number {n} is here." for n in range(3)))
    client = api(alice_key)
    first = post(client, message=ASKED, conversation="c1")
    assert len(first["excerpts"]) == 2
    assert first["empty"] is False
    assert first["trace"]["empty_because"] is None
    for excerpt in first["excerpts"]:
        line = (
            "- [verbatim, earlier in this conversation; said 2026-03-02; by user] "
            f"{excerpt['text']}\n"
        )
        assert line in first["block"]
        assert (excerpt["tier"], excerpt["role"]) == ("raw", "user")
        assert excerpt["message"] in {"m1", "m2", "m3"}
    second = post(client, message=ASKED, conversation="c1")
    texts = [one["text"] for answer in (first, second) for one in answer["excerpts"]]
    assert len(texts) == len(set(texts)) == 3
    assert post(client, message=ASKED, conversation="c1")["block"] == ""


def test_looking_leaves_the_ledger_alone(agent: Agent) -> None:
    conversation = summarised(agent, "The red cello is broken.")
    for _ in range(2):
        told_twice = recall(agent=agent, message=ASKED, conversation=conversation)
        assert [one.text for one in told_twice.excerpts] == ["The red cello is broken."]


def test_recall_brings_none_into_another_conversation_or_before_compaction(
    api: Api, alice_key: IssuedKey, bob_key: IssuedKey, agent: Agent, second_agent: Agent
) -> None:
    summarised(agent, "The red cello is broken.")
    said(agent, "The red cello is elsewhere.", to="c2")
    works = ApiKeyFactory.create(agent=second_agent)
    for key, name in ((alice_key, "c2"), (alice_key, None), (bob_key, "c1"), (works, "c1")):
        named = {"conversation": name} if name else {}
        answer = post(api(key), message=ASKED, **named)
        assert answer["excerpts"] == []
        assert "cello" not in answer["block"]
    assert "cello" in post(api(alice_key), message=ASKED, conversation="c1")["block"]


def test_they_keep_to_their_share_and_facts_to_theirs(agent: Agent, model: None) -> None:
    long = "The red cello is broken. " + "It was so loud that nobody slept. " * 60
    conversation = summarised(agent, long, f"{long} Again.")
    known(agent, *(f"The user's red cello number {n} hangs on the wall." for n in range(60)))
    result = recall(agent=agent, message=ASKED, conversation=conversation)
    assert tokens.count(result.block) <= result.tokens <= 1500
    assert len(result.excerpts) == 1
    assert len(result.items) > 20
    small = recall(agent=agent, message=ASKED, conversation=conversation, budget=200)
    assert small.tokens <= 200


def test_excerpts_fail_alone(agent: Agent, model: None, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = summarised(agent, "The red cello is broken.")
    known(agent, "The user's cello is red.")

    def broken(**values: Any) -> None:
        raise RuntimeError("red cello")

    monkeypatch.setattr(automatic, "excerpts_for", broken)
    result = recall(agent=agent, message=ASKED, conversation=conversation)
    assert [item.fact.statement for item in result.items] == ["The user's cello is red."]
    report = result.trace.legs[-1]
    assert (report.leg, report.outcome, report.detail) == ("raw", "failed", "RuntimeError")


@pytest.mark.parametrize("payload", [*FENCES.values(), *ROLES.values()])
def test_a_hostile_excerpt_stays_one_line_of_data(payload: str) -> None:
    quote = Quote(new_id(), f"{payload} red cello", MONDAY, payload[:120])
    line = block.quote_line(quote, MONDAY, "0123456789ab")
    assert "\n" not in line
    assert line.endswith("red cello")
    assert not re.search(r"<[\W_]*memory", line, re.IGNORECASE)
