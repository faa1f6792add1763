"""Reading without a language model, and what vectors add to either way of reading."""

import pytest
from pytest_django.fixtures import Settings

from agents.models import Agent
from conversations.models import Conversation
from memory import embedding
from memory.extraction.neighbours import neighbourhood
from memory.extraction.run import extract
from memory.extraction.schema import Candidate
from memory.models import ExtractionRun, Fact, FactEmbedding
from memory.vocabulary import State, Trigger, Withheld
from tests.factories import ConversationFactory, FactFactory
from tests.memory.extraction_cases import (
    NO_ROUTE,
    candidate,
    decided,
    marks,
    observed,
    run_once,
    say,
)

THE_MODEL = embedding._held

pytestmark = pytest.mark.django_db


@pytest.fixture
def rules(settings: Settings, no_vectors: None) -> None:
    """No language model is configured."""
    settings.LLM_ROUTES = {"general": NO_ROUTE, "private": NO_ROUTE}


@pytest.fixture
def vectors(no_vectors: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real model. Loading it takes seconds, once per process."""
    monkeypatch.setattr(embedding, "_held", THE_MODEL)
    embedding.warm_up()


@pytest.fixture
def conversation(agent: Agent) -> Conversation:
    return ConversationFactory.create(agent=agent)


def test_the_rules_find_plain_statements_and_all_of_them_wait(rules, conversation):
    say(conversation, "I live in Tampere. I bought a canoe on 3 January 2026.")
    say(conversation, "I live in a data centre.", role="assistant")
    run = run_once(conversation)
    assert (run.state, run.observer, run.route) == (ExtractionRun.State.APPLIED, "rules", "")
    assert (run.llm_calls, run.prompt_version) == (0, "rules")
    facts = list(Fact.objects.all())
    assert any("Tampere" in fact.statement for fact in facts)
    assert any("canoe" in fact.statement for fact in facts)
    assert not any("data centre" in fact.statement for fact in facts)
    assert {fact.state for fact in facts} == {State.PENDING}
    assert all(Withheld.RULE_BASED in fact.withheld_for for fact in facts)


def test_the_rules_read_each_message_once(rules, conversation):
    say(conversation, "I live in Tampere.")
    run_once(conversation)
    say(conversation, "Thanks!")
    run = run_once(conversation)
    assert run.counts["candidates"] == 0
    assert Fact.objects.get().evidence.count() == 1


def test_the_same_said_elsewhere_is_evidence_and_no_second_fact(rules, conversation, agent):
    say(conversation, "I live in Tampere.")
    run_once(conversation)
    other = ConversationFactory.create(agent=agent)
    say(other, "I live in Tampere.")
    assert run_once(other).counts["evidence_added"] == 1
    assert Fact.objects.get().evidence.count() == 2


@pytest.mark.parametrize(
    "said", ["Asun Tampereella ja minulla on kissa.", "私は札幌に住んでいます。"]
)
def test_another_language_is_passed_over_without_complaint(rules, conversation, said):
    say(conversation, said)
    assert run_once(conversation).counts["candidates"] == 0
    assert marks(conversation) == (1, 0)


def test_a_near_match_waits_as_such(rules, vectors, conversation, agent):
    known = FactFactory.create(
        owner=agent.owner,
        agent=agent,
        state=State.ACTIVE,
        statement="The user lives in Tampere, Finland.",
    )
    embedding.store_embeddings([known])
    say(conversation, "I live in Tampere. I play the cello.")
    extract(conversation=conversation, trigger=Trigger.IDLE)
    near = Fact.objects.get(statement="The user lives in Tampere.")
    assert Withheld.NEAR_DUPLICATE in near.withheld_for
    assert near.similar_to == known
    far = Fact.objects.get(statement__contains="cello")
    assert Withheld.NEAR_DUPLICATE not in far.withheld_for
    assert not Fact.objects.filter(state=State.ARCHIVED).exists()


def test_new_facts_get_their_vectors_before_the_next_window(rules, vectors, conversation):
    say(conversation, "I live in Tampere.")
    run_once(conversation)
    assert FactEmbedding.objects.get().fact == Fact.objects.get()


def test_the_reflector_sees_what_only_the_meaning_connects(
    llm, vectors, conversation, agent, bobs_agent
):
    meant = FactFactory.create(owner=agent.owner, statement="The user is a vegetarian.")
    foreign = FactFactory.create(owner=bobs_agent.owner, statement="The user is vegan.")
    embedding.store_embeddings([meant, foreign])
    say(conversation, "I do not eat meat")
    llm.observer(observed(candidate("This person never eats meat.", "I do not eat meat")))
    llm.reflector(decided((1, "create", [])))
    run_once(conversation)
    question = llm.asked("ReflectorReply")[0].user
    assert meant.statement in question
    assert foreign.statement not in question


def test_vectors_of_a_language_that_the_model_does_not_read_say_nothing(vectors, agent):
    known = FactFactory.create(owner=agent.owner, statement="ผู้ใช้มีแมว")
    embedding.store_embeddings([known])
    thai = Candidate.model_validate(candidate("ผู้ใช้อยู่ที่เชียงใหม่", "x", language="th"))
    english = Candidate.model_validate(candidate("The user has a cat.", "x"))
    assert neighbourhood(agent, {1: thai}, with_sensitive=True).cosine == {}
    assert neighbourhood(agent, {1: english}, with_sensitive=True).cosine[1] != []


def test_many_facts_do_not_crowd_out_what_is_near(agent, no_vectors):
    for number in range(200):
        FactFactory.create(owner=agent.owner, statement=f"The user owns boat number {number}.")
    found = neighbourhood(
        agent,
        {1: Candidate.model_validate(candidate("The user sold boat number 77.", "x"))},
        with_sensitive=True,
    )
    assert len(found.known) <= 120
    assert "The user owns boat number 77." in [fact.statement for fact in found.known]
