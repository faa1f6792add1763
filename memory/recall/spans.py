"""What since, before and between make of a stretch of time. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Period:
    """Half-open, on the clock of `now`. `words` is what the message called it."""

    start: datetime
    end: datetime
    words: str


# A period with its place in the message.
Placed = tuple[int, Period]

# No memory is older.
_FIRST_YEAR = 1900
_SINCE = "since|seit|depuis|desde|sedan|sinds"
_AFTER = "after|nach|après|después de|depois de|dopo|efter|после"
_BEFORE = "before|vor|avant|antes de|prima di|prima del|voor|före|ennen|przed"
_UNTIL = "until|till|bis|jusqu'en|hasta|até|fino a|tot"
ONE_SIDED = f"{_SINCE}|{_AFTER}|{_BEFORE}|{_UNTIL}"
_RANGE = "between|from|zwischen|von|entre|de"
_BOUND = re.compile(
    rf"(?<!\w)(?:(?P<since>{_SINCE})|(?P<after>{_AFTER})|(?P<before>{_BEFORE})|(?P<until>{_UNTIL})"
    rf"|(?P<range>{_RANGE}))(?:\s+(?:the|dem|der|le|el|in|im|en))?\s*$",
    re.IGNORECASE,
)
_NEAR = 24  # characters
# What a period's own words may begin with.
_OPENING = re.compile(
    r"(?:in|during|of|since|before|after|until|from|to|between|and|year)\s+", re.IGNORECASE
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a couple of": 2}
# The week before a day, two days after it, the Monday before: English alone.
_BESIDE = re.compile(
    rf"(?:(?P<count>\d{{1,2}}|{'|'.join(_COUNTS)})\s+)?"
    rf"(?P<unit>day|week|weekend|month|year|{'|'.join(_DAYS)})s?\s+(?P<way>before|after)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_LINK = re.compile(r"\s*(?:and|to|until|till|through|und|bis|et|à|y|a|e|-|–)\s*", re.IGNORECASE)


def bounded(text: str, found: Sequence[Placed], now: datetime) -> Iterator[Period]:
    """`found` in the order of the text."""
    place = 0
    while place < len(found):
        start, period = found[place]
        core = _core(start, period)
        bound = _BOUND.search(text, max(0, core - _NEAR), core)
        place += 1
        if bound is None:
            yield period
        elif bound["range"] is None:
            beside = _BESIDE.search(text, max(0, core - 2 * _NEAR), core)
            begin = min(start, (beside or bound).start())
            words = text[begin : start + len(period.words)]
            if beside:
                yield Period(*_beside(beside, period), words)
            else:
                yield _one_sided(bound.lastgroup or "", period, words, now)
        else:
            both = _linked(text, bound, period, start, found[place : place + 1])
            place += both is not None
            yield both or period


def _core(start: int, period: Period) -> int:
    opening = _OPENING.match(period.words)
    return start + (opening.end() if opening else 0)


def _one_sided(bound: str, period: Period, words: str, now: datetime) -> Period:
    first = period.start.replace(year=_FIRST_YEAR, month=1, day=1)
    start, end = {
        "since": (period.start, now),
        "after": (period.end, now),
        "before": (first, period.start),
        "until": (first, period.end),
    }[bound]
    return Period(start, end, words) if start < end else period


def _beside(match: re.Match[str], period: Period) -> tuple[datetime, datetime]:
    count = (match["count"] or "1").lower()
    steps = int(count) if count.isdigit() else _COUNTS[count]
    unit, is_before = match["unit"].lower(), match["way"].lower() == "before"
    if unit in _DAYS or unit == "weekend":
        day = _DAYS.index(unit if unit in _DAYS else "saturday")
        start = _weekday_beside(period, day, steps, is_before=is_before)
        return start, start + timedelta(days=2 if unit == "weekend" else 1)
    # A month more or less: what is remembered by its distance is not known to the day.
    days = {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
    if is_before:
        start = period.start - timedelta(days=steps * days)
    else:
        start = period.end + timedelta(days=(steps - 1) * days)
    return start, start + timedelta(days=days)


def _weekday_beside(period: Period, day: int, steps: int, *, is_before: bool) -> datetime:
    if is_before:
        back = (period.start.weekday() - day) % 7 or 7
        return period.start - timedelta(days=back + 7 * (steps - 1))
    return period.end + timedelta(days=(day - period.end.weekday()) % 7 + 7 * (steps - 1))


def _linked(
    text: str, bound: re.Match[str], period: Period, start: int, others: Sequence[Placed]
) -> Period | None:
    for after, last in others:
        between = text[start + len(period.words) : _core(after, last)]
        if _LINK.fullmatch(between) and last.end > period.start:
            words = text[min(start, bound.start()) : after + len(last.words)]
            return Period(period.start, last.end, words)
    return None
