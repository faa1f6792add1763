"""A fact that a request makes is found by its meaning by the next one, before any sweep."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from django.test import Client
from django.urls import reverse

from agents.audit import person
from agents.models import Agent
from memory import embedding
from memory.cited import citation
from memory.handwritten import write
from memory.lifecycle import Edit
from memory.models import Fact, FactEmbedding
from memory.recall.service import recall
from memory.remember import Outcome, remember
from memory.vocabulary import Kind, State
from tests.factories import ApiKeyFactory, ConversationFactory, FactFactory, MessageFactory
from tests.memory.recalling import model

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("model")]
__all__ = ["model"]

HOME = "The user's home is in the Kallio district of Helsinki."


def _told(agent: Agent) -> list[str]:
    return [item.fact.statement for item in recall(agent=agent, message="where do I live").items]


def _remembered(agent: Agent) -> None:
    talk = ConversationFactory.create(agent=agent)
    said = HOME.replace("The user's", "My")
    MessageFactory.create(conversation=talk, content=said, client_id="it")
    cited = citation(
        agent=agent, source="api", conversation=talk.external_id, message="it", quote=said
    )
    key = ApiKeyFactory.create(agent=agent, scopes=["remember"])
    done = remember(agent=agent, client=key, statement=HOME, cited=cited)
    assert done.outcome == Outcome.ACTIVE


def _written(agent: Agent) -> None:
    edit = Edit(statement=HOME, kind=Kind.SEMANTIC)
    at = datetime(2026, 3, 2, tzinfo=UTC)
    write(owner=agent.owner, agent=agent, edit=edit, at=at, actor=person(agent.owner))


def _candidate(agent: Agent) -> Fact:
    return FactFactory.create(agent=agent, statement="The user likes Kallio.", state=State.PENDING)


def _edited_by_a_client(agent: Agent) -> None:
    key = ApiKeyFactory.create(owner=agent.owner, scopes=["review"])
    answer = Client().post(
        f"/api/v1/candidates/{_candidate(agent).pk}/decide",
        {"decision": "edit", "edit": {"statement": HOME}},
        content_type="application/json",
        headers={"authorization": f"Bearer {key.plaintext}"},
    )
    assert answer.status_code == 200, answer.content


def _edited_at_the_desk(agent: Agent) -> None:
    client = Client()
    client.force_login(agent.owner)
    client.post(
        reverse("edit", args=[_candidate(agent).pk]), {"statement": HOME, "kind": "semantic"}
    )


WAYS: dict[str, Callable[[Agent], None]] = {
    "asked for": _remembered,
    "written by hand": _written,
    "edited by a client": _edited_by_a_client,
    "edited at the desk": _edited_at_the_desk,
}


@pytest.mark.parametrize("make", WAYS.values(), ids=WAYS.keys())
def test_a_new_fact_is_found_by_its_meaning_at_once(
    agent: Agent, make: Callable[[Agent], None]
) -> None:
    make(agent)
    assert _told(agent) == [HOME]


def test_without_the_model_the_sweep_makes_it(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(embedding, "_held", embedding._Holder())
        _written(agent)
    assert Fact.objects.filter(statement=HOME).exists()
    assert not FactEmbedding.objects.exists()
    assert embedding.embed_backlog(seconds=60) == 1
