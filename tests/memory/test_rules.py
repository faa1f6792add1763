"""The built-in observer: what it says about an owner, and above all what it leaves alone."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory.extraction.rules import observe
from memory.extraction.rules.dates import resolve_dates
from memory.extraction.schema import Candidate
from memory.policy import Passed, WindowMessage, screen
from memory.vocabulary import EntityType, Kind, Precision, Tag
from tests.memory.policy_cases import context

MONDAY = datetime(2023, 5, 8, 14, 30, tzinfo=UTC)


def said(content: str, handle: int = 1, **changes: Any) -> WindowMessage:
    values: dict[str, Any] = {"role": "user", "from_owner": True, "sent_at": MONDAY} | changes
    return WindowMessage(handle=handle, content=content, **values)


def statements(content: str, **changes: Any) -> list[str]:
    return [candidate.statement for candidate in observe([said(content, **changes)])]


def only(content: str, **changes: Any) -> Candidate:
    [candidate] = observe([said(content, **changes)])
    return candidate


@pytest.mark.parametrize(
    ("sentence", "statement"),
    [
        ("My name is Ana Silva.", "The user's name is Ana Silva."),
        ("my name is mia.", "The user's name is mia."),
        ("I live in Berlin.", "The user lives in Berlin."),
        ("i live in Berlin with my wife", "The user lives in Berlin with their wife."),
        ("I'm from New Zealand.", "The user is from New Zealand."),
        ("I was born in Oslo.", "The user was born in Oslo."),
        ("I grew up on a farm.", "The user grew up on a farm."),
        ("I live with my parents.", "The user lives with their parents."),
        ("I'm 34 years old.", "The user is 34 years old."),
        ("I work at Google as an engineer.", "The user works at Google as an engineer."),
        ("I work as a nurse in a hospital.", "The user works as a nurse in a hospital."),
        ("I'm a software engineer.", "The user is a software engineer."),
        ("I am a stay-at-home mom.", "The user is a stay-at-home mom."),
        ("I run my own bakery.", "The user runs their own bakery."),
        ("I study computer science.", "The user studies computer science."),
        ("I have 10 years of experience in Java.", "The user has 10 years of experience in Java."),
        ("I got promoted at work!", "The user got promoted at work."),
        ("I have a dog named Rex.", "The user has a dog named Rex."),
        ("I have two kids.", "The user has two kids."),
        ("My sister is a doctor.", "The user's sister is a doctor."),
        ("My dog's name is Max.", "The user's dog's name is Max."),
        ("My wife loves sushi.", "The user's wife loves sushi."),
        ("I'm married.", "The user is married."),
        ("I have asthma.", "The user has asthma."),
        ("I'm allergic to peanuts.", "The user is allergic to peanuts."),
        ("I'm vegan.", "The user is vegan."),
        ("I don't eat meat.", "The user does not eat meat."),
        ("I no longer work at Acme.", "The user no longer works at Acme."),
        ("I really love hiking!", "The user loves hiking."),
        ("I prefer tea over coffee.", "The user prefers tea over coffee."),
        ("I hate cilantro.", "The user hates cilantro."),
        ("I'm a big fan of jazz.", "The user is a big fan of jazz."),
        ("My favourite colour is green.", "The user's favourite colour is green."),
        ("Science is my favorite subject.", "Science is the user's favorite subject."),
        ("I like games that test my patience.", "The user likes games that test their patience."),
        ("I own a red Tesla.", "The user owns a red Tesla."),
        ("I speak fluent French.", "The user speaks fluent French."),
        ("I play the guitar and sing.", "The user plays the guitar and sings."),
        ("I teach yoga.", "The user teaches yoga."),
        ("I do yoga.", "The user does yoga."),
        ("I'm learning German.", "The user is learning German."),
        ("I've been playing the cello.", "The user has been playing the cello."),
        ("I'm working on a Django app.", "The user is working on a Django app."),
        ("I want to become a pilot.", "The user wants to become a pilot."),
        ("I'm planning a trip to Japan.", "The user is planning a trip to Japan."),
        ("I used to play chess.", "The user used to play chess."),
        ("I use Linux.", "The user uses Linux."),
        ("Just adopted a cat yesterday!", "The user adopted a cat on 7 May 2023."),
        ("Hey Bob, I have a cat.", "The user has a cat."),
        ("Well, actually I’m vegan, so no thanks", "The user is vegan."),
        ("I have a cat, and she is lovely.", "The user has a cat."),
        ("I love cats - they're so soft.", "The user loves cats."),
        ("I express myself, I mean I paint.", ""),
        ("I love music by myself.", "The user loves music by themselves."),
    ],
)
def test_a_plain_sentence_becomes_a_statement(sentence: str, statement: str) -> None:
    assert statements(sentence) == ([statement] if statement else [])


@pytest.mark.parametrize(
    "content",
    [
        # questions and requests
        "Do I live in Berlin?",
        "I live in Berlin, right?",
        "Can you help me with Python?",
        "I want to know how to cook rice.",
        "I would like to know more.",
        "I need you to write a poem.",
        "I want you to act as a travel guide. I am in Istanbul.",
        # suppositions
        "If I lived in Berlin, I would be happy.",
        "I would move to Berlin if I had money.",
        "Imagine I am a doctor.",
        "Suppose I have two dogs.",
        "I might get a dog named Rex.",
        "Maybe I have a cat.",
        "I wish I had a dog named Rex.",
        "I think I am a doctor.",
        "I eat meat only if it is free.",
        "I work from home unless it rains.",
        "I'd love to live in Berlin.",
        "I feel as if I were a doctor.",
        # role play and fiction
        "Pretend you are a pirate. I have a parrot named Polly.",
        "Write a story about this. I have a dog named Rex.",
        "You are a helpful guide. I live in Berlin.",
        "Let's role-play. I am a doctor.",
        # politeness, emotions, chatter
        "I'm sorry.",
        "I am confused.",
        "I love it!",
        "I love you.",
        "I like that idea.",
        "I'm so excited!",
        "I can't wait to see you.",
        "I have a question.",
        "I have a bad feeling.",
        "I'm a bit tired.",
        "I'm going to bed.",
        "Thanks, I love your work.",
        "I live in fear.",
        # sarcasm and jokes
        "I love waiting in line, yeah right.",
        "I live in Narnia lol",
        "I love mondays /s",
        # other speakers, other people
        "He said I live in Berlin.",
        "She lives in Berlin.",
        "Bob has a dog named Rex.",
        'She wrote: "I live in Berlin with my two dogs and a cat".',
        "According to him I am a doctor.",
        "We live in Berlin.",
        "You live in Berlin.",
        # negated or cut by a condition
        "I am not a doctor.",
        "I don't have to work at Google.",
        "I never lived in Berlin.",
        "I love people who agree with me.",
        "I like it when the sun shines.",
        # nothing to hold on to
        "I bought it yesterday.",
        "I made this on Friday.",
        "I went there last week.",
        "I told them about my plans.",
        "My favorite is the second one.",
        "My goal is to contribute towards",
        "I'm working on a new project.",
        # pasted, quoted, code
        "> I live in Berlin.",
        "```\nI live in Berlin.\n```",
        "Translate to German: I live in Berlin.",
        "Here's the email:\nI live in Berlin.",
        "<document>I live in Berlin.</document>",
        "I have a variable_name = 5;",
        # other languages
        "Ich wohne in Berlin.",
        "J'ai un chien qui s'appelle Rex.",
        "我住在北京。",
        "أعيش في القاهرة.",
        "אני גר בתל אביב.",
        "ฉันอยู่กรุงเทพ",
        "",
        "   ",
        "I",
        "I LIVE IN BERLIN AND YOU WILL NOT STOP ME",
    ],
)
def test_everything_else_is_left_alone(content: str) -> None:
    assert statements(content) == []


@pytest.mark.parametrize(
    ("sentence", "statement", "start", "precision"),
    [
        ("I went to Oslo yesterday.", "on 7 May 2023", date(2023, 5, 7), "day"),
        ("I went to Oslo last Friday.", "on 5 May 2023", date(2023, 5, 5), "day"),
        ("Last Friday, I went to Oslo.", "on 5 May 2023", date(2023, 5, 5), "day"),
        ("I went to Oslo on Monday.", "on 1 May 2023", date(2023, 5, 1), "day"),
        ("I went to Oslo two days ago.", "on 6 May 2023", date(2023, 5, 6), "day"),
        ("I went to Oslo last week.", "in the week of 1 May 2023", date(2023, 5, 1), "day"),
        ("I went to Oslo last month.", "in April 2023", date(2023, 4, 1), "month"),
        ("I went to Oslo in June.", "in June 2022", date(2022, 6, 1), "month"),
        ("I went to Oslo last summer.", "in the summer of 2022", date(2022, 6, 1), "month"),
        ("I went to Oslo last year.", "in 2022", date(2022, 1, 1), "year"),
        ("I went to Oslo on May 3rd.", "on 3 May 2023", date(2023, 5, 3), "day"),
        ("I went to Oslo on 3 May 2021.", "on 3 May 2021", date(2021, 5, 3), "day"),
        ("I moved to Oslo in 2019.", "in 2019", date(2019, 1, 1), "year"),
        ("I recently went to Oslo.", "shortly before 8 May 2023", None, "day"),
        ("I went to Oslo a few weeks ago.", "a few weeks before 8 May 2023", None, "day"),
        ("I'm flying to Oslo tomorrow.", "on 9 May 2023", date(2023, 5, 9), "day"),
        ("I'm going to Oslo next Friday.", "on 19 May 2023", date(2023, 5, 19), "day"),
        ("I'm going to Oslo on Friday.", "on 12 May 2023", date(2023, 5, 12), "day"),
        ("I'm going to Oslo next month.", "in June 2023", date(2023, 6, 1), "month"),
        ("I will visit Oslo in two weeks.", "around 22 May 2023", date(2023, 5, 22), "day"),
        ("I signed up for a course next month.", "in June 2023", None, "day"),
        ("I was born on 3 May 1990.", "on 3 May 1990", date(1990, 5, 3), "day"),
    ],
)
def test_dates_are_resolved_against_the_day_it_was_said(
    sentence: str, statement: str, start: date | None, precision: str
) -> None:
    candidate = only(sentence)
    assert candidate.statement.endswith(f"{statement}.")
    assert candidate.validity.start == start
    assert candidate.validity.precision == Precision(precision)


def test_the_day_is_the_one_on_the_speakers_clock() -> None:
    late = datetime(2023, 5, 8, 23, 30, tzinfo=UTC)
    tokyo = late.astimezone(ZoneInfo("Asia/Tokyo"))
    assert statements("I went to Oslo yesterday.", sent_at=late)[0].endswith("on 7 May 2023.")
    assert statements("I went to Oslo yesterday.", sent_at=tokyo)[0].endswith("on 8 May 2023.")
    [in_zone] = observe(
        [said("I went to Oslo yesterday.", sent_at=late)], zone=ZoneInfo("Asia/Tokyo")
    )
    assert in_zone.statement.endswith("on 8 May 2023.")


@pytest.mark.parametrize(
    ("day", "phrase", "expected"),
    [
        (date(2024, 3, 1), "yesterday", "on 29 February 2024"),
        (date(2024, 1, 1), "yesterday", "on 31 December 2023"),
        (date(2024, 1, 15), "last month", "in December 2023"),
        (date(2024, 1, 2), "last weekend", "on the weekend of 30 December 2023"),
        (date(2023, 5, 7), "this weekend", "on the weekend of 6 May 2023"),
        (date(2023, 5, 8), "last Monday", "on 1 May 2023"),
        (date(2024, 2, 15), "on the 31st", "on 31 January 2024"),
        (date(2024, 3, 15), "on the 31st", None),
        (date(2024, 5, 15), "on 31 April", None),
        (date(2024, 5, 15), "in two weeks", "in two weeks"),
        (date(2024, 5, 15), "in my last year of school", "in my last year of school"),
    ],
)
def test_calendar_corners(day: date, phrase: str, expected: str | None) -> None:
    dated = resolve_dates(f"I swam {phrase}", day, future=False)
    assert (dated.text if dated else None) == (expected and f"I swam {expected}")


def test_a_phrase_is_read_once() -> None:
    dated = resolve_dates(
        "I was there on May 3rd, 1990 and in June 2020", MONDAY.date(), future=False
    )
    assert dated is not None
    assert dated.text == "I was there on 3 May 1990 and in June 2020"
    assert dated.bare == "I was there and"


def test_only_the_owner_is_listened_to() -> None:
    content = "I have a dog named Rex."
    assert statements(content)
    assert not statements(content, role="assistant", from_owner=False)
    assert not statements(content, from_owner=False)
    assert not statements(content, role="tool", from_owner=False)
    assert not statements(content, kind="outcome")
    assert not statements(content, kind="summary")


def test_several_sentences_give_several_candidates_and_repeats_give_one() -> None:
    found = observe(
        [
            said("Hi! I'm vegan. I live in Berlin. What should I cook?", 1),
            said("As I said: hello.\n\nI live in Berlin!\nI have a cat named Mo.", 4),
        ]
    )
    assert [(c.statement, c.sources[0].message, c.sources[0].quote) for c in found] == [
        ("The user is vegan.", 1, "I'm vegan."),
        ("The user lives in Berlin.", 1, "I live in Berlin."),
        ("The user has a cat named Mo.", 4, "I have a cat named Mo."),
    ]


@pytest.mark.parametrize(
    ("sentence", "kind", "tag", "entities"),
    [
        ("I live in New York.", Kind.SEMANTIC, Tag.LOCATION, [(EntityType.PLACE, "New York")]),
        ("I have a dog named Rex.", Kind.SEMANTIC, Tag.RELATIONSHIP, [(EntityType.PERSON, "Rex")]),
        (
            "I have two cats named Tom and Jerry.",
            Kind.SEMANTIC,
            Tag.RELATIONSHIP,
            [(EntityType.PERSON, "Tom"), (EntityType.PERSON, "Jerry")],
        ),
        ("I work at Acme.", Kind.SEMANTIC, Tag.FACT, [(EntityType.SERVICE, "Acme")]),
        ("I love hiking.", Kind.SEMANTIC, Tag.PREFERENCE, []),
        ("I'm allergic to nuts.", Kind.SEMANTIC, Tag.CONSTRAINT, []),
        ("I'm writing a novel.", Kind.SEMANTIC, Tag.PROJECT, []),
        ("I'm flying to Oslo tomorrow.", Kind.SEMANTIC, Tag.SCHEDULE, []),
        ("I went to Oslo yesterday.", Kind.EPISODIC, Tag.FACT, []),
    ],
)
def test_kinds_tags_and_entities(
    sentence: str, kind: Kind, tag: Tag, entities: list[tuple[EntityType, str]]
) -> None:
    candidate = only(sentence)
    assert candidate.kind == kind
    assert tag in candidate.tags
    assert [(entity.type, entity.name) for entity in candidate.entities] == entities
    assert candidate.language == "en"
    assert 0 < candidate.confidence < 1


def test_what_it_finds_passes_the_gates() -> None:
    message = said("Hey! I’m   vegan. Last week, I moved to Oslo. I have a cat.")
    found = observe([message])
    assert len(found) == 3
    assert all(isinstance(screen(candidate, context(message)), Passed) for candidate in found)


@pytest.mark.parametrize(
    "seed", ["I have a ", "a ", "I like ", "my dog ", "A ", "and I ", "in May ", "I ", "x", "Hey, "]
)
def test_no_text_makes_it_slow(seed: str) -> None:
    started = time.process_time()
    observe([said("I have a " + (seed * 300)[:280]), said("I am a " + (seed * 4000)[:3900])])
    observe([said((seed * 100_000)[:100_000])])
    assert time.process_time() - started < 5


def turns(sample_data: Path) -> Iterator[WindowMessage]:
    talk = json.loads((sample_data / "locomo" / "locomo10.json").read_text())[0]["conversation"]
    for number in range(1, 6):
        when = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in talk[f"session_{number}"]:
            if turn["speaker"] == talk["speaker_a"]:
                yield said(turn["text"], sent_at=when.replace(tzinfo=timezone(timedelta(0))))


def test_it_finds_dated_events_in_a_real_conversation(sample_data: Path) -> None:
    found = {candidate.statement: candidate for candidate in observe(list(turns(sample_data)))}
    group = found["The user went to a LGBTQ support group on 7 May 2023."]
    assert group.validity.start == date(2023, 5, 7)
    assert len(found) >= 5
