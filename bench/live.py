"""What the bench of speed runs beside itself: the web server, mem0, and somebody who writes."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from sysconfig import get_paths
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psutil

from bench import peers

_BOOT_SECONDS = 120
_THREADS = 4


class Server:
    """The web server as `make up` starts it, one process with four threads."""

    def __init__(self, home: Path) -> None:
        from config.supervisor import children

        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        web = children(
            python=sys.executable,
            logs=home,
            port=self.port,
            threads=_THREADS,
            broker=home / "broker",
        )[0]
        self.process = subprocess.Popen(
            web.command,
            env=os.environ | {"DATABASE_POOL_SIZE": "10"},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def wait(self) -> None:
        stop = time.monotonic() + _BOOT_SECONDS
        while time.monotonic() < stop:
            try:
                if self._health()["ok"]:
                    return
            except (OSError, ValueError, KeyError):
                pass
            time.sleep(0.5)
        raise TimeoutError("The web server did not come up.")

    def memory(self) -> float:
        """Megabytes that are resident, its children's included."""
        parent = psutil.Process(self.process.pid)
        processes = [parent, *parent.children(recursive=True)]
        return float(sum(one.memory_info().rss for one in processes) / 2**20)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)

    def _health(self) -> dict[str, Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request("GET", "/healthz")
        told: dict[str, Any] = json.loads(connection.getresponse().read())
        connection.close()
        return told


class Client:
    """One kept connection."""

    def __init__(self, port: int) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def recall(self, message: str, key: str) -> None:
        body = json.dumps({"message": message, "agent": "main"})
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.connection.request("POST", "/api/v1/recall", body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {text[:300]!r}")


class Mem0:
    """A collection with the facts of some owners."""

    def __init__(
        self, name: str, *, url: str, python: Path, rows: Sequence[dict[str, str]], vectors: Any
    ) -> None:
        from memory.embedding import packaged_weights

        self.folder = TemporaryDirectory(prefix="bench-mem0-")
        folder = Path(self.folder.name)
        with (folder / "rows.jsonl").open("w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        np.save(folder / "vectors.npy", vectors)
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen(
            [
                *(python, peers.HERE / "mem0_live_runner.py", folder, url, name),
                *(rows[0]["owner"], packaged_weights(), get_paths()["purelib"]),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )

    def is_ready(self) -> bool:
        assert self.process.stdout is not None
        if self.process.stdout.readline().strip() == "ready":
            return True
        log = (Path(self.folder.name) / "log").read_text()[-2_000:]
        print(f"mem0 failed:\n{log}", file=sys.stderr)
        return False

    def search(self, question: str, vector: Sequence[float], owner: str) -> tuple[float, float]:
        """Milliseconds of its search alone, the vector being given, and of one for which it embeds
        the question itself."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        asked = {"question": question, "vector": vector, "owner": owner}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        given, own = self.process.stdout.readline().split()
        return float(given), float(own)

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.log.close()
        self.folder.cleanup()


@contextmanager
def writes(owner: str, *, a_second: float) -> Iterator[None]:
    """Facts are born, found worth telling and embedded, in another process."""
    writer = subprocess.Popen(
        [sys.executable, "-m", "bench.writes", owner, str(a_second)], stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    writer.stdout.readline()  # it writes now
    try:
        yield
    finally:
        writer.terminate()
        writer.wait(30)
