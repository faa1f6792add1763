"""`manage.py up`, which `make up` calls, as a real process on a free port in a home of its own.

One story in two runs, because each takes seconds to start: the tests of a class go in order.
"""

import http.cookiejar
import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from tests.deploy.processes import (
    ROOT,
    Started,
    alive,
    clean_environment,
    free_port,
    still_alive,
    temporary_home,
)


class Browser:
    """As much of one as signing in takes: cookies, redirects, a form's hidden field."""

    def __init__(self) -> None:
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, url: str) -> tuple[int, str, str]:
        return self._open(urllib.request.Request(url))  # noqa: S310  our own address

    def press(self, url: str, page: str) -> tuple[int, str, str]:
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        fields = {"csrfmiddlewaretoken": found.group(1)} if found else {}
        body = urllib.parse.urlencode(fields).encode()
        return self._open(urllib.request.Request(url, body))  # noqa: S310  our own address

    def _open(self, request: urllib.request.Request) -> tuple[int, str, str]:
        try:
            with self.opener.open(request, timeout=30) as answer:
                return answer.status, answer.url, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.url or "", error.read().decode()


@dataclass
class Installation:
    home: Path
    port: int
    browser: Browser = field(default_factory=Browser)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        return clean_environment(REMEMBRANCER_HOME=str(self.home), PORT=str(self.port))

    def start(self) -> Started:
        output = self.home.with_suffix(".out")
        return Started(["manage.py", "up"], self.environment(), output)

    def run(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**self.environment(), **environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def family(self, started: Started) -> list[psutil.Process]:
        """Everything that runs for this home."""
        postgres = int((self.home / "postgres/postmaster.pid").read_text().split()[0])
        heads = [psutil.Process(started.process.pid), psutil.Process(postgres)]
        return [*heads, *(child for head in heads for child in head.children(recursive=True))]

    def is_well(self) -> bool:
        status, _, body = self.browser.get(f"{self.address}/healthz")
        return status == 200 and bool(json.loads(body)["ok"])


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with temporary_home() as home:
        yield Installation(home, free_port())
        home.with_suffix(".out").unlink(missing_ok=True)


@pytest.fixture(scope="class")
def started(installation: Installation) -> Iterator[Started]:
    """A run of its own for each class."""
    started = installation.start()
    started.wait_for("Ctrl-C stops it")
    yield started
    started.make_sure_it_ends()


class TestFirstRun:
    def test_it_says_where_it_is_only_when_it_is_well(
        self, installation: Installation, started: Started
    ) -> None:
        assert installation.address in started.wait_for("Remembrancer is ready at")
        assert installation.is_well()

    def test_the_printed_link_signs_in(self, installation: Installation, started: Started) -> None:
        link = started.wait_for("Sign in (works once").split()[-1]
        status, _, page = installation.browser.get(link)
        assert status == 200
        status, url, _ = installation.browser.press(link, page)
        assert (status, url) == (200, f"{installation.address}/review/")
        assert Browser().get(link)[0] == 410

    def test_another_terminal_can_ask_for_a_new_link(
        self, installation: Installation, started: Started
    ) -> None:
        result = installation.run("signin", PORT="1")
        assert result.returncode == 0
        assert Browser().get(result.stdout.strip())[0] == 200

    def test_a_second_start_on_the_same_home_says_so_in_one_line(
        self, installation: Installation, started: Started
    ) -> None:
        result = installation.run("up", PORT=str(free_port()))
        assert result.returncode == 1
        assert result.stderr == (
            f"Remembrancer: Remembrancer already runs on {installation.home},"
            f" at {installation.address}.\n"
        )

    def test_a_taken_port_is_said_in_one_line(
        self, installation: Installation, started: Started
    ) -> None:
        with temporary_home() as other:
            result = installation.run("up", REMEMBRANCER_HOME=str(other))
        assert result.returncode == 1
        assert result.stderr.startswith(f"Remembrancer: Port {installation.port} can't be used")
        assert result.stderr.count("\n") == 1
        assert installation.is_well()

    def test_sigterm_leaves_nothing_running(
        self, installation: Installation, started: Started
    ) -> None:
        family = installation.family(started)
        names = " ".join(" ".join(process.cmdline()) for process in family)
        assert all(part in names for part in ("granian", "celery", "bin/postgres"))
        assert started.end() == 0
        assert "Stopped." in started.said()
        assert [process for process in family if alive(process)] == []
        assert not (installation.home / "postgres/postmaster.pid").exists()


class TestSecondRun:
    def test_it_keeps_data_and_secrets(self, installation: Installation, started: Started) -> None:
        """The session of the first run is a row in the database, signed with the secret key."""
        status, url, _ = installation.browser.get(f"{installation.address}/review/")
        assert (status, url) == (200, f"{installation.address}/review/")

    def test_a_dead_worker_is_named_and_started_again(
        self, installation: Installation, started: Started
    ) -> None:
        before = _workers(installation.family(started))
        _head(before).send_signal(signal.SIGKILL)
        started.wait_for("The worker ended by itself (exit status -9) and is started again")
        family = installation.family(started)
        assert _head(_workers(family)) not in before
        assert still_alive(before) == []
        assert installation.is_well()
        assert started.end() == 0
        assert [process for process in family if alive(process)] == []


def _workers(family: list[psutil.Process]) -> list[psutil.Process]:
    """The worker and what it started, its beat."""
    return [one for one in family if alive(one) and "celery" in " ".join(one.cmdline())]


def _head(workers: list[psutil.Process]) -> psutil.Process:
    [head] = [one for one in workers if one.parent() not in workers]
    return head
