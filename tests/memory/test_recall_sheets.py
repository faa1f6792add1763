"""Arrays of what facts have say the same as their sheets, one by one."""

import random
import struct
from uuid import UUID

from memory.recall.lexical import Asked, saturation
from memory.recall.sheets import Every, Sheet, Sheets

AVERAGE = 9.5
# An id that ends in zeros, which a text of bytes would lose.
ROUND = UUID(int=7 << 64)


def packed(fact_id: UUID, times: float, stated: bool, length: int = 10, words: int = 5) -> bytes:
    return fact_id.bytes + struct.pack(">dii?", times, length, words, stated)


def score(asked: Asked, sheet: Sheet) -> float:
    """The formula, one word after the other."""
    met = (
        asked.rarities[word] * saturation(count, sheet.length, AVERAGE)
        for word, count in sheet.times.items()
    )
    return sum(met) / asked.whole


def test_the_lexeme_that_a_fact_has_most_counts() -> None:
    other = UUID(int=3)
    rows = [
        (0, packed(ROUND, 0.5, False) + packed(other, 1, True)),
        (0, packed(ROUND, 2, False)),
        (1, packed(ROUND, 1, True)),
    ]
    found = Sheets.unpacked(rows, words=3)
    assert found.all() == {
        other: Sheet(10, 5, {0: 1.0}, {0}),
        ROUND: Sheet(10, 5, {0: 2.0, 1: 1.0}, {1}),
    }
    assert found.counts() == [2, 1, 0]
    # In another order, with one that has none of the words.
    facts = {
        UUID(int=4): Every(1.0, 8.0, 4),
        ROUND: Every(2.0, 10.0, 5),
        other: Every(0.0, 10.0, 5),
    }
    assert [found.of_facts(facts).sheet(place) for place in range(3)] == [
        Sheet(8, 4, dates=1.0),
        Sheet(10, 5, {0: 2.0, 1: 1.0}, {1}, 2.0),
        Sheet(10, 5, {0: 1.0}, {0}),
    ]


def test_no_fact_has_any_word() -> None:
    found = Sheets.unpacked([], words=2)
    assert (found.all(), found.counts()) == ({}, [0, 0])
    places, scores = found.best([Asked({0: 1.0, 1: 2.0})], AVERAGE, 5)
    assert (found.ids_of(places), scores) == ([], [])
    assert found.of_facts({ROUND: Every(0.0, 3.0, 2)}).sheet(0) == Sheet(3, 2)
    assert len(found.of_facts({})) == 0


def test_the_best_are_those_that_each_sheet_by_itself_scores_best() -> None:
    pick = random.Random(1)
    asked = Asked({number: pick.uniform(0.1, 8) for number in range(6)})
    sheets = {
        UUID(int=pick.getrandbits(128)): Sheet(
            pick.randint(3, 40), 3, {n: pick.choice((0.5, 1.0, 2.0)) for n in pick.sample(words, 3)}
        )
        for words in [range(6)] * 300
    }
    # Two that are equal but for their ids.
    twin = Sheet(10, 3, dict.fromkeys(range(6), 3.0))
    sheets |= {UUID(int=2): twin, UUID(int=1): twin}
    scores = {key: score(asked, one) for key, one in sheets.items()}
    wanted = sorted(scores, key=lambda key: (-scores[key], key.int))[:50]
    table = Sheets.of(sheets, words=6)
    places, best = table.best([asked], AVERAGE, 50)
    # Words are added up in their order, whatever order a sheet has them in: equal but for rounding.
    assert [round(score, 9) for score in best] == [round(scores[key], 9) for key in wanted]
    assert table.ids_of(places[:2]) == [UUID(int=1), UUID(int=2)]
    assert table.all() == sheets
