"""POST /forget and /purge: an assistant's key asks, the owner's key does."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from agents.audit import POLICY, person
from agents.models import Agent, User
from conversations.models import Conversation
from memory import lifecycle
from memory.lifecycle.rows import copy_sources
from memory.models import Fact, ForgetRequest
from memory.purge import requests
from memory.vocabulary import ArchivedReason, State
from tests.factories import (
    ApiKeyFactory,
    ConversationFactory,
    FactFactory,
    IssuedKey,
    MessageFactory,
)
from tests.memory.dumping import dump, found
from tests.memory.steps import by, now_is, state

pytestmark = pytest.mark.django_db
Api = Callable[[IssuedKey], Client]


@pytest.fixture
def talk(agent: Agent) -> Conversation:
    return ConversationFactory.create(agent=agent, external_id="trip")


@pytest.fixture
def fact(talk: Conversation, agent: Agent) -> Fact:
    message = MessageFactory.create(conversation=talk, content="I fly to Oslo on Friday.")
    return FactFactory.create(
        agent=agent, conversation=talk, statement="The user flies to Oslo.", message=message,
        state=State.ACTIVE,
    )  # fmt: skip


@pytest.fixture
def assistant(agent: Agent) -> IssuedKey:
    return ApiKeyFactory.create(agent=agent, scopes=["forget"])


@pytest.fixture
def owners(agent: Agent) -> IssuedKey:
    return ApiKeyFactory.create(owner=agent.owner, scopes=["forget", "review"])


def post(api: Api, key: IssuedKey, what: str, body: dict[str, Any]) -> Any:
    return api(key).post(f"/api/v1/{what}", body, content_type="application/json")


def test_an_assistants_key_only_asks(api: Api, assistant: IssuedKey, fact: Fact) -> None:
    for _ in range(2):  # asking twice is asking once
        answer = post(api, assistant, "forget", {"match": "Oslo"})
        assert answer.status_code == 202
        assert answer.json() == {"forgotten": 0, "requested": [str(fact.pk)]}
    assert state(fact) == State.ACTIVE
    [asked] = requests.waiting(fact.owner)
    assert (asked.fact_id, asked.agent_id, asked.client_id) == (
        fact.pk, assistant.agent_id, assistant.pk
    )  # fmt: skip


def test_an_assistants_key_purges_nothing(api: Api, assistant: IssuedKey, fact: Fact) -> None:
    answer = post(api, assistant, "purge", {"facts": [str(fact.pk)], "confirm": True})
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert state(fact) == State.ACTIVE


def test_it_asks_only_about_what_it_may_read(
    api: Api, assistant: IssuedKey, alice: User, second_agent: Agent
) -> None:
    elsewhere = FactFactory.create(agent=second_agent, statement="The user rows.")
    answer = post(api, assistant, "forget", {"facts": [str(elsewhere.pk)]})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert post(api, assistant, "forget", {"match": "rows"}).json()["requested"] == []
    assert not ForgetRequest.objects.exists()


def test_a_request_for_too_much_is_refused(
    api: Api, assistant: IssuedKey, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "MOST", 2)
    for number in range(3):
        FactFactory.create(agent=agent, statement=f"The user knows Oslo {number}.", state="active")
    answer = post(api, assistant, "forget", {"match": "Oslo"})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert not ForgetRequest.objects.exists()


def test_the_owner_accepts_or_declines(
    api: Api, assistant: IssuedKey, fact: Fact, bob: User
) -> None:
    post(api, assistant, "forget", {"facts": [str(fact.pk)]})
    [asked] = requests.waiting(fact.owner)
    for actor in (POLICY, by(bob)):
        with pytest.raises(lifecycle.NotAllowed):
            requests.accept(request=asked, actor=actor)
        with pytest.raises(lifecycle.NotAllowed):
            requests.decline(request=asked, actor=actor)
    requests.decline(request=asked, actor=by(fact.owner))
    with pytest.raises(requests.AlreadyDecided):
        requests.accept(request=asked, actor=by(fact.owner))
    assert state(fact) == State.ACTIVE

    post(api, assistant, "forget", {"facts": [str(fact.pk)]})
    [asked] = requests.waiting(fact.owner)
    requests.accept(request=asked, actor=by(fact.owner))
    assert now_is(fact).archived_reason == ArchivedReason.FORGOTTEN
    assert not requests.waiting(fact.owner)


def test_the_owners_key_forgets_at_once(api: Api, owners: IssuedKey, fact: Fact) -> None:
    answer = post(api, owners, "forget", {"conversation": "trip"})
    assert (answer.status_code, answer.json()["forgotten"]) == (200, 1)
    assert now_is(fact).archived_reason == ArchivedReason.FORGOTTEN


def test_purge_tells_first_and_does_it_when_confirmed(
    api: Api, owners: IssuedKey, fact: Fact
) -> None:
    body: dict[str, Any] = {"facts": [str(fact.pk)]}
    plan = post(api, owners, "purge", body).json()
    assert (plan["purged"], plan["facts"], plan["messages"]) == (False, 1, 1)
    assert state(fact) == State.ACTIVE
    stale = post(api, owners, "purge", body | {"confirm": True, "seen": "other"})
    assert (stale.status_code, stale.json()["code"]) == (409, "stale")
    done = post(api, owners, "purge", body | {"confirm": True, "seen": plan["seen"]}).json()
    assert done["purged"] is True
    assert found(dump(), "Oslo") == set()
    again = post(api, owners, "purge", body | {"confirm": True}).json()
    assert (again["facts"], again["messages"]) == (0, 0)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"match": ""},
        {"match": "ab"},
        {"facts": []},
        {"facts": ["00000000-0000-0000-0000-000000000000"]},
        {"everything": "bob"},
        {"everything": "alice", "match": "Oslo"},
        {"everything": ""},
        {"unknown": "x"},
        {"since": "2026-03-02T00:00:00Z", "until": "2026-03-01T00:00:00Z"},
    ],
)
def test_nothing_is_never_everything(
    api: Api, owners: IssuedKey, fact: Fact, body: dict[str, Any]
) -> None:
    answer = post(api, owners, "purge", body | {"confirm": True})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert state(fact) == State.ACTIVE


def test_everything_takes_the_username(api: Api, owners: IssuedKey, fact: Fact) -> None:
    post(api, owners, "purge", {"everything": "alice", "confirm": True})
    assert found(dump(), "Oslo") == set()


# The pages


@pytest.fixture
def desk(alice: User, client: Client) -> Client:
    client.force_login(alice)
    return client


def test_the_fact_page_leads_to_what_would_go(desk: Client, fact: Fact) -> None:
    place = f"/facts/{fact.pk}/purge/"
    assert place in desk.get(f"/facts/{fact.pk}/").content.decode()
    page = desk.get(place).content.decode()
    assert "There is no way back" in page
    assert fact.statement in page
    assert state(fact) == State.ACTIVE


def deed(page: Any, name: str) -> dict[str, str]:
    """What the form of that deed would send."""
    plan = page.context[name]
    return {**page.context["fields"], "deed": name, "seen": plan.seen}


def test_purging_takes_the_typed_word(desk: Client, fact: Fact) -> None:
    page = desk.get(f"/facts/{fact.pk}/purge/")
    answer = desk.post("/forget/", deed(page, "purge") | {"word": "yes"})
    assert (answer.status_code, state(fact)) == (422, State.ACTIVE)
    answer = desk.post("/forget/", deed(page, "purge") | {"word": "purge", "seen": "0"})
    assert (answer.status_code, state(fact)) == (409, State.ACTIVE)
    answer = desk.post("/forget/", deed(page, "purge") | {"word": "purge"}, follow=True)
    assert "Purged: facts 1, messages 1." in answer.content.decode()
    assert found(dump(), "Oslo") == set()


def test_a_purged_fact_is_gone(desk: Client, fact: Fact) -> None:
    page = desk.get(f"/facts/{fact.pk}/purge/")
    desk.post("/forget/", deed(page, "purge") | {"word": "purge"})
    answer = desk.get(f"/facts/{fact.pk}/")
    assert (answer.status_code, "was purged" in answer.content.decode()) == (410, True)
    for step in ("restore", "forget", "pin"):
        assert desk.post(f"/facts/{fact.pk}/{step}/").status_code == 404
    assert "[purged]" not in desk.get("/facts/?state=archived").content.decode()


def test_a_conversation_is_forgotten_from_its_page(
    desk: Client, fact: Fact, talk: Conversation
) -> None:
    place = f"/conversations/{talk.pk}/forget/"
    assert place in desk.get(f"/conversations/{talk.pk}/").content.decode()
    page = desk.get(place)
    desk.post("/forget/", deed(page, "forget"))
    assert now_is(fact).archived_reason == ArchivedReason.FORGOTTEN


def test_the_form_shows_the_plan_before_anything_is_done(desk: Client, fact: Fact) -> None:
    page = desk.post("/forget/", {"match": "oslo"})
    assert page.status_code == 200
    assert fact.statement in page.content.decode()
    desk.post("/forget/", deed(page, "purge") | {"word": "purge"})
    assert found(dump(), "Oslo") == set()


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"match": "ab"},
        {"since": "0"},
        {"agent": "00000000-0000-0000-0000-000000000000"},
        {"everything": "on", "match": "Oslo"},
        {"since": "2026-03-02", "until": "2026-03-02"},
    ],
)
def test_a_form_without_a_sound_choice_does_nothing(
    desk: Client, fact: Fact, choice: dict[str, str]
) -> None:
    answer = desk.post("/forget/", choice | {"deed": "purge", "word": "purge"})
    assert (answer.status_code, state(fact)) == (422, State.ACTIVE)


def test_everything_takes_the_username_as_its_word(desk: Client, fact: Fact) -> None:
    page = desk.post("/forget/", {"everything": "on"})
    assert page.context["forget"] is None
    answer = desk.post("/forget/", deed(page, "purge") | {"word": "purge"})
    assert answer.status_code == 422
    desk.post("/forget/", deed(page, "purge") | {"word": "alice"})
    assert found(dump(), "Oslo") == set()


def test_an_assistants_key_learns_nothing_of_what_waits_by_asking(
    api: Api, assistant: IssuedKey, agent: Agent
) -> None:
    FactFactory.create(agent=agent, statement="The user flies to Oslo.", state=State.PENDING)
    answer = post(api, assistant, "forget", {"match": "Oslo"})
    assert (answer.status_code, answer.json()["requested"]) == (202, [])


def test_the_key_of_one_agent_is_not_told_what_another_keeps(
    api: Api, agent: Agent, second_agent: Agent, owners: IssuedKey, fact: Fact
) -> None:
    other = FactFactory.create(agent=second_agent, statement="The user flies.", state=State.ACTIVE)
    copy_sources(fact, other)
    asked = {"facts": [str(fact.pk)]}
    assert post(api, owners, "purge", asked).json()["kept"] == [str(other.pk)]
    bound = ApiKeyFactory.create(agent=agent, scopes=["review"])
    assert post(api, bound, "purge", asked).json()["kept"] == []


def test_the_key_of_one_agent_reaches_no_fact_that_was_moved_away(
    api: Api, fact: Fact, agent: Agent, second_agent: Agent
) -> None:
    """Learned in this agent's conversation and moved to another: what is left here of its own is a
    former wording, and erasing that would take the fact along."""
    moved = lifecycle.promote(fact=fact, agent=second_agent, actor=person(agent.owner))
    bound = ApiKeyFactory.create(agent=agent, scopes=["forget", "review"])
    for rule in ({"conversation": "trip"}, {"match": "Oslo"}, {"agent": "main"}):
        assert post(api, bound, "forget", rule).json()["forgotten"] == 0
        assert post(api, bound, "purge", rule).json()["facts"] == 0, rule
    for one in (fact, moved):
        answer = post(api, bound, "purge", {"facts": [str(one.pk)], "confirm": True})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    assert post(api, bound, "purge", {"conversation": "trip", "confirm": True}).status_code == 200
    assert state(moved) == State.ACTIVE
    owners = ApiKeyFactory.create(owner=agent.owner, scopes=["review"])
    assert post(api, owners, "purge", {"agent": "main"}).json()["facts"] == 2
