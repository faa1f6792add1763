"""What a message may be, whichever way it comes in. Each check raises ValueError in plain words."""

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import available_timezones

# Smaller than 1 MB. A pasted book chapter fits; a whole file belongs elsewhere.
CONTENT_BYTES = 1_000_000
# Clocks are wrong by minutes; a local time sent as UTC is wrong by hours.
SKEW = timedelta(hours=1)
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
ID_LENGTH = 200

_OFFSET = re.compile(r"[+-](0\d|1[0-4]):[0-5]\d")
_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """Postgres keeps neither NUL characters nor halves of a surrogate pair."""
    if "\x00" in text:
        raise ValueError("holds a NUL character")
    if _SURROGATE.search(text):
        raise ValueError("holds half of a surrogate pair, which is no character")
    return text


def mended(text: str) -> tuple[str, int]:
    """The text with what `storable` refuses replaced by U+FFFD, and how many were."""
    whole, count = _SURROGATE.subn("\ufffd", text)
    return whole.replace("\x00", "\ufffd"), count + whole.count("\x00")


def content(text: str) -> str:
    if len(text) * 4 >= CONTENT_BYTES and len(text.encode()) >= CONTENT_BYTES:
        raise ValueError("is not smaller than 1 MB")
    return text


def moment(value: datetime) -> datetime:
    if value.utcoffset() is None:
        raise ValueError("has no time zone; write 2026-03-02T09:00:00+02:00")
    if not EARLIEST <= value <= datetime.now(UTC) + SKEW:
        raise ValueError("is in the future, or before 1970")
    return value


def zone(name: str) -> str:
    if name not in _zones() and not _OFFSET.fullmatch(name):
        raise ValueError("is neither an IANA time zone (Europe/Helsinki) nor an offset (+02:00)")
    return name


def offset(value: datetime) -> str:
    """The offset of a time as it was written, `+02:00`."""
    return value.isoformat()[-6:]


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())
