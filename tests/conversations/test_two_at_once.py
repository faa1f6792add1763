"""Two clients write to one conversation at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from agents.models import Agent
from conversations.ingest import Into, Stored, store_messages
from conversations.models import Conversation, Message, Passage
from conversations.schemas import MessageIn
from tests.conversations.conftest import message

pytestmark = pytest.mark.django_db(transaction=True)


def _at_once(*calls: Callable[[], Any]) -> list[Any]:
    def run(call: Callable[[], Any]) -> Any:
        try:
            return call()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def _store(agent: Agent, *numbers: int) -> Callable[[], Stored]:
    batch = [MessageIn.model_validate(message(number)).incoming() for number in numbers]
    into = Into(agent=agent, source="api", external_id="c1")
    return lambda: store_messages(into=into, messages=batch)


def test_the_same_batch_is_stored_once(agent: Agent) -> None:
    results = _at_once(*[_store(agent, *range(20))] * 4)
    assert sorted(result.new for result in results) == [0, 0, 0, 20]
    assert Message.objects.count() == Passage.objects.count() == 20


def test_seqs_have_neither_gaps_nor_twins(agent: Agent) -> None:
    _at_once(*(_store(agent, *range(10 * i, 10 * i + 10)) for i in range(4)))
    conversation = Conversation.objects.get()
    seqs = list(conversation.messages.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, 41))
    assert conversation.last_seq == 40
