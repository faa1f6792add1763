"""Dates in Chinese, Japanese, Korean and Thai, whose words no space parts: found wherever they
stand in a text."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# What is said of a year, by years from now. The longer word stands first.
_YEARS = {
    "大前年": -3,
    **dict.fromkeys(("前年", "一昨年", "재작년"), -2),
    **dict.fromkeys(("去年", "昨年", "작년", "지난해", "ปีที่แล้ว", "ปีก่อน"), -1),
    **dict.fromkeys(("今年", "올해", "ปีนี้"), 0),
    **dict.fromkeys(("明年", "来年", "來年", "내년", "ปีหน้า"), 1),
}
_OTHERS = {
    "month": {
        **dict.fromkeys(("上上个月", "先々月", "지지난달"), -2),
        **dict.fromkeys(
            (
                "上个月",
                "上個月",
                "上月",
                "先月",
                "지난달",
                "지난 달",
                "저번 달",
                "เดือนที่แล้ว",
                "เดือนก่อน",
            ),
            -1,
        ),
        **dict.fromkeys(("这个月", "這個月", "本月", "今月", "이번 달", "이번달", "เดือนนี้"), 0),
        **dict.fromkeys(("下个月", "下個月", "下月", "来月", "다음 달", "다음달", "เดือนหน้า"), 1),
    },
    "week": {
        **dict.fromkeys(
            (
                "上个星期",
                "上星期",
                "上周",
                "上週",
                "先週",
                "지난주",
                "지난 주",
                "สัปดาห์ที่แล้ว",
                "อาทิตย์ที่แล้ว",
            ),
            -1,
        ),
        **dict.fromkeys(("这个星期", "这周", "本周", "今週", "이번 주", "이번주", "สัปดาห์นี้"), 0),
        **dict.fromkeys(
            ("下个星期", "下星期", "下周", "下週", "来週", "다음 주", "다음주", "สัปดาห์หน้า"), 1
        ),
    },
    "day": {
        **dict.fromkeys(("大前天",), -3),
        **dict.fromkeys(("前天", "一昨日", "おととい", "그저께", "그제", "เมื่อวานซืน"), -2),
        **dict.fromkeys(("昨天", "昨日", "昨晚", "昨夜", "きのう", "어제", "เมื่อวาน", "เมื่อคืน"), -1),
        **dict.fromkeys(("今天", "今日", "今晚", "今夜", "きょう", "오늘", "วันนี้", "คืนนี้"), 0),
        **dict.fromkeys(("明天", "明日", "あした", "내일", "พรุ่งนี้"), 1),
        **dict.fromkeys(("后天", "後天", "明後日", "あさって", "모레", "มะรืนนี้", "มะรืน"), 2),
    },
}
_DIGITS = {sign: number for number, sign in enumerate("零一二三四五六七八九十")} | {
    "两": 2,
    "兩": 2,
}
_THAI_MONTHS = (
    *("มกราคม", "กุมภาพันธ์", "มีนาคม", "เมษายน", "พฤษภาคม", "มิถุนายน"),
    *("กรกฎาคม", "สิงหาคม", "กันยายน", "ตุลาคม", "พฤศจิกายน", "ธันวาคม"),
)
# The Thai count years from the Buddha's.
_BUDDHIST = 543


@dataclass(frozen=True)
class Said:
    """A `month` of a `year`, or so many units from now: one of month, year and unit is given.
    `year_step`: the year is said by its distance. 0 and "" where there is none."""

    start: int
    end: int
    name: str = ""
    year: int = 0
    month: int = 0
    day: int = 0
    year_step: int | None = None
    count: int = 0
    unit: str = ""


def _any_of(words: Mapping[str, object]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_COUNT = r"\d{1,3}|[一二三四五六七八九十两兩]{1,3}"
_STEPS = {name: (unit, step) for unit, names in _OTHERS.items() for name, step in names.items()}
_NUMBERED = re.compile(rf"""
    (?:(?P<year>(?:19|20)\d\d)\s?[年년]\s?(?:の|的)?|(?P<said>{_any_of(_YEARS)})(?:の|的|\s)?)?
    (?P<name>(?P<month>(?<![\d一二三四五六七八九])(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]))\s?[月월])
    (?:\s?(?P<day>[0-3]?\d|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s?[日号號일])?
""", re.VERBOSE)  # fmt: skip
_THAI = re.compile(
    rf"(?:(?P<day>[0-3]?\d)\s?)?(?P<name>{'|'.join(_THAI_MONTHS)})"
    rf"(?:\s?(?:พ\.ศ\.|ค\.ศ\.|ปี)?\s?(?P<year>(?:19|20|25)\d\d)|\s?(?P<said>{_any_of(_YEARS)}))?"
)
_YEAR = re.compile(r"(?P<year>(?:19|20)\d\d)\s?[年년](?!\s?[代度])")
_FROM_NOW = re.compile(rf"(?P<word>{_any_of({**_STEPS, **_YEARS})})")
_AGO = re.compile(rf"""
    (?P<count>{_COUNT})\s?(?:
        (?P<day>[天日일]|วัน) | (?P<week>个?星期|[周週]間?|周|주일?|สัปดาห์|อาทิตย์)
        | (?P<month>[个個ヶかカケ]月|개월|달|เดือน) | (?P<year>[年년]|ปี)
    )間?\s?(?:[之以]?前|전|ก่อน|ที่แล้ว)
""", re.VERBOSE)  # fmt: skip


def said(text: str) -> Iterator[Said]:
    """In no order; what is read is read once."""
    for pattern, meaning in (
        (_NUMBERED, _numbered),
        (_THAI, _thai),
        (_AGO, _ago),
        (_YEAR, _year),
        (_FROM_NOW, _from_now),
    ):
        for found in pattern.finditer(text):
            yield meaning(found)
        text = pattern.sub(lambda found: " " * len(found[0]), text)


def _numbered(found: re.Match[str]) -> Said:
    return Said(
        *found.span(),
        name=found["name"],
        year=int(found["year"] or 0),
        month=_number(found["month"]),
        day=_number(found["day"] or "0"),
        year_step=_YEARS.get(found["said"]),
    )


def _thai(found: re.Match[str]) -> Said:
    year = int(found["year"] or 0)
    return Said(
        *found.span(),
        name=found["name"],
        year=year - _BUDDHIST if year >= 2500 else year,
        month=_THAI_MONTHS.index(found["name"]) + 1,
        day=int(found["day"] or 0),
        year_step=_YEARS.get(found["said"]),
    )


def _year(found: re.Match[str]) -> Said:
    return Said(*found.span(), year=int(found["year"]))


def _from_now(found: re.Match[str]) -> Said:
    if found[0] in _YEARS:
        return Said(*found.span(), count=_YEARS[found[0]], unit="year")
    unit, count = _STEPS[found[0]]
    return Said(*found.span(), count=count, unit=unit)


def _ago(found: re.Match[str]) -> Said:
    unit = next(name for name in ("day", "week", "month", "year") if found[name])
    return Said(*found.span(), count=-_number(found["count"]), unit=unit)


def _number(text: str) -> int:
    """12, 十二 or 二十一."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.partition("十")
    if not ten:
        return _DIGITS[text[:1]]
    return 10 * (_DIGITS[tens[-1]] if tens else 1) + (_DIGITS[ones[:1]] if ones else 0)
