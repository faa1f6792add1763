import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

from config import supervisor
from config.errors import StartError
from tests.deploy.processes import alive, free_port

# The memory of the inner one makes its end take a moment.
PARENT = """
import subprocess, sys, time
inner = "import time; held = bytearray(b'x') * 200_000_000; print(flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", inner], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


def sleeper(folder: Path) -> tuple[supervisor.Child, psutil.Process]:
    """A child of ours, and a child that it has itself."""
    child = supervisor.Child("sleeper", [sys.executable, "-c", PARENT], folder / "sleeper.log")
    child.start(folder, {})
    while not (text := child.log.read_text()).endswith("\n"):
        assert child.process.poll() is None
    return child, psutil.Process(int(text))


def test_stopping_a_child_stops_what_it_started(tmp_path: Path) -> None:
    child, grandchild = sleeper(tmp_path)
    supervisor.stop([child])
    assert child.process.poll() is not None
    assert not alive(grandchild)


def test_a_child_that_died_does_not_leave_its_own_behind(tmp_path: Path) -> None:
    child, grandchild = sleeper(tmp_path)
    child.process.kill()
    child.process.wait()
    assert alive(grandchild)
    supervisor.stop([child])
    psutil.wait_procs([grandchild], timeout=5)
    assert not alive(grandchild)


def test_a_child_that_died_is_started_again_but_not_for_ever(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-c", "print('no room'); raise SystemExit(7)"]
    child = supervisor.Child("worker", command, tmp_path / "worker.log")
    child.start(tmp_path, {})
    for _ in range(supervisor.RESTARTS):
        child.process.wait()
        assert supervisor.revive([child], tmp_path, {})
    assert capsys.readouterr().out.count("(exit status 7) and is started again") == 3
    child.process.wait()
    with pytest.raises(StartError, match=r"worker ended by itself \(exit status 7\)[^$]*no room"):
        supervisor.revive([child], tmp_path, {})


def test_a_restart_ends_what_the_dead_child_left_and_spares_the_living(tmp_path: Path) -> None:
    child, grandchild = sleeper(tmp_path)
    try:
        assert not supervisor.revive([child], tmp_path, {})
        child.process.kill()
        child.process.wait()
        assert supervisor.revive([child], tmp_path, {})
        psutil.wait_procs([grandchild], timeout=5)
        assert not alive(grandchild)
        assert child.process.poll() is None
    finally:
        supervisor.stop([child])


@contextmanager
def web_server(*states: str) -> Iterator[str]:
    """Answers as /healthz does while the embedding model is in these states, the last one for good;
    "" is that all is well."""
    left = list(states)

    class Health(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(503 if state else 200)
            self.end_headers()
            parts = {"database": "ok", "embedding model": state or "ok"}
            self.wfile.write(json.dumps({"ok": not state, "parts": parts}).encode())

        def log_message(self, *arguments: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/healthz"
        server.shutdown()


def test_a_slow_start_is_waited_for_and_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supervisor, "NEWS_SECONDS", 0)
    looks: list[None] = []
    with web_server("loading", "loading", "") as url:
        supervisor.wait_until_healthy(url, tmp_path / "web.log", lambda: looks.append(None))
    assert len(looks) == 2
    said = capsys.readouterr().out
    assert said.count("Not ready yet (embedding model: loading)") == 2
    assert "web.log" in said


def test_a_part_that_failed_is_not_waited_for(tmp_path: Path) -> None:
    with (
        web_server("loading", "failed") as url,
        pytest.raises(StartError, match=r"\(embedding model: failed\).*web\.log"),
    ):
        supervisor.wait_until_healthy(url, tmp_path / "web.log", lambda: None)


def test_what_a_killed_run_left_is_ended_by_the_next(tmp_path: Path) -> None:
    child, grandchild = sleeper(tmp_path)
    with (tmp_path / "run.json").open("a+") as file:
        supervisor.Run(file, "http://127.0.0.1:1").write([child])
    with supervisor.sole_run(tmp_path, "http://127.0.0.1:2"):
        # At once: it may hold the port that is looked at next.
        assert not alive(grandchild)
        assert child.process.wait(timeout=5) == -9


def test_a_process_that_only_has_the_number_of_an_old_one_is_spared(tmp_path: Path) -> None:
    child, _ = sleeper(tmp_path)
    note = {"address": "", "groups": [[child.process.pid, 1.0]]}
    (tmp_path / "run.json").write_text(json.dumps(note))
    with supervisor.sole_run(tmp_path, "http://127.0.0.1:2"):
        assert child.process.poll() is None
    supervisor.stop([child])


def test_only_one_run_uses_a_home(tmp_path: Path) -> None:
    with supervisor.sole_run(tmp_path, "http://127.0.0.1:1") as run:
        child, _ = sleeper(tmp_path)
        run.write([child])
        with (
            pytest.raises(StartError, match=r"already runs on .* at http://127.0.0.1:1"),
            supervisor.sole_run(tmp_path, "http://127.0.0.1:2"),
        ):
            pass
        assert supervisor.running_address(tmp_path) == "http://127.0.0.1:1"
        supervisor.stop([child])
    assert supervisor.running_address(tmp_path) is None


def test_a_free_port_is_free_and_a_taken_one_taken(tmp_path: Path) -> None:
    port = free_port()
    supervisor.check_port(port)
    server = subprocess.Popen(
        [sys.executable, "-m", "http.server", str(port), "--bind", supervisor.HOST],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}/"
        supervisor.wait_until_healthy(address, tmp_path / "web.log", lambda: None)
        with pytest.raises(StartError, match=f"Port {port} can't be used"):
            supervisor.check_port(port)
    finally:
        server.terminate()
        server.wait()


def test_a_long_log_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOG_LIMIT", 10)
    (tmp_path / "sleeper.log").write_text("x" * 11)
    child = supervisor.Child("echo", [sys.executable, "-c", "print(1)"], tmp_path / "sleeper.log")
    child.start(tmp_path, {})
    child.process.wait()
    assert child.log.read_text() == "1\n"
    assert (tmp_path / "sleeper.log.1").read_text() == "x" * 11
