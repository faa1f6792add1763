"""The database of the tests, and the two outside programs that some of them drive."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from django.core.management import call_command
from django.db import connections
from django.test import TransactionTestCase

from config import embedded

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client
    from pytest_django import DjangoDbBlocker

    from agents.models import Agent, User
    from tests.factories import IssuedKey

TEST_DATABASE = "test_remembrancer"
IN_CI = os.environ.get("CI") == "true"

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failure: everything that a test may need is installed there."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if IN_CI and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


# Few and long tests. They come first, so that no core is left alone with one of them at the end.
LONG = {"browser", "deploy", "examples", "bench", "test_schemathesis.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.isdisjoint(item.path.parts))


@pytest.fixture(scope="session", autouse=True)
def broker() -> None:
    """Tasks that a test sends stay in its process, out of reach of a developer's own worker."""
    from config.celery import app

    app.conf.update(broker_url="memory://", broker_transport_options={})


@pytest.fixture(autouse=True)
def audit_context() -> Iterator[None]:
    """A command says once for its process that it is at work; here the next test is another."""
    from agents.audit import context

    yield
    context.set("")


@pytest.fixture(scope="session")
def postgres() -> Iterator[embedded.Server]:
    """A server of its own in a temporary folder, where a crash may lose everything."""
    home = Path(tempfile.mkdtemp(prefix="remembrancer-test-"))
    server = embedded.join(home, TEST_DATABASE)
    url = server.url(embedded.SUPERUSER, TEST_DATABASE)
    with psycopg.connect(url, autocommit=True) as connection:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {setting} = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server
    embedded.leave(server)
    shutil.rmtree(home)


@pytest.fixture(scope="session")
def database_urls(postgres: embedded.Server) -> dict[str, str]:
    """The test database as environment variables, for processes that a test starts."""
    return {
        "DATABASE_URL": postgres.url(embedded.APP_ROLE, TEST_DATABASE),
        "MIGRATION_DATABASE_URL": postgres.url(embedded.OWNER_ROLE, TEST_DATABASE),
    }


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_blocker: "DjangoDbBlocker",
    postgres: embedded.Server,
) -> Iterator[None]:
    """Migrates as the owner of the tables. The tests then run as the application's own role, so
    that what they prove of the database's rules holds for the real one."""
    for alias in ("default", "owner"):
        # In place: the connections of other threads, a live server's, are made from the same.
        connections.settings[alias].update(
            NAME=TEST_DATABASE, HOST=postgres.host, PORT=postgres.port
        )
    from tests.emptying import Emptier
    from tests.migrating import quickly

    with django_db_blocker.unblock(), quickly():
        call_command("migrate", database="owner", interactive=False, verbosity=0)
        connections["owner"].close()
    _allow_truncate(postgres)
    emptier = Emptier(postgres.url(embedded.SUPERUSER, TEST_DATABASE))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda self: emptier.empty())
        yield
    emptier.close()
    with django_db_blocker.unblock():
        connections.close_all()


def _allow_truncate(postgres: embedded.Server) -> None:
    """Only in tests, some of which begin with an empty store; the application never does that."""
    url = postgres.url(embedded.OWNER_ROLE, TEST_DATABASE)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO {embedded.APP_ROLE}")


def need(program: str) -> str:
    """The path of an outside program. Where it is missing the test is skipped, in CI it fails."""
    path = shutil.which(program)
    if path is None:
        reason = f"{program} is not installed (apt-get install {program})"
        if IN_CI:
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A real redis-server of its own on a free port of the loopback interface."""
    program = need("redis-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = tempfile.mkdtemp(prefix="remembrancer-redis-")
    arguments = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
    server = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL)
    _wait_for_port(port)
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait(timeout=10)
    shutil.rmtree(folder)


def _wait_for_port(port: int) -> None:
    import time

    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"nothing answers on port {port}")


@pytest.fixture
def alice(db: None) -> "User":
    """Owns things. Her agents: `agent` (the default one) and `second_agent`."""
    from tests.factories import AgentFactory, UserFactory

    user = UserFactory.create(username="alice")
    AgentFactory.create(owner=user, slug="main", name="Main", is_default=True)
    AgentFactory.create(owner=user, slug="work", name="Work")
    return user


@pytest.fixture
def bob(db: None) -> "User":
    """Owns other things, with agents of the same names, and must never see Alice's."""
    from tests.factories import AgentFactory, UserFactory

    user = UserFactory.create(username="bob")
    AgentFactory.create(owner=user, slug="main", name="Main", is_default=True)
    AgentFactory.create(owner=user, slug="work", name="Work")
    return user


@pytest.fixture
def stranger(db: None) -> "User":
    """Has an account, and nothing in it."""
    from tests.factories import UserFactory

    return UserFactory.create(username="stranger")


@pytest.fixture
def agent(alice: "User") -> "Agent":
    return alice.agents.get(slug="main")


@pytest.fixture
def second_agent(alice: "User") -> "Agent":
    return alice.agents.get(slug="work")


@pytest.fixture
def bobs_agent(bob: "User") -> "Agent":
    return bob.agents.get(slug="main")


@pytest.fixture
def alice_key(agent: "Agent") -> "IssuedKey":
    """Bound to `agent`; may ingest, recall, search and propose, as an assistant's key does."""
    from tests.factories import ApiKeyFactory

    return ApiKeyFactory.create(agent=agent)


@pytest.fixture
def bob_key(bobs_agent: "Agent") -> "IssuedKey":
    from tests.factories import ApiKeyFactory

    return ApiKeyFactory.create(agent=bobs_agent)


@pytest.fixture
def api() -> "Callable[[IssuedKey], Client]":
    """A client that sends a key's bearer header: `api(alice_key).get("/api/v1/…")`."""
    from django.test import Client

    def client(key: "IssuedKey") -> Client:
        return Client(headers={"authorization": f"Bearer {key.plaintext}"})

    return client


@pytest.fixture(scope="session")
def sample_data() -> Path:
    """Exports and data sets that are no part of the repository. CI has them."""
    default = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("REMEMBRANCER_DATA") or default)
    if not folder.is_dir():
        reason = f"no sample data in {folder}; set REMEMBRANCER_DATA"
        if IN_CI:
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
