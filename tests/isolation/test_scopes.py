"""Which scope opens what: every address that a key opens, with every scope alone.

The table is written by hand and held against the routes, so that a new operation, tool or address
fails until somebody has said here what may open it. That a right key gets what it asks for, and
nothing of anybody else's, is in test_api.py, test_api_rows.py and tests/memory/test_mcp.py.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents.models import ApiKey
from config.api import api as ninja
from config.openapi import operations
from memory.mcp.tools import TOOLS
from memory.proxy import urls as proxy
from tests.factories import ApiKeyFactory, ConversationFactory, IssuedKey
from tests.isolation import test_api as talks
from tests.isolation import test_api_rows as rows
from tests.isolation.household import Household
from tests.memory.test_mcp import arguments

SCOPES: list[str] = list(ApiKey.Scope.values)
NOWHERE = rows.NOWHERE

OPENS = {
    "ingest": """add_collection add_document add_document_file change_collection
        compact_conversation exclude_conversation extract_conversation pin_collection
        reingest_document retry_document store_messages store_outcome unpin_collection
        write_sketch""",
    "search": """list_agents list_cases list_collections list_conversations list_documents
        list_facts list_pinned_collections list_sketches read_agent read_case read_collection
        read_document read_document_text read_kb search_kb read_conversation read_fact
        read_fact_evidence read_messages read_sketch search search_facts""",
    "recall": "list_rules read_profile read_rule recall",
    "propose": "correct_fact propose",
    "remember": "remember",
    "forget": "forget",
    "review": """add_fact decide_candidate delete_collection delete_document import_memories
        list_candidates list_runs pin_fact purge read_candidate read_fact_history read_run
        set_fact_validity stats""",
    "export": "export_memories",
    "admin": """add_agent add_key add_webhook change_agent change_settings change_webhook
        list_deliveries list_keys list_webhooks read_delivery read_key read_settings read_webhook
        remove_webhook renew_webhook_secret revoke_key rotate_key send_delivery_again
        test_webhook""",
    "proxy": "",
}
DECLARED = {name: scope for scope, names in OPENS.items() for name in names.split()}
TOOL_OPENS = {
    "recall": {"recall"},
    "search_memory": {"search"},
    "remember": {"remember"},
    "propose_correction": {"propose"},
    "forget": {"forget"},
    "search_kb": {"search"},
    "read_kb": {"search"},
    "sketch_read": {"search"},
    "sketch_write": {"remember"},
    "list_agents": {"recall", "search", "remember", "propose", "forget"},
}
# Whatever else is asked of the proxy is missing, key or not.
PROXY_OPENS = {"chat": "proxy", "models": "proxy", "elsewhere": None}


@pytest.fixture
def keys(hers: Household, settings: Any) -> dict[str, IssuedKey]:
    """One for each scope, of no one agent."""
    settings.API_CALLS_PER_MINUTE = 0
    return {scope: ApiKeyFactory.create(owner=hers.owner, scopes=[scope]) for scope in SCOPES}


def bearer(key: IssuedKey | None) -> Client:
    return Client(headers={"authorization": f"Bearer {key.plaintext}"} if key else {})


def ask(name: str, client: Client) -> Any:
    """About what is not there, so that a key which may do it does nothing."""
    if name in talks.CASES:
        return talks.CASES[name].send(client, "nowhere", "nobody")
    return rows.CASES[name].send(client, NOWHERE, "nobody")


def test_everything_that_a_key_opens_is_declared() -> None:
    named = {one.operation_id for one in operations(ninja)}
    assert named == DECLARED.keys(), "say above which scope opens it"
    assert TOOLS.keys() == TOOL_OPENS.keys(), "say above which scopes open the tool"
    assert {route.name for route in proxy.urlpatterns} == PROXY_OPENS.keys()
    opened = {*DECLARED.values(), *filter(None, PROXY_OPENS.values())}
    assert opened == set(SCOPES), "a scope that opens nothing, or is none"


def test_each_operation_opens_to_its_scope_and_to_no_other(keys: dict[str, IssuedKey]) -> None:
    clients = {scope: bearer(key) for scope, key in keys.items()}
    asked = 0
    for name, right in DECLARED.items():
        answer = ask(name, Client())
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), name
        for scope, client in clients.items():
            asked += 1
            answer = ask(name, client)
            if scope == right:
                assert answer.status_code in {200, 201, 404}, (name, scope, answer.content)
            else:
                told = answer.json()
                assert (answer.status_code, told["code"]) == (403, "scope_missing"), (name, scope)
                assert told["detail"] == f"This key lacks the scope {right}."
    assert asked == len(DECLARED) * len(SCOPES)


def test_each_tool_opens_to_its_scopes_and_to_no_other(keys: dict[str, IssuedKey]) -> None:
    for scope, key in keys.items():
        listed = rpc(key, "tools/list")["result"]["tools"]
        right = {name for name, scopes in TOOL_OPENS.items() if scope in scopes}
        assert {tool["name"] for tool in listed} == right, scope
        for name, taken in arguments().items():
            named = taken | ({} if name == "list_agents" else {"agent": "nobody"})
            result = rpc(key, "tools/call", name=name, arguments=named)["result"]
            [content] = result["content"]
            assert (content["text"].startswith("This key lacks the scope")) is (name not in right)
    assert Client().post("/mcp", b"{}", content_type="application/json").status_code == 401


def rpc(key: IssuedKey, method: str, **parameters: Any) -> Any:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    headers = {"accept": "application/json, text/event-stream"}
    answer = bearer(key).post(
        "/mcp", json.dumps(call), content_type="application/json", headers=headers
    )
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_chats_pass_with_their_scope_only(keys: dict[str, IssuedKey], settings: Any) -> None:
    """No place is free, so none goes on to the model server."""
    settings.UPSTREAM = {"base_url": "http://127.0.0.1:9/v1", "api_key": ""}
    settings.UPSTREAM_STREAMS = 0
    body = json.dumps({"model": "m", "messages": []})
    for scope in [None, *SCOPES]:
        client = bearer(keys[scope] if scope else None)
        expected = 503 if scope == "proxy" else 403 if scope else 401
        chat = client.post("/v1/chat/completions", body, content_type="application/json")
        assert [chat.status_code, client.get("/v1/models").status_code] == [expected] * 2, scope
        assert client.get("/v1/files").status_code == 404, scope


A_FACT, A_TALK = "fact", "conversation"
KILN = "The user has a kiln."
# Ids in bodies and behind question marks: what is named, and how an operation is asked about one.
NAMING: dict[str, tuple[str, Callable[[str], dict[str, Any]]]] = {
    "/forget": (A_FACT, lambda one: {"facts": [one]}),
    "/purge": (A_FACT, lambda one: {"facts": [one], "confirm": True}),
    "/propose": (A_FACT, lambda one: {"statement": KILN, "corrects": [one]}),
    "/remember": (A_TALK, lambda one: {"statement": KILN, "cited": {"conversation": one}}),
}
SHORT = {A_FACT: NOWHERE, A_TALK: "nobodys-own"}


def strangers(hers: Household, his: Household) -> Iterator[tuple[str, Client]]:
    """Who has no business with what her agent `main` holds: another owner, and her own agent beside
    it, each with every scope."""
    for who, agent in (("another owner", his.main), ("a sibling", hers.work)):
        key = ApiKeyFactory.create(owner=agent.owner, agent=agent, scopes=SCOPES)
        yield who, bearer(key)


def told(send: Callable[[str], Any], name: str) -> tuple[int, str, dict[str, str], int]:
    """All by which answers can be told apart: status, words, headers, and how often the database
    was asked, which stands for the time that it took."""
    with CaptureQueriesContext(connection) as asked:
        answer = send(name)
    headers = dict(answer.headers)
    headers.pop("Content-Length", None)
    return answer.status_code, answer.content.decode().replace(name, "…"), headers, len(asked)


def askings(hers: Household) -> Iterator[tuple[str, str, str, Callable[[Client, str], Any]]]:
    """What asks, her row's name, a name that nobody has, and the asking."""
    own = "hers-alone"
    fact = str(hers.facts["active"].pk)
    for path, (kind, body) in NAMING.items():
        row = fact if kind == A_FACT else own

        def by_body(client: Client, one: str, path: str = path, body: Any = body) -> Any:
            url, content = f"/api/v1{path}", json.dumps(body(one))
            return client.post(url, content, content_type="application/json")

        yield f"body of {path}", row, SHORT[kind], by_body
    for name, one in rows.CASES.items():
        if one.row is not None:
            yield name, str(one.of(hers)), NOWHERE, one.send
    for name, talk in talks.CASES.items():
        if talk.names_row:

            def by_talk(client: Client, one: str, talk: talks.Case = talk) -> Any:
                return talk.send(client, one, None)

            yield name, own, SHORT[A_TALK], by_talk


def test_what_is_anothers_can_not_be_told_from_what_is_not_there(
    hers: Household, his: Household, settings: Any
) -> None:
    settings.API_CALLS_PER_MINUTE = 0
    ConversationFactory.create(agent=hers.main, external_id="hers-alone")
    compared = 0
    for who, client in strangers(hers, his):
        for name, row, missing, ask_about in askings(hers):

            def send(one: str, client: Client = client, by: Any = ask_about) -> Any:
                return by(client, one)

            send(missing)  # what is looked up once and kept
            answer = told(send, missing)
            assert answer[0] in {404, 422}, (name, who)
            assert told(send, row) == answer, (name, who)
            compared += 1
    assert compared > 50
