"""The whole application as people run it, for the bench of load: what `make up` starts, and what
docker-compose.yml starts, with Redis. Both over one database, one after the other."""

import os
import shutil
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import psutil

from config.supervisor import Child, children, stop

BOOT_SECONDS = 300
THREADS = 4
# Documented: no limit of calls.
ENVIRONMENT = {"API_CALLS_PER_MINUTE": "0"}


@dataclass
class SetUp:
    """`web` is the first of the children."""

    name: str
    port: int
    started: list[Child]
    environment: Mapping[str, str] = field(default_factory=dict)
    health: str = "/healthz"

    def start(self) -> "SetUp":
        folder = Path(__file__).parents[1]
        for child in self.started:
            child.start(folder, {**os.environ, **ENVIRONMENT, **self.environment})
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def _wait(self) -> None:
        give_up = time.monotonic() + BOOT_SECONDS
        while (state := self._state()) != "":
            self._complain()
            if time.monotonic() > give_up:
                raise TimeoutError(f"{self.name} did not come up: {state}")
            time.sleep(0.2)

    def stop(self) -> None:
        stop(self.started)

    def memory(self) -> dict[str, float]:
        """Megabytes that are resident, by child, those included that it started."""
        return {child.name: round(_resident(child.process.pid), 1) for child in self.started}

    def faults(self) -> list[str]:
        """Lines in the logs that tell of something that went wrong."""
        marks = (" ERROR ", "Traceback", " CRITICAL ", "deadlock")
        return [
            line
            for child in self.started
            for line in child.log.read_text(errors="replace").splitlines()
            if any(mark in line for mark in marks)
        ]

    def _state(self) -> str:
        """Empty when all is well."""
        try:
            with urlopen(f"http://127.0.0.1:{self.port}{self.health}", timeout=5):
                return ""
        except HTTPError as error:
            return error.read().decode(errors="replace")[:300]
        except OSError as error:
            return str(error)

    def _complain(self) -> None:
        for child in self.started:
            if child.process.poll() is not None:
                raise RuntimeError(f"{self.name}: {child.name} ended:\n{child.last_lines()}")


def made_up(home: Path, logs: Path) -> SetUp:
    """`make up`: web server and worker with its beat, a folder between them."""
    port = free_port()
    broker = home / "broker"
    broker.mkdir(exist_ok=True)
    started = children(python=sys.executable, logs=logs, port=port, threads=THREADS, broker=broker)
    return SetUp("make up", port, started, {"REMEMBRANCER_HOME": str(home)})


def served(url: str, logs: Path, *, processes: int) -> SetUp:
    """As docker-compose.yml has it, the images aside: docker/web, docker/worker, beat, Redis."""
    from django.conf import settings

    port, broker = free_port(), free_port()
    celery = [sys.executable, "-m", "celery", "-A", "config.celery"]
    web = [sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1"]
    web += ["--port", str(port), "--no-ws", "--respawn-failed-workers"]
    web += ["--workers", str(processes), "--blocking-threads", str(THREADS)]
    web += ["config.wsgi:application"]
    worker = [*celery, "worker", "--pool", "threads", "--concurrency", "4", "--loglevel", "INFO"]
    worker += ["--without-mingle", "--without-gossip"]
    beat = [*celery, "beat", "--loglevel", "INFO", "--schedule", str(logs / "beat-schedule")]
    redis = [shutil.which("redis-server") or "redis-server", "--port", str(broker)]
    redis += ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", str(logs)]
    named = {"web server": web, "redis": redis, "worker": worker, "beat": beat}
    environment = {
        "DATABASE_URL": url,
        "REDIS_URL": f"redis://127.0.0.1:{broker}/0",
        "REMEMBRANCER_HOME": str(settings.HOME),
        "SECRET_KEY": settings.SECRET_KEY,
        "HASH_KEY": settings.HASH_KEY,
    }
    started = [Child(name, command, logs / f"{name}.log") for name, command in named.items()]
    name = f"server, {processes} web process{'es' if processes > 1 else ''}"
    return SetUp(name, port, started, environment)


def mem0(url: str, logs: Path, *, python: Path, graph: Path, weights: Path) -> SetUp:
    port = free_port()
    runner = Path(__file__).parent / "peers" / "mem0_api.py"
    command: Sequence[str] = [
        str(python), str(runner), str(logs), url, str(port), str(weights), str(graph)
    ]  # fmt: skip
    return SetUp("mem0", port, [Child("mem0", list(command), logs / "mem0.log")], health="/health")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _resident(pid: int) -> float:
    try:
        parent = psutil.Process(pid)
        processes = [parent, *parent.children(recursive=True)]
        return float(sum(one.memory_info().rss for one in processes) / 2**20)
    except psutil.NoSuchProcess:
        return 0.0
