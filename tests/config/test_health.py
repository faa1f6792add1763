import json
import threading

import pytest
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from config import health
from memory import embedding


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_migrated", threading.Event())


def ask(client: Client) -> tuple[int, dict[str, str]]:
    answer = client.get("/healthz")
    body = json.loads(answer.content)
    assert body["ok"] is (answer.status_code == 200)
    parts: dict[str, str] = body["parts"]
    return answer.status_code, parts


@pytest.mark.django_db
def test_all_is_well_once_the_model_is_loaded(client: Client) -> None:
    embedding.warm_up()
    assert ask(client) == (
        200,
        {"database": "ok", "migrations": "ok", "embedding model": "ok"},
    )


@pytest.mark.django_db
def test_it_is_not_well_before_the_model_is_loaded(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_held", embedding._Holder())
    status, parts = ask(client)
    assert status == 503
    assert parts == {"database": "ok", "migrations": "ok", "embedding model": "not loaded"}


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_it_is_not_well_while_a_migration_is_missing(client: Client) -> None:
    assert ask(client)[1]["migrations"] == "ok"
    health._migrated.clear()
    recorder = MigrationRecorder(connections["owner"])
    recorder.record_unapplied("sessions", "0001_initial")
    try:
        status, parts = ask(client)
    finally:
        recorder.record_applied("sessions", "0001_initial")
    assert (status, parts["migrations"]) == (503, "pending")


@pytest.mark.django_db(transaction=True)
def test_it_is_not_well_without_the_database(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    connections["default"].close()
    with monkeypatch.context() as patch:
        patch.setitem(connections["default"].settings_dict, "PORT", 1)
        status, parts = ask(client)
    assert (status, parts["database"], parts["migrations"]) == (503, "unreachable", "unknown")
    assert "database not reachable" in caplog.text


@pytest.mark.django_db
def test_it_tells_strangers_nothing_else(client: Client) -> None:
    answer = client.get("/healthz")
    assert set(json.loads(answer.content)) == {"ok", "parts"}
    assert "no-store" in answer["Cache-Control"]
    assert client.post("/healthz").status_code == 405
