import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import CommandError, call_command


class Told(NamedTuple):
    code: int
    out: str
    err: str


Bring = Callable[..., Told]


@pytest.fixture
def bring_in() -> Bring:
    """`manage.py import_conversations`, with its exit code and what it printed."""

    def run(path: Path, *options: str) -> Told:
        out, err = StringIO(), StringIO()
        code = 0
        try:
            call_command("import_conversations", str(path), *options, stdout=out, stderr=err)
        except CommandError as error:
            code = error.returncode
            err.write(str(error))
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Told(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """A file of these JSON lines; bytes and strings are written as they are."""

    def make(*lines: Any, name: str = "talks.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(b"\n".join(_line(line) for line in lines) + b"\n")
        return path

    return make


def _line(line: Any) -> bytes:
    if isinstance(line, bytes):
        return line
    return (line if isinstance(line, str) else json.dumps(line)).encode()
