"""What chats that pass leave behind, and what must never be told to the model server."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import openai
import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from agents.models import Agent
from conversations.models import Conversation, Message
from memory.models import RecalledFact
from memory.vocabulary import ArchivedReason, State
from tests.factories import ApiKeyFactory
from tests.memory.proxying import (
    Traffic,
    ask,
    assistant,
    client,
    kept,
    key,
    speaks_as,
    traffic,
    upstream,
    user,
)
from tests.memory.recalling import known, model
from tests.upstream_server import Upstream, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("model")]
__all__ = ["client", "key", "model", "traffic", "upstream"]

NAMED = {"X-Remembrancer-Conversation": "trip"}
OTHERS = {"X-OpenWebUI-Chat-Id": "other"}


class Chat:
    """A client that keeps the history and sends all of it each time."""

    def __init__(self, client: openai.OpenAI, upstream: Upstream, traffic: Traffic) -> None:
        self.client, self.upstream, self.traffic = client, upstream, traffic
        self.history: list[dict[str, Any]] = []

    def say(self, words: str, answer: str, headers: dict[str, str] | None = None) -> None:
        self.upstream.script(says(answer))
        ask(self.client, *self.history, user(words), headers=headers)
        self.history += [user(words), assistant(answer)]
        self.traffic.over()

    def back(self, turns: int) -> None:
        del self.history[-turns:]


@pytest.fixture
def chat(client: openai.OpenAI, upstream: Upstream, traffic: Traffic) -> Chat:
    return Chat(client, upstream, traffic)


def texts(*, on_branch: bool = True) -> list[str]:
    return [text for _, text in kept(on_branch=on_branch)]


@pytest.mark.parametrize("headers", [NAMED, None])
def test_a_history_that_is_sent_again_adds_only_what_is_new(
    chat: Chat, headers: dict[str, str] | None
) -> None:
    for n in range(3):
        chat.say(f"question {n}", f"answer {n}", headers)
    assert texts() == [f"{what} {n}" for n in range(3) for what in ("question", "answer")]
    talk = Conversation.objects.get()
    assert talk.source == "proxy"
    assert (talk.external_id == "trip") is (headers is not None)
    messages = list(Message.objects.order_by("seq"))
    assert [m.parent_id for m in messages[1:]] == [m.pk for m in messages[:-1]]
    assert [m.from_owner for m in messages] == [True, False] * 3


def test_an_edit_and_another_answer_take_back_what_followed(chat: Chat) -> None:
    for words, answer in (("one", "1"), ("two", "2"), ("three", "3")):
        chat.say(words, answer, NAMED)
    chat.back(4)
    chat.say("two, better", "2b", NAMED)
    assert texts() == ["one", "1", "two, better", "2b"]
    assert texts(on_branch=False) == ["two", "2", "three", "3"]
    chat.back(2)
    chat.say("two, better", "2c", NAMED)
    assert texts() == ["one", "1", "two, better", "2c"]
    chat.back(2)
    chat.say("two", "2", NAMED)  # as it was at first
    assert texts() == ["one", "1", "two", "2"]


def test_without_a_name_conversations_that_begin_alike_part(
    client: openai.OpenAI, upstream: Upstream, traffic: Traffic
) -> None:
    first, second = (Chat(client, upstream, traffic) for _ in range(2))
    for one in (first, second):
        one.say("hi", "Hello!")
    for words, answer in (("trains?", "Many."), ("when?", "At nine.")):
        first.say(words, answer)
    second.say("cats?", "Two.")
    second.say("names?", "Tom.")
    assert texts(on_branch=False) == []
    found = {
        tuple(m.content for m in talk.messages.order_by("seq"))
        for talk in Conversation.objects.all()
    }
    assert found == {
        ("hi", "Hello!", "trains?", "Many.", "when?", "At nine."),
        ("cats?", "Two.", "names?", "Tom."),
    }


def test_two_at_once_on_one_conversation_lose_and_double_nothing(
    chat: Chat, client: openai.OpenAI, upstream: Upstream, traffic: Traffic
) -> None:
    chat.say("one", "1", NAMED)
    upstream.script(says("2"), says("2"))
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda _: ask(client, *chat.history, user("two"), headers=NAMED), range(2)))
    traffic.over()
    assert texts() == ["one", "1", "two", "2"]
    assert Message.objects.count() == 4


def test_the_block_is_never_kept_as_the_users_words(chat: Chat, agent: Agent) -> None:
    known(agent, "The user's home is in the Kallio district of Helsinki.")
    chat.say("where do I live", "In Kallio.", NAMED)
    assert "<memory" in chat.upstream.last.text
    assert texts() == ["where do I live", "In Kallio."]


def test_what_was_told_is_known_as_soon_as_the_exchange_is(
    chat: Chat, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies between the two would let the echo in the answer count as news."""
    (fact,) = known(agent, "The user's home is in the Kallio district of Helsinki.")

    def dies(**_: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("memory.proxy.recording.recalled.told", dies)
    chat.say("where do I live", "In Kallio.", NAMED)
    assert texts() == ["where do I live", "In Kallio."]
    assert [told.fact for told in RecalledFact.objects.all()] == [fact]


def test_two_clients_of_one_owner_and_two_names_stay_apart(
    chat: Chat, agent: Agent, live_server: LiveServer
) -> None:
    chat.say("one", "1", NAMED)
    chat.history.clear()
    chat.say("one", "1", OTHERS)
    other = ApiKeyFactory.create(agent=agent, scopes=["proxy"])
    for issued in (chat.client, speaks_as(other, live_server)):
        nameless = Chat(issued, chat.upstream, chat.traffic)
        nameless.say("one", "1")
    assert Conversation.objects.count() == 4
    assert {m.conversation.external_id for m in Message.objects.all()} >= {"trip", "other"}


def test_what_may_not_be_recalled_never_reaches_the_model_server(
    client: openai.OpenAI,
    upstream: Upstream,
    agent: Agent,
    second_agent: Agent,
    bobs_agent: Agent,
) -> None:
    text = "The user's sister Anna moved to {} in February."
    (own,) = known(agent, text.format("Turku"))
    known(agent, text.format("Oslo"), agent=None)
    known(second_agent, text.format("Bergen"))
    known(agent, text.format("Lima"), state=State.PENDING)
    known(agent, text.format("Quito"), state=State.REJECTED)
    known(agent, text.format("Cairo"), state=State.ARCHIVED)
    known(
        agent,
        text.format("Accra"),
        state=State.ARCHIVED,
        archived_from=State.ACTIVE,
        archived_reason=ArchivedReason.SUPERSEDED,
        superseded_by=own,
    )
    known(agent, text.format("Dakar"), valid_until=timezone.now() - timedelta(seconds=1))
    known(bobs_agent, text.format("Sofia"), agent=None)
    upstream.script(says("To Turku."))
    answer = ask(client, user("where did my sister Anna move?"), headers=NAMED)
    sent = upstream.last.text
    places = [
        "Turku",
        "Oslo",
        "Bergen",
        "Lima",
        "Quito",
        "Cairo",
        "Accra",
        "Dakar",
        "Sofia",
        "Minsk",
    ]
    assert {place for place in places if place in sent} == {"Turku", "Oslo"}
    assert len(answer.headers["x-remembrancer-facts"].split(",")) == 2
