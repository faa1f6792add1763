"""docker-compose.yml can't be started where there is no Docker, so what it says is looked at, and
the script that makes its roles is run for real."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from django.core.management import call_command
from pytest_django import Settings

from config import embedded
from config.environment import MAKE_ONE
from tests.deploy.processes import clean_environment

ROOT = Path(__file__).parents[2]
SECRETS = ["SECRET_KEY", "HASH_KEY", "APP_PASSWORD", "OWNER_PASSWORD", "POSTGRES_PASSWORD"]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return document


def test_every_service_says_whether_it_is_well(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"postgres", "redis", "migrate", "web", "worker", "beat"}
    assert {name for name in services if "healthcheck" not in services[name]} == {"migrate"}


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_has_a_default(name: str) -> None:
    uses = re.findall(r"\$\{" + name + r"\b[^}]*\}", (ROOT / "docker-compose.yml").read_text())
    assert uses
    assert all(use.startswith("${" + name + ":?") for use in uses)


def test_only_the_migration_gets_the_role_that_owns_tables(compose: dict[str, Any]) -> None:
    holders = {
        name
        for name, service in compose["services"].items()
        if "OWNER_PASSWORD" in str(service["environment" if "environment" in service else "image"])
    }
    assert holders == {"migrate", "postgres"}


def test_what_is_set_for_the_containers_reaches_them(compose: dict[str, Any]) -> None:
    """Compose reads .env for what it fills in here, and hands nothing else on."""
    for script, service in (("docker/web", "web"), ("docker/worker", "worker")):
        read = set(re.findall(r"\$\{([A-Z_]+):", (ROOT / script).read_text()))
        assert read
        assert read <= compose["services"][service]["environment"].keys()
    assert "API_CALLS_PER_MINUTE" in compose["services"]["web"]["environment"]


def test_nothing_but_the_web_server_can_be_reached(compose: dict[str, Any]) -> None:
    services = compose["services"]
    assert {name for name in services if "ports" in services[name]} == {"web"}
    assert services["web"]["ports"] == ["127.0.0.1:${PORT:-8000}:8000"]
    assert services["postgres"]["networks"] == services["redis"]["networks"] == ["inner"]
    assert compose["networks"]["inner"]["internal"] is True


def test_what_it_starts_exists(compose: dict[str, Any]) -> None:
    for script in ("docker/web", "docker/worker", "docker/roles.sh"):
        assert os.access(ROOT / script, os.X_OK)
        subprocess.run(["sh", "-n", ROOT / script], check=True)
    assert compose["services"]["web"]["command"] == ["docker/web"]
    assert compose["services"]["worker"]["command"] == ["docker/worker"]


@pytest.fixture(scope="module")
def scripted() -> Iterator[embedded.Server]:
    """A server whose database docker/roles.sh prepared, as the image's first start does."""
    home = Path(tempfile.mkdtemp(prefix="remembrancer-test-"))
    server = embedded.join(home, "unused")
    with psycopg.connect(server.url(embedded.SUPERUSER, "postgres"), autocommit=True) as connection:
        connection.execute("DROP DATABASE unused")
        connection.execute("CREATE DATABASE remembrancer")
        for role in (embedded.OWNER_ROLE, embedded.APP_ROLE):
            connection.execute(f"DROP ROLE {role}")
    environment = {
        "PATH": f"{embedded.program('psql').parent}:{os.environ['PATH']}",
        "PGHOST": server.host,
        "PGPORT": str(server.port),
        "POSTGRES_USER": embedded.SUPERUSER,
        "POSTGRES_DB": "remembrancer",
        "OWNER_PASSWORD": 'it\'s a "quoted" one',
        "APP_PASSWORD": "$other",
    }
    subprocess.run([ROOT / "docker/roles.sh"], env=environment, check=True, capture_output=True)
    yield server
    embedded.leave(server)
    shutil.rmtree(home)


LIKENESS = {
    "roles": """
        SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolcanlogin, rolbypassrls
        FROM pg_roles WHERE rolname LIKE 'remembrancer%' ORDER BY 1""",
    "extensions": "SELECT extname FROM pg_extension ORDER BY 1",
    "owners": """
        SELECT d.datdba::regrole::text, n.nspowner::regrole::text, n.nspacl::text
        FROM pg_database d, pg_namespace n
        WHERE d.datname = current_database() AND n.nspname = 'public'""",
    "default rights": """
        SELECT defaclrole::regrole::text, defaclobjtype, defaclacl::text
        FROM pg_default_acl ORDER BY 1, 2""",
}


@pytest.mark.parametrize("what", LIKENESS)
def test_the_script_prepares_what_the_embedded_set_up_prepares(
    what: str, scripted: embedded.Server, postgres: embedded.Server
) -> None:
    def ask(server: embedded.Server, database: str) -> list[Any]:
        with psycopg.connect(server.url(embedded.SUPERUSER, database)) as connection:
            return connection.execute(LIKENESS[what]).fetchall()

    expected = ask(postgres, "test_remembrancer")
    assert expected
    assert ask(scripted, "remembrancer") == expected


def manage(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=clean_environment(**{"SECRET_KEY": "", "HASH_KEY": "", **environment}),
        capture_output=True,
        text=True,
        check=False,
    )


COMPLETE = {
    "SECRET_KEY": "s" * 50 + "0123456789",
    "HASH_KEY": "h" * 50,
    "DATABASE_URL": "postgres://app:pw@database.invalid/remembrancer",
    "MIGRATION_DATABASE_URL": "postgres://owner:pw@database.invalid/remembrancer",
    "REDIS_URL": "redis://redis.invalid/0",
    "HTTPS": "true",
    "ALLOWED_HOSTS": "memory.example.org",
}


def test_a_complete_server_has_nothing_to_complain_of() -> None:
    result = manage("check", "--deploy", "--fail-level", "WARNING", **COMPLETE)
    assert result.stderr == ""
    assert result.returncode == 0


@pytest.mark.parametrize("name", ["SECRET_KEY", "HASH_KEY"])
def test_a_server_without_a_secret_refuses_in_one_line(name: str) -> None:
    result = manage("check", **{**COMPLETE, name: ""})
    assert result.returncode == 1
    assert result.stderr == (
        f"manage.py: {name} is not set. With DATABASE_URL set there is no default for it."
        f" Make one, once, and keep it: {MAKE_ONE}\n"
    )


def test_migrating_without_its_role_is_one_line() -> None:
    result = manage("migrate", **{**COMPLETE, "MIGRATION_DATABASE_URL": ""})
    assert result.returncode == 1
    assert result.stderr.startswith("CommandError: Set MIGRATION_DATABASE_URL")
    assert result.stderr.count("\n") == 1


def test_static_files_can_be_collected_compressed_and_named_by_content(
    settings: Settings, tmp_path: Path
) -> None:
    """As the image's build does. A style sheet that names a missing file would fail it."""
    settings.STATIC_ROOT = tmp_path
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    manifest = json.loads((tmp_path / "staticfiles.json").read_text())["paths"]
    assert re.fullmatch(r"app\.[0-9a-f]{12}\.css", manifest["app.css"])
    assert (tmp_path / f"{manifest['app.css']}.gz").exists()
