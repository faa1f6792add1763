"""Rules as programs read them: over the API and through MCP; and that none writes one."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from mcp.shared.exceptions import MCPError

from agents.audit import person
from agents.models import Agent, AuditEvent, OwnerSettings, User
from config.api import api as ninja
from memory.mcp.tools import TOOLS
from memory.models import Rule
from memory.purge.execute import purge
from memory.purge.selection import chosen
from memory.rules import writing
from tests.factories import AgentFactory, ApiKeyFactory, IssuedKey
from tests.memory.mcp_clients import over_http
from tests.memory.ruling import ruled

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_vectors")]

Api = Callable[[IssuedKey], Client]


@pytest.fixture
def listed(alice: User, bob: User, agent: Agent) -> dict[str, Rule]:
    """What stands for the agent, and what must stay out."""
    other = AgentFactory.create(owner=alice, slug="garden")
    ruled(bob, "His.")
    ruled(alice, "Garden.", other)
    ruled(alice, "Off.", enabled=False)
    old = ruled(alice, "Old.")
    writing.retire(rule=ruled(alice, "Gone."), actor=person(alice))
    return {
        "new": writing.reword(rule=old, text="New.", actor=person(alice)),
        "own": ruled(alice, "Own.", agent),
        "long": ruled(alice, "Mind the " + "order of things " * 30),
        "twin": ruled(alice, "Keep the " + "order of things " * 30, agent),
        "longest": ruled(alice, "Have the " + "order of things " * 30),
    }


def test_an_agents_key_reads_what_rides_and_what_does_not_fit(
    api: Api, agent: Agent, listed: dict[str, Rule]
) -> None:
    client = api(ApiKeyFactory.create(agent=agent, scopes=["recall"]))
    answer = client.get("/api/v1/rules").json()
    assert [(one["text"][:5], one["for_all"], one["rides"]) for one in answer["items"]] == [
        ("New.", True, True),
        ("Own.", False, True),
        ("Mind ", True, True),
        ("Keep ", False, True),
        ("Have ", True, False),
    ]
    assert answer["text"].startswith('<rules trust="owner" id="')
    assert answer["tokens"] <= answer["budget"] == 300
    own = listed["own"]
    assert client.get(f"/api/v1/rules/{own.pk}").json()["text"] == "Own."
    for hidden in Rule.objects.exclude(pk__in=[rule.pk for rule in listed.values()]):
        assert hidden.text not in str(answer)
        assert client.get(f"/api/v1/rules/{hidden.pk}").status_code == 404
    OwnerSettings.objects.filter(owner=agent.owner).update(memory_enabled=False)
    assert client.get("/api/v1/rules").json()["items"] == []
    assert client.get(f"/api/v1/rules/{own.pk}").status_code == 404


def test_recall_says_which_rode(api: Api, agent: Agent, listed: dict[str, Rule]) -> None:
    client = api(ApiKeyFactory.create(agent=agent, scopes=["recall"]))
    told = client.post("/api/v1/recall", {"message": "hi"}, content_type="application/json").json()
    assert [one["text"][:4] for one in told["rules"]] == ["New.", "Own.", "Mind", "Keep"]
    assert told["trace"]["rules_left"] == [str(listed["longest"].pk)]
    assert told["empty"] is True


def test_no_operation_and_no_tool_writes_a_rule() -> None:
    """A key is held by a program, which can be talked into things by what it reads."""
    assert not [name for name in TOOLS if "rule" in name]
    methods = {
        method
        for router in ninja._get_bound_routers()
        for path, view in router.path_operations.items()
        if "/rules" in path
        for operation in view.operations
        for method in operation.methods
    }
    assert methods == {"GET"}


def test_mcp_brings_them_with_recall_and_as_a_resource(
    agent: Agent, listed: dict[str, Rule]
) -> None:
    client = over_http(ApiKeyFactory.create(agent=agent, scopes=["recall"]).plaintext)
    uri = f"remembrancer://agents/{agent.slug}/rules"
    assert uri in client.resources()
    for text in (client.told("recall", message="hello"), client.read(uri)):
        assert text.startswith('<rules trust="owner" id="')
        assert "- New.\n- Own.\n" in text
        for hidden in ("His.", "Garden.", "Off.", "Old.", "Gone."):
            assert hidden not in text


def test_the_resource_tells_each_assistant_its_own(
    agent: Agent, bobs_agent: Agent, listed: dict[str, Rule]
) -> None:
    """A sibling's key, and another owner's, read theirs and nobody else's."""
    garden = Agent.objects.get(slug="garden")
    told = {agent: {"New.", "Own."}, garden: {"New.", "Garden."}, bobs_agent: {"His."}}
    every = set().union(*told.values())
    for whose, texts in told.items():
        client = over_http(ApiKeyFactory.create(agent=whose, scopes=["recall"]).plaintext)
        text = client.read(f"remembrancer://agents/{whose.slug}/rules")
        assert {one for one in every if f"- {one}\n" in text} == texts
        for other in told.keys() - {whose}:
            if other.slug != whose.slug:
                with pytest.raises(MCPError, match="no such agent for this key"):
                    client.read(f"remembrancer://agents/{other.slug}/rules")
    everybody = over_http(ApiKeyFactory.create(owner=agent.owner, scopes=["recall"]).plaintext)
    for whose in (agent, garden):
        text = everybody.read(f"remembrancer://agents/{whose.slug}/rules")
        assert {one for one in every if f"- {one}\n" in text} == told[whose]


def test_the_admin_repairs_through_the_same_steps(client: Client, alice: User) -> None:
    alice.is_staff = alice.is_superuser = True
    alice.save()
    client.force_login(alice)
    rows = [ruled(alice, text) for text in ("One.", "Two.")]
    writing.retire(rule=rows[1], actor=person(alice))
    place = reverse("admin:memory_rule_changelist")
    for action, state in (
        ("switch_off", [(False, True), (True, False)]),
        ("put_back", [(False, True), (True, True)]),
        ("take_out", [(False, False), (True, False)]),
    ):
        data: dict[str, Any] = {"action": action, "_selected_action": [row.pk for row in rows]}
        assert client.post(place, data, follow=True).status_code == 200
        found = Rule.objects.order_by("created_at")
        assert [(row.enabled, row.stands) for row in found] == state
    page = client.get(reverse("admin:memory_rule_change", args=[rows[0].pk]))
    assert page.status_code == 200
    assert 'name="_save"' not in page.content.decode()


def test_a_purge_by_words_and_of_everything_takes_rules(alice: User, bob: User) -> None:
    ruled(alice, "Call me Quetzal.")
    keep, his = ruled(alice, "Be brief."), ruled(bob, "Call him Quetzal.")
    purge(selection=chosen(owner=alice, match="quetzal"), actor=person(alice))
    assert list(Rule.objects.order_by("pk")) == [keep, his]
    purge(selection=chosen(owner=alice, everything=True), actor=person(alice))
    assert list(Rule.objects.all()) == [his]
    trail = AuditEvent.objects.filter(owner_id=alice.pk, table="memory_rule")
    assert trail.exists()
    assert not any("brief" in f"{row.before}{row.after}" for row in trail)
