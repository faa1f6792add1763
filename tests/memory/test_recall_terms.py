"""The terms of facts follow the facts, and every language finds its own."""

from datetime import UTC, datetime

import pytest
from django.db import connection

from agents.models import Agent, OwnerSettings
from memory.models import Evidence, Fact, FactTerm
from memory.recall.service import recall
from memory.vocabulary import State
from tests.factories import FactFactory, MessageFactory
from tests.memory.recalling import known, model

pytestmark = pytest.mark.usefixtures("model")
__all__ = ["model"]

NOW = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)


def terms(fact: Fact) -> dict[str, float]:
    rows = FactTerm.objects.filter(fact=fact).exclude(term__startswith="@")
    return dict(rows.values_list("term", "tf"))


def test_an_active_fact_is_born_with_its_terms(agent: Agent) -> None:
    fact = FactFactory.create(agent=agent, state=State.ACTIVE, statement="The user repairs bikes.")
    assert terms(fact) == dict.fromkeys(["user", "repair", "repairs", "bike", "bikes"], 1.0)
    row = FactTerm.objects.get(fact=fact, term="repair")
    assert (row.owner, row.agent_id, row.stated) == (agent.owner, agent.pk, True)
    assert row.words == 5


def test_terms_come_and_go_with_the_state(agent: Agent) -> None:
    fact = FactFactory.create(agent=agent, statement="The user repairs bikes.")
    other = FactFactory.create(agent=agent, state=State.ACTIVE, statement="The user bakes bread.")
    assert terms(fact) == {}
    review = {"reviewer": agent.owner, "reviewed_at": NOW}
    Fact.objects.filter(pk=fact.pk).update(state=State.ACTIVE, **review)
    assert "bike" in terms(fact)
    Fact.objects.filter(pk=fact.pk).update(state=State.PENDING, reviewer=None, reviewed_at=None)
    assert terms(fact) == {}
    assert "bread" in terms(other)


def test_a_quote_adds_its_words_at_half_their_weight(agent: Agent) -> None:
    fact = FactFactory.create(agent=agent, state=State.ACTIVE, statement="The user repairs bikes.")
    message = MessageFactory.create(
        conversation__agent=agent, conversation__owner=agent.owner, content="Fixed a bike in Turku."
    )
    Evidence.objects.create(
        owner=agent.owner, fact=fact, message=message, quote="Fixed a bike in Turku last week."
    )
    found = terms(fact)
    assert (found["turku"], found["bike"], found["repair"]) == (0.5, 1.5, 1.0)
    assert FactTerm.objects.get(fact=fact, term="turku").stated is False
    assert FactTerm.objects.get(fact=fact, term="@").tf == 2  # last, week


def test_dates_are_on_the_owners_clock(agent: Agent) -> None:
    OwnerSettings.objects.filter(owner=agent.owner).update(time_zone="Asia/Tokyo")
    fact = FactFactory.create(
        agent=agent,
        state=State.ACTIVE,
        observed_at=datetime(2026, 2, 28, 20, tzinfo=UTC),
        valid_from=datetime(2023, 5, 8, tzinfo=UTC),
    )
    dates = FactTerm.objects.filter(fact=fact, term__regex="^@.+").values_list("term", flat=True)
    assert set(dates) == {"@y2026", "@m03", "@d01", "@y2023", "@m05", "@d08"}


def test_terms_can_be_made_anew(agent: Agent) -> None:
    fact = FactFactory.create(agent=agent, state=State.ACTIVE, statement="The user repairs bikes.")
    before = terms(fact)
    FactTerm.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute("SELECT remembrancer_index_facts(%s)", [[fact.pk]])
    assert terms(fact) == before


QUESTIONS = {
    "finnish": (
        "Missä kaupungissa minä asun?",
        "Käyttäjä asuu Turussa.",
        "Käyttäjä omistaa koiran.",
    ),
    "finnish inflected": (
        "Mitä minä tiesin polkupyöristä?",
        "Käyttäjä korjaa polkupyöriä.",
        "Käyttäjä omistaa koiran.",
    ),
    "chinese": ("我住在哪里？", "用户住在柏林。", "用户喜欢喝茶。"),
    "japanese": (
        "私はどこに住んでいますか",
        "ユーザーはベルリンに住んでいる。",
        "ユーザーは紅茶が好きだ。",
    ),
    "thai": ("ฉันทำงานที่โรงพยาบาลไหน", "ผู้ใช้ทำงานที่โรงพยาบาลในเชียงใหม่", "ผู้ใช้ชอบดื่มชา"),
    "arabic": ("أين يعيش أخي؟", "يعيش أخو المستخدم في القاهرة.", "يحب المستخدم شاي النعناع."),
}


@pytest.mark.parametrize("language", QUESTIONS)
def test_a_question_finds_the_fact_of_its_language(agent: Agent, language: str) -> None:
    question, wanted, other = QUESTIONS[language]
    name = language.split()[0]
    config = name if name in {"finnish", "arabic"} else "simple"
    known(agent, wanted, other, language=config)
    told = recall(agent=agent, message=question, now=NOW)
    assert [item.fact.statement for item in told.items] == [wanted]
