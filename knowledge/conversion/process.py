"""Runs a conversion in a process of its own and watches over it. Whatever becomes of that process,
one document fails and nothing else."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, cast

from django.conf import settings

from knowledge import leftovers
from knowledge.conversion import sight
from knowledge.conversion.shape import DAMAGED, Tell, Unreadable
from knowledge.conversion.sight import Seen

_ROOT = Path(__file__).resolve().parents[2]
_TICK = 1.0  # seconds
_DEAF = 30.0  # seconds in which it reads nothing of an answer
_LINE = 200  # bytes, more than any that means something
_TOO_MUCH_MEMORY = "Reading it takes more memory than one document may use. Split it."
_TOO_SLOW = (
    "Reading it takes far longer than a file of its size and pages does. Save it anew, or split it"
    " and add the parts."
)
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


# What a picture, a JPEG, shows. The process waits for it; its own time stands still.
See = Callable[[bytes], Seen]


def convert(
    original: Path, *, tell: Tell, tick: Callable[[], None] = lambda: None, see: See | None = None
) -> Converted:
    """`tick` is called each second; what it, `tell` or `see` raises ends the process too. Without
    `see` no picture is handed out.

    Raises Unreadable.
    """
    with TemporaryDirectory(prefix=leftovers.READING) as folder:
        process = _start(original, Path(folder), sees=see is not None)
        try:
            _Watch(process, Path(folder), tell, see).until_it_ends(tick)
        finally:
            _end(process)
        return _result(Path(folder), process.returncode)


def _start(original: Path, folder: Path, *, sees: bool) -> "subprocess.Popen[bytes]":
    limits = [str(settings.KNOWLEDGE_MEMORY_BYTES), str(settings.KNOWLEDGE_SECONDS)]
    told = [str(original), str(folder), *limits, *(["sees"] if sees else [])]
    return subprocess.Popen(
        [sys.executable, "-m", "knowledge.conversion.child", *told],
        cwd=folder,
        env=_environment(folder),
        stdin=subprocess.PIPE if sees else subprocess.DEVNULL,
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


class _Watch:
    def __init__(
        self, process: "subprocess.Popen[bytes]", folder: Path, tell: Tell, see: See | None
    ) -> None:
        self.process, self.folder, self.tell, self.see = process, folder, tell, see
        self.until = time.monotonic() + settings.KNOWLEDGE_SECONDS
        self.begun = b""  # of a line that is not at its end

    def until_it_ends(self, tick: Callable[[], None]) -> None:
        output = cast(BinaryIO, self.process.stdout)
        with selectors.DefaultSelector() as selector, output:
            selector.register(output, selectors.EVENT_READ)
            while True:
                if selector.select(timeout=_TICK):
                    said = os.read(output.fileno(), 65536)
                    if not said:
                        return
                    self._hear(said)
                tick()
                if time.monotonic() > self.until:
                    raise Unreadable("too_heavy", _too_slow())

    def _hear(self, said: bytes) -> None:
        """How far it is, and which picture it wants described. What libraries print is neither."""
        for line in self._lines(said):
            match line.split():
                case [done, of] if done.isdecimal() and of.isdecimal():
                    self.tell(int(done), int(of))
            if self.see is not None and (name := sight.asked(line)):
                self._answer(self.see, name)

    def _lines(self, said: bytes) -> Iterator[str]:
        *whole, self.begun = (self.begun + said).split(b"\n")
        self.begun = self.begun[-_LINE:]
        for line in whole:
            yield line[-_LINE:].decode("ascii", errors="replace")

    def _answer(self, see: See, name: str) -> None:
        started = time.monotonic()
        picture = sight.picture(self.folder, name)
        seen = see(picture) if picture else Seen()
        self.until += time.monotonic() - started
        with contextlib.suppress(BrokenPipeError):  # it died meanwhile
            self._send(sight.answer(seen))

    def _send(self, answer: bytes) -> None:
        """It reads at once, unless somebody else has become its master."""
        place = cast(BinaryIO, self.process.stdin).fileno()
        os.set_blocking(place, False)
        with selectors.DefaultSelector() as selector:
            selector.register(place, selectors.EVENT_WRITE)
            while answer:
                if not selector.select(timeout=_DEAF):
                    raise Unreadable("damaged", _BROKE)
                answer = answer[os.write(place, answer) :]


def _too_slow() -> str:
    minutes = settings.KNOWLEDGE_SECONDS / 60
    return f"Reading it takes more than {minutes:g} minutes. Split it and add the parts."


def _end(process: "subprocess.Popen[bytes]") -> None:
    """It closes its output when it ends; one that does so earlier has a moment left."""
    if process.stdin:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
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
            return Unreadable("too_heavy", _TOO_SLOW)
        case signal.SIGKILL:
            return Unreadable("too_heavy", _TOO_MUCH_MEMORY)
        case _:
            return Unreadable("damaged", _BROKE)
