"""Real processes of the application, as a person or an init system starts them."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 120
_GOES_WITHIN = 10.0  # seconds


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def clean_environment(**values: str) -> dict[str, str]:
    """Ours without what would point the process at somebody's real data or language model. Empty,
    not left out, so that a .env file does not fill it in."""
    foreign = ("DATABASE_URL", "MIGRATION_DATABASE_URL", "REDIS_URL", "LLM_MODEL", "LLM_BASE_URL")
    quiet = {"HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    return {**os.environ, **dict.fromkeys(foreign, ""), **quiet, **values}


def alive(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def still_alive(processes: Sequence[psutil.Process]) -> list[psutil.Process]:
    """After a while: what is left by one that was killed goes on its own."""
    stop = time.monotonic() + _GOES_WITHIN
    while any(map(alive, processes)) and time.monotonic() < stop:
        time.sleep(0.1)
    return [process for process in processes if alive(process)]


class Started:
    """A process whose output goes to a file."""

    def __init__(self, command: list[str], environment: dict[str, str], output: Path) -> None:
        self.output = output
        with output.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def wait_for(self, text: str, log: Path | None = None) -> str:
        """The first line with this text in the output, or in a log that somebody writes."""
        source = log or self.output
        for _ in range(PATIENCE * 10):
            written = source.read_text(errors="replace") if source.exists() else ""
            for line in written.splitlines():
                if text in line:
                    return line
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        pytest.fail(f"{text!r} did not come:\n{self.said()}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)

    def make_sure_it_ends(self) -> None:
        if self.process.poll() is None:
            self.end()


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Not pytest's tmp_path: as root the database runs as another user, who must get there."""
    home = Path(tempfile.mkdtemp(prefix="remembrancer-test-"))
    try:
        yield home
    finally:
        shutil.rmtree(home)
