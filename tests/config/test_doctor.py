"""Each part is broken in turn, and the doctor says so and how to mend it."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import call_command
from django.utils import timezone
from pytest_django.fixtures import Settings

from agents.models import Agent, User
from config import embedded
from config.doctor import Finding, Level, database, rows, services
from memory import embedding
from memory.models import FactEmbedding, Heartbeat
from memory.vocabulary import State
from tests.conftest import TEST_DATABASE
from tests.deploy.processes import clean_environment, temporary_home
from tests.factories import ConversationFactory, FactFactory
from tests.llm_server import answers, scripted_llm

Cursor = psycopg.Cursor[Any]


@pytest.fixture
def surgeon(postgres: embedded.Server, django_db_setup: None) -> Iterator[Cursor]:
    """May do anything, and all of it is taken back."""
    url = postgres.url(embedded.SUPERUSER, TEST_DATABASE)
    with psycopg.connect(url) as connection:
        yield connection.cursor()
        connection.rollback()


def assert_trouble(finding: Finding, *words: str) -> None:
    assert finding.level == Level.TROUBLE, finding
    assert finding.mend, finding
    for word in words:
        assert word in finding.said, finding


BROKEN: dict[str, tuple[str, Callable[[Any], Finding], str]] = {
    "no extension": ("DROP EXTENSION btree_gin", database.extensions, "btree_gin"),
    "no trigger": (
        "DO $$ BEGIN EXECUTE (SELECT format('DROP TRIGGER %I ON memory_fact', tgname)"
        " FROM pg_trigger WHERE tgname LIKE 'pgtrigger_fact_change%'); END $$",
        database.triggers,
        "memory_fact.pgtrigger_fact_change",
    ),
    "triggers off": (
        "ALTER TABLE memory_evidence DISABLE TRIGGER USER", database.triggers, "memory_evidence",
    ),
    "triggers off for a session": (
        "SET session_replication_role = replica", database.triggers, "session_replication_role",
    ),
    "no check": (
        "ALTER TABLE memory_fact DROP CONSTRAINT fact_rejected_by_person",
        database.constraints,
        "memory_fact.fact_rejected_by_person",
    ),
    "no uniqueness": (
        "ALTER TABLE memory_fact DROP CONSTRAINT fact_one_live_per_text",
        database.constraints,
        "fact_one_live_per_text",
    ),
    "no key within the owner": (
        "ALTER TABLE memory_fact DROP CONSTRAINT memory_fact_run_id_same_owner",
        database.constraints,
        "memory_fact.run_id",
    ),
    "too much right": (
        "GRANT DELETE ON memory_fact TO remembrancer_app", database.rights, "DELETE memory_fact",
    ),
    "a forger's right": (
        "GRANT INSERT ON agents_auditevent TO remembrancer_app",
        database.rights,
        "agents_auditevent",
    ),
    "too little right": (
        "REVOKE SELECT ON memory_fact FROM remembrancer_app", database.rights, "memory_fact",
    ),
    "a mighty role": (
        "ALTER ROLE remembrancer_app CREATEROLE", database.rights, "all but a superuser",
    ),
}  # fmt: skip


def test_what_is_missing_from_the_database_is_named(surgeon: Cursor) -> None:
    for name, (sql, check, word) in BROKEN.items():
        surgeon.execute("SAVEPOINT whole")
        before = check(surgeon)
        assert before.level == Level.OK, (name, before)
        surgeon.execute(sql.encode())
        assert_trouble(check(surgeon), word)
        surgeon.execute("ROLLBACK TO whole")


def test_versions_are_told(surgeon: Cursor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "PostgreSQL" in database.version(surgeon).said
    monkeypatch.setattr(database, "OLDEST", 9_990_000)
    assert_trouble(database.version(surgeon), "too old")


@pytest.mark.django_db
def test_migrations_that_wait_or_are_unknown_are_told() -> None:
    assert database.migrations().level == Level.OK
    here = {("memory", "0001_initial")}
    assert_trouble(database._newer(here | {("memory", "0999_later")}, here), "memory.0999_later")
    assert_trouble(database._pending([("memory", "0999_later")]), "memory.0999_later")


SICK = {
    "active facts with a successor": "superseded_by_id = id",
    "archived facts without a reason": "state = 'archived'",
    "facts that nobody rejected": "state = 'rejected', reviewer_id = NULL",
    "candidates that were decided over": "state = 'pending'",
    "active facts that nobody let in": "reviewer_id = NULL",
    "facts whose successors go in a circle": "state = 'archived', superseded_by_id = id",
}


@pytest.mark.django_db(transaction=True)
def test_lives_that_cannot_be_are_named_with_the_fact(alice: User, surgeon: Cursor) -> None:
    fact = FactFactory.create(owner=alice, state=State.ACTIVE)
    target = FactFactory.create(owner=alice, state=State.ACTIVE)
    assert rows.invariants(surgeon).level == Level.OK
    surgeon.execute(
        "DO $$ DECLARE rule text; BEGIN FOR rule IN SELECT conname FROM pg_constraint"
        " WHERE conrelid = 'memory_fact'::regclass AND contype IN ('c', 'x') LOOP"
        " EXECUTE format('ALTER TABLE memory_fact DROP CONSTRAINT %I', rule); END LOOP; END $$"
    )
    surgeon.execute("SET session_replication_role = replica")
    for name, change in SICK.items():
        surgeon.execute("SAVEPOINT whole")
        surgeon.execute(f"UPDATE memory_fact SET {change} WHERE id = %s".encode(), [fact.pk])
        assert_trouble(rows.invariants(surgeon), name, str(fact.pk))
        surgeon.execute("ROLLBACK TO whole")
    for name, change in (
        ("active beside what they replaced", "id = id"),
        ("wrongly open", "id = id"),
        ("of another scope", "agent_id = owner_id"),
    ):
        surgeon.execute("SAVEPOINT whole")
        surgeon.execute(
            "INSERT INTO memory_correctiontarget (id, owner_id, fact_id, target_id, open)"
            " VALUES (gen_random_uuid(), %s, %s, %s, true)",
            [alice.pk, fact.pk, target.pk],
        )
        surgeon.execute(f"UPDATE memory_fact SET {change} WHERE id = %s".encode(), [fact.pk])
        assert_trouble(rows.invariants(surgeon), name)
        surgeon.execute("ROLLBACK TO whole")
    surgeon.execute("UPDATE memory_fact SET text_hash = %s", ["0" * 64])
    assert_trouble(rows.invariants(surgeon), "same text in one scope")
    surgeon.execute("DELETE FROM memory_factterm")
    assert_trouble(rows.index_of_words(surgeon), "2 active facts")


@pytest.mark.django_db(transaction=True)
def test_orphans_and_rows_of_two_owners_are_counted(
    alice: User, bob: User, surgeon: Cursor
) -> None:
    fact = FactFactory.create(owner=alice, conversation=ConversationFactory.create(owner=alice))
    assert rows.orphans(surgeon).level == Level.OK
    surgeon.execute("SET session_replication_role = replica")
    surgeon.execute("UPDATE memory_fact SET run_id = id WHERE id = %s", [fact.pk])
    assert_trouble(rows.orphans(surgeon), "1 in memory_fact.run_id")
    surgeon.execute("UPDATE memory_fact SET owner_id = %s", [bob.pk])
    assert_trouble(rows.orphans(surgeon), "memory_fact.conversation_id")


@pytest.mark.django_db
def test_a_worker_that_is_silent_or_has_another_model_is_told() -> None:
    assert_trouble(services.beat(), "never been at work")
    now = timezone.now()
    Heartbeat.objects.create(host="a", at=now, embedding_model=embedding.MODEL)
    assert services.beat().level == Level.OK
    Heartbeat.objects.update(embedding_model="former")
    assert_trouble(services.beat(), "former")
    Heartbeat.objects.update(at=now - timedelta(minutes=7))
    assert_trouble(services.beat(), "No sign of life for 7 minutes")


@pytest.mark.django_db
def test_an_embedding_model_that_is_missing_or_not_the_one_of_the_rows(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    fact = FactFactory.create(owner=agent.owner)
    assert "1 facts have no vector" in services.embedding_model().said
    FactEmbedding.objects.create(owner=agent.owner, fact=fact, model="former", vector=[1.0, 0.0])
    found = services.embedding_model()
    assert (found.level, "former" in found.said) == (Level.NOTE, True)
    with monkeypatch.context() as renamed:
        renamed.setattr(embedding, "MODEL", "former")
        assert_trouble(services.embedding_model(), "384 dimensions")
    monkeypatch.setattr(embedding, "_held", embedding._Holder())
    monkeypatch.setattr(embedding, "_CONFIGURED", str(tmp_path / "nothing"))
    assert_trouble(services.embedding_model(), "can't be loaded")


@pytest.mark.django_db
def test_stuck_conversations_are_noted(agent: Agent) -> None:
    ConversationFactory.create(agent=agent, stuck_at=timezone.now())
    assert services.stuck().level == Level.NOTE
    assert services.stuck().said.endswith(": 1 conversation.")


def test_a_broker_that_is_away_is_told(settings: Settings, tmp_path: Any) -> None:
    settings.REDIS_URL, settings.BROKER_FOLDER = "", tmp_path / "broker"
    assert services.broker().level == Level.OK
    (tmp_path / "file").write_text("")
    settings.BROKER_FOLDER = tmp_path / "file"
    assert_trouble(services.broker(), "can't be reached")
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert_trouble(services.broker(), "can't be reached")


@pytest.mark.redis
def test_a_broker_that_is_there_is_told(settings: Settings, redis_url: str) -> None:
    settings.REDIS_URL = redis_url
    assert services.broker() == Finding("broker", Level.OK, "Redis takes messages.")


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "TOO_LITTLE", 10**18)
    assert_trouble(services.disk(), "GB are free")
    monkeypatch.setattr(services, "TOO_LITTLE", 0)
    monkeypatch.setattr(services, "SCARCE", 10**18)
    assert services.disk().level == Level.NOTE


def test_wrong_settings_are_told(settings: Settings) -> None:
    settings.SECRET_KEY = "short"
    assert_trouble(services.configuration(), "SECRET_KEY is shorter")


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[int]]]:
    """An address that lists models, or says what the test puts into the list."""
    status: list[int] = [200]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status[0])
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", status
    server.shutdown()
    server.server_close()
    thread.join()


def models(settings: Settings, url: str, *, ask: bool = False) -> Finding:
    route = {"model": "m", "base_url": url, "api_key": "key"}
    settings.LLM_ROUTES = {"general": route, "private": {"model": ""}}
    [finding] = services.language_models(ask=ask)
    return finding


def test_a_language_model_is_reached_without_cost(
    settings: Settings, endpoint: tuple[str, list[int]]
) -> None:
    url, status = endpoint
    assert models(settings, url).level == Level.OK
    status[0] = 401
    assert_trouble(models(settings, url), "rejects the key")
    status[0] = 404
    assert "--llm" in models(settings, url).mend
    assert_trouble(models(settings, "http://127.0.0.1:1/v1"), "can't be reached")
    settings.LLM_ROUTES = {"general": {"model": ""}, "private": {"model": ""}}
    [none] = services.language_models(ask=True)
    assert "built-in rules" in none.said


def test_a_language_model_is_asked_where_that_is_wanted(settings: Settings) -> None:
    with scripted_llm() as llm:
        llm.script("Ping", answers({"answer": "yes"}))
        assert models(settings, llm.url, ask=True).level == Level.OK
        assert_trouble(models(settings, llm.url, ask=True), "server failed")


def test_a_model_for_pictures_is_asked_what_it_sees(settings: Settings) -> None:
    with scripted_llm() as llm:
        route = {"model": "eyes", "base_url": llm.url, "api_key": "key"}
        settings.LLM_ROUTES = {"general": {"model": ""}, "vision": route}
        llm.script("Ping", answers({"answer": "Lantern."}), answers({"answer": "Yes"}))
        _, sees = services.language_models(ask=True)
        assert (sees.check, sees.level) == ("language model for pictures", Level.OK)
        _, blind = services.language_models(ask=True)
        assert_trouble(blind, "not what stands in the picture")
        assert [len(request.pictures) for request in llm.requests] == [1, 1]


@pytest.mark.django_db
def test_the_command_tells_people_and_programs(agent: Agent) -> None:
    out = StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("doctor", stdout=out)
    assert end.value.code == 1
    assert "!!   worker and beat: They have never been at work." in out.getvalue()
    assert "→ Start them" in out.getvalue()
    Heartbeat.objects.create(host="a", at=timezone.now(), embedding_model=embedding.MODEL)
    out = StringIO()
    call_command("doctor", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert told["ok"] is True
    names = {finding["check"] for finding in told["findings"]}
    assert {"database version", "triggers", "lives of facts", "broker", "disk"} <= names


def test_a_database_that_is_down_is_told_and_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    environment = os.environ | {
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
        "REMEMBRANCER_HOME": str(tmp_path),
        "SECRET_KEY": "s" * 40,
        "HASH_KEY": "h" * 40,
    }
    command = [sys.executable, "manage.py", "doctor", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    found = {finding["check"]: finding for finding in json.loads(done.stdout)["findings"]}
    assert found["database"]["level"] == Level.TROUBLE
    assert "DATABASE_URL" in found["database"]["mend"]
    assert "refused" in found["database"]["said"]
    assert found["broker"]["level"] == Level.OK


def test_of_tables_that_are_not_made_yet_only_the_migrations_are_missing() -> None:
    with temporary_home() as home:
        command = [sys.executable, "manage.py", "doctor", "--json"]
        environment = clean_environment(REMEMBRANCER_HOME=str(home))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["findings"]
    bad = [finding["check"] for finding in found if finding["level"] == Level.TROUBLE]
    assert (done.returncode, bad) == (1, ["migrations"]), done.stderr
    assert "triggers" not in {finding["check"] for finding in found}
