"""Looks at every part that must be right, and says how to mend what is not. Changes nothing."""

from collections.abc import Iterator

from django.db import DatabaseError, OperationalError, connection

from config.doctor import database, rows, services
from config.doctor.values import Finding, Level, trouble

__all__ = ["Finding", "Level", "examine"]

START = "Start it (make up, or docker compose up), and see that DATABASE_URL is right."


def examine(*, ask_llm: bool = False) -> Iterator[Finding]:
    """Each part by itself; `ask_llm`: with a real question, which may cost a little."""
    yield services.configuration()
    yield services.disk()
    try:
        yield from _database()
    except DatabaseError as error:
        yield trouble("database", f"It can't be used ({_why(error)}).", START)
    yield services.broker()
    yield from services.language_models(ask=ask_llm)


def _database() -> Iterator[Finding]:
    """Without its migrations nothing else is as it should be, and they are what mends it."""
    with connection.cursor() as cursor:
        yield database.version(cursor)
        yield database.extensions(cursor)
        applied = database.migrations()
        yield applied
        if applied.level == Level.OK:
            yield from database.examine(cursor)
            yield from rows.examine(cursor)
            yield from services.with_database()


def _why(error: DatabaseError) -> str:
    """Of a connection that failed its first line, which holds no one's words."""
    lines = str(error).splitlines() if isinstance(error, OperationalError) else []
    return lines[0].strip() if lines else type(error).__name__
