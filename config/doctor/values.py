from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    TROUBLE = "trouble"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, what was found in a sentence, and what to do about it."""

    check: str
    level: Level
    said: str
    mend: str = ""


def ok(check: str, said: str) -> Finding:
    return Finding(check, Level.OK, said)


def note(check: str, said: str, mend: str) -> Finding:
    return Finding(check, Level.NOTE, said, mend)


def trouble(check: str, said: str, mend: str) -> Finding:
    return Finding(check, Level.TROUBLE, said, mend)


def some(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
