"""Dates in an English sentence, resolved against the day on which it was said.

Own arithmetic rather than a general date parser: every phrase is known, what it becomes can be
read aloud, and nothing is guessed for the rest.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from memory.vocabulary import Precision

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_NUMBERS = {
    name: number
    for number, name in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
} | {"a": 1, "an": 1, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30}
_VAGUE = r"a\s+few|a\s+couple(?:\s+of)?|several|some|many|couple"
_N = rf"(?P<n>\d{{1,3}}|{'|'.join(_NUMBERS)}|{_VAGUE})"
_WEEKDAY = rf"(?P<weekday>{'|'.join(_WEEKDAYS)}|mon|tues?|wed|thurs?|thu|fri|sat|sun)\b\.?"
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A date phrase as it can be read later. `start` is None where the time is known vaguely."""

    text: str
    start: date | None
    precision: Precision = Precision.DAY


@dataclass(frozen=True, slots=True)
class Dated:
    """A sentence with every date spelled out, the same without its dates, and the first of them."""

    text: str
    bare: str
    when: Resolved | None


_MARK = re.compile(r"\x00(\d+)\x00")


def date_in_front(text: str) -> int:
    """The length of the date phrase that the text begins with, 0 for none."""
    matches = (pattern.match(text) for pattern in _RESOLVERS)
    return max((match.end() for match in matches if match), default=0)


Resolver = Callable[[re.Match[str], date, bool], Resolved | None]


def resolve_dates(sentence: str, said: date, *, future: bool) -> Dated | None:
    """`future` tells which way a bare weekday or month points.

    None where a phrase can't be resolved.
    """
    found: list[Resolved | None] = []

    def set_aside(match: re.Match[str]) -> str:
        """A sign that no pattern matches, so that no date is read twice."""
        found.append(_RESOLVERS[match.re](match, said, future))
        return f"\x00{len(found) - 1}\x00"

    for pattern in _RESOLVERS:
        sentence = pattern.sub(set_aside, sentence)
    resolved = [date for date in found if date]
    if len(resolved) < len(found):
        return None
    sure_first = sorted(resolved, key=lambda date: date.start is None)
    return Dated(
        text=_MARK.sub(lambda match: resolved[int(match[1])].text, sentence),
        bare=" ".join(_MARK.sub(" ", sentence).split()),
        when=sure_first[0] if sure_first else None,
    )


def spoken(day: date) -> str:
    return f"{day.day} {_MONTHS[day.month - 1].title()} {day.year}"


def _month(day: date) -> str:
    return f"{_MONTHS[day.month - 1].title()} {day.year}"


def _on(day: date) -> Resolved:
    return Resolved(f"on {spoken(day)}", day)


def _in_month(first: date) -> Resolved:
    return Resolved(f"in {_month(first)}", first.replace(day=1), Precision.MONTH)


def _in_year(year: int) -> Resolved:
    return Resolved(f"in {year}", date(year, 1, 1), Precision.YEAR)


def _add_months(day: date, months: int) -> date:
    """The first of the month that is so many months away."""
    count = day.year * 12 + day.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _direction(word: str) -> int:
    return {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1, "upcoming": 1}.get(
        word.lower(), 0
    )


def _day_word(match: re.Match[str], said: date, future: bool) -> Resolved:
    words = " ".join(match[0].lower().split())
    if "before yesterday" in words:
        return _on(said - timedelta(days=2))
    if "after tomorrow" in words:
        return _on(said + timedelta(days=2))
    if "yesterday" in words or words == "last night":
        return _on(said - timedelta(days=1))
    return _on(said + timedelta(days=1)) if "tomorrow" in words else _on(said)


def _unit(match: re.Match[str], said: date, future: bool) -> Resolved | None:
    """last week, this month, next year."""
    direction, unit = _direction(match["which"]), match["unit"].lower()
    if unit == "week":
        week = _monday(said) + timedelta(weeks=direction)
        return Resolved(f"in the week of {spoken(week)}", week)
    if unit == "weekend":
        if match["which"].lower() == "this past" and said.weekday() < 5:
            direction = -1
        saturday = _monday(said) + timedelta(days=5, weeks=direction)
        return Resolved(f"on the weekend of {spoken(saturday)}", saturday)
    if unit == "month":
        return _in_month(_add_months(said, direction))
    return _in_year(said.year + direction)


def _season(match: re.Match[str], said: date, future: bool) -> Resolved:
    name = match["season"].lower()
    direction, month = _direction(match["which"]), _SEASONS[name]
    year = said.year
    if direction < 0 and month + 3 > said.month:
        year -= 1
    if direction > 0 and month <= said.month:
        year += 1
    start = date(year, month, 1)
    return Resolved(f"in the {name} of {year}", start, Precision.MONTH)


def _named_weekday(match: re.Match[str], said: date, future: bool) -> Resolved:
    """`next Friday` is the Friday of next week, `last Friday` and `on Friday` the nearest one."""
    which = (match["which"] or "").lower()
    weekday = [name[:3] for name in _WEEKDAYS].index(match["weekday"].lower()[:3])
    if which == "next":
        return _on(_monday(said) + timedelta(days=7 + weekday))
    ahead = (weekday - said.weekday()) % 7
    if which in ("last", "past") or (not which and not future):
        return _on(said - timedelta(days=(7 - ahead) if ahead else 7))
    return _on(said + timedelta(days=ahead))


def _count(match: re.Match[str]) -> int | None:
    word = " ".join(match["n"].lower().split())
    return int(word) if word.isdecimal() else _NUMBERS.get(word)


def _ago(match: re.Match[str], said: date, future: bool) -> Resolved:
    count, unit = _count(match), match["unit"].lower().rstrip("s")
    if count is None:
        return Resolved(f"{match['n']} {match['unit']} before {spoken(said)}", None)
    return _away(said, -count, unit)


def _ahead(match: re.Match[str], said: date, future: bool) -> Resolved | None:
    """`in two weeks` is a date in a plan and a duration in a report."""
    count, unit = _count(match), match["unit"].lower().rstrip("s")
    if not future:
        return Resolved(match[0], None)
    if count is None:
        return Resolved(f"{match['n']} {match['unit']} after {spoken(said)}", None)
    return _away(said, count, unit)


def _away(said: date, count: int, unit: str) -> Resolved:
    if unit == "day":
        return _on(said + timedelta(days=count))
    if unit == "week":
        about = said + timedelta(weeks=count)
        return Resolved(f"around {spoken(about)}", about)
    if unit == "month":
        return _in_month(_add_months(said, count))
    year = max(1, said.year + count)
    return Resolved(f"around {year}", date(year, 1, 1), Precision.YEAR)


def _day_of_month(match: re.Match[str], said: date, future: bool) -> Resolved | None:
    day = int(match["day"])
    months = (day <= said.day) if future else -(day > said.day)
    try:
        return _on(_add_months(said, months).replace(day=day))
    except ValueError:
        return None


def _lately(match: re.Match[str], said: date, future: bool) -> Resolved:
    if re.search(r"\b(?:have|has) been\b", match.string):
        return Resolved(f"as of {_month(said)}", None)
    return Resolved(f"shortly before {spoken(said)}", None)


def _soon(match: re.Match[str], said: date, future: bool) -> Resolved:
    return Resolved(f"soon after {spoken(said)}", None)


def _lasting(match: re.Match[str], said: date, future: bool) -> Resolved:
    """A duration up to now gets the month that it was up to; one that is over needs nothing."""
    if not re.search(r"\b(?:have|has)\b", match.string):
        return Resolved(match[0], None)
    return Resolved(f"for {match['span']} as of {_month(said)}", None)


def _full(match: re.Match[str], said: date, future: bool) -> Resolved | None:
    """3 May 2023, May 3rd, May 2023: with the year that the tense asks for where none is given."""
    groups = match.groupdict()
    month = _month_number(match["month"])
    year = int(groups["year"]) if groups.get("year") else None
    if not groups.get("day"):
        return _in_month(date(year or _year_of(month, 1, said, future), month, 1))
    try:
        day = int(match["day"])
        return _on(date(year or _year_of(month, day, said, future), month, day))
    except ValueError:
        return None


def _month_number(name: str) -> int:
    return next(
        number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3])
    )


def _year_of(month: int, day: int, said: date, future: bool) -> int:
    is_later = (month, day) > (said.month, said.day)
    if future:
        return said.year if is_later else said.year + 1
    return said.year - 1 if is_later else said.year


def _month_with_direction(match: re.Match[str], said: date, future: bool) -> Resolved:
    """`last June` and a bare `in June` of a report are the nearest June behind, others ahead."""
    which = (match["which"] or "").lower()
    number = _month_number(match["month"])
    ahead = future if which in ("", "this") else which == "next"
    if which == "this" or number == said.month:
        year = said.year + (which == "next") - (which == "last")
    else:
        year = _year_of(number, 1, said, ahead)
    return _in_month(date(year, number, 1))


def _only_year(match: re.Match[str], said: date, future: bool) -> Resolved:
    return _in_year(int(match["year"]))


_UNIT = r"(?P<unit>days?|weeks?|months?|years?)"
_ABOUT = r"(?:about\s+|around\s+|almost\s+|over\s+)?"
_PART = r"(?:\s+(?:night|morning|afternoon|evening))?"
_WHICH = r"(?P<which>last|past|this|this\s+past|this\s+coming|next)"
_SEASON = r"(?P<season>spring|summer|fall|autumn|winter)"
_DAY_WORDS = (
    r"the\s+day\s+(?:before\s+yesterday|after\s+tomorrow)",
    rf"(?:yesterday|tomorrow){_PART}",
    r"(?:earlier\s+)?today|tonight|last\s+night|this\s+(?:morning|afternoon|evening)",
)
_SPAN = (
    rf"(?P<span>{_ABOUT}(?:the\s+(?:last|past)\s+)?{_N}"
    r"\s+(?:years?|months?|weeks?|days?)(?:\s+now)?)"
)
_NO_FLOOR = r"(?!\s+(?:of|floor|place|anniversary|birthday|time))"
_TABLE: tuple[tuple[str, Resolver], ...] = (
    (rf"(?:on\s+)?(?:the\s+)?{_DAY}(?:\s+of)?\s+{_MONTH}\b\.?(?:,?\s+{_YEAR})?", _full),
    (rf"(?:on\s+)?{_MONTH}\b\.?\s+{_DAY}\b(?:,?\s+{_YEAR})?(?!\d)", _full),
    (rf"(?:in\s+|back\s+in\s+)?{_MONTH}\b\.?,?\s+(?:of\s+)?{_YEAR}", _full),
    (rf"on\s+the\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th){_NO_FLOOR}", _day_of_month),
    (rf"{_WHICH}\s+{_WEEKDAY}{_PART}", _named_weekday),
    (rf"on\s+(?P<which>)?{_WEEKDAY}{_PART}", _named_weekday),
    ("|".join(_DAY_WORDS), _day_word),
    (r"(?P<which>last|this|next)\s+(?P<unit>week|month|year)(?!\s+of\b|')", _unit),
    (rf"(?:over\s+)?{_WHICH}\s+(?P<unit>weekend)", _unit),
    (rf"(?P<which>last|past|this|next)\s+{_SEASON}(?!\s+of\b)", _season),
    (rf"(?P<which>last|this|next)\s+{_MONTH}\b", _month_with_direction),
    (rf"in\s+(?P<which>)?{_MONTH}\b(?!\s+\d)", _month_with_direction),
    (rf"{_ABOUT}{_N}\s+{_UNIT}\s+ago", _ago),
    (rf"in\s+{_N}\s+{_UNIT}(?:'s?\s+time|\s+time)?", _ahead),
    (rf"for\s+{_SPAN}", _lasting),
    (r"the\s+other\s+day|recently|lately|not\s+(?:too\s+)?long\s+ago", _lately),
    (r"(?:very\s+|really\s+|pretty\s+)?soon", _soon),
    (rf"(?:back\s+)?in\s+{_YEAR}(?!\d)", _only_year),
)
_RESOLVERS = {
    re.compile(rf"(?<![\w'-])(?:{pattern})(?![\w-])", re.IGNORECASE): resolver
    for pattern, resolver in _TABLE
}
