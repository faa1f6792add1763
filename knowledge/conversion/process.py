"""Runs a conversion in a process of its own and watches over it. Whatever becomes of that process,
one document fails and nothing else."""

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast

from django.conf import settings

from knowledge import leftovers
from knowledge.conversion.shape import DAMAGED, Tell, Unreadable

_ROOT = Path(__file__).resolve().parents[2]
_TICK = 1.0  # seconds
_TOO_MUCH_MEMORY = "Reading it takes more memory than one document may use. Split it."
_BROKE = (
    "The reader broke off over it: the file is damaged, or takes too much memory. Save it anew."
)


@dataclass(frozen=True, slots=True)
class Converted:
    """`markdown` with the marks of knowledge/marks.py."""

    markdown: str
    title: str
    media_type: str
    pages: int | None
    notes: tuple[str, ...]


def convert(original: Path, *, tell: Tell, tick: Callable[[], None] = lambda: None) -> Converted:
    """`tick` is called each second; what it or `tell` raises ends the process too.

    Raises Unreadable.
    """
    with TemporaryDirectory(prefix=leftovers.READING) as folder:
        process = _start(original, Path(folder))
        try:
            _watch(process, tell, tick)
        finally:
            _end(process)
        return _result(Path(folder), process.returncode)


def _start(original: Path, folder: Path) -> "subprocess.Popen[bytes]":
    limits = [str(settings.KNOWLEDGE_MEMORY_BYTES), str(settings.KNOWLEDGE_SECONDS)]
    return subprocess.Popen(
        [sys.executable, "-m", "knowledge.conversion.child", original, folder, *limits],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        # What libraries say there may be words of the document.
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of ours: no key, no address of the database."""
    kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return kept | {
        "PYTHONPATH": str(_ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        "HOME": str(folder),
        "TMPDIR": str(folder),
        # Each thread and each of its heaps takes address space, which is what is limited.
        "MALLOC_ARENA_MAX": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "ORT_DISABLE_ALL_TELEMETRY": "1",
    }


def _watch(process: "subprocess.Popen[bytes]", tell: Tell, tick: Callable[[], None]) -> None:
    until = time.monotonic() + settings.KNOWLEDGE_SECONDS
    with selectors.DefaultSelector() as selector, cast(BinaryIO, process.stdout) as output:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if selector.select(timeout=_TICK):
                said = os.read(output.fileno(), 65536)
                if not said:
                    return
                _pass_on(said, tell)
            tick()
            if time.monotonic() > until:
                raise Unreadable("too_heavy", _too_slow())


def _pass_on(said: bytes, tell: Tell) -> None:
    """The last whole line; one that was cut in two is made good by the next."""
    whole = said.decode("ascii", errors="replace").rpartition("\n")[0].splitlines()
    match whole[-1].split() if whole else []:
        case [done, of] if done.isdecimal() and of.isdecimal():
            tell(int(done), int(of))


def _too_slow() -> str:
    minutes = settings.KNOWLEDGE_SECONDS / 60
    return f"Reading it takes more than {minutes:g} minutes. Split it and add the parts."


def _end(process: "subprocess.Popen[bytes]") -> None:
    """It closes its output when it ends; one that does so earlier has a moment left."""
    try:
        process.wait(timeout=_TICK)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _result(folder: Path, code: int) -> Converted:
    try:
        result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    except (OSError, ValueError):
        raise _fault_of(code) from None
    if failure := result.get("failure"):
        words = _TOO_MUCH_MEMORY if failure == "too_heavy" else DAMAGED
        raise Unreadable(failure, result["detail"] or words)
    return Converted(
        markdown=(folder / "text.md").read_text(encoding="utf-8"),
        title=result["title"],
        media_type=result["media_type"],
        pages=result["pages"],
        notes=tuple(result["notes"]),
    )


def _fault_of(code: int) -> Unreadable:
    """Of a process that ended without a word."""
    match -code:
        case signal.SIGXCPU:
            return Unreadable("too_heavy", _too_slow())
        case signal.SIGKILL:
            return Unreadable("too_heavy", _TOO_MUCH_MEMORY)
        case _:
            return Unreadable("damaged", _BROKE)
