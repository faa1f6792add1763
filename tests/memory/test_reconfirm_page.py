"""The page of facts that faded: each answer, its undo, and who loses a race."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse
from django.utils import timezone

from agents.audit import person
from agents.models import Agent
from memory import lifecycle
from memory.models import Fact
from memory.vocabulary import ArchivedReason, State
from tests.factories import MONDAY, FactFactory
from tests.memory.pages import text
from tests.memory.steps import now_is, state

if TYPE_CHECKING:
    from django.test import Client

pytestmark = pytest.mark.django_db

BEES = "The user keeps bees."
HTMX = {"HX-Request": "true"}


def faded(agent: Agent, statement: str = BEES, **values: Any) -> Fact:
    fields = {
        "agent": agent,
        "state": State.ACTIVE,
        "confidence": 0.8,
        "observed_at": MONDAY - timedelta(days=400),
        "decayed_at": MONDAY,
    }
    return FactFactory.create(statement=statement, **(fields | values))


def answer(client: "Client", fact: Fact, said: str, status: int = 200, **data: str) -> str:
    response = client.post(
        reverse("reconfirm-answer", args=[fact.pk]), {"answer": said, **data}, headers=HTMX
    )
    assert response.status_code == status
    return response.content.decode()


def undo(client: "Client", fact: Fact, reason: str = "", **data: object) -> str:
    address = reverse("reconfirm-undo", args=[fact.pk])
    response = client.post(address, {"answer": reason, **data}, headers=HTMX)
    assert response.status_code == 200
    return response.content.decode()


def test_it_asks_about_what_faded_and_nothing_else(alices, agent, bobs_agent):
    faded(agent)
    faded(bobs_agent, "The user keeps wasps.")
    faded(agent, "The user keeps hens.", last_confirmed_at=MONDAY + timedelta(days=1))
    faded(agent, "The user keeps ants.", snoozed_until=timezone.now() + timedelta(days=1))
    faded(agent, "The user keeps moths.", state=State.ARCHIVED)
    page = text(alices, "reconfirm")
    assert BEES in page
    for absent in ("wasps", "hens", "keeps ants", "moths"):
        assert absent not in page


def test_still_true_makes_it_as_good_as_new_and_undo_makes_it_as_it_was(alices, agent):
    fact = faded(agent)
    before = Fact.objects.values().get()
    seen = lifecycle.version(fact)
    assert "Still true" in answer(alices, fact, "still", seen=seen)
    row = now_is(fact)
    assert (row.confidence, row.decayed_at) == (1.0, None)
    assert BEES not in text(alices, "reconfirm")
    assert BEES in undo(alices, fact, "still true")
    assert Fact.objects.values().get() == before


def test_no_longer_true_ends_it_on_its_last_day_and_undo_brings_it_back(alices, agent):
    fact = faded(agent)
    answer(alices, fact, "ended", when="2026-02-10")
    row = now_is(fact)
    assert (row.state, row.archived_reason) == (State.ARCHIVED, ArchivedReason.ENDED)
    assert row.valid_until is not None
    assert row.valid_until.isoformat() == "2026-02-11T00:00:00+00:00"
    undo(alices, fact, "no longer true")
    row = now_is(fact)
    assert (row.state, row.valid_until, row.decayed_at) == (State.ACTIVE, None, MONDAY)
    answer(alices, fact, "ended", when=timezone.localdate().isoformat())
    assert state(fact) == State.ARCHIVED


def test_changed_puts_the_new_fact_in_its_place_and_undo_takes_it_away(alices, agent):
    fact = faded(agent)
    answer(alices, fact, "changed", statement="The user keeps hens.", when="2026-02-10")
    new = Fact.objects.get(state=State.ACTIVE)
    assert (new.statement, now_is(fact).superseded_by) == ("The user keeps hens.", new)
    assert new.valid_from is not None
    assert new.valid_from.isoformat() == "2026-02-10T00:00:00+00:00"
    assert BEES in undo(alices, new, replaced=str(fact.pk))
    assert (state(fact), state(new)) == (State.ACTIVE, State.ARCHIVED)


def test_later_puts_it_off_and_undo_asks_again(alices, agent):
    fact = faded(agent)
    answer(alices, fact, "later", wait="week")
    assert BEES not in text(alices, "reconfirm")
    undo(alices, fact, "asked for later")
    assert BEES in text(alices, "reconfirm")


@pytest.mark.parametrize(
    ("said", "data"), [("still", {}), ("ended", {}), ("later", {"wait": "week"})]
)
def test_an_answer_can_be_taken_back_after_leaving_the_page(alices, agent, said, data):
    fact = faded(agent)
    answer(alices, fact, said, **data)
    (shown,) = alices.get(reverse("decided")).context["answered"]
    back = reverse("decided")
    response = alices.post(
        reverse("reconfirm-undo", args=[fact.pk]), {"answer": shown.reason, "back": back}
    )
    assert response["Location"] == back
    row = now_is(fact)
    assert (row.state, row.confidence, row.decayed_at) == (State.ACTIVE, 0.8, MONDAY)
    assert (row.snoozed_until, row.valid_until) == (None, None)
    assert alices.get(back).context["answered"] == []
    assert BEES in text(alices, "reconfirm")


def test_the_same_text_again_is_a_confirmation_and_its_undo_takes_back_no_more(alices, agent):
    fact = faded(agent)
    before = Fact.objects.values().get()
    page = answer(alices, fact, "changed", statement=BEES)
    assert "Still true" in page
    assert 'name="answer" value="still true"' in page
    undo(alices, fact, "still true")
    assert Fact.objects.values().get() == before


@pytest.mark.parametrize(
    "data",
    [
        {"answer": ""},
        {"answer": "whim"},
        {"answer": "changed"},
        {"answer": "changed", "statement": "x" * 501},
        {"answer": "later"},
        {"answer": "ended", "when": "soon"},
    ],
)
def test_an_answer_that_says_nothing_changes_nothing(alices, agent, data):
    fact = faded(agent)
    before = Fact.objects.values().get()
    response = alices.post(reverse("reconfirm-answer", args=[fact.pk]), data)
    assert response.status_code == 422
    assert BEES in response.content.decode()
    assert Fact.objects.values().get() == before


def test_an_end_to_come_is_refused_with_the_reason(alices, agent):
    fact = faded(agent)
    assert "in the future" in answer(alices, fact, "ended", status=409, when="2999-01-01")
    assert state(fact) == State.ACTIVE


@pytest.mark.parametrize("said", ["still", "ended", "changed"])
def test_who_comes_second_is_told_what_the_first_one_did(alices, alice, agent, said):
    fact = faded(agent)
    seen = lifecycle.version(fact)
    lifecycle.end(fact=fact, actor=person(alice))
    page = answer(alices, fact, said, status=409, seen=seen, statement="The user keeps hens.")
    assert "already decided elsewhere" in page
    assert "Undo" not in page


def test_an_answer_with_something_behind_it_can_not_be_taken_back(alices, alice, agent):
    fact = faded(agent)
    answer(alices, fact, "still")
    lifecycle.set_pinned(fact=fact, pinned=True, actor=person(alice))
    response = alices.post(
        reverse("reconfirm-undo", args=[fact.pk]), {"answer": "still true"}, headers=HTMX
    )
    assert response.status_code == 409
    assert now_is(fact).confidence == 1.0


def test_it_works_without_javascript(alices, agent):
    fact = faded(agent)
    response = alices.post(
        reverse("reconfirm-answer", args=[fact.pk]), {"answer": "still"}, follow=True
    )
    assert "Still true: The user keeps bees." in response.content.decode()
