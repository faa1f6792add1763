"""Every operation of the API declares who may call it. A new one that forgets to fails here."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from ninja.operation import Operation

from agents.auth import KeyAuth
from agents.models import ApiKey, User
from config.api import api
from config.openapi import DescribedAPI

# Approving and rejecting is for people: these scopes never come with an assistant's key.
PREFIX = "/api/v1"


def _operations() -> Iterator[tuple[str, Operation]]:
    for bound in api._get_bound_routers():
        for path, view in bound.path_operations.items():
            for operation in view.operations:
                yield f"{bound.prefix}{path}", operation


OPERATIONS = list(_operations())


def test_there_are_operations_to_look_at() -> None:
    names = {operation.operation_id for _, operation in OPERATIONS}
    assert {"store_messages", "compact_conversation", "store_outcome"} <= names


@pytest.mark.parametrize(
    ("path", "operation"), OPERATIONS, ids=[o.operation_id for _, o in OPERATIONS]
)
def test_every_operation_declares_a_key_with_a_scope(path: str, operation: Operation) -> None:
    assert operation.auth_callbacks, f"{path} has no auth"
    for auth in operation.auth_callbacks:
        assert isinstance(auth, KeyAuth), f"{path} is open to something else than a key"
        assert auth.scope in ApiKey.Scope.values


@pytest.mark.parametrize(
    ("path", "operation"), OPERATIONS, ids=[o.operation_id for _, o in OPERATIONS]
)
def test_every_operation_is_described(path: str, operation: Operation) -> None:
    assert operation.operation_id
    assert operation.summary


def test_operation_ids_are_unique() -> None:
    names = [operation.operation_id for _, operation in OPERATIONS]
    assert len(names) == len(set(names))


def test_the_schema_asks_for_a_key_everywhere() -> None:
    schema: dict[str, Any] = api.get_openapi_schema()
    found = 0
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert operation.get("security"), f"{method} {path}"
            found += 1
    assert found == sum(len(operation.methods) for _, operation in OPERATIONS)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "operation"), OPERATIONS, ids=[o.operation_id for _, o in OPERATIONS]
)
def test_neither_nobody_nor_a_session_gets_in(path: str, operation: Operation, alice: User) -> None:
    signed_in = Client()
    signed_in.force_login(alice)
    url = PREFIX + _filled(path)
    for client in (Client(), signed_in):
        for method in operation.methods:
            answer = client.generic(method, url, b"{}", content_type="application/json")
            assert answer.status_code == 401, f"{method} {url}"


@pytest.mark.django_db
def test_the_description_is_served_and_pulls_nothing_from_elsewhere() -> None:
    answer = Client().get(f"{PREFIX}/openapi.json")
    assert answer.status_code == 200
    assert answer.json()["info"]["title"] == "Remembrancer"
    page = Client().get(f"{PREFIX}/docs")
    assert page.status_code == 200
    text = page.content.decode()
    assert "POST /api/v1/recall" in text
    # An example may name an address; nothing may be fetched from one.
    named = re.findall(
        r"""(?:src|href|action|url)\s*[=(]\s*["']?([^"'\s)>]+)""", page.content.decode()
    )
    assert len(named) > 5
    assert [address for address in named if "//" in address] == []


@pytest.mark.django_db
def test_the_description_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Client().get(f"{PREFIX}/openapi.json")
    monkeypatch.delattr(DescribedAPI, "get_openapi_schema")
    monkeypatch.setattr("ninja.main.get_schema", lambda **options: {})
    again = Client().get(f"{PREFIX}/openapi.json")
    assert (again.status_code, again.content) == (200, first.content)
    assert again.headers["Content-Type"] == first.headers["Content-Type"]


def test_what_the_api_does_not_have_is_a_problem_document_too() -> None:
    unknown = Client().get(f"{PREFIX}/nowhere")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    wrong = Client().delete(f"{PREFIX}/recall")
    assert (wrong.status_code, wrong.json()["code"]) == (405, "method_not_allowed")
    assert wrong["Allow"] == "POST"
    for answer in (unknown, wrong):
        assert answer["Content-Type"] == "application/problem+json"


def _filled(path: str) -> str:
    import re

    return re.sub(r"\{[^}]*\}", "0190c0de-0000-7000-8000-000000000000", path)
