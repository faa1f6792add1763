"""Dates in messages that are not English: months, and days, weeks, months and years from now.

The words are dateparser's own tables. The library itself reads a date that stands alone, and takes
milliseconds where a message without any of these words must cost one look-up per word.
"""

import re
import runpy
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memory.text.lists import listed

# Croatian is not among them: its listopad is October, that of Poles and Czechs November.
_LANGUAGES = sorted(
    listed("""
    ar bg ca cs da de el es et eu fa fi fr he hu id it ko lt lv nb nl pl pt ro ru sk sl sr sv th tr
    uk vi
""")
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
# What is shorter is an abbreviation, and often another word: mar is the sea, kesä the summer, jul
# Christmas.
_WHOLE, _LEAST_LETTERS = 0.6, 4
_UNIT_LETTERS = 3
# Months as they stand behind "in" where that bends them otherwise than the tables have it, January
# first: Russian, Ukrainian, Czech, Polish, Finnish (whose other ends follow), Turkish.
_BENT = """
    январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре
    січні лютому березні квітні травні червні липні серпні вересні жовтні листопаді грудні
    lednu únoru březnu dubnu květnu červnu červenci srpnu září říjnu - prosinci
    styczniu lutym marcu kwietniu maju czerwcu lipcu sierpniu wrześniu październiku - grudniu
    tammikuun helmikuun maaliskuun huhtikuun toukokuun kesäkuun heinäkuun elokuun syyskuun lokakuun
    marraskuun joulukuun
    ocakta şubatta martta nisanda mayısta haziranda temmuzda ağustosta eylülde ekimde kasımda
    aralıkta
"""
_FINNISH_ENDS = ("sta", "lta", "lla", "hun")
# Of days, weeks and years from now, what the tables lack.
_STEPS = {
    "toissapäivänä": (-2, "day"),
    "toissa päivänä": (-2, "day"),
    "ylihuomenna": (2, "day"),
    "toissa vuonna": (-2, "year"),
    "العام الماضي": (-1, "year"),
    "السنة الماضية": (-1, "year"),
    "الأسبوع الماضي": (-1, "week"),
    "أول أمس": (-2, "day"),
    "evvelsi gün": (-2, "day"),
    "önceki gün": (-2, "day"),
}

_TOKEN = re.compile(r"\w+(?:['’]\w+)?")
_SAID = re.compile(r"(?P<ahead>in )?(?P<count>\\1|\d+) (?P<unit>day|week|month|year)(?: ago)?")
_NUMBER = re.compile(r"\(\\d[^()]*\)")
# One short word may stand between: 15 de mayo de 2023.
_DAY_BEFORE = re.compile(r"(?<!\w)(?P<day>[0-3]?\d)(?:\.|er|e|º|ª|:n)?\s+(?:\w{2,3}\s+)?$")
_YEAR_AFTER = re.compile(r"\.?,?\s+(?:\w{2,3}\s+)?(?P<year>(?:19|20)\d\d)(?!\w)")
_NEAR = 20  # characters


@dataclass(frozen=True)
class Month:
    """A month of a message, with the day and the year beside it, 0 where there is none."""

    start: int
    end: int
    name: str
    number: int
    day: int
    year: int


@dataclass(frozen=True)
class Step:
    """So many units from now, fewer than 0 for the past."""

    start: int
    end: int
    count: int
    unit: str


@dataclass(frozen=True)
class _Phrase:
    """`count` None: the pattern's first group is the number."""

    pattern: re.Pattern[str]
    number_first: bool
    count: int | None
    sign: int
    unit: str


@dataclass
class _Tables:
    """By the word that gives it away; of a phrase that begins with a number, the word behind."""

    months: dict[str, int] = field(default_factory=dict)
    phrases: dict[str, list[_Phrase]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[str, int] = field(default_factory=dict)


def warm_up() -> None:
    """Reads the tables, so that no request has to."""
    _tables()


def months(text: str) -> Iterator[Month]:
    known = _tables().months
    low = text.lower()
    for token in _TOKEN.finditer(low):
        number = known.get(token[0]) or known.get(token[0].replace("’", "'").split("'")[0])
        if number is not None:
            yield _month(low, token, number)


def steps(text: str) -> Iterator[Step]:
    tables, low = _tables(), text.lower()
    before: re.Match[str] | None = None
    for token in _TOKEN.finditer(low):
        for phrase in tables.phrases.get(token[0], ()):
            first = before if phrase.number_first else token
            found = first and phrase.pattern.match(low, first.start())
            if found:
                count = phrase.count if phrase.count is not None else _number(found[1], tables)
                yield Step(found.start(), found.end(), phrase.sign * count, phrase.unit)
                break
        before = token


def _month(low: str, token: re.Match[str], number: int) -> Month:
    before = _DAY_BEFORE.search(low[max(0, token.start() - _NEAR) : token.start()])
    after = _YEAR_AFTER.match(low, token.end(), token.end() + _NEAR)
    day = int(before["day"]) if before else 0
    start = token.start() - len(before[0]) if before and day else token.start()
    year = int(after["year"]) if after else 0
    return Month(start, after.end() if after else token.end(), token[0], number, day, year)


def _number(text: str, tables: _Tables) -> int:
    return tables.numbers[text] if text in tables.numbers else int(text)


@cache
def _tables() -> _Tables:
    """A quarter of a second, once per process."""
    tables = _Tables()
    for place, name in enumerate(_BENT.split()):
        tables.months[name] = place % len(_MONTHS) + 1
        if name.endswith("kuun"):
            for end in _FINNISH_ENDS:
                tables.months[name.removesuffix("n") + end] = place % len(_MONTHS) + 1
    tables.months.pop("-")
    for text, (count, unit) in _STEPS.items():
        pattern = re.compile(rf"{re.escape(text)}(?!\w)")
        phrase = _Phrase(pattern, number_first=False, count=count, sign=1, unit=unit)
        tables.phrases[text.split()[0]].append(phrase)
    for language in _LANGUAGES:
        data = _data(language)
        _add_months(tables, data)
        numbers = _numbers(data)
        tables.numbers |= numbers
        either = rf"(\d{{1,3}}|{'|'.join(map(re.escape, numbers))})" if numbers else r"(\d{1,3})"
        for meaning, texts in data.get("relative-type", {}).items():
            for text in texts:
                _add_phrase(tables, meaning, re.escape(text.lower()))
        for meaning, texts in data.get("relative-type-regex", {}).items():
            for text in texts:
                _add_phrase(tables, meaning, text.lower(), either)
    return tables


def _data(language: str) -> Mapping[str, Any]:
    """The table alone: the library would load all of its parsers, a second of work."""
    package = find_spec("dateparser")
    folders = package.submodule_search_locations if package else None
    if not folders:
        raise ModuleNotFoundError("dateparser is not installed")
    path = Path(folders[0]) / "data" / "date_translation_data" / f"{language}.py"
    data: Mapping[str, Any] = runpy.run_path(str(path))["info"]
    return data


def _add_months(tables: _Tables, data: Mapping[str, Any]) -> None:
    for number, english in enumerate(_MONTHS, 1):
        names = {name.lower() for name in data.get(english, ()) if _TOKEN.fullmatch(name)}
        longest = max(map(len, names), default=0)
        for name in names:
            whole = len(name) == longest or len(name) >= _LEAST_LETTERS
            if whole and len(name) > _WHOLE * longest and not name[0].isdigit():
                tables.months.setdefault(name, number)


def _numbers(data: Mapping[str, Any]) -> dict[str, int]:
    pairs = (pair for both in data.get("simplifications", ()) for pair in both.items())
    return {
        word.lower(): int(value)
        for word, value in pairs
        if isinstance(value, str) and value.isdigit() and _TOKEN.fullmatch(word)
    }


def _add_phrase(tables: _Tables, meaning: str, pattern: str, number: str = "") -> None:
    said = _SAID.fullmatch(meaning)
    if said is None:
        return
    parts = _NUMBER.split(pattern)
    if number and (len(parts) != 2 or len(_first_word(parts[1])) < _UNIT_LETTERS):
        return
    number_first = bool(number) and not parts[0].strip()
    key = _first_word(parts[1] if number_first else parts[0])
    if not key:
        return
    phrase = _Phrase(
        pattern=re.compile(rf"{number.join(parts)}(?!\w)"),
        number_first=number_first,
        count=None if number else int(said["count"]),
        sign=1 if said["ahead"] else -1,
        unit=said["unit"],
    )
    tables.phrases[key].append(phrase)


def _first_word(pattern: str) -> str:
    found = _TOKEN.search(pattern.replace("\\ ", " ").replace("\\", ""))
    return found[0] if found else ""
