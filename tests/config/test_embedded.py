"""The embedded server as several processes use it."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from config import embedded
from config.errors import StartError

HOLD = """
import sys, pathlib
from config import embedded
server = embedded.join(pathlib.Path(sys.argv[1]))
print(server.url("remembrancer_app"), flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """Not pytest's tmp_path: as root the server runs as another user, who must get there.

    Each test leaves the server stopped, so that one home serves them all.
    """
    folder = Path(tempfile.mkdtemp(prefix="remembrancer-test-"))
    yield folder
    shutil.rmtree(folder)


def hold(home: Path) -> "subprocess.Popen[str]":
    """Another process that uses the server, until its input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("postgresql://")
    return process


def let_go(process: "subprocess.Popen[str]") -> None:
    process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("gigabytes", "megabytes"), [(0.5, 128), (1, 128), (4, 512), (8, 1024), (256, 1024)]
)
def test_the_server_gets_an_eighth_of_the_memory(gigabytes: float, megabytes: int) -> None:
    assert embedded.buffers(int(gigabytes * 2**30)) == megabytes


def test_the_first_start_has_what_later_ones_have() -> None:
    folder = Path(tempfile.mkdtemp(prefix="remembrancer-test-"))
    try:
        with psycopg.connect(embedded.join(folder).url(embedded.SUPERUSER)) as connection:
            waiting = connection.execute("SELECT name FROM pg_settings WHERE pending_restart")
            assert waiting.fetchall() == []
            (pages,) = connection.execute(
                "SELECT setting::int FROM pg_settings WHERE name = 'shared_buffers'"
            ).fetchone() or (0,)
        assert pages * 8192 >= embedded.LEAST_BUFFERS << 20
    finally:
        embedded.leave(embedded.join(folder))
        shutil.rmtree(folder)


def server_process(home: Path) -> psutil.Process:
    return psutil.Process(int((home / "postgres/postmaster.pid").read_text().split()[0]))


def wait_until_gone(process: psutil.Process) -> None:
    for _ in range(100):
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            return
        time.sleep(0.1)
    pytest.fail("the server still runs")


def test_two_first_starts_at_once_agree(home: Path) -> None:
    """Comes first, while the home is still empty."""
    script = [sys.executable, "-c", HOLD, str(home)]
    root = Path(__file__).parents[2]
    both = [subprocess.Popen(script, stdin=subprocess.DEVNULL, cwd=root) for _ in range(2)]
    assert [process.wait(timeout=60) for process in both] == [0, 0]


def test_the_last_one_to_leave_stops_the_server(home: Path) -> None:
    first = hold(home)
    running = server_process(home)
    second = hold(home)
    let_go(first)
    assert running.is_running()
    let_go(second)
    wait_until_gone(running)


def test_data_outlives_the_server(home: Path) -> None:
    server = embedded.join(home)
    url = server.url(embedded.OWNER_ROLE)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    embedded.leave(server)
    assert not embedded.is_running(server)
    server = embedded.join(home)
    with psycopg.connect(server.url(embedded.APP_ROLE)) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
    embedded.leave(server)


def test_a_killed_holder_does_not_keep_the_server_up(home: Path) -> None:
    killed = hold(home)
    running = server_process(home)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    server = embedded.join(home)
    assert embedded.holders(server) == []
    embedded.leave(server)
    wait_until_gone(running)


def test_the_pid_file_of_a_crash_does_not_point_at_another_program(home: Path) -> None:
    let_go(hold(home))
    stale = home / "postgres/postmaster.pid"
    stale.write_text(f"{os.getpid()}\n{home}/postgres\n1\n5432\n{home}/postgres\n\n1 1\nready\n")
    server = embedded.join(home)
    assert server_process(home).pid != os.getpid()
    embedded.leave(server)


def test_other_users_of_the_machine_are_kept_out(home: Path) -> None:
    server = embedded.join(home)
    socket = Path(server.host) / f".s.PGSQL.{server.port}"
    assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    with psycopg.connect(server.url(embedded.SUPERUSER)) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    embedded.leave(server)


def test_a_failed_statement_leaves_no_text_in_the_servers_log(home: Path) -> None:
    server = embedded.join(home)
    with (
        psycopg.connect(server.url(embedded.APP_ROLE), autocommit=True) as connection,
        pytest.raises(psycopg.errors.UndefinedTable),
    ):
        connection.execute("INSERT INTO nowhere VALUES ('the user lives in Tampere')")
    embedded.leave(server)
    log = (home / "postgres/log").read_text()
    assert "nowhere" in log
    assert "Tampere" not in log


def test_a_home_that_cannot_be_written_to_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match=r"Can't write to .*: (Not a directory|File exists)\."):
        embedded.join(tmp_path / "file")


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(StartError, match=r"The disk of .* is full: \d+ MB are free, at least"):
        embedded.require_space(tmp_path, 10**18)
    embedded.require_space(tmp_path, 1)


def test_a_server_that_cannot_start_says_why(home: Path) -> None:
    """Comes last: it spoils the home."""
    let_go(hold(home))
    with (home / "postgres/postgresql.conf").open("a") as configuration:
        configuration.write("\nno_such_setting = 1\n")
    with pytest.raises(StartError, match=r"postgresql\.conf.* contains errors") as caught:
        embedded.join(home)
    assert "\n" not in str(caught.value)
    assert json.loads((home / "postgres/.handle_pids.json").read_text()) == []
