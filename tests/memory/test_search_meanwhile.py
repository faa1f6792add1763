"""What is said otherwise while somebody searches: the old is not told, and the new is."""

from contextlib import closing
from functools import partial
from typing import Any

import pytest

from agents.models import Agent
from memory.search import index, service
from tests.memory.searching import said, texts
from tests.memory.sessions import Session

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_vectors")]


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (index.Index, "postings"),
        (index.Index, "entries"),
        (index.Index, "of_stretches"),
        (index.Index, "texts"),
        (service.RawSearch, "_passages"),
    ],
)
def test_a_message_that_is_replaced_during_a_search_is_found_as_it_is_then(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, place: Any, name: str
) -> None:
    said(agent, "I bought a cello.")
    whole = getattr(place, name)
    done: list[str] = []

    def instead(*given: Any) -> Any:
        if not done:
            done.append(name)
            with closing(Session()) as other:
                other.do(partial(said, agent, "I bought a cello in Turku.", replaces="m1"))
        return whole(*given)

    monkeypatch.setattr(place, name, instead)
    assert texts(agent, "cello") == ["I bought a cello in Turku."]
    assert done == [name]
