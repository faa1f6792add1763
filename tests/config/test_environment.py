import stat
from pathlib import Path

import environ
import pytest

from config.environment import databases, networks, secret, strict_bool, strict_int
from config.errors import StartError
from config.llm_routes import llm_routes

SERVER = {"DATABASE_URL": "postgres://app:pw@db/memory"}


def env(monkeypatch: pytest.MonkeyPatch, **values: str) -> environ.Env:
    for name in ("DATABASE_URL", "MIGRATION_DATABASE_URL", "DATABASE_POOL_SIZE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return environ.FileAwareEnv()


@pytest.mark.parametrize(
    ("said", "meant"),
    [("true", True), ("1", True), ("Yes", True), ("false", False), ("off", False), ("", True)],
)
def test_booleans_are_read(monkeypatch: pytest.MonkeyPatch, said: str, meant: bool) -> None:
    assert strict_bool(env(monkeypatch, FLAG=said), "FLAG", default=True) is meant


@pytest.mark.parametrize("said", ["ture", "2", "none", "y"])
def test_a_mistyped_boolean_is_not_taken_for_false(
    monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    with pytest.raises(StartError, match=r"FLAG is .* must be true or false"):
        strict_bool(env(monkeypatch, FLAG=said), "FLAG", default=False)


def test_a_number_must_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert strict_int(env(monkeypatch, PORT="9000"), "PORT", default=8000) == 9000
    with pytest.raises(StartError, match="PORT"):
        strict_int(env(monkeypatch, PORT="80a"), "PORT", default=8000)


def test_networks_must_be_some(monkeypatch: pytest.MonkeyPatch) -> None:
    assert networks(env(monkeypatch), "NETS") == []
    opened = networks(env(monkeypatch, NETS="192.168.1.0/24, fd00::/8"), "NETS")
    assert [str(network) for network in opened] == ["192.168.1.0/24", "fd00::/8"]
    for wrong in ("192.168.1.5/24", "lan", "0.0.0.0/33"):
        with pytest.raises(StartError, match=r"NETS: .*192"):
            networks(env(monkeypatch, NETS=wrong), "NETS")


def test_a_server_refuses_to_start_without_its_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    with pytest.raises(StartError, match="SECRET_KEY is not set"):
        secret(env(monkeypatch), "SECRET_KEY", tmp_path, make=False)
    assert list(tmp_path.iterdir()) == []


def test_a_local_secret_is_made_once_and_only_its_owner_reads_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    first = secret(env(monkeypatch), "SECRET_KEY", tmp_path, make=True)
    assert len(first) >= 48
    assert secret(env(monkeypatch), "SECRET_KEY", tmp_path, make=True) == first
    assert secret(env(monkeypatch), "HASH_KEY", tmp_path, make=True) != first
    (path,) = tmp_path.glob("secrets/secret_key")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_secret_can_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.delenv("SECRET_KEY", raising=False)
    found = secret(
        env(monkeypatch, SECRET_KEY_FILE=str(tmp_path / "key")), "SECRET_KEY", tmp_path, make=False
    )
    assert found == "from a file"


def test_without_a_url_both_roles_are_on_the_embedded_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = databases(env(monkeypatch))
    assert found["default"]["USER"] == "remembrancer_app"
    assert found["owner"]["USER"] == "remembrancer_owner"
    assert {entry["ENGINE"] for entry in found.values()} == {"config.postgres"}


def test_a_server_has_the_migration_role_only_where_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert set(databases(env(monkeypatch, **SERVER))) == {"default"}
    both = databases(env(monkeypatch, **SERVER, MIGRATION_DATABASE_URL="postgres://o:pw@db/memory"))
    assert both["owner"]["USER"] == "o"


def test_only_the_applications_role_gets_a_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "OPTIONS" not in databases(env(monkeypatch, **SERVER))["default"]
    found = databases(env(monkeypatch, DATABASE_POOL_SIZE="7"))
    assert found["default"]["OPTIONS"]["pool"]["max_size"] == 7
    assert "OPTIONS" not in found["owner"]


GENERAL = {"LLM_BASE_URL": "http://ollama/v1", "LLM_MODEL": "text", "LLM_API_KEY": "general-key"}


def vision(monkeypatch: pytest.MonkeyPatch, **values: str) -> dict[str, str]:
    for prefix in ("LLM", "LLM_PRIVATE", "LLM_VISION"):
        for name in ("MODEL", "BASE_URL", "API_KEY", "PROVIDER", "OUTPUT"):
            monkeypatch.delenv(f"{prefix}_{name}", raising=False)
    return llm_routes(env(monkeypatch, **values))["vision"]


def test_without_its_model_no_route_sees_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    assert vision(monkeypatch, **GENERAL)["model"] == ""


def test_a_model_for_pictures_stands_at_the_general_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = vision(monkeypatch, **GENERAL, LLM_OUTPUT="schema", LLM_VISION_MODEL="eyes")
    assert (found["model"], found["base_url"]) == ("eyes", "http://ollama/v1")
    assert (found["api_key"], found["output"]) == ("general-key", "schema")
    # A key and a manner of replying of its own, at the same endpoint.
    found = vision(
        monkeypatch, **GENERAL,
        LLM_VISION_MODEL="eyes", LLM_VISION_API_KEY="own", LLM_VISION_OUTPUT="prompt",
    )  # fmt: skip
    assert (found["base_url"], found["api_key"], found["output"]) == (
        "http://ollama/v1", "own", "prompt",
    )  # fmt: skip


@pytest.mark.parametrize(
    "own", [{"LLM_VISION_BASE_URL": "https://elsewhere/v1"}, {"LLM_VISION_PROVIDER": "anthropic"}]
)
def test_the_general_key_goes_to_no_other_endpoint(
    monkeypatch: pytest.MonkeyPatch, own: dict[str, str]
) -> None:
    found = vision(monkeypatch, **GENERAL, LLM_VISION_MODEL="eyes", **own)
    assert found["api_key"] == ""
    assert found["base_url"] == own.get("LLM_VISION_BASE_URL", "")


def test_a_model_for_pictures_needs_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found = vision(monkeypatch, LLM_BASE_URL="http://ollama/v1", LLM_VISION_MODEL="eyes")
    assert (found["model"], found["base_url"]) == ("eyes", "http://ollama/v1")
    for alone in ("LLM_BASE_URL", "LLM_VISION_BASE_URL"):
        with pytest.raises(StartError, match="_MODEL is not set"):
            vision(monkeypatch, **{alone: "http://ollama/v1"})
