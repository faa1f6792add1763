"""Imports run one way: config may know all; the other apps only what is below them."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Each may import itself and what stands after it.
ORDER = ["config", "knowledge", "memory", "conversations", "agents"]


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, also inside functions and under TYPE_CHECKING."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = list(path.relative_to(ROOT).with_suffix("").parts)
            base = package[: len(package) - node.level] if node.level else []
            yield node.lineno, ".".join([*base, *([node.module] if node.module else [])])
        elif isinstance(node, ast.Call) and "import_module" in ast.dump(node.func):
            yield from (
                (node.lineno, str(a.value)) for a in node.args if isinstance(a, ast.Constant)
            )


def upward(path: Path, below: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for line, module in imported(path)
        if module.split(".")[0] in {*ORDER, "tests", "bench"} - below
    ]


@pytest.mark.parametrize("app", ORDER)
def test_an_app_imports_only_what_is_below_it(app: str) -> None:
    files = sorted((ROOT / app).rglob("*.py"))
    below = set(ORDER[ORDER.index(app) :])
    assert files
    assert [wrong for path in files for wrong in upward(path, below)] == []


def test_a_wrong_import_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_imports.ROOT", tmp_path)
    module = tmp_path / "agents" / "sub" / "module.py"
    module.parent.mkdir(parents=True)
    for line, found in (
        ("import memory.models", 1),
        ("from conversations import ingest", 1),
        ("def f():\n    from config.settings import X", 1),
        ("from ..sub import other", 0),
        ("from ... import memory", 0),
        ("import importlib\nimportlib.import_module('memory.tasks')", 1),
        ("from agents.models import User\nimport django.db", 0),
    ):
        module.write_text(line)
        assert len(upward(module, {"agents"})) == found, line
