"""What others do while the model thinks about cases, insights and profiles; and what a purge leaves
of them. The scripted server does it, on its own connection."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections
from django.utils import timezone

from agents.audit import person
from agents.gate import MemoryOff
from agents.models import Agent, OwnerSettings
from conversations.models import Message
from memory.cases import stage as cases
from memory.extraction.lease import LeaseLost, LeaseTaken, claim
from memory.models import (
    Case,
    CaseEmbedding,
    CaseReading,
    Derivation,
    Fact,
    OwnerLease,
    Profile,
    ProfileSentence,
    Reflection,
)
from memory.profile import stage as profile
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.reflection import stage as reflection
from memory.vocabulary import Kind, Origin, State
from tests.factories import FactFactory
from tests.llm_server import Recorded, Reply, ScriptedLlm, answers, meanwhile
from tests.memory.case_replies import exchange, found, scripted, written
from tests.memory.test_reflection import events, insight

pytestmark = pytest.mark.django_db(transaction=True)
NOW = timezone.now()


def while_thinking(do: Callable[[], object], reply: Reply) -> Reply:
    def apart(request: Recorded) -> None:
        try:
            do()
        finally:
            connections.close_all()

    return meanwhile(apart, reply)


def start(llm: ScriptedLlm, agent: Agent, name: str, do: Callable[[], object]) -> Any:
    """Something to do for one stage, in the middle of which `do` happens."""
    if name == "cases":
        exchange(agent)
        llm.script("CaseClassifierReply", found((1, 3)))
        llm.script("CaseWriterReply", while_thinking(do, written()))
        return cases.run
    events(agent)
    if name == "reflect":
        reply = answers({"insights": [insight(1, 2)]})
        llm.script("InsightReply", while_thinking(do, reply))
        return reflection.run
    reply = answers({"sentences": [{"text": "The user runs.", "facts": [1]}]})
    llm.script("ProfileReply", while_thinking(do, reply))
    return profile.run


def nothing_written() -> bool:
    made = (Case, CaseReading, Reflection, Derivation, Profile, ProfileSentence)
    insights = Fact.objects.filter(origin=Origin.REFLECTION)
    return not insights.exists() and not any(model.objects.exists() for model in made)


STAGES = pytest.mark.parametrize("name", ["cases", "reflect", "profile"])


@STAGES
def test_memory_that_is_switched_off_meanwhile_stores_nothing(llm, agent, name):
    def off() -> None:
        OwnerSettings.objects.filter(owner=agent.owner).update(memory_enabled=False)

    run = start(llm, agent, name, off)
    with pytest.raises(MemoryOff):
        run(owner=agent.owner, now=NOW)
    assert nothing_written()
    assert not OwnerLease.objects.exists()


@STAGES
def test_a_run_whose_lease_went_to_another_writes_nothing(llm, agent, name):
    def lose() -> None:
        OwnerLease.objects.filter(owner=agent.owner).delete()
        claim(agent.owner)

    run = start(llm, agent, name, lose)
    with pytest.raises(LeaseLost):
        run(owner=agent.owner, now=NOW)
    assert nothing_written()


@STAGES
def test_two_at_once_one_works_and_the_other_is_told(llm, agent, name):
    refused: list[BaseException] = []

    def again() -> None:
        with pytest.raises(LeaseTaken) as refusal:
            run(owner=agent.owner, now=NOW)
        refused.append(refusal.value)

    run = start(llm, agent, name, again)
    assert len(run(owner=agent.owner, now=NOW)) == 1
    assert len(refused) == 1


@STAGES
def test_no_transaction_is_open_while_the_model_thinks(llm, agent, name):
    seen: list[int] = []

    def look() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND backend_type = 'client backend'"
                " AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
            )
            seen.append(cursor.fetchone()[0])

    start(llm, agent, name, look)(owner=agent.owner, now=NOW)
    assert seen == [0]


@STAGES
def test_what_is_purged_meanwhile_is_not_written_back(llm, alice, agent, name):
    def erase() -> None:
        everything = chosen(owner=alice, everything=True)
        purge(selection=everything, actor=person(alice))

    run = start(llm, agent, name, erase)
    with pytest.raises(LeaseLost):
        run(owner=agent.owner, now=NOW)
    assert nothing_written()


def test_messages_that_leave_the_branch_meanwhile_make_no_case(llm, agent):
    def leave() -> None:
        Message.objects.filter(owner=agent.owner, seq=3).update(on_branch=False)

    start(llm, agent, "cases", leave)(owner=agent.owner, now=NOW)
    assert nothing_written()


def test_a_purge_takes_the_case_of_any_message_that_it_was_written_from(llm, alice, agent):
    talk = exchange(agent)
    scripted(llm)
    cases.run(owner=alice, now=NOW)
    case = Case.objects.get()
    CaseEmbedding.objects.create(owner=alice, case=case, model="m", vector=[1.0])
    uncited = case.sources.get(cited=False).message
    assert uncited.content.startswith("Look for the thorn")
    purge(selection=chosen(owner=alice, match="Look for the thorn"), actor=person(alice))
    assert not Case.objects.exists()
    assert not CaseEmbedding.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM agents_auditevent WHERE after::text LIKE '%Turku%'")
        assert cursor.fetchone() == (0,)
    assert talk.messages.get(seq=2).content == Message.PURGED


def test_a_purge_takes_insights_and_sentences_made_from_a_fact(llm, alice, agent):
    facts = events(agent)
    llm.script("InsightReply", answers({"insights": [insight(1, 2)]}))
    reflection.run(owner=alice, now=NOW)
    named = FactFactory.create(
        owner=alice, agent=agent, state=State.ACTIVE, kind=Kind.SEMANTIC,
        statement="The user sings.", last_confirmed_at=NOW + timedelta(days=1), pinned=True,
    )  # fmt: skip
    sentences = [{"text": "The user sings.", "facts": [1]}, {"text": "And runs.", "facts": [2]}]
    llm.script("ProfileReply", answers({"sentences": sentences}))
    profile.run(owner=alice, now=NOW)
    assert ProfileSentence.objects.count() == 2
    by = person(alice)
    purge(selection=chosen(owner=alice, facts=(facts[0].pk, named.pk)), actor=by)
    told = set(Fact.objects.values_list("statement", flat=True))
    assert "The user runs before work." not in told
    assert "The user sings." not in set(ProfileSentence.objects.values_list("text", flat=True))
