"""Whether this process can serve: what the start-up waits for and load balancers ask."""

import logging
import threading

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

log = logging.getLogger(__name__)

OK = "ok"
# Migrations are never unapplied while we run, so they are looked at until they are there.
_migrated = threading.Event()


def parts() -> dict[str, str]:
    """Each part's state in a word; "ok" where nothing is wrong."""
    return {**_database(), "embedding model": _embedding()}


def _database() -> dict[str, str]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return {"database": OK, "migrations": OK if _is_migrated() else "pending"}
    except DatabaseError:
        log.exception("database not reachable")
        return {"database": "unreachable", "migrations": "unknown"}


def _is_migrated() -> bool:
    if not _migrated.is_set():
        executor = MigrationExecutor(connection)
        if not executor.migration_plan(executor.loader.graph.leaf_nodes()):
            _migrated.set()
    return _migrated.is_set()


def _embedding() -> str:
    from memory import embedding

    state = embedding.status()
    return OK if state == "ready" else state
