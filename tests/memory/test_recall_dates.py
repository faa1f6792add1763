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
