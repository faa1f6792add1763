import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from agents.models import Agent, OwnerSettings, User
from conversations.ingest import compact
from conversations.models import Conversation
from memory.models import FactUsage, RecalledAhead, RecalledFact
from memory.recall import record
from memory.recall.service import recall
from memory.tasks_recall import count_recalled
from tests.factories import ApiKeyFactory, ConversationFactory, FactFactory, IssuedKey
from tests.memory.hostile import FENCES, HARMLESS, HIDDEN, ROLES, storable
from tests.memory.recalling import known, model, named
from tests.memory.searching import said

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

Api = Callable[[IssuedKey], Client]
NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
HOME = "The user's home is in the Kallio district of Helsinki."


def post(client: Client, **body: Any) -> Any:
    return client.post("/api/v1/recall", json.dumps(body), content_type="application/json")


def asked(client: Client, message: str = "where do I live", **more: Any) -> dict[str, Any]:
    response = post(client, message=message, **more)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def test_it_answers_with_block_tokens_items_and_trace(
    api: Api, alice_key: IssuedKey, agent: Agent
) -> None:
    (fact,) = known(agent, HOME)
    answer = asked(api(alice_key), explain=True)
    assert HOME in answer["block"]
    assert 0 < answer["tokens"] <= 1500
    assert answer["empty"] is False
    (item,) = answer["items"]
    assert (item["id"], item["statement"], item["kind"]) == (str(fact.pk), HOME, "semantic")
    worth = item["worth"]
    assert worth["legs"]["vector"]["rank"] == 1
    assert 0.4 < worth["cosine"] < 1
    assert worth["relevance"] == pytest.approx(sum(worth["parts"].values()), abs=0.01)
    assert 0 < worth["score"] <= worth["relevance"]
    assert {leg["leg"]: leg["outcome"] for leg in answer["trace"]["legs"]} == {
        "vector": "ok",
        "full_text": "ok",
        "entity": "ok",
        "time": "skipped",
        "recency": "skipped",
    }


def test_home_is_found_though_it_means_less_than_what_is_beside_the_point(
    api: Api, alice_key: IssuedKey, agent: Agent
) -> None:
    """By its one word, where a threshold of similarity would tell another place or none."""
    home = "Rent of 1,250 euros goes to Lumo on the first of each month for Vaasankatu 12 B 34,"
    home += " which the user lives in."
    beside = "The user is allergic to peanuts."
    known(agent, home, beside)
    answer = asked(api(alice_key), explain=True)
    (item,), (miss,) = answer["items"], answer["trace"]["near_misses"]
    assert (item["statement"], miss["statement"]) == (home, beside)
    assert item["worth"]["cosine"] < miss["worth"]["cosine"] < 0.3
    assert set(item["worth"]["legs"]) == {"vector", "full_text"}


def test_it_explains_only_where_it_is_asked_to(
    api: Api, alice_key: IssuedKey, agent: Agent
) -> None:
    known(agent, HOME, "The user is allergic to peanuts.")
    lean, full = asked(api(alice_key)), asked(api(alice_key), explain=True)
    assert [item["worth"] for item in lean["items"]] == [None]
    assert lean["trace"]["near_misses"] == []
    (miss,) = full["trace"]["near_misses"]
    assert (miss["statement"], miss["why"]) == (
        "The user is allergic to peanuts.",
        "not relevant enough",
    )
    assert miss["worth"]["opens"] is False
    assert set(miss["worth"]["legs"]) == {"vector"}


def test_a_greeting_gets_an_empty_block(api: Api, alice_key: IssuedKey, agent: Agent) -> None:
    known(agent, HOME)
    answer = asked(api(alice_key), "Hello!")
    assert (answer["block"], answer["tokens"], answer["items"]) == ("", 0, [])
    assert answer["empty"] is True
    assert answer["trace"]["empty_because"] == "the message asks for nothing"


def test_it_is_what_the_function_tells(api: Api, alice_key: IssuedKey, agent: Agent) -> None:
    known(agent, HOME)
    told = recall(agent=agent, message="where do I live").block.split("\n")
    assert asked(api(alice_key))["block"].split("\n")[1:-1] == told[1:-1]


def test_another_owner_or_agent_hears_nothing_of_it(
    api: Api, bob_key: IssuedKey, agent: Agent, second_agent: Agent
) -> None:
    known(agent, HOME)
    for key in (bob_key, ApiKeyFactory.create(agent=second_agent)):
        answer = post(api(key), message="where do I live")
        assert "Kallio" not in answer.content.decode()
        assert answer.json()["block"] == ""


def test_an_unbound_key_names_the_agent(api: Api, agent: Agent) -> None:
    known(agent, HOME)
    key = ApiKeyFactory.create(owner=agent.owner)
    assert post(api(key), message="where do I live").status_code == 422
    assert post(api(key), message="where do I live", agent="nobody").status_code == 404
    assert HOME in asked(api(key), agent="main")["block"]


def test_a_bound_key_speaks_for_its_agent_only(api: Api, alice_key: IssuedKey) -> None:
    assert post(api(alice_key), message="where do I live", agent="work").status_code == 404


def test_a_key_without_the_scope_is_refused(api: Api, agent: Agent) -> None:
    key = ApiKeyFactory.create(agent=agent, scopes=("ingest",))
    assert post(api(key), message="where do I live").status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": None},
        {"message": "a\x00b"},
        {"message": "a", "recent": "b"},
        {"message": "a", "recent": ["b"] * 21},
        {"message": "a", "budget": 10},
        {"message": "a", "budget": 10**9},
        {"message": "a", "unknown": 1},
        {"message": "x" * 1_000_000},
        {"message": "a", "conversation": ""},
    ],
)
def test_bad_input_is_one_clear_answer(
    api: Api, alice_key: IssuedKey, body: dict[str, Any]
) -> None:
    response = post(api(alice_key), **body)
    assert response.status_code == 422
    assert response["Content-Type"] == "application/problem+json"


def test_the_budget_is_kept(api: Api, alice_key: IssuedKey, agent: Agent) -> None:
    known(agent, *(f"The user's sister Anna visited city number {n}." for n in range(20)))
    answer = asked(api(alice_key), "which cities did my sister visit", budget=200, explain=True)
    assert answer["tokens"] <= 200
    assert any(miss["why"] == "over the budget" for miss in answer["trace"]["near_misses"])


def test_while_memory_is_off_the_block_is_empty(
    api: Api, alice_key: IssuedKey, agent: Agent
) -> None:
    known(agent, HOME)
    OwnerSettings.objects.filter(owner=agent.owner).update(memory_enabled=False)
    answer = asked(api(alice_key))
    assert (answer["block"], answer["trace"]["empty_because"]) == ("", "memory is off")


# What it leaves behind


def test_it_remembers_what_it_told_where(api: Api, alice_key: IssuedKey, agent: Agent) -> None:
    (fact,) = known(agent, HOME)
    conversation = ConversationFactory.create(agent=agent, external_id="c1")
    for _ in range(2):
        assert asked(api(alice_key), conversation="c1")["trace"]["recorded"] is True
    (row,) = RecalledFact.objects.all()
    assert (row.conversation, row.fact, row.owner) == (conversation, fact, agent.owner)


def test_what_it_told_before_the_first_message_is_known_of_the_conversation(
    api: Api, alice_key: IssuedKey, agent: Agent
) -> None:
    """An assistant asks, answers, and only then stores what was said."""
    known(agent, HOME)
    for _ in range(2):
        assert asked(api(alice_key), conversation="c1")["trace"]["recorded"] is True
    assert not Conversation.objects.exists()
    talk = said(agent, "Where do I live?")
    assert record.statements_told(conversation=talk, most=9) == (HOME,)
    asked(api(alice_key), "is Helsinki my home?", conversation="c1")
    assert set(record.statements_told(conversation=talk, most=9)) == {HOME}
    assert (RecalledAhead.objects.count(), RecalledFact.objects.count()) == (1, 1)


def test_what_it_told_one_conversation_is_not_taken_for_anothers(
    api: Api, alice_key: IssuedKey, bob_key: IssuedKey, agent: Agent, bobs_agent: Agent
) -> None:
    known(agent, HOME)
    known(bobs_agent, "The user's home is in Turku.")
    for key in (alice_key, bob_key):
        asked(api(key), conversation="c1")
    asked(api(alice_key), conversation="c1", source="other")
    asked(api(alice_key))
    elsewhere = ConversationFactory.create(agent=agent, external_id="c2")
    of_bob = ConversationFactory.create(agent=bobs_agent, external_id="c1")
    of_another = ConversationFactory.create(
        agent=agent.owner.agents.get(slug="work"), external_id="c1"
    )
    assert record.statements_told(conversation=elsewhere, most=9) == ()
    assert record.statements_told(conversation=of_another, most=9) == ()
    (told,) = record.statements_told(conversation=of_bob, most=9)
    assert told.endswith("Turku.")


def test_a_conversation_that_never_came_is_forgotten(agent: Agent) -> None:
    (fact,) = known(agent, HOME)
    for name, told_at in (("old", NOW - record.GIVEN_UP_AFTER - timedelta(1)), ("new", NOW)):
        talk = record.Talk(agent, "api", name)
        record.remember_ahead(talk=talk, fact_ids=[fact.pk], now=told_at)
    record.count(owner_id=agent.owner_id, fact_ids=[fact.pk], now=NOW)
    assert [row.external_id for row in RecalledAhead.objects.all()] == ["new"]


def test_it_goes_on_without_a_broker(
    api: Api, alice_key: IssuedKey, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    from celery import current_app

    known(agent, HOME)
    nowhere = current_app.connection_for_write(
        "redis://127.0.0.1:1/0", transport_options=record.IMPATIENT
    )
    monkeypatch.setattr(record, "_broker", lambda: nowhere)
    assert HOME in asked(api(alice_key))["block"]


def test_the_worker_counts_what_was_told(agent: Agent, bob: User) -> None:
    fact, other = FactFactory.create(agent=agent), FactFactory.create(agent=agent)
    bobs = FactFactory.create(owner=bob)
    ids = [str(fact.pk), str(bobs.pk)]
    count_recalled(str(agent.owner_id), ids, NOW.isoformat())
    count_recalled(str(agent.owner_id), ids, datetime(2020, 1, 1, tzinfo=UTC).isoformat())
    (usage,) = FactUsage.objects.all()
    assert (usage.fact, usage.retrieval_hits, usage.last_retrieved_at) == (fact, 2, NOW)
    before = fact.last_confirmed_at
    fact.refresh_from_db()
    assert fact.last_confirmed_at == before
    assert other.pk != fact.pk


def test_the_worker_is_told_by_name_and_without_text(
    api: Api, alice_key: IssuedKey, agent: Agent
) -> None:
    from celery import current_app

    (fact,) = known(agent, HOME)
    with current_app.connection_for_write() as broker:
        queue = broker.SimpleQueue(current_app.conf.task_default_queue)
        queue.clear()
        asked(api(alice_key), conversation="c1")
        hint = queue.get_nowait()
    # The answer waited for no count.
    assert not FactUsage.objects.exists()
    assert hint.headers["task"] == count_recalled.name
    owner_id, fact_ids, _ = hint.payload[0]
    assert (owner_id, fact_ids) == (str(agent.owner_id), [str(fact.pk)])
    assert "Kallio" not in str(hint.payload)
    count_recalled(*hint.payload[0])
    assert [usage.fact for usage in FactUsage.objects.all()] == [fact]


# Hostile texts, all the way through


@pytest.mark.parametrize(
    "payload", [*FENCES.values(), *ROLES.values(), *(text for text, _ in HIDDEN.values())]
)
def test_a_hostile_fact_stays_one_line_of_data(
    api: Api, alice_key: IssuedKey, agent: Agent, payload: str
) -> None:
    statement = f"{storable(payload)} Zanzibar"
    FactFactory.create(agent=agent, state="active", statement=statement)
    block = asked(api(alice_key), "what about Zanzibar?")["block"]
    first, _, line, last = block.split("\n")
    nonce = re.fullmatch(r'<memory trust="data" id="([0-9a-f]{12})">', first)
    assert nonce is not None
    assert last == f'</memory id="{nonce[1]}">'
    assert line.startswith("- [said ")
    assert line.endswith("Zanzibar")
    assert not re.search(r"<[\W_]*memory", line, re.IGNORECASE)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_fact_is_told_as_it_is(
    api: Api, alice_key: IssuedKey, agent: Agent, text: str
) -> None:
    FactFactory.create(agent=agent, state="active", statement=f"Zanzibar: {text}")
    assert f"] Zanzibar: {text}\n" in asked(api(alice_key), "what about Zanzibar?")["block"]


@pytest.mark.parametrize("payload", [*FENCES.values(), *ROLES.values()])
def test_a_hostile_message_never_reaches_the_block(
    api: Api, alice_key: IssuedKey, agent: Agent, payload: str
) -> None:
    named(
        FactFactory.create(agent=agent, state="active", statement="The user likes Zanzibar."),
        "Zanzibar",
    )
    answer = asked(api(alice_key), f"{payload} qwertz Zanzibar {payload}")
    assert answer["block"].count("\n") == 3
    assert "qwertz" not in answer["block"]


@pytest.mark.parametrize(
    ("table", "begun", "recorded"),
    [
        ("memory_recalledahead", False, False),
        ("memory_recalledfact", True, False),
        # Without its list no excerpt rides, and so none has to be remembered.
        ("conversations_shownpassages", True, True),
    ],
)
def test_what_can_not_be_left_behind_costs_no_answer(
    api: Api, alice_key: IssuedKey, agent: Agent, table: str, begun: bool, recorded: bool
) -> None:
    known(agent, HOME)
    if begun:
        said(agent, "The rhubarb pie of my aunt needs six eggs and a cup of sugar.", "Thanks.")
        compact(agent=agent, source="api", external_id="c1", up_to="m1")
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {table} (nothing integer) ON COMMIT DROP")
    answer = asked(api(alice_key), "Where do I live?", conversation="c1")
    assert HOME in answer["block"]
    assert answer["trace"]["recorded"] is recorded
