"""Operations of the API that name a row by its id, with every kind of key and somebody else's row.

Each case is an operation on a row of a household. `agents`: it goes by the agents that a key speaks
for; the others are about the account, which a key of one agent can't reach or reaches in part.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.test import Client

from agents.audit import person
from agents.models import Agent, ApiKey, User
from conversations.models import Message
from knowledge.models import Collection, Document, DocumentPassage
from knowledge.pins import pin
from memory.models import Case as Exchange
from memory.models import DroppedCandidate, Evidence, ExtractionRun, Fact, Webhook
from tests.factories import (
    ApiKeyFactory,
    CaseFactory,
    ConversationFactory,
    FactFactory,
    IssuedKey,
    MessageFactory,
)
from tests.isolation.household import SHARED, Household
from tests.knowledge.shelves import document, shelf
from tests.memory.candidates import a_run

API = "/api/v1"
NOWHERE = "0190c0de-0000-7000-8000-000000000000"
ALL: list[str] = list(ApiKey.Scope.values)
GOOD = {200, 201, 202, 204}


@dataclass(frozen=True)
class Case:
    """`row` finds the row's id in a household; none where the operation names no row. `tells`: the
    mark of whose it is comes back. `query`: it has no body for all else to stand in, or a file."""

    method: str
    path: str
    scope: str
    body: Callable[[], dict[str, Any]] | None = None
    row: Callable[[Household], Any] | None = None
    agents: bool = True
    tells: bool = True
    query: dict[str, str] | None = None

    def ask(self, key: IssuedKey, row: Any = None, agent: str | None = None) -> Any:
        client = Client(headers={"authorization": f"Bearer {key.plaintext}"})
        return self.send(client, row, agent)

    def send(self, client: Client, row: Any = None, agent: str | None = None) -> Any:
        path = API + self.path.format(row=row)
        named = {"agent": agent} if agent is not None and self.agents else {}
        if self.body is None and self.query is None:
            return client.get(path, named)
        if self.query is not None:
            path, named = f"{path}?{urlencode(self.query | named)}", {}
        body = json.dumps((self.body() if self.body else {}) | named)
        return client.generic(self.method, path, body, content_type="application/json")

    def of(self, home: Household) -> Any:
        return self.row(home) if self.row else None


def fact(name: str) -> Callable[[Household], Any]:
    return lambda home: home.facts[name].pk


def case(name: str) -> Callable[[Household], Any]:
    return lambda home: home.cases[name].pk


def hook(home: Household) -> Any:
    assert home.hook is not None
    return home.hook.pk


def told(home: Household) -> Any:
    assert home.told is not None
    return home.told.pk


def own_shelf(home: Household) -> Collection:
    """One that only her main agent reads."""
    own: dict[str, Any] = {"owner": home.owner, "agent": home.main, "name": home.text("own shelf")}
    return Collection.objects.get_or_create(**own)[0]


def own_document(home: Household) -> Document:
    title = home.text("own document")
    known = Document.objects.filter(owner=home.owner, title=title).first()
    return known or document(own_shelf(home), title, "Clay.", home.text("passage own."))


def own_passage(home: Household) -> Any:
    rows = DocumentPassage.objects.filter(document=own_document(home))
    return rows.get(ordinal=0).pk


def pinned(home: Household) -> Any:
    pin(conversation=home.conversation, collection=own_shelf(home))
    return own_shelf(home).pk


def a_fact() -> dict[str, Any]:
    return {"statement": "The user has a kiln."}


KB, PINS = "/knowledge", "/conversations/trip/collections"
SHELF, DOCUMENT = f"{KB}/collections/{{row}}", f"{KB}/documents/{{row}}"
FACT, CANDIDATE = "/facts/{row}", "/candidates/{row}"
DECIDE = f"{CANDIDATE}/decide"
HOOK = "/webhooks/{row}"
DELIVERY = "/webhooks/deliveries/{row}"
REJECT = {"decision": "reject"}

CASES = {
    "list_facts": Case("GET", "/facts", "search"),
    "search_facts": Case("POST", "/facts/search", "search", dict),
    "add_fact": Case("POST", "/facts", "review", a_fact, tells=False),
    "read_fact": Case("GET", FACT, "search", row=fact("active")),
    "read_fact_history": Case("GET", f"{FACT}/history", "review", row=fact("active")),
    "read_fact_evidence": Case("GET", f"{FACT}/evidence", "search", row=fact("active")),
    "correct_fact": Case(
        "POST", f"{FACT}/correct", "propose", a_fact, row=fact("forgettable"), tells=False
    ),
    "pin_fact": Case("PUT", f"{FACT}/pin", "review", lambda: {"pinned": True}, row=fact("active")),
    "set_fact_validity": Case("PUT", f"{FACT}/validity", "review", dict, row=fact("movable")),
    "list_candidates": Case("GET", "/candidates", "review"),
    "read_candidate": Case("GET", CANDIDATE, "review", row=fact("pending")),
    "decide_candidate": Case("POST", DECIDE, "review", lambda: dict(REJECT), row=fact("other")),
    "list_runs": Case("GET", "/runs", "review"),
    "read_run": Case("GET", "/runs/{row}", "review", row=lambda home: home.run.pk),
    "list_rules": Case("GET", "/rules", "recall"),
    "read_rule": Case("GET", "/rules/{row}", "recall", row=lambda home: home.rules["own"].pk),
    "list_cases": Case("GET", "/cases", "search"),
    "read_case": Case("GET", "/cases/{row}", "search", row=case("known")),
    "remember": Case("POST", "/remember", "remember", a_fact, tells=False),
    "propose": Case("POST", "/propose", "propose", a_fact, tells=False),
    "list_agents": Case("GET", "/agents", "search", agents=False),
    "read_agent": Case("GET", "/agents/main", "search", agents=False),
    "add_agent": Case(
        "POST", "/agents", "admin", lambda: {"name": "Garden"}, agents=False, tells=False
    ),
    "change_agent": Case("PATCH", "/agents/main", "admin", dict, agents=False),
    "list_keys": Case("GET", "/keys", "admin", agents=False),
    "read_key": Case("GET", "/keys/{row}", "admin", row=lambda home: home.key.pk, agents=False),
    "add_key": Case(
        "POST",
        "/keys",
        "admin",
        lambda: {"name": "new", "scopes": ["admin"]},
        agents=False,
        tells=False,
    ),
    "rotate_key": Case(
        "POST",
        "/keys/{row}/rotate",
        "admin",
        dict,
        row=lambda home: (
            ApiKeyFactory.create(agent=home.main, scopes=["admin"], name=f"{home.mark} old").pk
        ),
        agents=False,
    ),
    "revoke_key": Case(
        "POST", "/keys/{row}/revoke", "admin", dict, row=lambda home: home.key.pk, agents=False
    ),
    "list_webhooks": Case("GET", "/webhooks", "admin", agents=False),
    "add_webhook": Case(
        "POST",
        "/webhooks",
        "admin",
        lambda: {"address": "https://93.184.215.14/", "events": ["fact.purged"]},
        agents=False,
        tells=False,
    ),
    "read_webhook": Case("GET", HOOK, "admin", row=hook, agents=False),
    "change_webhook": Case("PATCH", HOOK, "admin", dict, row=hook, agents=False),
    "remove_webhook": Case(
        "DELETE",
        HOOK,
        "admin",
        row=lambda home: (
            Webhook.objects.create(
                owner=home.owner, agent=home.main, address="https://x/", events=["fact.purged"]
            ).pk
        ),
        agents=False,
        tells=False,
        query={},
    ),
    "renew_webhook_secret": Case("POST", f"{HOOK}/secret", "admin", dict, row=hook, agents=False),
    "test_webhook": Case(
        "POST", f"{HOOK}/test", "admin", dict, row=hook, agents=False, tells=False
    ),
    "list_deliveries": Case(
        "GET", f"{HOOK}/deliveries", "admin", row=hook, agents=False, tells=False
    ),
    "read_delivery": Case("GET", DELIVERY, "admin", row=told, agents=False, tells=False),
    "send_delivery_again": Case(
        "POST", f"{DELIVERY}/send", "admin", dict, row=told, agents=False, tells=False
    ),
    "list_collections": Case("GET", f"{KB}/collections", "search"),
    "read_collection": Case("GET", SHELF, "search", row=lambda home: own_shelf(home).pk),
    "add_collection": Case(
        "POST", f"{KB}/collections", "ingest", lambda: {"name": f"New {uuid4()}"}, tells=False
    ),
    "change_collection": Case("PATCH", SHELF, "ingest", dict, row=lambda home: own_shelf(home).pk),
    "delete_collection": Case(
        "DELETE",
        SHELF,
        "review",
        row=lambda home: shelf(home.owner, f"Gone {uuid4()}", home.main).pk,
        tells=False,
        query={},
    ),
    "add_document_file": Case(
        "POST",
        f"{SHELF}/files",
        "ingest",
        row=lambda home: own_shelf(home).pk,
        tells=False,
        query={"name": "new.txt"},
    ),
    "add_document": Case(
        "POST",
        f"{SHELF}/documents",
        "ingest",
        lambda: {"title": "New", "text": "Clay."},
        row=lambda home: own_shelf(home).pk,
        tells=False,
    ),
    "list_documents": Case("GET", f"{KB}/documents", "search"),
    "read_document": Case("GET", DOCUMENT, "search", row=lambda home: own_document(home).pk),
    "read_document_text": Case(
        "GET", f"{DOCUMENT}/text", "search", row=lambda home: own_document(home).pk
    ),
    "delete_document": Case(
        "DELETE",
        DOCUMENT,
        "review",
        row=lambda home: document(own_shelf(home), f"Gone {uuid4()}").pk,
        tells=False,
        query={},
    ),
    "reingest_document": Case(
        "POST", f"{DOCUMENT}/reingest", "ingest", dict, row=lambda home: own_document(home).pk
    ),
    "retry_document": Case(
        "POST", f"{DOCUMENT}/retry", "ingest", dict, row=lambda home: own_document(home).pk
    ),
    "search_kb": Case("POST", f"{KB}/search", "search", lambda: {"query": SHARED}),
    "read_kb": Case("GET", f"{KB}/passages/{{row}}", "search", row=own_passage),
    "pin_collection": Case(
        "PUT", f"{PINS}/{{row}}", "ingest", dict, row=lambda home: own_shelf(home).pk
    ),
    "unpin_collection": Case(
        "DELETE", f"{PINS}/{{row}}", "ingest", row=pinned, tells=False, query={}
    ),
    "read_settings": Case("GET", "/settings", "admin", agents=False, tells=False),
    "change_settings": Case("PATCH", "/settings", "admin", dict, agents=False, tells=False),
}
NAMED = {name: one for name, one in CASES.items() if one.row is not None}
AGENTS = {name: one for name, one in CASES.items() if one.agents}


def key_of(owner: User, agent: Agent | None = None, scopes: list[str] = ALL) -> IssuedKey:
    return ApiKeyFactory.create(owner=owner, agent=agent, scopes=scopes)


def _keys(owner: User) -> Any:
    """But for those that a case makes for itself."""
    return ApiKey.objects.filter(owner=owner).exclude(name__endswith=" old")


def _untouched(home: Household) -> list[Any]:
    """Everything that these operations can change."""
    owner = home.owner
    return [
        list(Fact.objects.filter(owner=owner).order_by("pk").values()),
        list(Agent.objects.filter(owner=owner).order_by("pk").values()),
        list(_keys(owner).order_by("pk").values("pk", "revoked_at")),
        list(type(owner.settings).objects.filter(owner=owner).values()),
        list(Exchange.objects.filter(owner=owner).order_by("pk").values("pk", "state")),
    ]


def test_every_other_scope_together_opens_nothing(hers: Household) -> None:
    """Refused before anything is looked up: the same for what exists and what does not."""
    for name, one in CASES.items():
        key = key_of(hers.owner, scopes=[scope for scope in ALL if scope != one.scope])
        for row, agent in ((one.of(hers), "main"), (NOWHERE, "nobody"), (one.of(hers), None)):
            answer = one.ask(key, row, agent)
            assert answer.status_code == 403, name
            assert answer.json()["code"] == "scope_missing", name


def test_its_scope_alone_is_enough(hers: Household) -> None:
    for name, one in CASES.items():
        answer = one.ask(key_of(hers.owner, scopes=[one.scope]), one.of(hers), "main")
        assert answer.status_code in GOOD, (name, answer.content)
        if one.tells:
            assert hers.mark in answer.content.decode(), name


def test_another_owners_key_reaches_nothing(hers: Household, his: Household) -> None:
    before = _untouched(hers)
    for name, one in CASES.items():
        for key in (key_of(his.owner), key_of(his.owner, his.main)):
            agent = "main" if key.agent is None else None
            if one.row is None:
                answer = one.ask(key, None, agent)
                assert answer.status_code in GOOD | {403, 409}, name
            else:
                answer = one.ask(key, one.of(hers), agent)
                missing = one.ask(key, NOWHERE, agent)
                told = (answer.status_code, answer.json())
                assert told == (404, missing.json()), name
            assert hers.mark not in answer.content.decode(), name
    assert _untouched(hers) == before


def test_what_reaches_nothing_elsewhere_reaches_its_own(his: Household) -> None:
    for name, one in NAMED.items():
        answer = one.ask(key_of(his.owner), one.of(his), "main")
        assert answer.status_code in GOOD, (name, answer.content)


def test_the_name_of_anothers_agent_names_nothing(hers: Household, his: Household) -> None:
    hers.work.slug = "hers-alone"
    hers.work.save(update_fields=["slug"])
    key = key_of(his.owner)
    for name, one in AGENTS.items():
        answers = [one.ask(key, one.of(his), slug) for slug in ("hers-alone", "nobody")]
        assert [answer.status_code for answer in answers] == [404, 404], name
        assert answers[0].json() == answers[1].json(), name


def test_a_key_of_one_agent_reaches_no_row_of_another(hers: Household) -> None:
    """Nor can it tell whether it exists. It names no other agent either."""
    key = key_of(hers.owner, hers.work)
    before = _untouched(hers)
    for name, one in CASES.items():
        if one.agents:
            assert one.ask(key, one.of(hers), "main").status_code == 404, name
        if one.row is not None:
            answer, missing = one.ask(key, one.of(hers)), one.ask(key, NOWHERE)
            assert (answer.status_code, answer.json()) == (404, missing.json()), name
    assert _untouched(hers) == before


def test_lists_hold_what_the_agent_may_read(hers: Household) -> None:
    key = key_of(hers.owner, hers.work)
    talk = ConversationFactory.create(agent=hers.work, external_id="mine")
    CaseFactory.create(conversation=talk, goal=hers.text("case mine"), state="active")
    run = a_run(talk)
    waits = FactFactory.create(
        agent=hers.work, statement=hers.text("statement waits."), conversation=talk
    )
    facts = CASES["list_facts"].ask(key).json()["items"]
    assert {one["statement"] for one in facts} == {
        hers.text("statement works."),
        hers.text("statement global."),
    }
    candidates = CASES["list_candidates"].ask(key).json()["items"]
    assert {one["id"] for one in candidates} == {str(waits.pk), str(hers.facts["held"].pk)}
    assert [one["id"] for one in CASES["list_runs"].ask(key).json()["items"]] == [str(run.pk)]
    [told] = CASES["list_cases"].ask(key).json()["items"]
    assert told["goal"] == hers.text("case mine")
    assert [one["slug"] for one in CASES["list_agents"].ask(key).json()["items"]] == ["work"]


def test_without_review_only_what_recall_could_tell_is_in_sight(hers: Household) -> None:
    key = key_of(hers.owner, hers.main, ["search", "propose"])
    answer = CASES["list_facts"].ask(key)
    told = {one["statement"] for one in answer.json()["items"]}
    for name in ("active", "head", "global"):
        assert hers.text(f"statement {name}.") in told
    out = ("pending", "rejected", "archived", "superseded", "expired", "works", "asleep")
    for name in out:
        assert hers.text(f"statement {name}.") not in answer.content.decode(), name
        for operation in ("read_fact", "read_fact_evidence", "correct_fact"):
            refused = CASES[operation].ask(key, hers.facts[name].pk)
            missing = CASES[operation].ask(key, NOWHERE)
            assert (refused.status_code, refused.json()) == (404, missing.json()), name
    for state in ("pending", "rejected", "archived"):
        client = Client(headers={"authorization": f"Bearer {key.plaintext}"})
        for what in ("facts", "cases"):
            assert client.get(f"{API}/{what}", {"state": state}).status_code == 403
    for name in ("waiting", "refused", "gone"):
        assert CASES["read_case"].ask(key, hers.cases[name].pk).status_code == 404
    assert CASES["read_case"].ask(key, hers.cases["known"].pk).status_code == 200


def test_evidence_is_told_from_the_agents_own_conversations(hers: Household) -> None:
    """A fact for every agent rests on what was said to one of them."""
    said: Message = MessageFactory.create(conversation=hers.works, content=hers.text("to work"))
    known = hers.facts["global"]
    Evidence.objects.create(owner=hers.owner, fact=known, message=said, quote=said.content)
    for agent, quotes in (
        (hers.work, {said.content}),
        (hers.main, {hers.text("said user trip")}),
    ):
        answer = CASES["read_fact_evidence"].ask(key_of(hers.owner, agent), known.pk)
        assert {one["quote"] for one in answer.json()["items"]} == quotes
    whole = CASES["read_fact_evidence"].ask(key_of(hers.owner), known.pk)
    assert len(whole.json()["items"]) == 2


def test_the_history_of_a_moved_fact_ends_at_the_agents_sight(hers: Household) -> None:
    from memory import lifecycle

    by = person(hers.owner)
    moved = lifecycle.promote(fact=hers.facts["movable"], agent=hers.work, actor=by)
    history = CASES["read_fact_history"].ask(key_of(hers.owner, hers.work), moved.pk).json()
    assert [one["id"] for one in history["chain"]] == [str(moved.pk)]
    whole = CASES["read_fact_history"].ask(key_of(hers.owner), moved.pk).json()
    assert len(whole["chain"]) == 2


def test_an_entity_of_another_filters_for_nothing(hers: Household, his: Household) -> None:
    client = Client(headers={"authorization": f"Bearer {key_of(his.owner).plaintext}"})
    for entity, found in ((hers.entities["one"], False), (his.entities["one"], True)):
        answer = client.get(f"{API}/facts", {"entity": str(entity.pk)})
        assert bool(answer.json()["items"]) is found


def test_while_memory_is_off_an_assistant_reads_nothing_and_a_reviewer_all(
    hers: Household,
) -> None:
    hers.owner.settings.memory_enabled = False
    hers.owner.settings.save(update_fields=["memory_enabled"])
    assistant = key_of(hers.owner, hers.main, ["search", "propose", "remember"])
    for name in ("list_facts", "read_fact", "correct_fact", "list_cases", "remember", "propose"):
        answer = CASES[name].ask(assistant, CASES[name].of(hers))
        assert (answer.status_code, answer.json()["code"]) == (403, "memory_off"), name
    for name in ("list_facts", "list_candidates", "read_fact_history", "decide_candidate"):
        answer = CASES[name].ask(key_of(hers.owner), CASES[name].of(hers))
        assert answer.status_code == 200, name


@pytest.mark.parametrize("name", ["read_settings", "change_settings", "add_agent"])
def test_what_is_the_whole_owners_is_not_for_a_key_of_one_agent(hers: Household, name: str) -> None:
    answer = CASES[name].ask(key_of(hers.owner, hers.main))
    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")


def test_a_run_is_told_with_what_it_dropped(hers: Household, his: Household) -> None:
    answer = CASES["read_run"].ask(key_of(hers.owner), hers.run.pk).json()
    assert [one["statement"] for one in answer["dropped"]] == [hers.text("dropped")]
    assert DroppedCandidate.objects.count() == 2
    assert ExtractionRun.objects.filter(owner=his.owner).exists()


def test_nobody_and_sessions_are_turned_away(hers: Household) -> None:
    session = Client()
    session.force_login(hers.owner)
    for name, one in CASES.items():
        for client in (Client(), session):
            answer = one.send(client, one.of(hers), "main")
            assert answer.status_code == 401, name
            assert hers.mark not in answer.content.decode(), name
