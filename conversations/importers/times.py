"""Times as exports write them."""

import re
from datetime import UTC, datetime
from typing import Any

# Seconds since 1970 reach the first of these in the year 5138: beyond, the unit is a smaller one.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def moment(value: Any) -> datetime | None:
    """From seconds, milli-, micro- or nanoseconds since 1970, or ISO 8601; naive without a zone."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return _iso(value)
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _since_1970(value)


def _since_1970(number: float) -> datetime | None:
    unit = next((unit for least, unit in _UNITS if abs(number) > least), 1)
    try:
        return datetime.fromtimestamp(number / unit, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        return None
