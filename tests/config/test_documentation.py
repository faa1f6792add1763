import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Read by the scripts of the containers, not by the settings.
IN_CONTAINERS = {"WEB_PROCESSES", "WEB_THREADS", "WORKER_THREADS"}
ROUTES = {"LLM", "LLM_PRIVATE", "LLM_VISION"}


def documented() -> set[str]:
    text = (ROOT / "docs/operations.md").read_text()
    rows = re.findall(r"^\| (`[A-Z].*?) \|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}


def read_by_the_settings() -> set[str]:
    source = "".join(
        (ROOT / "config" / name).read_text()
        for name in ("settings.py", "environment.py", "llm_routes.py")
    )
    plain = set(re.findall(r'env(?:\.\w+\(|, )\s*"([A-Z_]+)"', source))
    suffixes = re.findall(r'f"\{prefix\}(_[A-Z_]+)"', source)
    return plain | {prefix + s for prefix in ROUTES for s in suffixes}


def test_every_variable_is_documented_and_none_is_made_up() -> None:
    found = read_by_the_settings()
    assert {"REMEMBRANCER_HOME", "HTTPS", "LLM_PRIVATE_MODEL", "PORT"} <= found
    assert documented() - IN_CONTAINERS == found - ROUTES
