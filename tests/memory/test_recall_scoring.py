from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memory.models import Fact
from memory.recall.dates import Period
from memory.recall.lexical import Asked, rarity
from memory.recall.scoring import Measures, Scores, Standings, decay, judge
from memory.recall.sheets import Sheet, Sheets
from memory.recall.terms import Postings, Word
from memory.recall.trace import Candidate, Found, Hit, Leg, LegReport, Outcome, Part, Why
from memory.recall.tuning import Tuning
from memory.vocabulary import Kind

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
A, B, C = (UUID(int=number) for number in (1, 2, 3))
LIMITS = Tuning()
NAMED = [LegReport(Leg.ENTITY, Outcome.OK, Found((Hit(A, 1.0),)))]


def fact(fact_id: UUID = A, **values: object) -> Fact:
    known: dict[str, object] = {
        "kind": Kind.SEMANTIC,
        "confidence": 1.0,
        "last_confirmed_at": NOW,
        "observed_at": NOW,
    }
    return Fact(pk=fact_id, **known | values)


def words(*texts: str, facts: int = 1000, counts: tuple[int, ...] = (), **kind: bool) -> Postings:
    found = [Word(text, (text,), **kind) for text in texts]
    none = Sheets.of({}, len(texts))
    return Postings(found, none, counts or (1,) * len(texts), facts, 10.0, frozenset())


def sheet(*stated: int, quoted: tuple[int, ...] = (), dates: float = 0.0) -> Sheet:
    times = dict.fromkeys(stated, 1.0) | dict.fromkeys(quoted, 0.5)
    return Sheet(10, 5, times, set(stated), dates)


def measured(
    *facts: Fact,
    sheets: Mapping[UUID, Sheet] | None = None,
    postings: Postings | None = None,
    **known: Any,
) -> Measures:
    """Of one fact unless told otherwise."""
    facts = facts or (fact(),)
    table = None
    if postings is not None:
        ids = [one.pk for one in facts]
        table = Sheets.of(sheets or {}, len(postings.words), ids)
    seen = Standings(known.pop("legs", ()))
    return Measures(facts, seen, sheets=table, postings=postings, **known)


def scores(*facts: Fact, **known: Any) -> Scores:
    return Scores(measured(*facts, **known), NOW, LIMITS)


def scored(*facts: Fact, **known: Any) -> Candidate:
    """The first of them."""
    return scores(*facts, **known).candidate(0)


def judged(found: Scores) -> tuple[list[UUID], list[tuple[UUID, Why]]]:
    told, left = judge(found, LIMITS)
    ids = [one.pk for one in found.seen.facts]
    return [ids[place] for place in told], [(ids[place], why) for place, why in left]


def test_every_leg_adds_its_part() -> None:
    spring = Period(NOW - timedelta(days=1), NOW, "yesterday")
    found = scored(
        fact(observed_at=NOW - timedelta(hours=2)),
        legs=NAMED,
        cosines={A: 0.5},
        sheets={A: sheet(0, dates=2)},
        postings=words("tea", "milk"),
        periods=[spring],
        asks_when=True,
    )
    assert set(found.parts) == set(Part)
    assert found.parts[Part.MEANING] == pytest.approx(4.8 * 0.5)
    assert found.parts[Part.WORDS] == pytest.approx(8 * 0.5)  # one of two words of equal weight
    assert found.parts[Part.WHEN] == 2
    assert found.parts[Part.NAME] == 3
    assert found.relevance == pytest.approx(sum(found.parts.values()))


def test_what_a_leg_could_not_tell_adds_nothing() -> None:
    hit = Hit(A, 0.5)
    near = LegReport(Leg.VECTOR, Outcome.OK, Found((hit,)))
    found = scored(legs=[near], cosines={A: hit.score})
    assert set(found.parts) == {Part.MEANING}
    assert scored().parts == {}


def test_a_score_does_not_depend_on_what_else_was_found() -> None:
    asked = words(*"abcdefg")
    alone = scored(cosines={A: 0.4}, sheets={A: sheet(0, 3, 6)}, postings=asked)
    beside = scored(
        *(fact(one) for one in (A, B, C)),
        cosines={A: 0.4, B: 0.9},
        sheets={A: sheet(0, 3, 6), B: sheet(0, 1, dates=2)},
        postings=asked,
    )
    assert alone.score == beside.score


def test_a_quote_counts_half_and_uncovers_nothing() -> None:
    stated = scored(sheets={A: sheet(0)}, postings=words("tea"))
    quoted = scored(sheets={A: sheet(quoted=(0,))}, postings=words("tea"))
    assert 0 < quoted.parts[Part.WORDS] < stated.parts[Part.WORDS]
    assert (stated.cover, quoted.cover) == (1.0, 0.0)


def test_a_word_that_nobody_has_keeps_what_is_there_from_being_relevant() -> None:
    assert rarity(0, 1000) > rarity(1, 1000) > rarity(900, 1000) > 0
    asked = Asked({0: rarity(0, 1000), 1: rarity(900, 1000)})
    assert Sheets.of({A: sheet(1)}, 2).shares(asked)[0] < 0.05


@pytest.mark.parametrize(
    ("cosine", "stated", "opens", "follows"),
    [
        (0.45, (), True, True),
        (0.44, (), False, True),
        (0.29, (), False, False),
        (0.20, (0, 1), True, True),
        (0.19, (0, 1), False, True),
        (0.09, (0, 1), False, False),
        (0.20, (0,), False, True),
        (0.09, (0,), False, False),
    ],
)
def test_the_gates(cosine: float, stated: tuple[int, ...], opens: bool, follows: bool) -> None:
    found = scored(cosines={A: cosine}, sheets={A: sheet(*stated)}, postings=words(*"abcde"))
    assert (found.opens, found.follows) == (opens, follows)


@pytest.mark.parametrize(
    ("asked", "stated", "opens"),
    [("ab", (0,), True), ("abc", (0,), False), ("abc", (0, 1), True), ("abcdefgh", (0, 1), False)],
)
def test_where_the_model_can_not_read_words_must_do(
    asked: str, stated: tuple[int, ...], opens: bool
) -> None:
    assert scored(sheets={A: sheet(*stated)}, postings=words(*asked)).opens == opens


@pytest.mark.parametrize(
    ("pairs", "stated", "counts", "opens"),
    [
        (("住在", "我住", "们住"), (0,), (2, 0, 0), True),
        (("住在", "我住", "们住"), (0,), (500, 0, 0), False),
        (("住在", "我住", "们住"), (0, 1), (500, 400, 0), True),
        (("อย", "ยู", "ในบ"), (0,), (2, 0, 0), False),
    ],
)
def test_pairs_of_characters_open_by_two_or_by_a_rare_word(
    pairs: tuple[str, ...], stated: tuple[int, ...], counts: tuple[int, ...], opens: bool
) -> None:
    postings = words(*pairs, counts=counts, facts=1000, is_pair=True)
    assert scored(sheets={A: sheet(*stated)}, postings=postings).opens == opens


def test_what_opens_by_itself_outlives_the_cut() -> None:
    found = scores(
        *(fact(one) for one in (A, B, C)),
        legs=NAMED,
        cosines={B: 0.99, C: 0.3},
        sheets={B: sheet(0, 1)},
        postings=words("tea", "milk"),
    )
    assert judged(found) == ([B, A], [(C, Why.CUT)])


def test_none_follows_where_none_opened() -> None:
    told, left = judged(scores(fact(A), fact(B), cosines={A: 0.44, B: 0.35}))
    assert told == []
    assert {why for _, why in left} == {Why.GATE}


def test_ranks_of_the_legs_are_kept_for_the_trace() -> None:
    reports = [
        LegReport(Leg.VECTOR, Outcome.OK, Found((Hit(A, 0.5), Hit(B, 0.4)))),
        LegReport(Leg.TEXT, Outcome.OK, Found((Hit(B, 0.9, ("tea",)),))),
    ]
    found = Standings(reports).of(B)
    assert {leg: at.rank for leg, at in found.items()} == {Leg.VECTOR: 2, Leg.TEXT: 1}
    assert found[Leg.TEXT].matched == ("tea",)


@pytest.mark.parametrize(
    ("age", "left"),
    [
        (timedelta(0), 1.0),
        (timedelta(days=360), 0.5),
        (timedelta(days=720), 0.25),
        (timedelta(days=-5), 1.0),
    ],
)
def test_half_of_the_odds_are_left_after_a_year(age: timedelta, left: float) -> None:
    assert decay([NOW - age], NOW, LIMITS).tolist() == pytest.approx([left])


def test_age_kind_and_confidence_reorder_and_hide_nothing() -> None:
    old = fact(A, last_confirmed_at=NOW - timedelta(days=20_000), confidence=0.0)
    event, fresh = fact(B, kind=Kind.EPISODIC), fact(C)
    found = scores(old, event, fresh, cosines=dict.fromkeys((A, B, C), 0.6))
    assert judged(found) == ([C, B, A], [])
    assert len({found.candidate(place).relevance for place in range(3)}) == 1


def test_equals_are_ordered_by_id() -> None:
    found = scores(*(fact(one) for one in (C, A, B)), cosines=dict.fromkeys((A, B, C), 0.6))
    assert [found.candidate(place).fact.pk for place in found.in_order()] == [A, B, C]
