"""Why something was not told: facts that recall never looks at."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.models import Agent, OwnerSettings
from conversations.ingest import compact
from memory.recall import withheld
from memory.recall.trace import Why
from memory.vocabulary import State
from tests.factories import ApiKeyFactory, IssuedKey
from tests.memory.recalling import known, model
from tests.memory.searching import said

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

Api = Callable[[IssuedKey], Client]
NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
ASKED = "where does my sister Anna live?"
LIVES = "The user's sister Anna lives in {}."
# By place: what became of the fact.
ENDS: dict[str, tuple[Why, dict[str, Any]]] = {
    "Lima": (Why.PENDING, {"state": State.PENDING}),
    "Quito": (Why.REJECTED, {"state": State.REJECTED}),
    "Cairo": (Why.ARCHIVED, {"state": State.ARCHIVED}),
    "Accra": (Why.EXPIRED, {"valid_until": NOW - timedelta(days=1)}),
}
OF_ANOTHER, OF_BOB, TOLD = "Dakar", "Tunis", "Turku"


@pytest.fixture
def store(agent: Agent, second_agent: Agent, bobs_agent: Agent) -> Agent:
    known(agent, LIVES.format(TOLD))
    for place, (_, values) in ENDS.items():
        known(agent, LIVES.format(place), **values)
    known(second_agent, LIVES.format(OF_ANOTHER))
    known(bobs_agent, LIVES.format(OF_BOB))
    known(agent, "The user drinks tea.", state=State.PENDING)
    return agent


def places(text: str) -> set[str]:
    return {place for place in (*ENDS, OF_ANOTHER, OF_BOB) if place in text}


def test_what_would_have_been_found_is_named_with_its_reason(store: Agent) -> None:
    found = withheld.look(agent=store, message=ASKED, now=NOW)
    expected = {LIVES.format(place): why for place, (why, _) in ENDS.items()}
    assert {miss.fact.statement: miss.why for miss in found} == expected
    everything = withheld.look(agent=store, message=ASKED, now=NOW, other_agents=True)
    expected[LIVES.format(OF_ANOTHER)] = Why.SCOPE
    assert {miss.fact.statement: miss.why for miss in everything} == expected


@pytest.mark.parametrize("message", ["Hello!", "Explain quantum entanglement"])
def test_what_does_not_bear_on_the_message_is_not_named(store: Agent, message: str) -> None:
    assert withheld.look(agent=store, message=message, now=NOW, other_agents=True) == []


def test_what_means_nothing_names_nothing(agent: Agent) -> None:
    for statement in ("ผู้ใช้ชอบดื่มชาเขียว", "ผู้ใช้เลี้ยงสุนัขสองตัว"):
        known(agent, statement, language="simple", state=State.PENDING)
    assert withheld.look(agent=agent, message="x", now=NOW) == []


def test_nothing_is_named_while_memory_is_off(store: Agent) -> None:
    OwnerSettings.objects.filter(owner=store.owner).update(memory_enabled=False)
    assert withheld.look(agent=store, message=ASKED, now=NOW) == []


def test_a_key_that_may_review_is_told_ids_and_reasons_of_its_own_scope_and_no_text(
    api: Api, store: Agent
) -> None:
    body = json.dumps({"message": ASKED, "explain": True})
    key = ApiKeyFactory.create(agent=store, scopes=("recall", "review"))
    answer = api(key).post("/api/v1/recall", body, content_type="application/json")
    told = {one["why"] for one in answer.json()["trace"]["withheld"]}
    assert told == {"waits for review", "rejected", "archived", "expired"}
    assert places(answer.content.decode()) == set()
    lean = json.dumps({"message": ASKED})
    works = ApiKeyFactory.create(
        agent=store.owner.agents.get(slug="work"), scopes=("recall", "review")
    )
    for others, asked in ((key, lean), (works, body)):
        answer = api(others).post("/api/v1/recall", asked, content_type="application/json")
        assert answer.json()["trace"]["withheld"] == []


def test_a_key_that_may_only_recall_learns_of_nothing_that_is_withheld(
    api: Api, alice_key: IssuedKey, store: Agent
) -> None:
    body = json.dumps({"message": ASKED, "explain": True})
    answer = api(alice_key).post("/api/v1/recall", body, content_type="application/json")
    assert [item["statement"] for item in answer.json()["items"]] == [LIVES.format(TOLD)]
    assert answer.json()["trace"]["withheld"] == []
    assert places(answer.content.decode()) == set()


# The page


def page(agent: Agent, **asked: Any) -> str:
    client = Client()
    client.force_login(agent.owner)
    values = {"message": ASKED, "agent": str(agent.pk)} | asked
    return client.post(reverse("recall"), values).content.decode()


def test_the_owner_sees_what_is_withheld_from_whom(store: Agent) -> None:
    assert places(page(store)) == set()
    shown = page(store, withheld="on")
    assert TOLD in shown
    assert places(shown) == {*ENDS, OF_ANOTHER}
    assert "Withheld" in shown
    assert "another assistant&#x27;s" in shown


def test_the_page_looks_back(agent: Agent) -> None:
    month = timezone.now() - timedelta(days=30)
    known(agent, LIVES.format(TOLD), created_at=month, observed_at=month)
    known(agent, LIVES.format("Oslo"))
    day = (timezone.now() - timedelta(days=2)).date()
    shown = page(agent, as_of=day.isoformat())
    assert "would have been told on" in shown
    assert TOLD in shown
    assert "Oslo" not in shown
    later = (timezone.now() + timedelta(days=2)).date()
    assert "This day is yet to come." in page(agent, as_of=later.isoformat())
    assert "Nothing: nothing was known yet." in page(agent, as_of="1999-01-01")


def test_the_page_shows_the_excerpts_of_a_summarised_conversation(
    agent: Agent, second_agent: Agent, bobs_agent: Agent
) -> None:
    for one in (agent, bobs_agent):
        said(one, f"The red cello of {one.owner.username} is broken.")
        compact(agent=one, source="api", external_id="c1", up_to="m1")
    talk = agent.conversations.get()
    shown = page(agent, message="How is the red cello?", conversation=str(talk.pk))
    assert "Excerpts of the conversation" in shown
    assert shown.count("The red cello of alice is broken.") == 2
    refused = page(second_agent, message="How is the red cello?", conversation=str(talk.pk))
    assert "another assistant&#x27;s" in refused
    of_bob = bobs_agent.conversations.get()
    stranger = page(agent, message="How is the red cello?", conversation=str(of_bob.pk))
    assert "of bob" not in stranger
    assert "Select a valid choice" in stranger


def test_a_question_behind_what_was_pasted_is_looked_for_too(agent: Agent) -> None:
    known(agent, "The user's home is in Kallio.", state=State.PENDING)
    pasted = "The scheduler printed another line about packages, queues and timeouts.\n" * 12
    (miss,) = withheld.look(agent=agent, message=f"{pasted}\nWhere do I live?", now=NOW)
    assert miss.why == Why.PENDING
    assert withheld.look(agent=agent, message=pasted, now=NOW) == []
