"""The database itself: version, extensions, migrations, rules, and what the application's role may
do. A cursor is given, so that a test can look at what it has just broken."""

from collections.abc import Iterator
from typing import Any

import pgtrigger
from django.apps import apps
from django.conf import settings
from django.db import connections, models
from django.db.migrations.executor import MigrationExecutor

from config import embedded
from config.checks import ROLE_QUERY
from config.doctor.values import Finding, ok, some, trouble
from memory.grants import NEVER_DELETED, READ_ONLY

OURS = ("agents", "conversations", "knowledge", "memory")
# NULLS NOT DISTINCT came with 15.
OLDEST = 150_000
MIGRATE = (
    "Run manage.py migrate with the role that owns the tables (make up does it), and then this "
    "again: tables and rows are looked at once all are applied."
)
REBUILD = (
    "Find out who took them away. manage.py pgtrigger install --database owner puts triggers back; "
    "for the rest restore a backup of before, or run the statement of the migration that made it."
)


def examine(cursor: Any) -> Iterator[Finding]:
    yield triggers(cursor)
    yield constraints(cursor)
    yield rights(cursor)


def version(cursor: Any) -> Finding:
    cursor.execute("SELECT current_setting('server_version_num')::int, version()")
    number, name = cursor.fetchone()
    short = name.split(" on ")[0]
    if number < OLDEST:
        return trouble("database version", f"{short} is too old.", "Use PostgreSQL 16 or newer.")
    return ok("database version", f"{short}.")


def extensions(cursor: Any) -> Finding:
    cursor.execute("SELECT extname, extversion FROM pg_extension ORDER BY extname")
    found = dict(cursor.fetchall())
    missing = [name for name in embedded.EXTENSIONS if name not in found]
    if missing:
        how = "; ".join(f"CREATE EXTENSION {name}" for name in missing)
        return trouble("extensions", f"Missing: {some(missing)}.", f"As a superuser: {how};")
    return ok(
        "extensions", ", ".join(f"{name} {found[name]}" for name in embedded.EXTENSIONS) + "."
    )


def migrations() -> Finding:
    executor = MigrationExecutor(connections["default"])
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        return _pending([(step.app_label, step.name) for step, _ in plan])
    return _newer(set(executor.loader.applied_migrations), set(executor.loader.graph.nodes))


def _pending(steps: list[tuple[str, str]]) -> Finding:
    names = [f"{app}.{name}" for app, name in steps]
    return trouble("migrations", f"Not applied: {some(names)}.", MIGRATE)


def _newer(applied: set[tuple[str, str]], here: set[tuple[str, str]]) -> Finding:
    unknown = sorted(f"{app}.{name}" for app, name in applied - here if app in OURS)
    if unknown:
        return trouble(
            "migrations",
            f"The database is newer than this program: {some(unknown)}.",
            "Upgrade the program, or restore a backup of its own version.",
        )
    return ok("migrations", "All are applied.")


def triggers(cursor: Any) -> Finding:
    """Also those that are there but switched off, for this session or for all."""
    cursor.execute(
        "SELECT tgrelid::regclass::text || '.' || tgname FROM pg_trigger"
        " WHERE tgenabled IN ('O', 'A') AND NOT tgisinternal"
    )
    working = {name for (name,) in cursor.fetchall()}
    expected = {
        f"{model._meta.db_table}.{trigger.get_pgid(model)}"
        for model, trigger in pgtrigger.registered()
    }
    if missing := sorted(expected - working):
        return trouble("triggers", f"Missing or switched off: {some(missing)}.", REBUILD)
    cursor.execute("SHOW session_replication_role")
    if cursor.fetchone() != ("origin",):
        return trouble(
            "triggers",
            "session_replication_role keeps them from running.",
            "Take the setting back: ALTER ROLE … RESET session_replication_role.",
        )
    return ok("triggers", f"All {len(expected)} are there and run.")


def constraints(cursor: Any) -> Finding:
    cursor.execute(
        "SELECT conrelid::regclass::text || '.' || conname FROM pg_constraint"
        " WHERE convalidated AND contype IN ('c', 'u', 'x', 'f')"
        " UNION SELECT indrelid::regclass::text || '.' || indexrelid::regclass::text"
        " FROM pg_index WHERE indisunique AND indisvalid"
    )
    there = {name for (name,) in cursor.fetchall()}
    expected = {
        f"{model._meta.db_table}.{rule.name}"
        for model in ours()
        for rule in model._meta.constraints
    } | {"memory_fact.fact_one_live_per_text"}
    pointers = _pointers_without_key(cursor)
    if missing := sorted(expected - there) + pointers:
        return trouble("rules of the tables", f"Missing or unchecked: {some(missing)}.", REBUILD)
    return ok("rules of the tables", f"All {len(expected)} are there, and the keys within owners.")


def ours() -> list[type[models.Model]]:
    return [model for app in OURS for model in apps.get_app_config(app).get_models()]


def owned() -> set[type[models.Model]]:
    return {m for m in ours() if any(field.name == "owner" for field in m._meta.concrete_fields)}


def pointers() -> Iterator[tuple[str, str, str]]:
    """(table, column, the table it points into), between rows that have an owner."""
    for model in owned():
        for field in model._meta.concrete_fields:
            if isinstance(field, models.ForeignKey) and field.related_model in owned():
                target = field.related_model
                assert isinstance(target, type)  # noqa: S101 - no string after loading
                yield model._meta.db_table, str(field.column), target._meta.db_table


def _pointers_without_key(cursor: Any) -> list[str]:
    cursor.execute(
        "SELECT conrelid::regclass::text, attname::text FROM pg_constraint"
        " JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY(conkey)"
        " WHERE contype = 'f' AND cardinality(conkey) > 1 AND convalidated"
    )
    there = set(cursor.fetchall())
    return sorted(
        f"{table}.{column}" for table, column, _ in pointers() if (table, column) not in there
    )


def rights(cursor: Any) -> Finding:
    """Of the application's role, whoever asks."""
    role = settings.DATABASES["default"]["USER"]
    cursor.execute(ROLE_QUERY.replace("current_user", "%s"), [role])
    mighty, owns = cursor.fetchone()
    too_much = ["it is all but a superuser"] if mighty else []
    too_much += ["it owns tables"] if owns else []
    too_much += _granted(cursor, role, NEVER_DELETED, ("DELETE",))
    too_much += _granted(cursor, role, READ_ONLY, ("INSERT", "UPDATE", "DELETE"))
    if too_much:
        return trouble(
            "rights of the role",
            f"{role} may do too much: {some(too_much)}.",
            "DATABASE_URL must name a plain role. manage.py migrate takes away what it may not do.",
        )
    tables = [model._meta.db_table for model in ours()]
    lacking = sorted(set(tables) - set(_granted(cursor, role, tables, ("SELECT",), bare=True)))
    if lacking:
        return trouble(
            "rights of the role",
            f"{role} may not read {some(lacking)}.",
            "As the tables' owner: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "
            f"public TO {role}; then manage.py migrate.",
        )
    return ok("rights of the role", f"{role} may do what it needs and no more.")


def _granted(
    cursor: Any, role: str, tables: Any, verbs: tuple[str, ...], *, bare: bool = False
) -> list[str]:
    cursor.execute(
        "SELECT t, v FROM unnest(%s::text[]) AS t, unnest(%s::text[]) AS v"
        " WHERE to_regclass(t) IS NOT NULL AND has_table_privilege(%s, t, v) ORDER BY 1, 2",
        [list(tables), list(verbs), role],
    )
    return [table if bare else f"{verb} {table}" for table, verb in cursor.fetchall()]
