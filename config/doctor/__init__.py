"""Looks at every part that must be right, and says how to mend what is not. Changes nothing."""

from collections.abc import Iterator

from django.db import DatabaseError, connection

from config.doctor import database, rows, services
from config.doctor.values import Finding, Level, trouble

__all__ = ["Finding", "Level", "examine"]


def examine(*, ask_llm: bool = False) -> Iterator[Finding]:
    """Each part by itself; `ask_llm`: with a real question, which may cost a little."""
    yield services.configuration()
    yield services.disk()
    try:
        with connection.cursor() as cursor:
            yield from database.examine(cursor)
            yield from rows.examine(cursor)
            yield from services.with_database()
    except DatabaseError as error:
        yield trouble(
            "database",
            f"can't be used ({type(error).__name__}).",
            "Start it (make up, or docker compose up), and see that DATABASE_URL is right.",
        )
    yield services.broker()
    yield from services.language_models(ask=ask_llm)
