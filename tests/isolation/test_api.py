"""Every operation of the API with every kind of key, asked for by whom it is no business of."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client
from ninja.operation import Operation

from agents import keys
from agents.audit import person
from agents.auth import KeyAuth
from agents.models import Agent, ApiKey, User
from config.api import api as ninja
from conversations.models import Conversation, Sketch
from memory.models import RecalledFact
from tests.factories import ApiKeyFactory, ConversationFactory, IssuedKey
from tests.isolation import test_api_rows as rows
from tests.isolation.household import QUESTION, Household

API = "/api/v1"
GOOD = {200, 202}


@dataclass(frozen=True)
class Case:
    """How an operation is asked about a conversation (its external id) of an agent (its slug).

    `names_row`: it is about one existing row, so to others it is a 404. `tells`: texts come back.
    `query`: it takes no more than the file in its body, so the rest stands in the address.
    """

    path: str
    body: Callable[[str], dict[str, Any]] | None = None
    names_row: bool = True
    tells: bool = False
    query: dict[str, str] | None = None
    method: str = "POST"

    def ask(self, key: IssuedKey, conversation: str, agent: str | None) -> Any:
        client = Client(headers={"authorization": f"Bearer {key.plaintext}"})
        return self.send(client, conversation, agent)

    def send(
        self,
        client: Client,
        conversation: str,
        agent: str | None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        path = API + self.path.format(conversation=conversation, agent=agent or "main")
        named = {} if agent is None or "{agent}" in self.path else {"agent": agent}
        if self.query is not None:
            path, named = f"{path}?{urlencode(self.query | named)}", {}
        if self.body is None:
            return _whole(client.get(path, named, headers=headers))
        body = json.dumps(self.body(conversation) | named)
        json_ = "application/json"
        return client.generic(self.method, path, body, content_type=json_, headers=headers)

    def agent_of(self, agent: Agent) -> str | None:
        """Only where the address wants one: elsewhere the key says it."""
        return agent.slug if "{agent}" in self.path else None


def _whole(answer: Any) -> Any:
    """One that comes in pieces, like any other."""
    return HttpResponse(answer.getvalue()) if answer.streaming else answer


SENT_AT = "2026-03-02T09:00:00Z"
MESSAGE = {"id": "new", "role": "user", "content": "Hm.", "sent_at": SENT_AT}
OUTCOME = {"id": "o", "header": "H", "discoveries": "D", "sent_at": SENT_AT}
ONE = "/conversations/{conversation}"

CASES = {
    "store_messages": Case(f"{ONE}/messages", lambda _: {"messages": [MESSAGE]}, names_row=False),
    "compact_conversation": Case(f"{ONE}/compact", lambda _: {"up_to": "m1"}),
    "extract_conversation": Case(f"{ONE}/extract", lambda _: {}),
    "exclude_conversation": Case(f"{ONE}/exclude", lambda _: {}),
    "store_outcome": Case("/agents/{agent}/outcomes", lambda _: dict(OUTCOME), names_row=False),
    "list_conversations": Case("/conversations", names_row=False, tells=True),
    "read_conversation": Case(ONE, tells=True),
    "read_messages": Case(f"{ONE}/messages", tells=True),
    "list_sketches": Case(f"{ONE}/sketches", tells=True),
    "read_sketch": Case(f"{ONE}/sketches/plan", tells=True),
    "write_sketch": Case(f"{ONE}/sketches/new", lambda _: {"text": "Ask again."}, method="PUT"),
    "list_pinned_collections": Case(f"{ONE}/collections"),
    "recall": Case(
        "/recall",
        lambda conversation: {"message": QUESTION, "conversation": conversation},
        names_row=False,
        tells=True,
    ),
    "forget": Case("/forget", lambda conversation: {"conversation": conversation}),
    "purge": Case("/purge", lambda conversation: {"conversation": conversation}),
    "read_profile": Case("/profile", names_row=False, tells=True),
    "stats": Case("/stats", names_row=False),
    "search": Case(
        "/search",
        lambda conversation: {"query": QUESTION, "conversation": conversation},
        tells=True,
    ),
    "export_memories": Case(
        "/export", names_row=False, tells=True, query={"conversations": "false"}
    ),
    "import_memories": Case(
        "/import",
        lambda _: {"results": [{"memory": "The user has a kiln."}]},
        names_row=False,
        query={"format": "mem0"},
    ),
}


def _operations() -> Iterator[Operation]:
    for bound in ninja._get_bound_routers():
        for view in bound.path_operations.values():
            yield from view.operations


SCOPE_OF = {
    operation.operation_id: auth.scope
    for operation in _operations()
    for auth in operation.auth_callbacks
    if isinstance(auth, KeyAuth)
}
every_scope: list[str] = list(ApiKey.Scope.values)


def key_of(owner: User, agent: Agent | None = None, scopes: list[str] = every_scope) -> IssuedKey:
    return ApiKeyFactory.create(owner=owner, agent=agent, scopes=scopes)


def _untouched(home: Household) -> list[Any]:
    """Everything that an operation can change in somebody's conversations."""
    talks = Conversation.objects.filter(owner=home.owner).order_by("pk")
    values = "pk", "last_seq", "compacted_seq", "due_trigger", "attempts", "stuck_at", "read_only"
    notes = Sketch.objects.filter(owner=home.owner).order_by("pk").values_list("pk", "text")
    recalled = RecalledFact.objects.filter(owner=home.owner).count()
    return [recalled, *talks.values_list(*values), *notes]


def test_no_operation_was_forgotten() -> None:
    assert not CASES.keys() & rows.CASES.keys()
    names = {operation.operation_id for operation in _operations()}
    assert names == CASES.keys() | rows.CASES.keys()
    for name, case in rows.CASES.items():
        assert case.scope == SCOPE_OF[name]


def test_every_other_scope_together_opens_nothing(hers: Household) -> None:
    """Refused before anything is looked up: the same for what exists and what does not."""
    for name, case in CASES.items():
        key = key_of(hers.owner, scopes=[s for s in every_scope if s != SCOPE_OF[name]])
        for conversation, agent in (("trip", "main"), ("nowhere", "nobody"), ("trip", None)):
            answer = case.ask(key, conversation, agent)
            assert answer.status_code == 403, name
            assert answer.json()["code"] == "scope_missing", name
            assert hers.mark not in answer.content.decode(), name


def test_its_scope_alone_is_enough(hers: Household) -> None:
    for name, case in CASES.items():
        answer = case.ask(key_of(hers.owner, scopes=[SCOPE_OF[name]]), "trip", "main")
        assert answer.status_code in GOOD, name
        if case.tells:
            assert hers.mark in answer.content.decode(), name


def test_another_owners_key_reaches_nothing(
    hers: Household, his: Household, stranger: User
) -> None:
    """Both have a "trip", so only the contents tell them apart; "hers" only she has."""
    ConversationFactory.create(agent=hers.main, external_id="hers", title=hers.mark)
    before = _untouched(hers)
    for name, case in CASES.items():
        for key in (key_of(his.owner), key_of(his.owner, his.main)):
            answer = case.ask(key, "trip", "main")
            assert answer.status_code in GOOD, name
            assert hers.mark not in answer.content.decode(), name
            if case.names_row:
                missing = case.ask(key, "nowhere", "main")
                answer = case.ask(key, "hers", "main")
                assert (answer.status_code, answer.json()) == (404, missing.json()), name
        answer = case.ask(key_of(stranger), "trip", "main")
        assert answer.status_code == 404, name
        assert hers.mark not in answer.content.decode(), name
    assert _untouched(hers) == before


def test_the_name_of_anothers_agent_names_nothing(hers: Household, his: Household) -> None:
    hers.work.slug = "hers-alone"
    hers.work.save(update_fields=["slug"])
    key = key_of(his.owner)
    for name, case in CASES.items():
        answer = case.ask(key, "works", "hers-alone")
        assert answer.status_code == 404, name
        assert answer.json()["detail"] == "There is no such agent for this key.", name
        assert case.ask(key_of(hers.owner), "works", "hers-alone").status_code in GOOD, name


def test_a_key_of_one_agent_can_not_speak_for_another(hers: Household) -> None:
    """Nor can it tell whether the other one exists."""
    key = key_of(hers.owner, hers.work)
    before = _untouched(hers)
    for name, case in CASES.items():
        answers = [case.ask(key, "trip", slug) for slug in ("main", "nobody")]
        assert [answer.status_code for answer in answers] == [404, 404], name
        assert answers[0].json() == answers[1].json(), name
    assert _untouched(hers) == before
    for name, case in CASES.items():
        assert case.ask(key, "works", "work").status_code in GOOD, name


def test_a_key_of_one_agent_reaches_no_conversation_of_another(hers: Household) -> None:
    key = key_of(hers.owner, hers.work)
    for name, case in CASES.items():
        answer = case.ask(key, "trip", case.agent_of(hers.work))
        for what in ("title", "said user trip", "statement active", "statement head"):
            assert hers.text(what) not in answer.content.decode(), name
        if case.names_row:
            missing = case.ask(key, "nowhere", None)
            assert (missing.status_code, missing.json()) == (404, answer.json()), name
        assert case.ask(key, "works", case.agent_of(hers.work)).status_code in GOOD, name


def test_a_conversation_keeps_its_agent(hers: Household) -> None:
    """Its name is taken for the whole owner: another agent can't go on with it."""
    before = _untouched(hers)
    answer = CASES["store_messages"].ask(key_of(hers.owner, hers.work), "trip", None)
    assert answer.status_code == 409
    assert hers.mark not in answer.content.decode()
    assert _untouched(hers) == before


def test_recall_tells_an_agent_its_own_and_the_global_facts(hers: Household) -> None:
    answer = CASES["recall"].ask(key_of(hers.owner, hers.work), "works", None)
    assert _facts_told(hers, answer) == ["global", "works"]


# What an agent may be told that has the whole household's facts but the other agent's.
ACTIVE = {
    "active", "faded", "forgettable", "global", "head", "movable", "unconfirmed", "unused",
}  # fmt: skip


def test_recall_tells_neither_what_waits_nor_what_is_over(hers: Household) -> None:
    answer = CASES["recall"].ask(key_of(hers.owner, hers.main), "trip", None)
    assert _facts_told(hers, answer) == sorted(ACTIVE)


def _facts_told(home: Household, answer: Any) -> list[str]:
    text = answer.content.decode()
    return sorted(name for name in home.facts if home.text(f"statement {name}.") in text)


def test_search_tells_an_agent_what_is_its_own_or_global(hers: Household, his: Household) -> None:
    """All of the owner's words are in the query, so nothing is left out for want of a match."""
    asked = {"query": hers.text("statement"), "k": 50}
    for key, names in (
        (key_of(hers.owner, hers.work), {"global", "works"}),
        (key_of(hers.owner, hers.main), ACTIVE),
        (key_of(his.owner, his.main), set()),
    ):
        bearer = {"authorization": f"Bearer {key.plaintext}"}
        answer = Client().post(
            f"{API}/search", json.dumps(asked), "application/json", headers=bearer
        )
        assert answer.status_code == 200
        told = set(_facts_told(hers, answer))
        assert told <= names
        assert bool(told) == bool(names)


def test_recall_writes_into_no_conversation_but_the_agents_own(
    hers: Household, his: Household
) -> None:
    counted = RecalledFact.objects.filter(owner=hers.owner)
    before = counted.count()
    for key in (key_of(his.owner, his.main), key_of(hers.owner, hers.work)):
        assert CASES["recall"].ask(key, "trip", None).status_code == 200
    assert counted.count() == before
    CASES["recall"].ask(key_of(hers.owner, hers.main), "trip", None)
    assert counted.count() > before


def test_a_session_opens_nothing_and_widens_no_key(hers: Household, his: Household) -> None:
    client = Client()
    client.force_login(hers.owner)
    bearer = {"authorization": f"Bearer {key_of(his.owner, his.main).plaintext}"}
    for name, case in CASES.items():
        answer = case.send(client, "trip", "main")
        assert answer.status_code == 401, name
        assert hers.mark not in answer.content.decode(), name
        beside = case.send(client, "trip", "main", headers=bearer)
        assert beside.status_code in GOOD, name
        assert hers.mark not in beside.content.decode(), name


def test_revoked_keys_and_keys_of_closed_accounts_open_nothing(hers: Household) -> None:
    live, revoked = key_of(hers.owner), key_of(hers.owner)
    keys.revoke(key=revoked, actor=person(hers.owner))
    for name, case in CASES.items():
        assert case.ask(revoked, "trip", "main").status_code == 401, name
        assert case.ask(live, "trip", "main").status_code in GOOD, name
    hers.owner.is_active = False
    hers.owner.save(update_fields=["is_active"])
    for name, case in CASES.items():
        answer = case.ask(live, "trip", "main")
        assert answer.status_code == 401, name
        assert hers.mark not in answer.content.decode(), name


def test_the_description_is_about_nobody(hers: Household) -> None:
    assert hers.mark not in Client().get(f"{API}/openapi.json").content.decode()
