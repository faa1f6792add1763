from collections.abc import Sequence

import psycopg
import pytest
from django.core.checks import CheckMessage
from django.db import connections
from pytest_django import Settings

from config import checks, embedded
from tests.conftest import TEST_DATABASE

GOOD = "a" * 48


def ids(found: Sequence[CheckMessage]) -> list[str | None]:
    assert all(message.hint for message in found)
    return [message.id for message in found]


@pytest.mark.parametrize(
    ("secret_key", "hash_key", "expected"),
    [
        (GOOD, "b" * 48, []),
        ("short", "b" * 48, ["remembrancer.E001"]),
        (GOOD, "", ["remembrancer.E001"]),
        (GOOD, GOOD, ["remembrancer.E002"]),
    ],
)
def test_secrets_must_be_long_and_different(
    settings: Settings, secret_key: str, hash_key: str, expected: list[str]
) -> None:
    settings.SECRET_KEY, settings.HASH_KEY = secret_key, hash_key
    assert ids(checks.check_secrets(None)) == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("disabled", []),
        ("default_off", []),
        ("default_on", []),
        ("on", ["remembrancer.E003"]),
        ("", ["remembrancer.E003"]),
    ],
)
def test_the_memory_mode_must_be_known(settings: Settings, mode: str, expected: list[str]) -> None:
    settings.MEMORY_MODE = mode
    assert ids(checks.check_memory_mode(None)) == expected


@pytest.mark.parametrize(
    ("embedded_mode", "debug", "expected"),
    [(True, True, []), (False, False, []), (False, True, ["remembrancer.E006"])],
)
def test_a_server_must_not_show_error_pages_with_memory(
    settings: Settings, embedded_mode: bool, debug: bool, expected: list[str]
) -> None:
    settings.EMBEDDED, settings.DEBUG = embedded_mode, debug
    assert ids(checks.check_debug(None)) == expected


@pytest.mark.django_db
def test_the_real_role_passes() -> None:
    assert checks.check_application_role(None, databases=["default"]) == []


@pytest.mark.django_db
def test_the_database_is_left_alone_unless_named() -> None:
    assert checks.check_application_role(None, databases=None) == []
    assert checks.check_application_role(None, databases=["owner"]) == []


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        (embedded.OWNER_ROLE, ["remembrancer.E005"]),
        (embedded.SUPERUSER, ["remembrancer.E004"]),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_a_mightier_role_is_refused(role: str, expected: list[str]) -> None:
    connection = connections["default"]
    connection.close()
    usual = connection.settings_dict["USER"]
    connection.settings_dict["USER"] = role
    try:
        assert ids(checks.check_application_role(None, databases=["default"])) == expected
    finally:
        connection.close()
        connection.settings_dict["USER"] = usual


def test_a_role_that_may_make_roles_is_refused(postgres: embedded.Server) -> None:
    """It could give itself any right."""
    query = checks.ROLE_QUERY
    with psycopg.connect(postgres.url(embedded.SUPERUSER, TEST_DATABASE)) as connection:
        connection.execute("CREATE ROLE maker CREATEROLE")
        connection.execute("SET LOCAL ROLE maker")
        row = connection.execute(query).fetchone()
        connection.rollback()
    assert row == (True, False)


def test_a_missing_migration_role_is_pointed_out(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert checks.check_migration_url(None) == []
    monkeypatch.delitem(settings.DATABASES, "owner")
    assert ids(checks.check_migration_url(None)) == ["remembrancer.W001"]


@pytest.mark.parametrize(
    ("embedded_mode", "redis_url", "expected"),
    [(True, "", []), (False, "redis://r", []), (False, "", ["remembrancer.W002"])],
)
def test_a_server_without_redis_is_pointed_out(
    settings: Settings, embedded_mode: bool, redis_url: str, expected: list[str]
) -> None:
    settings.EMBEDDED, settings.REDIS_URL = embedded_mode, redis_url
    assert ids(checks.check_broker(None)) == expected
