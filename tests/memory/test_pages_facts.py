"""The list of facts, one fact with its history, and the steps taken on it."""

from typing import TYPE_CHECKING

import pytest
from django.urls import reverse

from agents.audit import person
from memory import lifecycle
from memory.models import Fact
from memory.pages import paging
from memory.vocabulary import ArchivedReason, Kind, State
from tests.factories import FactFactory
from tests.memory.candidates import candidate
from tests.memory.pages import text
from tests.memory.steps import now_is

if TYPE_CHECKING:
    from django.test import Client


pytestmark = pytest.mark.django_db


def test_it_lists_active_facts_of_this_owner_only(alices, agent, bobs_agent):
    candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    candidate(agent, "The user keeps hens.", state=State.PENDING)
    candidate(agent, "The user keeps ants.", state=State.ARCHIVED)
    candidate(bobs_agent, "The user keeps wasps.", state=State.ACTIVE)
    page = text(alices, "facts")
    assert "bees" in page
    for absent in ("hens", "keeps ants", "wasps"):
        assert absent not in page
    page = text(alices, "facts", state="archived")
    assert "keeps ants" in page
    assert ArchivedReason.FORGOTTEN.label in page
    assert "bees" not in page


@pytest.mark.parametrize("words", ["keeping", "BEES", "bees keeps", '"keeps bees"'])
def test_it_searches_facts_by_their_words(alices, agent, words):
    candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    candidate(agent, "The user collects stamps.", state=State.ACTIVE)
    page = text(alices, "facts", q=words)
    assert "keeps bees" in page
    assert "stamps" not in page


@pytest.mark.parametrize("words", ["' OR 1=1 --", "&|!():*", "<script>", "\u202e", "x" * 300])
def test_it_survives_any_search(alices, agent, words):
    candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    assert "keeps bees" not in text(alices, "facts", q=words)


@pytest.mark.parametrize(
    "query", [{"q": "nul\0"}, {"q": "x" * 301}, {"state": "nonsense"}, {"after": "nonsense"}]
)
def test_it_answers_a_bad_filter_with_a_page(alices, agent, query):
    candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    assert "keeps bees" in text(alices, "facts", **query)


def test_it_pages_through_facts_without_a_gap(alices, agent, monkeypatch):
    monkeypatch.setattr(paging.newest_first, "__defaults__", (3,))
    facts = [candidate(agent, f"The user has {n} hives.", state=State.ACTIVE) for n in range(7)]
    seen, after = [], ""
    while True:
        response = alices.get(reverse("facts"), {"after": after})
        listing = response.context["listing"]
        seen += listing.rows
        after = listing.next_key
        if not after:
            break
    assert seen == facts[::-1]


def test_it_shows_where_a_fact_came_from_and_what_was_done_with_it(alices, alice, agent):
    fact = candidate(agent, "The user keeps bees.", said="I keep bees now.", quote="keep bees")
    by = person(alice)
    lifecycle.confirm(fact=fact, actor=by, reason="I do")
    edit = lifecycle.Edit(statement="The user keeps ten hives.", kind=Kind.SEMANTIC)
    newer = lifecycle.correct(fact=fact, edit=edit, actor=by)
    page = text(alices, "fact", fact.pk)
    assert "I <mark>keep bees</mark> now." in page
    assert ArchivedReason.SUPERSEDED.label in page
    assert f'href="{reverse("fact", args=[newer.pk])}"' in page
    assert "The user keeps ten hives." in page
    assert "<q>I do</q>" in page
    assert "Recorded as pending" in page
    assert "Made active" in page
    page = text(alices, "fact", newer.pk)
    assert f'href="{reverse("fact", args=[fact.pk])}"' in page


def test_a_long_chain_is_shown_whole_from_any_link(alices, alice, agent):
    fact = candidate(agent, "The user has 0 hives.", state=State.ACTIVE)
    links = [fact]
    for n in range(1, 5):
        edit = lifecycle.Edit(statement=f"The user has {n} hives.", kind=Kind.SEMANTIC)
        links.append(lifecycle.correct(fact=links[-1], edit=edit, actor=person(alice)))
    for link in (links[0], links[2], links[4]):
        response = alices.get(reverse("fact", args=[link.pk]))
        assert [step.fact for step in response.context["timeline"]] == links


def post(client: "Client", name: str, fact: Fact, **data: str) -> str:
    return client.post(reverse(name, args=[fact.pk]), data, follow=True).content.decode()


def test_it_forgets_and_restores(alices, agent):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    assert "it is not learned again" in post(alices, "fact-forget", fact)
    fact.refresh_from_db()
    assert (fact.state, fact.archived_reason) == (State.ARCHIVED, ArchivedReason.FORGOTTEN)
    assert "Restored." in post(alices, "fact-restore", fact)
    fact.refresh_from_db()
    assert fact.state == State.ACTIVE


def test_it_reconsiders_a_rejected_fact(alices, agent):
    fact = candidate(agent, "The user keeps bees.", state=State.REJECTED)
    assert "waits in the queue again" in post(alices, "fact-reconsider", fact)
    assert "keeps bees" in text(alices, "review")


def test_it_corrects_by_superseding(alices, agent):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    page = post(alices, "fact-correct", fact, statement="The user keeps hens.", kind="semantic")
    assert "Its chain" in page
    fact.refresh_from_db()
    assert fact.superseded_by is not None
    assert fact.superseded_by.statement == "The user keeps hens."


def test_it_says_what_is_wrong_with_a_correction(alices, agent):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    response = alices.post(reverse("fact-correct", args=[fact.pk]), {"statement": " "})
    assert response.status_code == 422
    assert Fact.objects.count() == 1


def test_it_pins_and_unpins(alices, agent):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    post(alices, "fact-pin", fact, pinned="yes")
    fact.refresh_from_db()
    assert fact.pinned
    post(alices, "fact-pin", fact, pinned="no")
    fact.refresh_from_db()
    assert not fact.pinned


def test_it_sets_the_days_on_which_a_fact_holds_and_takes_them_away(alices, agent):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    post(alices, "fact-validity", fact, since="2026-02-01", until="2026-02-10")
    fact.refresh_from_db()
    assert fact.valid_from is not None
    assert fact.valid_until is not None
    assert fact.valid_from.isoformat() == "2026-02-01T00:00:00+00:00"
    assert fact.valid_until.isoformat() == "2026-02-11T00:00:00+00:00"
    page = text(alices, "fact", fact.pk)
    assert 'value="2026-02-01"' in page
    assert 'value="2026-02-10"' in page
    assert "before it begins" in post(
        alices, "fact-validity", fact, since="2026-02-10", until="2026-02-01"
    )
    post(alices, "fact-validity", fact)
    row = now_is(fact)
    assert (row.state, row.valid_from, row.valid_until) == (State.ACTIVE, None, None)


def test_it_moves_a_fact_to_all_assistants_and_back_but_never_to_anothers(
    alices, agent, second_agent, bobs_agent
):
    fact = candidate(agent, "The user keeps bees.", state=State.ACTIVE)
    post(alices, "fact-move", fact, agent="")
    everywhere = Fact.objects.get(state=State.ACTIVE)
    assert everywhere.agent is None
    post(alices, "fact-move", everywhere, agent=str(second_agent.pk))
    assert Fact.objects.get(state=State.ACTIVE).agent == second_agent
    response = alices.post(
        reverse("fact-move", args=[Fact.objects.get(state=State.ACTIVE).pk]),
        {"agent": str(bobs_agent.pk)},
    )
    assert response.status_code == 422
    assert Fact.objects.get(state=State.ACTIVE).agent == second_agent


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("fact-forget", State.ARCHIVED),
        ("fact-restore", State.ACTIVE),
        ("fact-reconsider", State.PENDING),
        ("fact-correct", State.PENDING),
        ("fact-move", State.REJECTED),
    ],
)
def test_it_refuses_a_step_that_does_not_fit_and_says_so(alices, agent, name, state):
    fact = candidate(agent, "The user keeps bees.", state=state)
    data = {"statement": "The user keeps hens.", "kind": "semantic"}
    response = alices.post(reverse(name, args=[fact.pk]), data)
    assert response.status_code == 409
    assert 'role="alert"' in response.content.decode()
    fact.refresh_from_db()
    assert fact.state == state
    assert Fact.objects.count() == 1


def test_a_fact_without_a_conversation_is_shown_too(alices, alice):
    fact = FactFactory.create(owner=alice, statement="The user keeps bees.", state=State.ACTIVE)
    page = text(alices, "fact", fact.pk)
    assert "All assistants" in page
    assert "No message" in page
