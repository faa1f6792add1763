"""Everything that the database holds, as text: what a purge must be gone from."""

from django.db import connection


def dump() -> str:
    """Each row of each table, every column of it, indexed words and vectors included."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT quote_ident(relname) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"
        )
        tables = [table for (table,) in cursor.fetchall()]
        parts = []
        for table in tables:
            cursor.execute(f"SELECT string_agg(t::text, E'\n') FROM {table} t")
            parts.append(f"== {table}\n{cursor.fetchone()[0] or ''}")
    return "\n".join(parts)


def found(text: str, *words: str) -> set[str]:
    """Where in the dump: the table and the word."""
    places, table = set(), ""
    for line in text.splitlines():
        if line.startswith("== "):
            table = line[3:]
        places |= {f"{table}: {word}" for word in words if word.casefold() in line.casefold()}
    return places
