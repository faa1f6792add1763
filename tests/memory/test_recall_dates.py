from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from memory.recall.dates import date_words, periods

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
        ("last March", "2025-03-01", "2025-04-01"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("the day before yesterday", "2026-02-28", "2026-03-01"),
        ("the day after tomorrow", "2026-03-04", "2026-03-05"),
        ("what did I eat this morning", "2026-03-02", "2026-03-03"),
        ("on 29 February", "2024-02-29", "2024-03-01"),
        ("in May last year", "2025-05-01", "2025-06-01"),
        ("in January of this year", "2026-01-01", "2026-02-01"),
        ("half a year ago", "2025-09-01", "2025-10-01"),
        ("two and a half years ago", "2023-09-01", "2023-10-01"),
        ("eleven weeks ago", "2025-12-15", "2025-12-22"),
        ("a couple of weeks ago", "2026-02-16", "2026-02-23"),
        ("a few days ago", "2026-02-24", "2026-03-01"),
        ("in two weeks", "2026-03-16", "2026-03-23"),
        ("on 5.3.2025", "2025-03-05", "2025-03-06"),
        ("on 2025/3/5", "2025-03-05", "2025-03-06"),
        ("before March 2026", "1900-01-01", "2026-03-01"),
        ("until last May", "1900-01-01", "2025-06-01"),
        ("before 2020", "1900-01-01", "2020-01-01"),
        ("the week before August 3, 2023", "2023-07-27", "2023-08-03"),
        ("two weeks before August 11, 2023", "2023-07-28", "2023-08-04"),
        ("2 days after 11 August 2023", "2023-08-13", "2023-08-14"),
        ("the day before 1 March 2023", "2023-02-28", "2023-03-01"),
        ("on the Monday before July 24, 2023", "2023-07-17", "2023-07-18"),
        ("over the weekend before 4th October, 2023", "2023-09-30", "2023-10-02"),
        ("the Friday after July 24, 2023", "2023-07-28", "2023-07-29"),
        ("the last two weeks of August 2023", "2023-08-01", "2023-09-01"),
        ("between March 2025 and May 2025", "2025-03-01", "2025-06-01"),
        ("from 2019 to 2021", "2019-01-01", "2022-01-01"),
        ("from last May until yesterday", "2025-05-01", "2026-03-02"),
    ],
)
def test_it_finds_the_period_on_the_owners_clock(text: str, start: str, end: str) -> None:
    (period,) = periods(text, NOW)
    assert (period.start.date().isoformat(), period.end.date().isoformat()) == (start, end)
    assert period.start.tzinfo == NOW.tzinfo
    assert period.words in text


@pytest.mark.parametrize(
    ("language", "text", "start"),
    [
        ("en", "since February 1st", "2026-02-01"),
        ("en", "since last May", "2025-05-01"),
        ("en", "since 2024", "2024-01-01"),
        ("en", "after 2024", "2025-01-01"),
        ("en", "the last 3 months", "2025-12-02"),
        ("en", "in the past two weeks", "2026-02-16"),
        ("de", "seit Mai 2025", "2025-05-01"),
        ("fr", "depuis 2024", "2024-01-01"),
    ],
)
def test_it_reaches_up_to_now(language: str, text: str, start: str) -> None:
    (period,) = periods(text, NOW, language)
    assert (period.start.date().isoformat(), period.end) == (start, NOW)
    assert period.words in text


def test_what_is_since_a_time_to_come_is_of_that_time() -> None:
    (period,) = periods("since tomorrow", NOW)
    assert period.start.date().isoformat() == "2026-03-03"


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
        "how much do I earn in a year",
        "version 5.30.2025",
    ],
)
def test_other_words_and_impossible_dates_are_none(text: str) -> None:
    assert periods(text, NOW) == []


def test_several_come_in_the_order_of_the_text() -> None:
    found = periods("yesterday or in May 2023 or last week", NOW)
    assert [period.words for period in found] == ["yesterday", "May 2023", "last week"]


def test_a_hostile_text_is_read_quickly() -> None:
    assert periods("in " * 3000 + "1 " * 3000 + "last " * 3000, NOW) == []


@pytest.mark.parametrize(
    ("language", "text", "start", "end"),
    [
        ("de", "Was war im Mai 2023?", "2023-05-01", "2023-06-01"),
        ("de", "Wo war ich am 15. März 2024?", "2024-03-15", "2024-03-16"),
        ("de", "Was habe ich gestern gekauft?", "2026-03-01", "2026-03-02"),
        ("de", "Und vor zwei Wochen?", "2026-02-16", "2026-02-23"),
        ("fr", "Où étais-je en août 2024 ?", "2024-08-01", "2024-09-01"),
        ("fr", "Qu'ai-je fait la semaine dernière ?", "2026-02-23", "2026-03-02"),
        ("es", "¿Qué pasó el 15 de mayo de 2023?", "2023-05-15", "2023-05-16"),
        ("es", "¿Dónde viví el año pasado?", "2025-01-01", "2026-01-01"),
        ("it", "Dove ero a settembre?", "2025-09-01", "2025-10-01"),
        ("it", "Cosa ho comprato 2 settimane fa?", "2026-02-16", "2026-02-23"),
        ("pt", "Onde estive em março de 2025?", "2025-03-01", "2025-04-01"),
        ("pt", "O que fiz na semana passada?", "2026-02-23", "2026-03-02"),
        ("nl", "Wat gebeurde er in mei 2023?", "2023-05-01", "2023-06-01"),
        ("nl", "Waar was ik 3 maanden geleden?", "2025-12-01", "2026-01-01"),
        ("fi", "Missä olin toukokuussa 2023?", "2023-05-01", "2023-06-01"),
        ("fi", "Mitä tein viime kuussa?", "2026-02-01", "2026-03-01"),
        ("sv", "Var var jag i maj?", "2025-05-01", "2025-06-01"),
        ("sv", "Vad hände förra veckan?", "2026-02-23", "2026-03-02"),
        ("pl", "Gdzie byłem w maju 2023?", "2023-05-01", "2023-06-01"),
        ("pl", "Co robiłem w zeszłym roku?", "2025-01-01", "2026-01-01"),
        ("cs", "Kde jsem byl v září 2024?", "2024-09-01", "2024-10-01"),
        ("ru", "Где я был 3 марта 2025?", "2025-03-03", "2025-03-04"),
        ("fr", "Où habitais-je en 2019 ?", "2019-01-01", "2020-01-01"),
        ("und", "Mai 2023?", "2023-05-01", "2023-06-01"),
        ("ru", "Где я был в мае 2025?", "2025-05-01", "2025-06-01"),
        ("uk", "Де я був у травні 2025?", "2025-05-01", "2025-06-01"),
        ("fi", "Mitä toissapäivänä tapahtui?", "2026-02-28", "2026-03-01"),
        ("fi", "Mitä tapahtui 5.3.2025?", "2025-03-05", "2025-03-06"),
        ("fi", "toukokuun 2025 lasku", "2025-05-01", "2025-06-01"),
        ("de", "Was war vor Mai 2023?", "1900-01-01", "2023-05-01"),
        ("tr", "Mayıs'ta neredeydim?", "2025-05-01", "2025-06-01"),
        ("ar", "أين كنت العام الماضي؟", "2025-01-01", "2026-01-01"),
        ("zh", "我去年做了什么？", "2025-01-01", "2026-01-01"),
        ("zh", "我昨天吃了什么？", "2026-03-01", "2026-03-02"),
        ("zh", "上个月我去了哪里？", "2026-02-01", "2026-03-01"),
        ("zh", "2025年5月15日我在哪里", "2025-05-15", "2025-05-16"),
        ("zh", "五月我去了哪里", "2025-05-01", "2025-06-01"),
        ("zh", "十二月二十五日", "2025-12-25", "2025-12-26"),
        ("zh", "三个月前", "2025-12-01", "2026-01-01"),
        ("zh", "我2024年在哪里", "2024-01-01", "2025-01-01"),
        ("ja", "先週どこに行きましたか", "2026-02-23", "2026-03-02"),
        ("ja", "去年の五月", "2025-05-01", "2025-06-01"),
        ("ja", "2週間前", "2026-02-16", "2026-02-23"),
        ("ko", "지난달에 어디 갔어?", "2026-02-01", "2026-03-01"),
        ("ko", "2025년 5월에 어디 있었지?", "2025-05-01", "2025-06-01"),
        ("ko", "작년 12월에", "2025-12-01", "2026-01-01"),
        ("ko", "10일 전", "2026-02-20", "2026-02-21"),
        ("th", "เมื่อวานฉันทำอะไร", "2026-03-01", "2026-03-02"),
        ("th", "วันที่ 5 พฤษภาคม 2566", "2023-05-05", "2023-05-06"),
    ],
)
def test_it_finds_periods_in_other_languages(
    language: str, text: str, start: str, end: str
) -> None:
    (period,) = periods(text, NOW, language)
    assert (period.start.date().isoformat(), period.end.date().isoformat()) == (start, end)
    assert period.words in text


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("es", "El mar está tranquilo, vivo 3 m más abajo"),
        ("fi", "Kesä on kaunis ja elo ihanaa"),
        ("sv", "God jul!"),
        ("de", "Der 31. Februar 2023 nie, und vor 99999 Jahren auch nicht"),
        ("pl", "Kupiłem mleko"),
        ("en", "Mars is a planet, maj a girl"),
        ("zh", "我有三个月饼和90年代的书"),
        ("zh", "二月三十一日"),
        ("ko", "2개월짜리 아기"),
    ],
)
def test_other_words_of_other_languages_are_none(language: str, text: str) -> None:
    assert [found.words for found in periods(text, NOW, language)] in ([], ["2023"])


def test_the_words_of_a_date_have_its_terms_in_other_languages() -> None:
    assert date_words("el 15 de mayo de 2023", "es") == {
        "mayo": "@m05",
        "15": "@d15",
        "2023": "@y2023",
    }
    assert date_words("toukokuussa", "fi") == {"toukokuussa": "@m05"}
    assert date_words("mars", "en") == {}
    assert date_words("2025年5月15日", "zh") == {"2025": "@y2025", "5月": "@m05", "15": "@d15"}
    assert date_words("5.3.2025", "fi") == {"5.3": "@m03", "5.3.2025": "@d05", "2025": "@y2025"}


def test_a_hostile_text_of_other_scripts_is_read_quickly() -> None:
    text = "十" * 500 + "年" * 500 + "5 " * 300 + "ปี" * 300 + "前" * 200
    assert len(periods(text, NOW, "zh")) < 300
    assert len(periods("before " * 300 + "2024 and " * 100, NOW)) <= 100
