"""Empties the database after a test whose transactions were committed.

Django would truncate every table, a hundred of them with all their indexes, and make the
permissions anew, for the few rows that such a test leaves. Here only tables with rows lose them.
"""

import psycopg
from psycopg import sql

# Made by the migrations: they lose only what a test has added.
MADE = ("auth_permission", "django_content_type")
KEPT = ("django_migrations", *MADE)
# Bytes from which rows are better cut off than deleted one by one.
LARGE = 2_000_000

_TABLES = """
    SELECT c.oid::regclass::text FROM pg_class c
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL(%s)
    ORDER BY relname
"""


class Emptier:
    """As a superuser of the test server: no trigger and no foreign key stands in the way."""

    def __init__(self, url: str) -> None:
        self.connection: psycopg.Connection[tuple[str]] = psycopg.connect(url, autocommit=True)
        self.connection.execute("SET session_replication_role = replica")
        self.connection.execute("SET client_min_messages = warning")
        self.made = {table: self._last(table) for table in MADE}

    def close(self) -> None:
        self.connection.close()

    def empty(self) -> None:
        names = [name for (name,) in self.connection.execute(_TABLES, [list(KEPT)])]
        used = self._names("SELECT {name} WHERE EXISTS (SELECT FROM {table})", names)
        large = self._names(f"SELECT {{name}} WHERE pg_table_size({{name}}) > {LARGE}", used)
        if large:
            tables = sql.SQL(", ").join(sql.SQL(name) for name in large)
            self.connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(tables))
        for table, last in self.made.items():
            self.connection.execute(
                sql.SQL("DELETE FROM {} WHERE id > {}").format(sql.Identifier(table), last)
            )
        for name in set(used) - set(large):
            self.connection.execute(sql.SQL("DELETE FROM {}").format(sql.SQL(name)))

    def _last(self, table: str) -> int:
        question = sql.SQL("SELECT coalesce(max(id), 0) FROM {}").format(sql.Identifier(table))
        (last,) = next(self.connection.execute(question))
        return int(last)

    def _names(self, question: str, tables: list[str]) -> list[str]:
        if not tables:
            return []
        parts = (
            sql.SQL(question).format(name=sql.Literal(table), table=sql.SQL(table))
            for table in tables
        )
        return [name for (name,) in self.connection.execute(sql.SQL(" UNION ALL ").join(parts))]
