"""What of a search breaks leaves the rest, and every answer says what is missing."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from agents.models import Agent
from conversations.ingest import compact
from conversations.models import Conversation
from conversations.sketches import writing
from knowledge import indexing
from memory import embedding, tokens
from memory.cases import vectors
from memory.recall.service import recall
from memory.search.failures import Failures, SearchPart
from memory.search.hits import Scope, Tier
from memory.search.service import search
from memory.vocabulary import State
from tests.factories import ApiKeyFactory, CaseFactory, ConversationFactory, IssuedKey
from tests.knowledge.shelves import document, shelf
from tests.memory.mcp_clients import over_http
from tests.memory.recalling import known, model
from tests.memory.searching import said, understood

__all__ = ["model"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("model")]

ASKED = "When do the ferries to Suomenlinna leave?"
SECRET = "what was asked, which no log may hold"
TEXTS = {
    Tier.FACT: "The user takes the ferries that leave for Suomenlinna.",
    Tier.RAW: "The ferries to Suomenlinna leave at nine.",
    Tier.DOCUMENT: "Ferries that leave for Suomenlinna take bicycles.",
    Tier.SKETCH: "Ask which ferries cross to Suomenlinna.",
}
NOTE = "Words alone were compared, because the search by meaning failed."


@pytest.fixture
def talk(agent: Agent) -> Conversation:
    """One text of each kind that bears on the question."""
    talk = said(agent, TEXTS[Tier.RAW])
    known(agent, TEXTS[Tier.FACT])
    CaseFactory.create(
        conversation=ConversationFactory.create(agent=agent),
        state=State.ACTIVE,
        goal="Catch the ferries to Suomenlinna before they leave",
    )
    vectors.embed_backlog(seconds=60)
    document(shelf(agent.owner), "Boats", TEXTS[Tier.DOCUMENT], language="english")
    indexing.embed_backlog(seconds=60)
    writing.write(agent=agent, source="api", external_id="c1", key="plan", text=TEXTS[Tier.SKETCH])
    understood()
    return talk


@pytest.fixture
def broken_model(talk: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def encode(self, texts: Sequence[str]) -> list[list[float]]:
            raise RuntimeError(SECRET)

    monkeypatch.setattr(embedding._held, "encoder", Broken())
    monkeypatch.setattr(embedding, "known", embedding.Known(0))


def breaks(table: str) -> None:
    """It is no longer what it was."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {table} (nothing integer) ON COMMIT DROP")


def asked(agent: Agent, **how: Any) -> tuple[set[Tier], list[SearchPart]]:
    failures = Failures()
    hits = search(agent=agent, query=ASKED, failures=failures, **({"k": 20} | how))
    return {hit.tier for hit in hits}, failures.parts


def test_where_nothing_breaks_nothing_is_said(agent: Agent, talk: Conversation) -> None:
    assert asked(agent) == (set(Tier), [])
    assert Failures().in_words() == ""


def test_a_failing_model_leaves_the_words(
    agent: Agent, broken_model: None, caplog: pytest.LogCaptureFixture
) -> None:
    assert asked(agent) == (set(Tier), [SearchPart.MEANING])
    for scope in (Scope.FACTS, Scope.CASES, Scope.RAW, Scope.DOCUMENTS):
        tiers, failed = asked(agent, scope=scope)
        assert len(tiers) == 1
        assert failed == [SearchPart.MEANING]
    assert asked(agent, scope=Scope.SKETCHES) == ({Tier.SKETCH}, [])
    assert SECRET not in caplog.text


# The part that fails, and the tiers that can't go without it.
BROKEN: dict[str, tuple[set[SearchPart], set[Tier]]] = {
    "memory_factembedding": ({SearchPart.MEANING}, set()),
    "memory_factterm": ({SearchPart.FACTS}, set()),
    "memory_fact": ({SearchPart.MEANING, SearchPart.FACTS}, {Tier.FACT}),
    "memory_case": ({SearchPart.CASES}, {Tier.CASE}),
    "conversations_passageembedding": ({SearchPart.MEANING}, set()),
    "conversations_passageterm": ({SearchPart.RAW}, {Tier.RAW}),
    "conversations_sketch": ({SearchPart.SKETCHES}, {Tier.SKETCH}),
    "knowledge_documentembedding": ({SearchPart.MEANING}, set()),
    "knowledge_documentterm": ({SearchPart.DOCUMENTS}, {Tier.DOCUMENT}),
}


@pytest.mark.parametrize("table", BROKEN)
def test_a_broken_table_leaves_the_other_parts(
    agent: Agent, talk: Conversation, table: str
) -> None:
    breaks(table)
    parts, gone = BROKEN[table]
    tiers, failed = asked(agent)
    assert set(failed) == parts
    assert tiers == set(Tier) - gone


def test_the_api_says_what_failed(
    agent: Agent, broken_model: None, api: Callable[[IssuedKey], Client]
) -> None:
    client = api(ApiKeyFactory.create(agent=agent, scopes=["search"]))
    answer = post(client, "/api/v1/search", k=20)
    assert {hit["tier"] for hit in answer["hits"]} == set(Tier)
    assert answer["failed"] == ["meaning"]
    answer = post(client, "/api/v1/knowledge/search")
    assert [one["text"] for one in answer["results"]] == [TEXTS[Tier.DOCUMENT]]
    assert answer["failed"] == ["meaning"]
    breaks("knowledge_documentterm")
    answer = post(client, "/api/v1/search", k=20)
    assert {hit["tier"] for hit in answer["hits"]} == set(Tier) - {Tier.DOCUMENT}
    assert answer["failed"] == ["meaning", "documents"]


def post(client: Client, path: str, **how: Any) -> Any:
    answer = client.post(path, {"query": ASKED, **how}, content_type="application/json")
    assert answer.status_code == 200
    return answer.json()


def test_the_tools_say_what_failed(agent: Agent, talk: Conversation) -> None:
    client = over_http(ApiKeyFactory.create(agent=agent, scopes=["search"]).plaintext)
    for name in ("search_memory", "search_kb"):
        assert "failed" not in client.told(name, query=ASKED)
    breaks("knowledge_documentembedding")
    for name in ("search_memory", "search_kb"):
        told = client.told(name, query=ASKED, max_tokens=1200)
        assert TEXTS[Tier.DOCUMENT] in told
        assert NOTE in told
        assert tokens.count(told) <= 1200
    breaks("conversations_passageterm")
    breaks("memory_case")
    told = client.told("search_memory", query=ASKED)
    assert "Incomplete: the search of cases and what was said failed, wholly or in part." in told
    assert TEXTS[Tier.FACT] in told
    told = client.told("search_memory", query=ASKED, scope="raw")
    assert told.startswith("Nothing in memory bears on this. Incomplete: the search of what")


def test_the_page_says_what_failed(agent: Agent, broken_model: None, client: Client) -> None:
    client.force_login(agent.owner)
    shown = client.post(reverse("knowledge-search"), {"q": ASKED, "agent": agent.pk})
    assert shown.status_code == 200
    assert TEXTS[Tier.DOCUMENT] in shown.content.decode()
    assert NOTE in shown.content.decode()


def test_excerpts_ride_in_recall_by_their_words(agent: Agent, talk: Conversation) -> None:
    said(agent, "Thanks.")
    compact(agent=agent, source="api", external_id="c1", up_to="m1", summary="Of boats.")
    breaks("conversations_passageembedding")
    talk.refresh_from_db()
    told = recall(agent=agent, message=ASKED, conversation=talk)
    assert [one.text for one in told.excerpts] == [TEXTS[Tier.RAW]]
