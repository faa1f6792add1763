"""Which stretches of time a message speaks of. English and dates in numbers; other languages have
their words in dates_elsewhere.py and dates_unspaced.py."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from memory.recall.dates_elsewhere import Month, months, steps
from memory.recall.dates_unspaced import Said, said
from memory.recall.spans import Period, bounded
from memory.text.language import UNKNOWN
from memory.text.lists import phrases

__all__ = ["Period", "date_words", "periods"]

_MONTHS = phrases("""
    january
    february
    march
    april
    may
    june
    july
    august
    september
    october
    november
    december
""")
_SHORT = {month[:3]: number for number, month in enumerate(_MONTHS, 1)} | {"sept": 9}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|{'|'.join(_SHORT)})\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_NUMBERS = phrases("""
    one
    two
    three
    four
    five
    six
    seven
    eight
    nine
    ten
    eleven
    twelve
""")
_NUMBER = {"a couple of": 2, "a": 1, "an": 1} | {
    word: number for number, word in enumerate(_NUMBERS, 1)
}
_COUNT = rf"\d{{1,3}}|{'|'.join(_NUMBER)}"
_MORE_THAN_ONE = rf"\d{{1,3}}|{'|'.join(word for word, count in _NUMBER.items() if count > 1)}"
_UNIT = r"(?P<unit>day|week|month|year)"
# Of "a few", the fewest and the most.
_FEW = 2, 6


Span = tuple[datetime, datetime]


def periods(text: str, now: datetime, language: str = "en") -> list[Period]:
    """In the order of the text, none twice. The earlier pattern has the words to itself.
    `language`: ISO 639, or `und`."""
    whole, found = text, list(_unspaced(text, now))
    text = _without(text, found)
    if language != "en":
        found += _elsewhere(text, now, language)
        text = _without(text, found)
    for pattern, meaning in _PATTERNS:
        for match in pattern.finditer(text):
            span = _span(meaning, match, now)
            if span is not None:
                found.append((match.start(), Period(*span, words=match[0])))
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return list(bounded(whole, sorted(found, key=lambda pair: pair[0]), now))


def _without(text: str, found: Iterable[tuple[int, Period]]) -> str:
    for start, period in found:
        text = text[:start] + " " * len(period.words) + text[start + len(period.words) :]
    return text


def _unspaced(text: str, now: datetime) -> Iterator[tuple[int, Period]]:
    if text.isascii():
        return
    for one in said(text):
        span = _try(lambda one=one: _of_said(one, now))  # type: ignore[misc]
        if span is not None:
            yield one.start, Period(*span, words=text[one.start : one.end])


def _of_said(one: Said, now: datetime) -> Span:
    if one.unit:
        return _of_step(one.count, one.unit, now)
    year = one.year or (now.year + one.year_step if one.year_step is not None else 0)
    if not one.month:
        start = _midnight(now).replace(day=1, month=1, year=year)
        return start, start.replace(year=year + 1)
    return _of_month(Month(one.start, one.end, one.name, one.month, one.day, year), now)


def _elsewhere(text: str, now: datetime, language: str) -> Iterator[tuple[int, Period]]:
    for month in months(text):
        span = _try(lambda month=month: _of_month(month, now))  # type: ignore[misc]
        if span is not None:
            yield month.start, Period(*span, words=text[month.start : month.end])
            text = text[: month.start] + " " * (month.end - month.start) + text[month.end :]
    for step in steps(text):
        span = _try(lambda step=step: _of_step(step.count, step.unit, now))  # type: ignore[misc]
        if span is not None:
            yield step.start, Period(*span, words=text[step.start : step.end])
    if language != UNKNOWN:
        for match in _YEAR_ALONE.finditer(text):
            yield match.start(), Period(*_year(match, now), words=match[0])


def _try(meaning: Callable[[], Span]) -> Span | None:
    try:
        return meaning()
    except (ValueError, OverflowError):  # 31 February, 9999 years ago
        return None


def _of_month(month: Month, now: datetime) -> Span:
    start = _midnight(now).replace(day=1, month=month.number, year=month.year or now.year)
    if month.day:
        start = start.replace(day=month.day)
    if not month.year and start > now:
        start = start.replace(year=start.year - 1)
    return start, start + timedelta(days=1) if month.day else _next_month(start)


def _of_step(count: int, unit: str, now: datetime) -> Span:
    if unit != "day":
        return _unit(unit, count, now)
    start = _midnight(now) + timedelta(days=count)
    return start, start + timedelta(days=1)


Meaning = Callable[[re.Match[str], datetime], Span]


def _span(meaning: Meaning, match: re.Match[str], now: datetime) -> Span | None:
    return _try(lambda: meaning(match, now))


def _date(match: re.Match[str], now: datetime) -> Span:
    month = _month(match["month"])
    day = _midnight(now).replace(month=month, day=1)
    if match["year"]:
        day = day.replace(year=int(match["year"]), day=int(match["day"]))
    else:
        day = _latest(day, int(match["day"]), now)
    return day, day + timedelta(days=1)


def _latest(month: datetime, day: int, now: datetime) -> datetime:
    """The last such day that has been: 29 February is not in every year. Raises ValueError."""
    for year in range(now.year, now.year - 9, -1):
        found = _try(lambda year=year: (month.replace(year=year, day=day),) * 2)  # type: ignore[misc]
        if found and found[0] <= now:
            return found[0]
    raise ValueError("no such day")


def _month_of_year(match: re.Match[str], now: datetime) -> Span:
    start = _midnight(now).replace(day=1, month=_month(match["month"]))
    if match["year"]:
        start = start.replace(year=int(match["year"]))
    elif start > now or (match["last"] and start.month == now.month):
        start = start.replace(year=start.year - 1)
    return start, _next_month(start)


def _month_of_some_year(match: re.Match[str], now: datetime) -> Span:
    year = now.year + {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
    start = _midnight(now).replace(day=1, month=_month(match["month"]), year=year)
    return start, _next_month(start)


def _year(match: re.Match[str], now: datetime) -> Span:
    start = _midnight(now).replace(day=1, month=1, year=int(match["year"]))
    return start, start.replace(year=start.year + 1)


def _day_near(match: re.Match[str], now: datetime) -> Span:
    days = {
        **{"the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1},
        **{"last night": -1, "today": 0, "tonight": 0, "tomorrow": 1},
        **{"this morning": 0, "this afternoon": 0, "this evening": 0},
        **{"the day after tomorrow": 2, "day after tomorrow": 2},
    }
    start = _midnight(now) + timedelta(days=days[" ".join(match[0].lower().split())])
    return start, start + timedelta(days=1)


def _calendar(match: re.Match[str], now: datetime) -> Span:
    """Last, this or next week, weekend, month or year; weeks begin on Monday."""
    step = {"last": -1, "past": -1, "this": 0, "next": 1}[match["which"].lower()]
    return _unit(match["unit"].lower(), step, now)


def _unit(unit: str, step: int, now: datetime) -> Span:
    today = _midnight(now)
    if unit == "year":
        start = today.replace(month=1, day=1, year=today.year + step)
        return start, start.replace(year=start.year + 1)
    if unit == "month":
        start = _months_later(today.replace(day=1), step)
        return start, _next_month(start)
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=7)
    return monday, monday + timedelta(days=7)


def _ago(match: re.Match[str], now: datetime) -> Span:
    return _of_step(-_counted(match["number"]), match["unit"].lower(), now)


def _half_ago(match: re.Match[str], now: datetime) -> Span:
    """Half a year ago, or so many and a half."""
    return _unit("month", -12 * _counted(match["number"] or "0") - 6, now)


def _few_ago(match: re.Match[str], now: datetime) -> Span:
    unit = match["unit"].lower()
    return _of_step(-_FEW[1], unit, now)[0], _of_step(-_FEW[0], unit, now)[1]


def _ahead(match: re.Match[str], now: datetime) -> Span:
    return _of_step(_counted(match["number"]), match["unit"].lower(), now)


def _up_to_now(match: re.Match[str], now: datetime) -> Span:
    """The last three weeks: so many days, to this moment."""
    count, unit, today = _counted(match["number"]), match["unit"].lower(), _midnight(now)
    if unit in {"month", "year"}:
        first = _months_later(today.replace(day=1), -count * (12 if unit == "year" else 1))
        days = (_next_month(first) - first).days
        return first.replace(day=min(today.day, days)), now
    return today - timedelta(days=count * (7 if unit == "week" else 1)), now


def _counted(number: str) -> int:
    number = " ".join(number.lower().split())
    return int(number) if number.isdigit() else _NUMBER[number]


def _weekday(match: re.Match[str], now: datetime) -> Span:
    back = (now.weekday() - _DAYS.index(match["weekday"].lower())) % 7 or 7
    start = _midnight(now) - timedelta(days=back)
    return start, start + timedelta(days=1)


def _iso(match: re.Match[str], now: datetime) -> Span:
    start = _midnight(now).replace(day=1, year=int(match["year"]), month=int(match["number"]))
    if not match["day"]:
        return start, _next_month(start)
    start = start.replace(day=int(match["day"]))
    return start, start + timedelta(days=1)


def _dotted(match: re.Match[str], now: datetime) -> Span:
    """5.3.2025, as it is written where dots are: the day first."""
    start = _midnight(now).replace(day=1, year=int(match["year"]), month=int(match["number"]))
    start = start.replace(day=int(match["day"]))
    return start, start + timedelta(days=1)


def _midnight(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _next_month(start: datetime) -> datetime:
    return _months_later(start, 1)


def _months_later(start: datetime, months: int) -> datetime:
    years, month = divmod(start.month - 1 + months, 12)
    return start.replace(year=start.year + years, month=month + 1)


def _month(name: str) -> int:
    return _SHORT[name.lower()[:3]]


def _compiled() -> Iterator[tuple[re.Pattern[str], Meaning]]:
    none = "(?P<year>(?!))?"
    for expression, meaning in (
        (rf"{_YEAR}-(?P<number>[01]\d)(?:-(?P<day>[0-3]\d))?", _iso),
        (rf"{_YEAR}/(?P<number>[01]?\d)/(?P<day>[0-3]?\d)", _iso),
        (rf"(?P<day>[0-3]?\d)\.\s?(?P<number>[01]?\d)\.\s?{_YEAR}", _dotted),
        (rf"{_DAY}\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}", _date),
        (rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}", _date),
        (rf"{_DAY}\s+(?:of\s+)?{_MONTH}{none}", _date),
        (rf"{_MONTH}\s+{_DAY}{none}", _date),
        (rf"{_MONTH},?\s+(?:of\s+)?{_YEAR}(?P<last>(?!))?", _month_of_year),
        (
            rf"(?:in\s+)?{_MONTH},?\s+(?:of\s+)?(?P<which>last|this|next)\s+year",
            _month_of_some_year,
        ),
        (
            rf"(?:in|during|since|before|after|until|from|to|between|and|(?P<last>last|this\s+past))"
            rf"\s+{_MONTH}{none}",
            _month_of_year,
        ),
        (rf"(?:in|during|of|since|before|after|until|from|to|between|and|year)\s+{_YEAR}", _year),
        (
            r"(?:the\s+)?day\s+before\s+yesterday|(?:the\s+)?day\s+after\s+tomorrow|yesterday"
            r"|last\s+night|today|tonight|this\s+(?:morning|afternoon|evening)|tomorrow",
            _day_near,
        ),
        (rf"(?:last|past)\s+(?P<number>{_MORE_THAN_ONE})\s+{_UNIT}s(?!\s+of\b)", _up_to_now),
        (rf"(?:half\s+a|(?P<number>{_COUNT})\s+and\s+a\s+half)\s+years?\s+ago", _half_ago),
        (rf"(?:a\s+few|several)\s+{_UNIT}s\s+ago", _few_ago),
        (r"(?P<which>last|past|this|next)\s+(?P<unit>week|weekend|month|year)", _calendar),
        (rf"(?P<number>{_COUNT})\s+{_UNIT}s?\s+ago", _ago),
        (rf"in\s+(?P<number>{_MORE_THAN_ONE})\s+{_UNIT}s", _ahead),
        (rf"(?:last|on|this\s+past)\s+(?P<weekday>{'|'.join(_DAYS)})", _weekday),
    ):
        yield re.compile(rf"(?<![\w-])(?:{expression})(?![\w-])", re.IGNORECASE), meaning


_PATTERNS = tuple(_compiled())


# Months that are other words as well count only where they stand like a date.
_AMBIGUOUS = {"may", "march", "mar", "dec", "jan", "sept", "sep"}
_MONTH_WORD = re.compile(
    rf"(?P<before>\b(?:in|during|since|last|this|of|by|until|early|late|mid)\s+|\d\w*,?\s+)?"
    rf"\b(?P<name>{'|'.join(_MONTHS)}|{'|'.join(_SHORT)})\b\.?(?P<after>\s+\d)?",
    re.IGNORECASE,
)
_DAY_BESIDE = re.compile(
    rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}\b|\b{_MONTH}\s+(?P<later>[0-3]?\d)(?:st|nd|rd|th)?\b".replace(
        "(?P<month>", "(?:"
    ),
    re.IGNORECASE,
)
_YEAR_WORD = re.compile(rf"(?<![\w-]){_YEAR}(?!\w)")
_YEAR_ALONE = re.compile(rf"(?<![\w./-])(?<!\d\. ){_YEAR}(?![\w/])")
_DOTTED_WORD = re.compile(rf"(?<![\w.])(?P<day>[0-3]?\d)\.\s?(?P<month>[01]?\d)\.\s?{_YEAR}(?!\w)")
_ISO_WORD = re.compile(rf"(?<![\w-]){_YEAR}-(?P<month>[01]\d)(?:-(?P<day>[0-3]\d))?(?![\w-])")


def date_words(text: str, language: str = "en") -> dict[str, str]:
    """The words that name a year, a month or a day of the month, and the term of each."""
    found: dict[str, str] = {}
    for one in () if text.isascii() else said(text):
        found |= _words_of(one)
    if language != "en":
        for month in months(text):
            found[month.name] = f"@m{month.number:02}"
            if 1 <= month.day <= 31:
                found[str(month.day)] = f"@d{month.day:02}"
    for match in _ISO_WORD.finditer(text):
        found[f"{match['year']}-{match['month']}"] = f"@m{match['month']}"
        if match["day"]:
            found[match[0]] = f"@d{match['day']}"
        found[match["year"]] = f"@y{match['year']}"
    for match in _DOTTED_WORD.finditer(text):
        if 1 <= int(match["day"]) <= 31 and 1 <= int(match["month"]) <= 12:
            found[f"{match['day']}.{match['month']}"] = f"@m{int(match['month']):02}"
            found[match[0]] = f"@d{int(match['day']):02}"
    for match in _YEAR_WORD.finditer(text):
        found[match["year"]] = f"@y{match['year']}"
    for match in _MONTH_WORD.finditer(text):
        name = match["name"].lower()
        if name not in _AMBIGUOUS or match["before"] or match["after"]:
            found[name] = f"@m{_month(name):02}"
    for match in _DAY_BESIDE.finditer(text):
        day = match["day"] or match["later"]
        if 1 <= int(day) <= 31:
            found[day] = f"@d{int(day):02}"
    return found


def _words_of(one: Said) -> dict[str, str]:
    found = {str(one.year): f"@y{one.year}"} if one.year else {}
    if one.month:
        found[one.name] = f"@m{one.month:02}"
    if 1 <= one.day <= 31:
        found[str(one.day)] = f"@d{one.day:02}"
    return found
