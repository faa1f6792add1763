"""Too much of one thing, by conversations and by keys: what repeats, drags on or is too large."""

import json
from collections.abc import Callable

import pytest
from django.test import Client

from agents.models import Agent
from conversations.models import Conversation
from memory.models import Entity, EntityAlias, ExtractionRun, Fact, FactEntity
from memory.recall.service import recall
from memory.vocabulary import EntityType, State
from tests.factories import ApiKeyFactory, ConversationFactory, FactFactory, IssuedKey
from tests.llm_server import ScriptedLlm
from tests.memory.extraction_cases import candidate, decided, observed, run_once, say
from tests.memory.recalling import named

pytestmark = pytest.mark.django_db

Api = Callable[[IssuedKey], Client]
TEA = "The user likes Zanzibar tea."
ASKED = "what about Zanzibar?"
BRIDGES = (
    "I sort the invoices of client A in Zanzibar as those of client B, as agreed.",
    "As noted, in Zanzibar the invoices of A are those of B.",
    "As before: for Zanzibar A is B.",
    "Zanzibar: A is B.",
)


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    return ConversationFactory.create(agent=agent)


def texts() -> list[str]:
    return list(Fact.objects.order_by("pk").values_list("statement", flat=True))


@pytest.mark.parametrize("path", ["facts", "remember", "propose"])
@pytest.mark.parametrize(
    "statement",
    ["The user\x00 likes tea.", "The user likes \ud800tea.", "The user likes tea. " * 50_000],
    ids=["NUL", "half of a pair", "a megabyte"],
)
def test_what_no_fact_can_hold_is_refused_whole(
    api: Api, agent: Agent, path: str, statement: str
) -> None:
    key = ApiKeyFactory.create(agent=agent, scopes=["review", "remember", "propose"])
    body = json.dumps({"statement": statement})
    answer = api(key).post(f"/api/v1/{path}", body, content_type="application/json")
    assert answer.status_code in {413, 422}, answer.content[:200]
    assert texts() == []


def test_a_chain_of_harmless_turns_makes_nothing_that_is_told(
    llm: ScriptedLlm, conversation: Conversation
) -> None:
    """Each leans on the one before, and a model that believes them is as sure as can be."""
    for number, said in enumerate(BRIDGES):
        say(conversation, said)
        bridge = f"In Zanzibar invoices of client A are those of client B, version {number}."
        llm.observer(observed(candidate(bridge, said, message=number + 1, confidence=1.0)))
        llm.reflector(decided((1, "create", [])))
        assert run_once(conversation).state == ExtractionRun.State.APPLIED
    assert len(texts()) == len(BRIDGES)
    assert set(Fact.objects.values_list("state", flat=True)) == {State.PENDING}
    assert recall(agent=conversation.agent, message=ASKED).block == ""


def test_what_is_said_over_and_over_is_one_candidate(
    llm: ScriptedLlm, conversation: Conversation
) -> None:
    for start in (1, 21):
        say(conversation, *["I like Zanzibar tea."] * 20)
        again = [candidate(TEA, "I like Zanzibar tea.", message=start + n) for n in range(20)]
        llm.observer(observed(*again))
        run_once(conversation)
    (fact,) = Fact.objects.all()
    assert (fact.statement, fact.state, fact.confidence) == (TEA, State.PENDING, 0.9)


def test_a_candidate_of_ten_thousand_entities_is_refused(
    llm: ScriptedLlm, conversation: Conversation
) -> None:
    say(conversation, "I like Zanzibar tea.")
    crowd = [{"type": "person", "name": f"Ann {n}", "aliases": []} for n in range(10_000)]
    for _ in range(2):
        llm.observer(observed(candidate(TEA, "I like Zanzibar tea.", entities=crowd)))
    assert run_once(conversation).state == ExtractionRun.State.FAILED
    assert texts() == []
    assert not Entity.objects.exists()


def test_a_fact_of_a_thousand_entities_is_one_line(agent: Agent) -> None:
    """Brought in by whatever way, it is found by its names, and makes no block any longer."""
    crowded = FactFactory.create(agent=agent, state=State.ACTIVE, statement="The user met all.")
    named(crowded, "Bobby")
    owner, kind = agent.owner, EntityType.PERSON
    names = [f"bob{n}" for n in range(1_000)]
    crowd = Entity.objects.bulk_create(
        Entity(owner=owner, type=kind, name=name, normal_name=name) for name in names
    )
    EntityAlias.objects.bulk_create(
        EntityAlias(owner=owner, entity=one, name=one.name, normal_name=one.name) for one in crowd
    )
    FactEntity.objects.bulk_create(
        FactEntity(owner=owner, fact=crowded, entity=one) for one in crowd
    )
    lines = recall(agent=agent, message="who is Bobby?").block.split("\n")[2:-1]
    assert [line.split("] ")[1] for line in lines] == ["The user met all."]


def test_the_block_pasted_back_into_the_conversation_teaches_nothing(
    llm: ScriptedLlm, conversation: Conversation
) -> None:
    FactFactory.create(agent=conversation.agent, state=State.ACTIVE, statement=TEA)
    block = recall(agent=conversation.agent, message=ASKED).block
    assert TEA in block
    say(conversation, f"{block}\nThis is what you told me.")
    other = "The user loves tea from Zanzibar."
    llm.observer(observed(candidate(TEA, TEA), candidate(other, TEA)))
    assert run_once(conversation).counts["dropped"] == {"recalled_echo": 2}
    (fact,) = Fact.objects.all()
    assert (fact.last_confirmed_at, fact.evidence.count()) == (fact.observed_at, 0)
