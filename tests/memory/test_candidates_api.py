"""The review queue over HTTP: what a reviewer's program is shown, and each decision."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agents.audit import person
from agents.models import Agent, AuditEvent, User
from memory import lifecycle
from memory.lifecycle.rows import copy_sources
from memory.models import CorrectionTarget, Fact
from memory.vocabulary import State, Withheld
from tests.factories import AgentFactory, ApiKeyFactory, FactFactory, IssuedKey
from tests.memory.candidates import candidate

pytestmark = pytest.mark.django_db
Api = Callable[[IssuedKey], Client]


@pytest.fixture
def reviewer(api: Api, alice: User) -> Client:
    return api(ApiKeyFactory.create(owner=alice, scopes=["review"]))


@pytest.fixture
def rows(agent: Agent) -> Fact:
    return candidate(agent, "The user rows.", "I row.", withheld_for=[Withheld.DURABLE])


def decide(client: Client, fact: Fact, decision: str, **body: Any) -> Any:
    path = f"/api/v1/candidates/{fact.pk}/decide"
    return client.post(path, json.dumps({"decision": decision} | body), "application/json")


def later() -> str:
    return (timezone.now() + timedelta(days=2)).isoformat()


def test_a_candidate_comes_with_what_it_rests_on(
    reviewer: Client, rows: Fact, agent: Agent
) -> None:
    old = FactFactory.create(agent=agent, statement="The user swims.", state=State.ACTIVE)
    CorrectionTarget.objects.create(owner=rows.owner, fact=rows, target=old)
    [told] = reviewer.get("/api/v1/candidates").json()["items"]
    assert (told["id"], told["statement"]) == (str(rows.pk), rows.statement)
    assert [why["code"] for why in told["reasons"]] == ["durable"]
    assert [one["quote"] for one in told["quotes"]] == ["I row."]
    assert told["replaces"] == [{"id": str(old.pk), "statement": old.statement}]
    one = reviewer.get(f"/api/v1/candidates/{rows.pk}")
    assert one.json() == told
    assert one["ETag"] == f'"{told["version"]}"'
    assert reviewer.get(f"/api/v1/candidates/{old.pk}").status_code == 404


def test_the_list_is_paged_and_leaves_out_what_sleeps(reviewer: Client, agent: Agent) -> None:
    made = [candidate(agent, f"The user has {n} kilns.") for n in range(4)]
    lifecycle.snooze(
        fact=made[0], until=timezone.now() + timedelta(days=1), actor=person(agent.owner)
    )
    first = reviewer.get("/api/v1/candidates", {"limit": 2}).json()
    rest = reviewer.get("/api/v1/candidates", {"limit": 2, "after": first["next"]}).json()
    told = [one["id"] for page in (first, rest) for one in page["items"]]
    assert told == [str(fact.pk) for fact in reversed(made[1:])]
    [asleep] = reviewer.get("/api/v1/candidates", {"snoozed": True}).json()["items"]
    assert asleep["id"] == str(made[0].pk)


def test_each_decision_does_what_it_says_and_is_taken_back(reviewer: Client, rows: Fact) -> None:
    for decision, state, more in (
        ("confirm", State.ACTIVE, {}),
        ("reject", State.REJECTED, {"reason": "not so"}),
        ("snooze", State.PENDING, {"until": later()}),
        ("edit", State.ACTIVE, {"edit": {"statement": "The user rows on Mondays."}}),
    ):
        answer = decide(reviewer, rows, decision, **more)
        assert (answer.status_code, answer.json()["state"]) == (200, state), decision
        if decision == "reject":
            assert AuditEvent.objects.filter(row_id=str(rows.pk), reason="not so").exists()
        done = Fact.objects.get(pk=answer.json()["id"])
        back = decide(reviewer, done, "undo")
        assert (back.json()["id"], back.json()["state"]) == (str(rows.pk), "pending"), decision
        assert back.json()["snoozed_until"] is None
    assert done.statement == "The user rows on Mondays."


def test_the_second_decision_is_told_of_the_first(reviewer: Client, rows: Fact) -> None:
    assert decide(reviewer, rows, "confirm").status_code == 200
    for decision in ("confirm", "reject"):
        answer = decide(reviewer, rows, decision)
        assert (answer.status_code, answer.json()["code"]) == (409, "decided_elsewhere")
        assert answer.json()["current"]["state"] == "active"


@pytest.mark.parametrize("decision", ["confirm", "reject", "edit", "snooze", "undo"])
def test_a_decision_over_what_has_changed_is_refused(
    reviewer: Client, rows: Fact, decision: str
) -> None:
    version = reviewer.get(f"/api/v1/candidates/{rows.pk}").json()["version"]
    lifecycle.set_pinned(fact=rows, pinned=True, actor=person(rows.owner))
    more: dict[str, Any] = {
        "edit": {"edit": {"statement": "The user runs."}},
        "snooze": {"until": later()},
    }
    answer = decide(reviewer, rows, decision, version=version, **more.get(decision, {}))
    assert (answer.status_code, answer.json()["code"]) == (409, "stale")
    assert answer.json()["current"]["pinned"] is True
    rows.refresh_from_db()
    assert (rows.state, rows.snoozed_until) == (State.PENDING, None)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"decision": "approve"},
        {"decision": "edit"},
        {"decision": "snooze"},
        {"decision": "snooze", "until": "2020-01-01T00:00:00Z"},
        {"decision": "confirm", "edit": {"statement": "The user runs."}},
        {"decision": "edit", "edit": {"statement": "\u0000"}},
        {"decision": "confirm", "more": 1},
    ],
    ids=str,
)
def test_bad_input_decides_nothing(reviewer: Client, rows: Fact, body: dict[str, Any]) -> None:
    path = f"/api/v1/candidates/{rows.pk}/decide"
    answer = reviewer.post(path, json.dumps(body), "application/json")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    rows.refresh_from_db()
    assert rows.state == State.PENDING


def test_the_key_of_one_agent_is_told_nothing_of_what_another_heard(
    api: Api, agent: Agent, rows: Fact
) -> None:
    work = AgentFactory.create(owner=agent.owner, slug="other")
    near = FactFactory.create(agent=work, statement="The user sculls.", state=State.ACTIVE)
    shared = FactFactory.create(
        agent=None,
        owner=agent.owner,
        statement="The user rows at dawn.",
        conversation=candidate(work, "The user has a boat.", "My boat is secret.").conversation,
        similar_to=near,
    )
    copy_sources(Fact.objects.get(statement="The user has a boat."), shared)
    key = api(ApiKeyFactory.create(agent=agent, scopes=["review"]))
    listed = key.get("/api/v1/candidates").json()["items"]
    [told] = [one for one in listed if one["id"] == str(shared.pk)]
    assert (told["quotes"], told["conversation"], told["similar_to"]) == ([], None, None)
    assert key.get(f"/api/v1/candidates/{shared.pk}").json() == told
    owners = api(ApiKeyFactory.create(owner=agent.owner, scopes=["review"]))
    whole = owners.get(f"/api/v1/candidates/{shared.pk}").json()
    assert whole["similar_to"]["id"] == str(near.pk)
    assert [one["quote"] for one in whole["quotes"]] == ["My boat is secret."]
