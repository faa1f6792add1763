"""Chosen facts as CSV or JSON lines, a row at a time however many there are."""

import csv
import json
from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from memory.models import Fact

COLUMNS = (
    "id", "owner", "agent", "kind", "statement", "language", "state", "confidence", "tags",
    "pinned", "origin", "valid_from", "valid_until", "created_at", "observed_at",
    "last_confirmed_at", "archived_reason", "superseded_by",
)  # fmt: skip
CHUNK = 2000
# What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def as_csv(facts: QuerySet[Fact]) -> Iterator[str]:
    lines = csv.writer(_Echo())
    yield lines.writerow(COLUMNS)
    for values in _rows(facts):
        yield lines.writerow([_harmless(value) for value in values])


def as_json(facts: QuerySet[Fact]) -> Iterator[str]:
    for values in _rows(facts):
        named = dict(zip(COLUMNS, map(_plain, values), strict=True))
        yield json.dumps(named, ensure_ascii=False) + "\n"


class _Echo:
    """csv wants a file; what it writes is handed back."""

    def write(self, line: str) -> str:
        return line


def _rows(facts: QuerySet[Fact]) -> Iterator[tuple[Any, ...]]:
    return facts.order_by("pk").values_list(*COLUMNS).iterator(chunk_size=CHUNK)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | list):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _harmless(value: Any) -> str:
    plain = _plain(value)
    if isinstance(plain, list):
        plain = " ".join(plain)
    text = "" if plain is None else str(plain)
    return "'" + text if text.startswith(FORMULA) else text
