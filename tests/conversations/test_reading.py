"""GET conversations and messages: only the agent's own, page by page."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import Agent, User
from tests.conversations.conftest import Send, message
from tests.factories import ApiKeyFactory, ConversationFactory, IssuedKey, MessageFactory

pytestmark = pytest.mark.django_db

URL = "/api/v1/conversations"


def test_an_agent_sees_its_own_conversations_only(
    client_of_alice: Client, agent: Agent, second_agent: Agent, bobs_agent: Agent
) -> None:
    for owner, title in ((agent, "Mine"), (second_agent, "Work's"), (bobs_agent, "Bob's")):
        ConversationFactory.create(agent=owner, title=title, external_id=title)
    items = client_of_alice.get(URL).json()["items"]
    assert [item["title"] for item in items] == ["Mine"]
    for hidden in ("Work's", "Bob's", "missing"):
        answer = client_of_alice.get(f"{URL}/{hidden}")
        assert answer.status_code == 404
        assert answer.json()["detail"] == "There is no such conversation."
        assert client_of_alice.get(f"{URL}/{hidden}/messages").status_code == 404


def test_a_key_for_every_agent_names_one(
    api: Callable[[IssuedKey], Client], alice: User, second_agent: Agent
) -> None:
    ConversationFactory.create(agent=second_agent, title="Work's")
    client = api(ApiKeyFactory.create(owner=alice))
    assert client.get(URL).status_code == 422
    assert client.get(URL, {"agent": "main"}).json()["items"] == []
    assert [c["title"] for c in client.get(URL, {"agent": "work"}).json()["items"]] == ["Work's"]


def test_the_list_is_paged_by_key(client_of_alice: Client, agent: Agent) -> None:
    made = [c.external_id for c in ConversationFactory.create_batch(5, agent=agent)]
    pages = list(_pages(client_of_alice, URL, limit=2))
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [item["external_id"] for page in pages for item in page] == made[::-1]


def test_the_list_can_be_narrowed_to_a_source(client_of_alice: Client, agent: Agent) -> None:
    ConversationFactory.create(agent=agent, source="chatgpt", title="Imported")
    ConversationFactory.create(agent=agent, source="api")
    items = client_of_alice.get(URL, {"source": "chatgpt"}).json()["items"]
    assert [item["title"] for item in items] == ["Imported"]


def test_messages_are_paged_in_order_of_arrival(send: Send, client_of_alice: Client) -> None:
    send(message(1), message(2), message(3, replaces="m2"))
    pages = list(_pages(client_of_alice, f"{URL}/c1/messages", limit=2))
    assert [[item["id"] for item in page] for page in pages] == [["m1", "m2"], ["m3"]]
    last = pages[1][0]
    assert (last["parent"], last["replaces"], last["on_branch"]) == ("m1", "m2", True)
    assert pages[0][1]["on_branch"] is False


def test_one_conversation_says_what_is_unread(send: Send, client_of_alice: Client) -> None:
    send(message(1), message(2), title="Bicycles", sensitive=True)
    answer = client_of_alice.get(f"{URL}/c1").json()
    assert answer["title"] == "Bicycles"
    assert (answer["messages"], answer["unread"], answer["sensitive"]) == (2, 2, True)


@pytest.mark.parametrize(
    "query",
    [
        {"after": "rubbish"},
        {"after": "2026"},
        {"after": "MjAyNi0wMS0wMXx4"},
        {"after": "\x00"},
        {"after": "ä"},
        {"limit": "0"},
        {"limit": "501"},
        {"limit": "many"},
        {"source": "\x00"},
        {"agent": "\x00"},
    ],
)
def test_bad_queries_are_a_422(client_of_alice: Client, query: dict[str, str]) -> None:
    assert client_of_alice.get(URL, query).status_code == 422


def test_longer_lists_cost_no_more_queries(client_of_alice: Client, agent: Agent) -> None:
    def queries(url: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            assert client_of_alice.get(url).status_code == 200
        return len(captured)

    conversation = ConversationFactory.create(agent=agent, external_id="c1")
    MessageFactory.create(conversation=conversation)
    queries(URL)  # the first use of the key is noted
    few = queries(URL), queries(f"{URL}/c1/messages")
    ConversationFactory.create_batch(10, agent=agent)
    MessageFactory.create_batch(10, conversation=conversation)
    assert (queries(URL), queries(f"{URL}/c1/messages")) == few


def _pages(client: Client, url: str, limit: int) -> Iterator[list[dict[str, Any]]]:
    after: Any = None
    while True:
        query = {"limit": limit} | ({} if after is None else {"after": after})
        page = client.get(url, query).json()
        yield page["items"]
        after = page["next"]
        if after is None:
            return
