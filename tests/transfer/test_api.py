"""Export and import over HTTP."""

from typing import Any

import pytest
from django.test import Client

from agents.models import Agent, ApiKey, User
from conversations.models import Import
from memory.models import Fact
from memory.vocabulary import State
from tests.factories import ApiKeyFactory, IssuedKey
from tests.transfer.stores import Store, written

pytestmark = pytest.mark.django_db


def client(key: IssuedKey) -> Client:
    return Client(headers={"authorization": f"Bearer {key.plaintext}"})


def key_of(owner: User, *scopes: str, agent: Agent | None = None) -> Client:
    return client(ApiKeyFactory.create(owner=owner, agent=agent, scopes=list(scopes)))


def post(caller: Client, body: str | bytes, **query: Any) -> Any:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return caller.post(f"/api/v1/import?{asked}", body, content_type="application/octet-stream")


def test_the_file_is_the_same_as_the_commands(store: Store) -> None:
    answer = key_of(store.owner, "export").get("/api/v1/export")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/jsonl")
    assert answer.getvalue().decode() == written(store.owner)
    part = key_of(store.owner, "export", agent=store.second).get("/api/v1/export")
    assert part.getvalue().decode() == written(store.owner, agent=store.second)
    facts = key_of(store.owner, "export").get("/api/v1/export?conversations=false")
    assert facts.getvalue().decode() == written(store.owner, conversations=False)


def test_a_whole_store_comes_in_with_a_persons_key_and_word(store: Store, stranger: User) -> None:
    text = written(store.owner)
    answer = post(key_of(stranger, "review"), text, approve="true")
    assert answer.status_code == 200, answer.json()
    told = answer.json()
    assert told["new"]["facts"] == len(store.facts)
    assert Import.objects.get(pk=told["imported"]).approved_by == stranger
    assert Fact.objects.filter(owner=stranger, state=State.REJECTED).exists()
    assert post(key_of(stranger, "review"), text, approve="true").json()["imported"] is None


def test_without_that_word_everything_waits(store: Store, stranger: User) -> None:
    answer = post(key_of(stranger, "review"), written(store.owner))
    assert answer.status_code == 200
    assert set(Fact.objects.filter(owner=stranger).values_list("state", flat=True)) == {"pending"}


def test_a_list_waits_for_the_agent_that_the_key_speaks_for(agent: Agent) -> None:
    answer = post(key_of(agent.owner, "review", agent=agent), "- Likes tea.", name="MEMORY.md")
    assert answer.json()["new"] == {"facts": 1}
    fact = Fact.objects.get()
    assert (fact.agent, fact.state) == (agent, State.PENDING)


def test_wrong_files_are_problem_documents(store: Store, stranger: User) -> None:
    keys = key_of(stranger, "review")
    text = written(store.owner)
    cut = post(keys, text[:-20], approve="true")
    assert (cut.status_code, cut.json()["code"]) == (422, "invalid")
    assert cut.json()["detail"].startswith("Line ")
    assert post(keys, "Hm").status_code == 422
    assert post(keys, "- Tea", format="bullets").status_code == 422  # which agent?
    assert post(keys, "- Tea", format="bullets", approve="true").status_code == 403
    assert post(keys, text, conflict="supersede").status_code == 403
    assert post(keys, text, conflict="overwrite").status_code == 422
    own = Agent.objects.create(owner=stranger, slug="own", name="Own")
    assert post(key_of(stranger, "review", agent=own), text).status_code == 403
    assert not Fact.objects.filter(owner=stranger).exists()


def test_a_file_that_is_too_large_is_refused_while_it_comes(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.api_transfer.LARGEST", 1000)
    answer = post(key_of(alice, "review"), "- Tea\n" * 1000, format="bullets", agent="main")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert not Fact.objects.exists()


def test_an_assistants_key_opens_neither(alice_key: IssuedKey) -> None:
    assert client(alice_key).get("/api/v1/export").status_code == 403
    assert post(client(alice_key), "- Tea").status_code == 403
    assert ApiKey.Scope.REVIEW not in alice_key.scopes
