"""The API's description: complete, and never one that breaks a client of the published one."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command
from ninja.openapi.schema import OpenAPISchema

from config.api import api
from config.examples import EXAMPLES
from config.openapi import described
from tests.config.changes import breaking

PUBLISHED = Path(__file__).parents[2] / "docs" / "openapi.json"
RENEW = "if that is meant: python manage.py openapi > docs/openapi.json"


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
    return found


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(PUBLISHED.read_text())
    return found


def test_no_client_of_the_published_description_breaks(
    schema: dict[str, Any], published: dict[str, Any]
) -> None:
    found = breaking(published, schema)
    assert not found, "\n".join(["this breaks clients:", *found, RENEW])


def test_every_operation_is_published(schema: dict[str, Any], published: dict[str, Any]) -> None:
    names = [{one["operationId"] for _, one in described(each)} for each in (schema, published)]
    assert names[0] - names[1] == set(), RENEW


def test_every_error_is_published_with_its_codes(
    schema: dict[str, Any], published: dict[str, Any]
) -> None:
    now, then = (each["components"]["responses"] for each in (schema, published))
    assert now == then, RENEW


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str], schema: dict[str, Any]) -> None:
    call_command("openapi")
    assert json.loads(capsys.readouterr().out) == schema


def test_every_operation_tells_its_errors_and_its_scope(schema: dict[str, Any]) -> None:
    for method, one in described(schema):
        expected = {"401", "403", "404", "413", "422", "429"}
        if method != "get":
            expected |= {"400", "409", "411"}
        assert expected <= set(one["responses"]), one["operationId"]
        assert "Scope of the key: `" in one["description"], one["operationId"]
        named = any(each["name"] == "Idempotency-Key" for each in one["parameters"])
        assert named == (method == "post"), one["operationId"]


def test_what_takes_a_version_takes_if_match_too(schema: dict[str, Any]) -> None:
    names = {
        one["operationId"]
        for _, one in described(schema)
        if any(each["name"] == "If-Match" for each in one["parameters"])
    }
    assert {"correct_fact", "decide_candidate", "change_agent", "change_settings"} <= names


def test_every_body_has_an_example_that_fits_it(schema: dict[str, Any]) -> None:
    shown = set()
    for _, one in described(schema):
        content = one.get("requestBody", {}).get("content", {}).get("application/json")
        if content is not None:
            whole = content["schema"] | {"components": schema["components"]}
            jsonschema.validate(content["example"], whole)
            shown.add(one["operationId"])
    assert shown == set(EXAMPLES)


def test_no_two_schemas_share_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The later one would silently stand for both."""
    seen: dict[str, set[str]] = {}

    def note(self: OpenAPISchema, definitions: dict[str, Any]) -> None:
        for name, one in definitions.items():
            seen.setdefault(name, set()).add(json.dumps(one, sort_keys=True))
        self.schemas.update(definitions)

    monkeypatch.setattr(OpenAPISchema, "add_schema_definitions", note)
    api.get_openapi_schema()
    assert seen
    assert {name for name, ones in seen.items() if len(ones) > 1} == set()


Change = Callable[[dict[str, Any]], Any]


def recall_in(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema["components"]["schemas"]["RecallIn"]
    return found


BREAKS: dict[str, Change] = {
    "POST /api/v1/recall: gone": lambda s: s["paths"].pop("/api/v1/recall"),
    "POST /api/v1/recall body.recent: gone": lambda s: recall_in(s)["properties"].pop("recent"),
    "POST /api/v1/recall body.agent: now required": lambda s: recall_in(s)["required"].append(
        "agent"
    ),
    "POST /api/v1/recall body.recent: maxItems is 3, was 20": lambda s: recall_in(s)["properties"][
        "recent"
    ].update(maxItems=3),
    "POST /api/v1/search body.scope: no longer cases": lambda s: s["components"]["schemas"][
        "Scope"
    ].update(enum=["all", "facts", "raw", "sketches", "documents"]),
    "GET /api/v1/facts limit: gone": lambda s: s["paths"]["/api/v1/facts"]["get"].update(
        parameters=[
            one
            for one in s["paths"]["/api/v1/facts"]["get"]["parameters"]
            if one["name"] != "limit"
        ]
    ),
    "GET /api/v1/facts 200.next: gone": lambda s: s["components"]["schemas"]["FactPage"][
        "properties"
    ].pop("next"),
}


@pytest.mark.parametrize("line", list(BREAKS))
def test_what_breaks_a_client_is_told(schema: dict[str, Any], line: str) -> None:
    changed = deepcopy(schema)
    BREAKS[line](changed)
    assert line in breaking(schema, changed)


def test_additions_break_nobody(schema: dict[str, Any]) -> None:
    changed = deepcopy(schema)
    changed["paths"]["/api/v1/more"] = changed["paths"]["/api/v1/recall"]
    recall_in(changed)["properties"]["more"] = {"type": "string"}
    recall_in(changed)["required"].remove("message")
    changed["components"]["schemas"]["FactPage"]["properties"]["more"] = {"type": "string"}
    assert breaking(schema, changed) == []
