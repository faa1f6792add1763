"""The review queue: its page, its order, and the steps taken without JavaScript."""

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.urls import reverse
from django.utils import timezone

from memory import lifecycle
from memory.models import CorrectionTarget, Fact
from memory.review import queue
from memory.vocabulary import State, Withheld
from tests.factories import ConversationFactory, FactFactory
from tests.memory.candidates import candidate

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

    from agents.models import Agent

pytestmark = pytest.mark.django_db


def test_it_shows_what_waits_and_on_which_words_it_rests(alices, agent):
    fact = candidate(
        agent,
        "The user keeps bees.",
        said="By the way, I keep bees on the roof.",
        quote="I keep bees",
        withheld_for=[Withheld.DURABLE],
        confidence=0.9,
    )
    page = alices.get(reverse("review")).content.decode()
    assert "The user keeps bees." in page
    assert "By the way, <mark>I keep bees</mark> on the roof." in page
    assert Withheld.DURABLE.label in page
    assert "90% sure" in page
    assert "only for Main" in page
    assert str(fact.conversation) in page


def test_it_shows_only_what_waits_for_this_owner_now(alices, agent, bobs_agent):
    candidate(agent, "The user keeps bees.")
    candidate(bobs_agent, "The user keeps wasps.")
    candidate(agent, "The user keeps ants.", snoozed_until=timezone.now() + timedelta(hours=1))
    for state in (State.ACTIVE, State.REJECTED, State.ARCHIVED):
        candidate(agent, f"The user keeps {state} moths.", state=state)
    page = alices.get(reverse("review")).content.decode()
    assert "keeps bees" in page
    for absent in ("wasps", "keeps ants", "moths"):
        assert absent not in page
    assert "(1)" in page


def test_it_shows_the_nearest_fact_beside_a_candidate(alices, agent):
    known = FactFactory.create(
        agent=agent, state=State.ACTIVE, statement="The user lives in Tampere, Finland."
    )
    candidate(agent, "The user lives in Tampere.", similar_to=known)
    page = alices.get(reverse("review")).content.decode()
    assert "The user lives in Tampere, Finland." in page
    assert reverse("fact", args=[known.pk]) in page


def test_it_needs_a_signed_in_owner(client, agent):
    fact = candidate(agent, "The user keeps bees.")
    for name, arguments in [("review", []), ("candidate", [fact.pk]), ("edit", [fact.pk])]:
        response = client.get(reverse(name, args=arguments))
        assert response.status_code == 302
        assert response["Location"].startswith(reverse("login"))
    response = client.post(reverse("confirm", args=[fact.pk]))
    assert response["Location"].startswith(reverse("login"))
    fact.refresh_from_db()
    assert fact.state == State.PENDING


def test_it_sends_an_htmx_request_without_a_session_to_the_sign_in_page(client, agent):
    fact = candidate(agent, "The user keeps bees.")
    here = "http://testserver/review/?after=x"
    response = client.post(
        reverse("confirm", args=[fact.pk]), headers={"HX-Request": "true", "HX-Current-URL": here}
    )
    assert response["HX-Redirect"] == f"{reverse('login')}?next=/review/%3Fafter%3Dx"


@pytest.mark.parametrize("name", ["candidate", "edit", "confirm", "reject", "take-back"])
def test_it_hides_that_a_strangers_candidate_exists(client, stranger, agent, name):
    fact = candidate(agent, "The user keeps bees.")
    client.force_login(stranger)
    method = client.get if name in ("candidate", "edit") else client.post
    response = method(reverse(name, args=[fact.pk]))
    assert response.status_code == 404
    assert b"bees" not in response.content
    fact.refresh_from_db()
    assert fact.state == State.PENDING


def test_it_groups_by_conversation_newest_first_and_pages_without_a_gap(alice, agent, monkeypatch):
    monkeypatch.setattr(queue, "PAGE", 3)
    older = ConversationFactory.create(agent=agent)
    newer = ConversationFactory.create(agent=agent)
    facts = [
        candidate(agent, f"The user has {n} hives.", conversation=older if n < 4 else newer)
        for n in range(8)
    ]
    direct = FactFactory.create(owner=alice, statement="The user likes tea.")
    expected = [direct, *facts[4:], *facts[:4]]

    seen, after = [], ""
    while True:
        page = queue.page(alice, timezone.now(), after)
        seen += [card.fact for group in page.groups for card in group.cards]
        after = page.next_key
        if not after:
            break
    assert seen == expected


@pytest.mark.parametrize("after", ["nonsense", "-", "-.x", "\0.\0", "1.2", "." * 200])
def test_it_starts_anew_from_a_key_that_makes_no_sense(alices, agent, after):
    candidate(agent, "The user keeps bees.")
    response = alices.get(reverse("review"), {"after": after})
    assert b"keeps bees" in response.content


def test_it_takes_as_many_queries_for_20_rows_as_for_10(
    alices: "Client", agent: "Agent", django_assert_max_num_queries: "DjangoAssertNumQueries"
) -> None:
    def fill(first: int) -> None:
        for n in range(first, first + 10):
            fact = candidate(agent, f"The user has {n} hives.")
            target = FactFactory.create(
                agent=agent, statement=f"The user has {n} hens.", state=State.ACTIVE
            )
            CorrectionTarget.objects.create(owner=agent.owner, fact=fact, target=target)

    fill(0)
    alices.get(reverse("review"))
    with django_assert_max_num_queries(12) as ten:
        alices.get(reverse("review"))
    fill(10)
    with django_assert_max_num_queries(12) as twenty:
        page = alices.get(reverse("review")).content.decode()
    assert page.count("Would replace") == 20
    assert len(ten) == len(twenty)


def test_it_confirms_without_javascript_and_goes_back_to_the_place(alices, agent, alice):
    fact = candidate(agent, "The user keeps bees.")
    here = f"{reverse('review')}?after=-.x#fact-1"
    response = alices.post(
        reverse("confirm", args=[fact.pk]), {"seen": lifecycle.version(fact), "back": here}
    )
    assert response.status_code == 302
    assert response["Location"] == here
    fact.refresh_from_db()
    assert fact.state == State.ACTIVE
    assert fact.reviewer == alice
    page = alices.get(reverse("review")).content.decode()
    assert "Confirmed: The user keeps bees." in page


@pytest.mark.parametrize("place", ["https://example.com/", "//example.com", "javascript:alert(1)"])
def test_it_goes_back_to_no_page_of_another_site(alices, agent, place):
    fact = candidate(agent, "The user keeps bees.")
    response = alices.post(reverse("confirm", args=[fact.pk]), {"back": place})
    assert response["Location"] == reverse("review")
    other = candidate(agent, "The user keeps hens.")
    page = alices.get(reverse("edit", args=[other.pk]), {"back": place}).content.decode()
    assert place not in page


def test_it_rejects_with_a_reason_that_the_trail_keeps(alices, agent):
    fact = candidate(agent, "The user keeps bees.")
    alices.post(reverse("reject", args=[fact.pk]), {"reason": "they are my neighbour's"})
    fact.refresh_from_db()
    assert fact.state == State.REJECTED
    page = alices.get(reverse("fact", args=[fact.pk])).content.decode()
    assert "they are my neighbour&#x27;s" in page
    assert "alice" in page


def test_it_confirms_an_edit_as_a_fact_of_its_own(alices, agent):
    fact = candidate(agent, "The user keeps bees.")
    form = alices.get(reverse("edit", args=[fact.pk])).content.decode()
    assert "The user keeps bees.</textarea>" in form
    alices.post(
        reverse("edit", args=[fact.pk]),
        {
            "statement": "The user keeps  twelve hives of bees.\n",
            "kind": "semantic",
            "since": "2024-05-01",
            "until": "2024-05-31",
            "tags": ["fact"],
            "pinned": "on",
            "seen": lifecycle.version(fact),
        },
    )
    edited = Fact.objects.get(state=State.ACTIVE)
    assert edited.statement == "The user keeps twelve hives of bees."
    assert edited.pinned
    assert edited.tags == ["fact"]
    fact.refresh_from_db()
    assert fact.superseded_by == edited
    page = alices.get(reverse("fact", args=[edited.pk])).content.decode()
    assert "1 May 2024 to 31 May 2024" in page


@pytest.mark.parametrize(
    "broken",
    [
        {"statement": ""},
        {"statement": "x" * 501},
        {"statement": "nul \0 here"},
        {"kind": "whim"},
        {"tags": ["whim"]},
        {"since": "2024-05-31", "until": "2024-05-01"},
        {"since": "soon"},
    ],
)
def test_it_says_what_is_wrong_with_an_edit_and_changes_nothing(alices, agent, broken):
    fact = candidate(agent, "The user keeps bees.")
    data = {"statement": "The user keeps ten bees.", "kind": "semantic"} | broken
    response = alices.post(reverse("edit", args=[fact.pk]), data)
    assert response.status_code == 422
    assert b'class="errorlist"' in response.content
    fact.refresh_from_db()
    assert fact.state == State.PENDING
    assert Fact.objects.count() == 1


def test_it_says_that_the_wording_of_an_edit_is_already_there(alices, agent):
    fact = candidate(agent, "The user keeps bees.")
    twin = candidate(agent, "The user is a beekeeper.", state=State.ACTIVE)
    response = alices.post(
        reverse("edit", args=[fact.pk]),
        {"statement": "The user is a beekeeper.", "kind": "semantic"},
    )
    assert response.status_code == 409
    page = response.content.decode()
    assert "The same text is already there" in page
    assert reverse("fact", args=[twin.pk]) in page
    fact.refresh_from_db()
    assert fact.state == State.PENDING


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("name", ["confirm", "reject", "edit"])
def test_it_tells_the_one_who_comes_second_and_does_not_claim_success(alices, agent, name, htmx):
    fact = candidate(agent, "The user keeps bees.")
    seen = lifecycle.version(fact)
    alices.post(reverse("confirm", args=[fact.pk]), {"seen": seen})
    alices.get(reverse("review"))
    response = alices.post(
        reverse(name, args=[fact.pk]),
        {"seen": seen, "statement": "The user keeps ants.", "kind": "semantic"},
        headers={"HX-Request": "true"} if htmx else {},
    )
    assert response.status_code == 409
    page = response.content.decode()
    assert "already decided elsewhere: the fact is active now" in page
    assert "Confirmed" not in page
    assert "Undo" not in page
    assert Fact.objects.get().state == State.ACTIVE


@pytest.mark.parametrize("htmx", [True, False])
def test_it_shows_the_card_anew_when_what_it_would_replace_has_changed(alices, agent, htmx):
    target = FactFactory.create(agent=agent, statement="The user keeps ants.", state=State.ACTIVE)
    fact = candidate(agent, "The user keeps bees.")
    CorrectionTarget.objects.create(owner=agent.owner, fact=fact, target=target)
    seen = lifecycle.version(fact)
    CorrectionTarget.objects.all().delete()
    response = alices.post(
        reverse("confirm", args=[fact.pk]),
        {"seen": seen},
        headers={"HX-Request": "true"} if htmx else {},
    )
    assert response.status_code == 409
    page = response.content.decode()
    assert "Look at it again" in page
    assert "Would replace" not in page
    assert lifecycle.version(Fact.objects.get(pk=fact.pk)) in page
    fact.refresh_from_db()
    assert fact.state == State.PENDING


def test_it_swaps_the_card_for_a_line_and_counts_anew(alices, agent):
    fact = candidate(agent, "The user keeps bees.")
    candidate(agent, "The user keeps hens.")
    response = alices.post(
        reverse("confirm", args=[fact.pk]), headers={"HX-Request": "true", "HX-Target": "x"}
    )
    page = response.content.decode()
    assert response.status_code == 200
    assert "<html" not in page
    assert f'id="fact-{fact.pk}"' in page
    assert "Confirmed" in page
    assert '1<span class="unseen"> waiting</span>' in page
    assert "hx-swap-oob" in page
    assert "keeps hens" not in page


@pytest.mark.parametrize("first", ["confirm", "reject"])
def test_it_takes_a_decision_back(alices, agent, first):
    fact = candidate(agent, "The user keeps bees.")
    alices.post(reverse(first, args=[fact.pk]))
    response = alices.post(reverse("take-back", args=[fact.pk]), headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert b"data-card" in response.content
    fact.refresh_from_db()
    assert fact.state == State.PENDING


def test_it_shows_a_correction_beside_what_it_would_replace(alices, agent):
    target = FactFactory.create(agent=agent, statement="The user keeps ants.", state=State.ACTIVE)
    fact = candidate(agent, "The user keeps bees.", withheld_for=[Withheld.CORRECTION])
    CorrectionTarget.objects.create(owner=agent.owner, fact=fact, target=target)
    page = alices.get(reverse("review")).content.decode()
    assert "Would replace" in page
    assert "The user keeps ants." in page
    alices.post(reverse("confirm", args=[fact.pk]), {"seen": lifecycle.version(fact)})
    target.refresh_from_db()
    assert target.superseded_by == fact


def test_it_treats_text_from_outside_as_text(alices, agent):
    evil = "<script>alert(1)</script> {{ 7|add:7 }} \u202eevil\u202c z\u200bero"
    conversation = ConversationFactory.create(agent=agent, title="<b>bold</b>")
    candidate(
        agent,
        f"The user wrote {evil}",
        said=f"before {evil} after",
        quote=evil,
        conversation=conversation,
        withheld_for=[Withheld.HIDDEN_TEXT, "<i>new reason</i>"],
        withheld_detail="<u>from now on</u>",
    )
    page = alices.get(reverse("review")).content.decode()
    for markup in ("<script>alert", "<b>bold", "<i>new", "<u>from", "\u202e", "\u200b"):
        assert markup not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ 7|add:7 }} ⟨U+202E⟩evil" in page
    assert "z⟨U+200B⟩ero" in page
    assert "hidden characters" in page


def test_it_says_that_no_model_is_connected_and_what_the_rules_found(alices, agent, settings):
    settings.LLM_ROUTES = {"general": {"model": ""}, "private": {"model": ""}}
    candidate(agent, "The user keeps bees.", withheld_for=[Withheld.RULE_BASED])
    page = alices.get(reverse("review")).content.decode()
    assert "No language model is connected." in page
    assert Withheld.RULE_BASED.label in page
    settings.LLM_ROUTES = {"general": {"model": "some-model"}, "private": {"model": ""}}
    page = alices.get(reverse("review")).content.decode()
    assert "No language model is connected." not in page


def test_it_tells_a_newcomer_what_to_do_next(alices, agent):
    page = alices.get(reverse("review")).content.decode()
    assert f'href="{reverse("imports")}">Choose the file' in page
    ConversationFactory.create(agent=agent)
    page = alices.get(reverse("review")).content.decode()
    assert "Nothing waits for you" in page
    assert "manage.py backfill" in page


def test_it_is_never_cached_and_sends_a_policy_against_inline_scripts(alices, agent):
    candidate(agent, "The user keeps bees.")
    response = alices.get(reverse("review"))
    assert "no-store" in response["Cache-Control"]
    assert "HX-Request" in response["Vary"]
    assert "script-src 'self'" in response["Content-Security-Policy"]
    page = response.content.decode()
    for inline in ("<style", "style=", "onclick", "hx-on", "<script>"):
        assert inline not in page


def test_it_still_decides_while_memory_is_off_and_says_so(alices, alice, agent):
    fact = candidate(agent, "The user keeps bees.")
    assert "Memory is off" not in alices.get(reverse("review")).content.decode()
    alice.settings.memory_enabled = False
    alice.settings.save()
    assert "Memory is off" in alices.get(reverse("review")).content.decode()
    alices.post(reverse("confirm", args=[fact.pk]))
    fact.refresh_from_db()
    assert fact.state == State.ACTIVE
