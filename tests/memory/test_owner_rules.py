"""The steps over rules."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.audit import POLICY, Actor, key_holder, person
from agents.models import Agent, AuditEvent, User
from memory.lifecycle import NotAllowed
from memory.lifecycle.values import Scope
from memory.models import Rule
from memory.rules import scope, screen, writing
from memory.rules.values import Overtaken, SameRule, TooMany, Unfit
from tests.factories import AgentFactory, ApiKeyFactory
from tests.memory.ruling import ruled

pytestmark = pytest.mark.django_db

METRIC = "Answer in metric units."


def listed(owner: User) -> list[str]:
    return [rule.text for rule in scope.standing(scope.rules_of(owner))]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("  \n ", screen.BLANK),
        ("x" * 501, screen.TOO_LONG),
        ("Log in with password: hunter2hunter2", screen.LEAKS),
        ("Be\u200b brief", screen.HIDDEN),
        ("Be brief\x00", screen.HIDDEN),
    ],
)
def test_what_can_not_be_a_rule_is_refused_and_says_why(alice: User, text: str, why: str) -> None:
    with pytest.raises(Unfit) as refusal:
        ruled(alice, text)
    assert str(refusal.value) == why
    assert not Rule.objects.exists()


def test_a_rule_is_one_tidy_line_behind_the_others(alice: User) -> None:
    ruled(alice, METRIC)
    row = ruled(alice, "  Be brief.\nAnd\u2028kind. ")
    assert row.text == "Be brief. And kind."
    assert listed(alice) == [METRIC, "Be brief. And kind."]


@pytest.mark.parametrize("actor", [POLICY, Actor("task:observe")])
def test_nobody_but_a_person_takes_a_step(alice: User, actor: Actor) -> None:
    row = ruled(alice, METRIC)
    steps: list[Callable[[], Any]] = [
        lambda: writing.write(owner=alice, agent=None, text="x", actor=actor),
        lambda: writing.reword(rule=row, text="Obey me.", actor=actor),
        lambda: writing.switch(rule=row, enabled=False, actor=actor),
        lambda: writing.shift(rule=row, steps=1, actor=actor),
        lambda: writing.retire(rule=row, actor=actor),
    ]
    for step in steps:
        with pytest.raises(NotAllowed):
            step()
    assert listed(alice) == [METRIC]


def test_a_key_writes_none_even_where_it_may_review(alice: User, agent: Agent) -> None:
    """It stands for a person elsewhere, and here it does not."""
    key = ApiKeyFactory.create(agent=agent, scopes=["review", "admin"])
    with pytest.raises(NotAllowed, match="Only a person writes"):
        writing.write(owner=alice, agent=None, text=METRIC, actor=key_holder(key))


def test_a_stranger_takes_no_step(alice: User, bob: User, agent: Agent) -> None:
    row = ruled(alice, METRIC)
    with pytest.raises(NotAllowed):
        writing.retire(rule=row, actor=person(bob))
    with pytest.raises(NotAllowed):
        ruled(bob, METRIC, agent)
    with pytest.raises(NotAllowed):
        writing.reword(rule=row, text=METRIC, scope=Scope(AgentFactory.create()), actor=by(alice))


def by(owner: User) -> Actor:
    return person(owner)


def test_a_new_wording_takes_the_place_of_the_old_one(alice: User, agent: Agent) -> None:
    first = ruled(alice, METRIC, enabled=False)
    ruled(alice, "Be brief.")
    second = writing.reword(rule=first, text="Answer in Metric units.", actor=by(alice))
    assert (second.place, second.enabled, second.agent) == (first.place, False, None)
    third = writing.reword(rule=second, text=second.text, scope=Scope(agent), actor=by(alice))
    assert third.agent == agent
    assert writing.reword(rule=third, text=third.text, actor=by(alice)) == third
    assert listed(alice) == ["Answer in Metric units.", "Be brief."]
    first.refresh_from_db()
    assert (first.text, first.superseded_by) == (METRIC, second)
    for gone in (first, second):
        with pytest.raises(Overtaken):
            writing.reword(rule=gone, text="Too late.", actor=by(alice))


def test_the_same_rule_stands_once_in_a_scope(alice: User, agent: Agent) -> None:
    first = ruled(alice, METRIC)
    for text in (METRIC, "answer in metric units"):
        with pytest.raises(SameRule):
            ruled(alice, text)
    ruled(alice, METRIC, agent)
    other = ruled(alice, "Be brief.")
    with pytest.raises(SameRule):
        writing.reword(rule=other, text=METRIC, actor=by(alice))
    writing.retire(rule=first, actor=by(alice))
    ruled(alice, METRIC)
    with pytest.raises(SameRule):
        writing.restore(rule=first, actor=by(alice))


def test_order_switch_and_taking_out(alice: User) -> None:
    a, b, c = (ruled(alice, text) for text in ("One.", "Two.", "Three."))
    writing.shift(rule=c, steps=-1, actor=by(alice))
    assert listed(alice) == ["One.", "Three.", "Two."]
    writing.shift(rule=a, steps=9, actor=by(alice))
    assert listed(alice) == ["Three.", "Two.", "One."]
    writing.shift(rule=a, steps=1, actor=by(alice))
    assert not writing.switch(rule=b, enabled=False, actor=by(alice)).enabled
    writing.switch(rule=b, enabled=False, actor=by(alice))
    gone = writing.retire(rule=c, actor=by(alice))
    assert listed(alice) == ["Two.", "One."]
    with pytest.raises(Overtaken):
        writing.retire(rule=c, actor=by(alice))
    writing.restore(rule=gone, actor=by(alice))
    assert listed(alice) == ["Three.", "Two.", "One."]
    reasons = AuditEvent.objects.filter(table="memory_rule", row_id=str(c.pk)).order_by("id")
    assert [row.reason for row in reasons if row.reason != "moved"] == ["", "taken out", "put back"]
    assert AuditEvent.objects.filter(reason="switched off").count() == 1


def test_there_is_an_end_to_how_many(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST", 2)
    first = ruled(alice, "One.")
    ruled(alice, "Two.")
    with pytest.raises(TooMany):
        ruled(alice, "Three.")
    writing.retire(rule=first, actor=by(alice))
    ruled(alice, "Three.")
    with pytest.raises(TooMany):
        writing.restore(rule=first, actor=by(alice))


def test_scope_is_by_agent_and_what_it_reads(alice: User, bob: User) -> None:
    own, other = AgentFactory.create(owner=alice), AgentFactory.create(owner=alice)
    ruled(alice, "All.")
    ruled(alice, "Own.", own)
    ruled(alice, "Other.", other)
    ruled(alice, "Off.", enabled=False)
    ruled(bob, "His.")
    reads = Agent.Reads
    for width, told in (
        (reads.OWN_AND_GLOBAL, ["All.", "Own."]),
        (reads.OWN, ["Own."]),
        (reads.ALL, ["All.", "Own."]),
    ):
        own.reads = width
        assert [rule.text for rule in scope.riding(own)] == told
    with pytest.raises(TypeError):
        scope.rules_of(str(alice.pk))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        scope.rules_for(alice)  # type: ignore[arg-type]
