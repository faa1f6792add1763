"""What a passage is worth by its words, and by what was said around it."""

from uuid import UUID

import pytest

from memory.search.index import Entry, Postings
from memory.search.scoring import Record, Terms, _times_in
from memory.search.words import Word

TALK = UUID(int=1)
RECORD = Record(passages=20, length=200, stretches=2)


def stretch(number: int, places: int) -> list[Entry]:
    return [
        Entry(TALK, number, place, UUID(int=100 * number + place), length=10, words=10)
        for place in range(places)
    ]


def near(entries: list[Entry], **said_at: tuple[int, int]) -> dict[tuple[int, int], float]:
    """By stretch and place. `said_at`: for each word, the stretch and the place that has it."""
    words = [Word(text, frozenset({text})) for text in said_at]
    by_stretch = [{(TALK, number): {place: 1.0}} for number, place in said_at.values()]
    by_number = [{number: 1.0} for number, _ in enumerate(words)]
    passages = [UUID(int=number) for number, _ in enumerate(words)]
    known = Postings(words, by_stretch, by_number, passages, [10 for _ in words])
    found = Terms(known, RECORD).near(entries)
    return {(entry.number, entry.place): found[entry.passage] for entry in entries}


def test_a_word_counts_for_its_neighbours_and_more_for_the_answer() -> None:
    found = near(stretch(1, 9), hotel=(1, 4))
    assert found[1, 4] > found[1, 5] > found[1, 3] > found[1, 6] > 0
    assert found[1, 1] == found[1, 7] == 0


def test_a_word_does_not_reach_into_the_next_stretch() -> None:
    found = near([*stretch(1, 3), *stretch(2, 3)], hotel=(1, 2))
    assert found[1, 2] > 0
    assert [found[2, place] for place in range(3)] == [0, 0, 0]


def test_two_words_are_worth_more_than_one() -> None:
    found = near(stretch(1, 9), hotel=(1, 1), lisbon=(1, 1), dog=(1, 7))
    assert found[1, 1] == pytest.approx(2 * found[1, 7])


def test_what_came_while_it_was_reading_does_no_harm() -> None:
    found = near(stretch(1, 3), hotel=(1, 3), dog=(3, 0))
    assert set(found.values()) == {0.0}


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("We met last Friday.", 2),
        ("in May, 7 of us", 2),
        ("Tavataan maanantai ja syyskuussa", 2),
        ("Wir sehen uns am Sonntag", 1),
        ("昨天去了", 1),
        ("Maybe the lasting weekly Monday's", 1),
        ("nothing of the kind", 0),
    ],
)
def test_times_are_counted_in_any_language(text: str, times: int) -> None:
    assert _times_in(text) == times
