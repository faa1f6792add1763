from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from memory.recall.dates import periods

# A Monday.
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=ZoneInfo("Europe/Helsinki"))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("what did I do on 2023-05-08?", "2023-05-08", "2023-05-09"),
        ("bills of 2023-05", "2023-05-01", "2023-06-01"),
        ("on 8 May 2023", "2023-05-08", "2023-05-09"),
        ("on the 8th of May, 2023", "2023-05-08", "2023-05-09"),
        ("May 8, 2023 was fun", "2023-05-08", "2023-05-09"),
        ("since February 1st", "2026-02-01", "2026-02-02"),
        ("the trip on 24 December", "2025-12-24", "2025-12-25"),
        ("who visited in May 2023", "2023-05-01", "2023-06-01"),
        ("who visited in May", "2025-05-01", "2025-06-01"),
        ("last January", "2026-01-01", "2026-02-01"),
        ("during Dec. 2024", "2024-12-01", "2025-01-01"),
        ("in 2019 we moved", "2019-01-01", "2020-01-01"),
        ("what did I eat yesterday", "2026-03-01", "2026-03-02"),
        ("today", "2026-03-02", "2026-03-03"),
        ("tomorrow?", "2026-03-03", "2026-03-04"),
        ("last week", "2026-02-23", "2026-03-02"),
        ("last weekend", "2026-02-28", "2026-03-02"),
        ("next week", "2026-03-09", "2026-03-16"),
        ("last month", "2026-02-01", "2026-03-01"),
        ("next month", "2026-04-01", "2026-05-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("3 days ago", "2026-02-27", "2026-02-28"),
        ("two weeks ago", "2026-02-16", "2026-02-23"),
        ("a month ago", "2026-02-01", "2026-03-01"),
        ("14 months ago", "2025-01-01", "2025-02-01"),
        ("10 years ago", "2016-01-01", "2017-01-01"),
        ("on Friday", "2026-02-27", "2026-02-28"),
        ("last Monday", "2026-02-23", "2026-02-24"),
    ],
)
def test_it_finds_the_period_on_the_owners_clock(text: str, start: str, end: str) -> None:
    (period,) = periods(text, NOW)
    assert (period.start.date().isoformat(), period.end.date().isoformat()) == (start, end)
    assert period.start.tzinfo == NOW.tzinfo
    assert period.words in text


@pytest.mark.parametrize(
    "text",
    [
        "may I come in?",
        "march on",
        "what's my sister's name",
        "call 2023 times",
        "version 2023-13-45",
        "31 February 2023",
        "9999 years ago",
        "0000-00-00",
        "ask May about it",
        "the 1950s",
    ],
)
def test_other_words_and_impossible_dates_are_none(text: str) -> None:
    assert periods(text, NOW) == []


def test_several_come_in_the_order_of_the_text() -> None:
    found = periods("yesterday or in May 2023 or last week", NOW)
    assert [period.words for period in found] == ["yesterday", "May 2023", "last week"]


def test_a_hostile_text_is_read_quickly() -> None:
    assert periods("in " * 3000 + "1 " * 3000 + "last " * 3000, NOW) == []
