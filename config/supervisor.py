"""Runs web server and worker on this machine, and stops them together.

Our own, because the libraries for this (honcho was looked at) start and stop a Procfile's lines but
know no order, no readiness and no log to show when one dies, and leave what a killed child started.
"""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

import psutil

from config.errors import StartError

HOST = "127.0.0.1"
# How often somebody who waits for a slow machine is told what for.
NEWS_SECONDS = 60
FAILED = "failed"
# A worker may be waiting for a language model. It can be killed at any point, so it is.
STOP_SECONDS = 8
# A part that dies more often than this within so many seconds is not helped by starting it again.
RESTARTS, WITHIN = 3, 600
LOG_LIMIT = 10_000_000
TAIL = 20


class Stopped(Exception):
    """Somebody asked us to stop."""


@dataclass
class Child:
    name: str
    command: list[str]
    log: Path
    process: "subprocess.Popen[bytes]" = field(init=False)
    restarts: list[float] = field(default_factory=list)

    def restart(self, folder: Path, environment: dict[str, str]) -> bool:
        """False where it has died too often."""
        now = time.monotonic()
        self.restarts = [at for at in self.restarts if at > now - WITHIN]
        if len(self.restarts) >= RESTARTS:
            return False
        self.restarts.append(now)
        # What it had started and left, such as the reader of a document.
        _kill_group(self.process.pid)
        self.start(folder, environment)
        return True

    def start(self, folder: Path, environment: dict[str, str]) -> None:
        _rotate(self.log)
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C reaches only us, and its children can be found again.
            self.process = subprocess.Popen(
                self.command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def last_lines(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(f"  {line}" for line in lines[-TAIL:])


def children(*, python: str, logs: Path, port: int, threads: int, broker: Path) -> list[Child]:
    """Beat lives in the worker: there is one of each, so there can't be two beats."""
    web = [python, "-m", "granian", "--interface", "wsgi", "--host", HOST, "--port", str(port)]
    web += ["--workers", "1", "--blocking-threads", str(threads), "--no-ws"]
    web += ["--respawn-failed-workers", "config.wsgi:application"]
    worker = [python, "-m", "celery", "-A", "config.celery", "worker", "--beat"]
    worker += ["--pool", "threads", "--concurrency", "4", "--loglevel", "INFO"]
    worker += ["--schedule", str(broker / "beat-schedule"), "--without-mingle", "--without-gossip"]
    return [
        Child("web server", web, logs / "web.log"),
        Child("worker", worker, logs / "worker.log"),
    ]


def check_port(port: int) -> None:
    with socket.socket() as probe:
        # As the server itself does, so that a port still in TIME_WAIT is not called taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "there is no such port"
            raise StartError(
                f"Port {port} can't be used ({reason}). Choose another: PORT=8001 make up"
            ) from error


@contextlib.contextmanager
def sole_run(home: Path, address: str) -> Iterator["Run"]:
    """Raises StartError while another run uses this home."""
    with (home / "run.json").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StartError(
                f"Remembrancer already runs on {home}, at {running_address(home)}."
            ) from error
        run = Run(file, address)
        run.end_leftovers()
        try:
            yield run
        finally:
            run.write([])


def running_address(home: Path) -> str | None:
    """Where the run that uses this home can be reached, if there is one."""
    try:
        return json.loads((home / "run.json").read_text())["address"] or None
    except (OSError, ValueError, KeyError):
        return None


@dataclass
class Run:
    """What a later start must know of this one, in a file that is locked while it lasts."""

    file: IO[str]
    address: str

    def write(self, started: list[Child]) -> None:
        self.file.seek(0)
        self.file.truncate()
        groups = [[child.process.pid, _born(child.process.pid)] for child in started]
        json.dump({"address": self.address if started else "", "groups": groups}, self.file)
        self.file.flush()

    def end_leftovers(self) -> None:
        """Of a run that was itself killed, and so could not stop its children."""
        self.file.seek(0)
        with contextlib.suppress(ValueError, KeyError):
            for pid, born in json.load(self.file)["groups"]:
                if born is not None and _born(pid) == born:
                    left = _family(pid)
                    _kill_group(pid)
                    _wait_for_end(left)


class StopRequest:
    """Remembers Ctrl-C, SIGTERM and a closed terminal, and is looked at between steps.

    An exception out of a signal handler could come while a child is half started, or a migration
    half done.
    """

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True

    def check(self) -> None:
        if self.asked:
            raise Stopped


def keep_running(
    started: list[Child],
    *,
    run: Run,
    folder: Path,
    environment: dict[str, str],
    stop_request: StopRequest,
    ready: Callable[[], None],
) -> None:
    """Starts the children, calls `ready` when all is well, and returns only by an exception:
    Stopped, or StartError when a child died before all was well, or again and again."""

    def check() -> None:
        stop_request.check()
        complain_of_the_dead(started)

    try:
        for child in started:
            child.start(folder, environment)
        run.write(started)
        wait_until_healthy(f"{run.address}/healthz", started[0].log, check)
        ready()
        while True:
            stop_request.check()
            if revive(started, folder, environment):
                run.write(started)
            time.sleep(0.2)
    finally:
        say("Stopping …")
        stop(started)


def revive(started: list[Child], folder: Path, environment: dict[str, str]) -> bool:
    """Starts what died again; whether anything had. Raises StartError where that helps no more."""
    dead = [child for child in started if child.process.poll() is not None]
    for child in dead:
        code = child.process.returncode
        if not child.restart(folder, environment):
            complain_of_the_dead([child])
        say(f"The {child.name} ended by itself (exit status {code}) and is started again.")
        say(f"  Its log is {child.log}")
    return bool(dead)


def complain_of_the_dead(started: list[Child]) -> None:
    for child in started:
        code = child.process.poll()
        if code is not None:
            raise StartError(
                f"The {child.name} ended by itself (exit status {code}), so everything is stopped."
                f" The end of {child.log}:\n{child.last_lines()}"
            )


def wait_until_healthy(url: str, log: Path, check: Callable[[], None]) -> None:
    """As long as it takes: at the first start a slow machine makes the model's graph for minutes,
    and would begin anew if it were stopped. Raises StartError where a part has failed."""
    news = time.monotonic() + NEWS_SECONDS
    while (state := _health(url)) != "":
        check()
        if FAILED in state:
            raise StartError(f"It can't get ready ({state}). {log} says why.")
        if time.monotonic() > news:
            news += NEWS_SECONDS
            say(f"Not ready yet ({state}). Its log is {log}")
        time.sleep(0.1)


def _health(url: str) -> str:
    """Empty when all is well, else what is not."""
    try:
        with urllib.request.urlopen(url, timeout=5):  # noqa: S310  our own address
            return ""
    except urllib.error.HTTPError as error:
        with contextlib.suppress(ValueError, KeyError):
            parts = json.loads(error.read())["parts"]
            return ", ".join(f"{part}: {state}" for part, state in parts.items() if state != "ok")
        return f"the web server answers {error.code}, its log says why"
    except OSError as error:
        return str(error)


def stop(started: list[Child]) -> None:
    processes = [child.process for child in started if hasattr(child, "process")]
    families = [_family(process.pid) for process in processes]
    for process in processes:
        if process.poll() is None:
            process.terminate()
    _wait_for_end([family[0] for family in families if family])
    for process in processes:
        # Also what a dead child had started and left.
        _kill_group(process.pid)
        process.wait()
    _wait_for_end([member for family in families for member in family])


def _family(pid: int) -> list[psutil.Process]:
    """The head first."""
    try:
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _wait_for_end(family: list[psutil.Process]) -> None:
    give_up = time.monotonic() + STOP_SECONDS
    while any(_lives(member) for member in family) and time.monotonic() < give_up:
        time.sleep(0.05)


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _born(pid: int) -> float | None:
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def _rotate(log: Path) -> None:
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        log.replace(log.with_suffix(".log.1"))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
