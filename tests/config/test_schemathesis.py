"""Every operation with made-up requests, right and wrong ones: the answers are as described.

In-process, over WSGI, each with a key that has the one scope of the operation. Where an address
names a row it is an existing one in the right requests, so that these get to the end.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as bounds
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance

from config.api import api
from tests.isolation import test_api_rows as rows
from tests.isolation.conftest import hers
from tests.isolation.household import Household
from tests.isolation.test_api import SCOPE_OF, key_of

__all__ = ["hers"]

pytestmark = pytest.mark.django_db
EXAMPLES = {GenerationMode.POSITIVE: 5, GenerationMode.NEGATIVE: 3}
# Rules that no schema tells, such as an end before its beginning, are a 422 too.
LEFT_OUT = [positive_data_acceptance]
# A request that was to be wrong by lacking the key: this test gives it one.
KEYLESS = "header: violates `required` (was Authorization)"


def description() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
    return found


def operations(described: dict[str, Any]) -> Iterator[Any]:
    schema = schemathesis.openapi.from_dict(described)
    schema.app = WSGIHandler()
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        yield result.ok()


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """The test's own, as Django's test client has it."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


def rows_of(home: Household) -> dict[str, Any]:
    """What the parts of addresses stand for; a fact to decide about is one that waits."""
    return {
        "external_id": "trip",
        "slug": "main",
        "fact_id": str(home.facts["active"].pk),
        "run_id": str(home.run.pk),
        "case_id": str(home.cases["known"].pk),
        "key_id": str(home.key.pk),
        "key": "plan",
        "collection_id": str(rows.own_shelf(home).pk),
        "document_id": str(rows.own_document(home).pk),
        "passage_id": str(rows.own_passage(home)),
        "rule_id": str(home.rules["own"].pk),
        "webhook_id": str(rows.hook(home)),
        "delivery_id": str(rows.told(home)),
    }


def path_of(home: Household, operation: Any) -> dict[str, Any]:
    parts = rows_of(home)
    if "candidate" in operation.definition.raw["operationId"]:
        parts["fact_id"] = str(home.facts["pending"].pk)
    return {one.name: parts[one.name] for one in operation.path_parameters}


def faults(home: Household, operation: Any, mode: GenerationMode) -> list[str]:
    name = operation.definition.raw["operationId"]
    headers = {"Authorization": f"Bearer {key_of(home.owner, scopes=[SCOPE_OF[name]]).plaintext}"}
    fixed = {}
    if mode == GenerationMode.POSITIVE and operation.path_parameters:
        fixed = {"path_parameters": path_of(home, operation)}
    found: list[str] = []

    @given(case=operation.as_strategy(generation_mode=mode, **fixed))
    @bounds(
        max_examples=EXAMPLES[mode],
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any) -> None:
        SENT[mode] += 1
        try:
            case.call_and_validate(headers=headers, excluded_checks=LEFT_OUT)
        except FailureGroup as group:
            found.extend(f"{name}: {one}" for one in group.exceptions if KEYLESS not in str(one))

    with transaction.atomic():
        ask()
        transaction.set_rollback(True)
    return found


SENT = dict.fromkeys(EXAMPLES, 0)


@pytest.mark.parametrize("mode", list(EXAMPLES))
def test_answers_are_as_described(mode: GenerationMode, hers: Household, settings: Any) -> None:
    settings.API_CALLS_PER_MINUTE = 0
    found = [
        fault for operation in operations(description()) for fault in faults(hers, operation, mode)
    ]
    assert found == []
    assert SENT[mode] > 2 * len(SCOPE_OF)


def test_a_wrong_description_is_noticed(hers: Household) -> None:
    wrong = description()
    wrong["components"]["schemas"]["SettingsOut"]["properties"]["time_zone"] = {"type": "integer"}
    del wrong["paths"]["/api/v1/agents"]["get"]["responses"]["200"]
    by_name = {one.definition.raw["operationId"]: one for one in operations(wrong)}
    for name in ("read_settings", "list_agents"):
        assert faults(hers, by_name[name], GenerationMode.POSITIVE), name
