"""What somebody who mistypes a setting is told: its name, and what to write instead."""

import os
import subprocess
import sys
from pathlib import Path

import environ
import pytest

from config.environment import Environment, choice, databases, redis_url
from config.errors import StartError

ROOT = Path(__file__).parents[2]
SECRETS = {"SECRET_KEY": "s" * 40, "HASH_KEY": "h" * 40}
NOBODY_LISTENS = "postgres://app:hunter2@127.0.0.1:1/memory"


def env(monkeypatch: pytest.MonkeyPatch, **values: str) -> environ.Env:
    monkeypatch.delenv("DATABASE_POOL_SIZE", raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return Environment()


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "localhost:5432/memory",
        "mysql://app:hunter2@db/memory",
        "sqlite:///memory.db",
        "postgres://app:hunter2@db:port/memory",
        "postgres://app:hunter2@db",
    ],
)
@pytest.mark.parametrize("name", ["DATABASE_URL", "MIGRATION_DATABASE_URL"])
def test_an_address_of_no_postgres_is_refused_without_its_password(
    monkeypatch: pytest.MonkeyPatch, name: str, url: str
) -> None:
    urls = {"DATABASE_URL": "postgres://app:pw@db/memory", name: url}
    with pytest.raises(StartError, match=f"{name} .*postgres://user") as refused:
        databases(env(monkeypatch, **urls))
    assert "hunter2" not in str(refused.value)


def test_an_address_of_postgres_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found = databases(env(monkeypatch, DATABASE_URL="postgresql://app:p%23w@db:5433/memory"))
    assert (found["default"]["PASSWORD"], found["default"]["PORT"]) == ("p#w", 5433)


def test_a_broker_must_be_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    assert redis_url(env(monkeypatch, REDIS_URL="")) == ""
    assert redis_url(env(monkeypatch, REDIS_URL=" redis://r:1/0\n")) == "redis://r:1/0"
    with pytest.raises(StartError, match=r"REDIS_URL .*redis://") as refused:
        redis_url(env(monkeypatch, REDIS_URL="hunter2@redis:6379"))
    assert "hunter2" not in str(refused.value)


def test_a_choice_names_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = ["INFO", "DEBUG"]
    assert choice(env(monkeypatch, LEVEL=""), "LEVEL", levels) == "INFO"
    assert choice(env(monkeypatch, LEVEL="debug"), "LEVEL", levels) == "DEBUG"
    with pytest.raises(StartError, match="LEVEL is 'loud'; it must be one of INFO, DEBUG"):
        choice(env(monkeypatch, LEVEL="loud"), "LEVEL", levels)


def test_a_file_that_cannot_be_read_is_named_by_its_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xfa")
    for path, why in ((tmp_path / "none", "No such file"), (tmp_path, "directory"),
                      (tmp_path / "binary", "UTF-8")):  # fmt: skip
        with pytest.raises(StartError, match=f"LLM_API_KEY_FILE can't be read: .*{why}"):
            env(monkeypatch, LLM_API_KEY_FILE=str(path)).str("LLM_API_KEY", default="")


def test_the_settings_use_them() -> None:
    for name, value in (
        ("LOG_LEVEL", "loud"),
        ("REDIS_URL", "nowhere"),
        ("SECRET_KEY_FILE", "/no"),
    ):
        done = manage("check", **{name: value})
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
        assert done.stderr.startswith(f"manage.py: {name} ")


def test_a_command_without_its_database_says_so_in_two_lines() -> None:
    done = manage("apikey", "list", DATABASE_URL=NOBODY_LISTENS, **SECRETS)
    assert done.returncode == 1
    first, second = done.stderr.splitlines()
    assert "127.0.0.1" in first
    assert "refused" in first
    assert "DATABASE_URL" in second
    assert "hunter2" not in done.stderr
    shown = manage("apikey", "--traceback", "list", DATABASE_URL=NOBODY_LISTENS, **SECRETS)
    assert "Traceback" in shown.stderr
