"""Backup and restore of the embedded database, with the programs that come with it."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from config import embedded
from config.embedded import DATABASE, SUPERUSER, Server
from config.errors import StartError

# Where a restore is built, so that the database is whole at every moment.
DRAFT = f"{DATABASE}_restored"


def dump(server: Server, target: Path) -> None:
    """Writes a whole backup or none, readable by its owner only. Raises StartError."""
    draft = target.with_name(f"{target.name}.part")
    try:
        # "x": never over a backup that is there.
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.close(os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StartError(f"Can't write {target}: {error.strerror}.") from error
    try:
        _run("pg_dump", "--format=custom", f"--file={draft}", server.url(SUPERUSER))
    except StartError:
        draft.unlink()
        target.unlink()
        raise
    draft.replace(target)


def made_at(source: Path) -> str:
    """When a backup was made, as it says itself. Raises StartError where it is none."""
    if not source.is_file():
        raise StartError(f"There is no file {source}.")
    try:
        listed = _run("pg_restore", "--list", source)
    except StartError as error:
        raise StartError(f"{source} is no backup ({error}).") from error
    found = re.search(r"^; Archive created at (.+)$", listed, re.MULTILINE)
    return found.group(1).strip() if found else "an unknown time"


def restore(server: Server, source: Path) -> None:
    """Puts the backup in the place of the database. Raises StartError, with nothing changed."""
    made_at(source)
    _administer(server, "DROP DATABASE IF EXISTS {draft}")
    embedded.bootstrap(server, DRAFT)
    try:
        _run("pg_restore", "--exit-on-error", f"--dbname={server.url(SUPERUSER, DRAFT)}", source)
        _administer(
            server, "DROP DATABASE {database}", "ALTER DATABASE {draft} RENAME TO {database}"
        )
    except (StartError, psycopg.errors.ObjectInUse) as error:
        _administer(server, "DROP DATABASE {draft}")
        if isinstance(error, psycopg.errors.ObjectInUse):
            raise StartError(
                "The database is in use: stop `make up` and everything else."
            ) from error
        raise


def _administer(server: Server, *statements: str) -> None:
    names = {"database": sql.Identifier(DATABASE), "draft": sql.Identifier(DRAFT)}
    with psycopg.connect(server.url(SUPERUSER, "postgres"), autocommit=True) as connection:
        for statement in statements:
            connection.execute(sql.SQL(statement).format(**names))


def _run(program: str, *arguments: Any) -> str:
    """What it wrote."""
    command = [str(embedded.program(program)), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        lines = result.stderr.strip().splitlines() or [f"exit status {result.returncode}"]
        raise StartError(f"{program} failed: {lines[0]}")
    return result.stdout
