"""Periods that a message names by what happened: before the move, since my surgery.

What happened is looked for among the facts that state its words, which the words of the message
have found already. Where they do not lead to one day, month or year, nothing is meant by it: a
wrong period would hide what was asked for.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import numpy as np

from memory.models import Fact
from memory.recall.dates import Period, periods
from memory.recall.query import Query
from memory.recall.sentences import content_words
from memory.recall.spans import ONE_SIDED, bounded
from memory.recall.statements import apart
from memory.recall.terms import WORDS, Postings, numbers_in
from memory.vocabulary import Precision

log = logging.getLogger(__name__)

# Behind since, after, before or until stands what is somebody's, or what the owner did. In English
# it ends with the sentence, or where a question or another clause begins; elsewhere the verb may
# follow, so that it is one word.
_THE = "the|my|our|that|this|i|we"
_NEXT = (
    "where|what|who|whom|which|how|when|why|did|do|does|was|were|had|have|has|is|are|am|i|we|my"
    "|and|or|but"
)
_THE_ELSEWHERE = (
    "dem|der|den|meinem|meiner|meinen|unserem|unserer|le|la|les|mon|ma|notre|el|los|mi|nuestro"
    "|nuestra"
)
_HAPPENED = re.compile(
    rf"(?<![\w-])(?:{ONE_SIDED})\s+(?P<event>"
    rf"(?:{_THE})\s+\w[\w'’-]*(?:\s+\w[\w'’-]*){{0,4}}?"
    rf"(?=\s*(?:[^\w\s'’-]|$)|\s+(?:{_NEXT})(?!\w))"
    rf"|(?:{_THE_ELSEWHERE})\s+\w[\w'’-]*)",
    re.IGNORECASE,
)
# Facts that state the words; what more of them do is no name of one thing.
_LOOKED_AT = 20
_HAPPENINGS = 2

Look = Callable[[Sequence[UUID]], Iterable[Fact]]


class Times(NamedTuple):
    """The periods that a message names, and what it asks beside them. `by_event`: one of them is
    named by what happened."""

    spans: Sequence[Period]
    beside: Sequence[str]
    by_event: bool


def times_of(query: Query, postings: Callable[[], Postings], look: Look) -> Times:
    """`look` reads facts that may be told, as they are known."""
    dated = periods(query.message, query.now, query.language)
    happened: list[Period] = []
    if places := list(_places(query.message, dated)):
        try:
            with apart():
                happened = list(_happened(query, places, postings(), look))
        except Exception as error:  # dates need no table
            log.warning("recall finds no day of an event: %s", type(error).__name__)
    spans = [*dated, *happened]
    rest = query.message
    for span in spans:
        rest = rest.replace(span.words, " ")
    return Times(spans, content_words(rest), bool(happened))


def _places(text: str, dated: Sequence[Period]) -> Iterator[tuple[int, str]]:
    """What may be an event, and where it stands. Of what has a date nothing needs to be known."""
    found = 0
    for match in _HAPPENED.finditer(text):
        has_date = any(one.words in match[0] or match[0] in one.words for one in dated)
        if found < _HAPPENINGS and not has_date:
            found += 1
            yield match.start("event"), match["event"]


def _happened(
    query: Query, places: Iterable[tuple[int, str]], found: Postings, look: Look
) -> Iterator[Period]:
    for start, event in places:
        spans = {_span(fact, query.now) for fact in look(_stating(event, found)) if fact.valid_from}
        # Several facts may speak of one day; of two days neither is meant for sure.
        if len(spans) == 1:
            yield from _meant(query, start, event, *spans.pop())


def _meant(
    query: Query, start: int, event: str, begins: datetime, ends: datetime
) -> Iterator[Period]:
    """What is yet to come is no memory's bound."""
    if ends > query.now:
        return
    for period in bounded(query.message, [(start, Period(begins, ends, event))], query.now):
        # How it was after an accident is most often told on its day.
        is_after = (period.start, period.end) == (ends, query.now)
        yield replace(period, start=begins) if is_after else period


def _stating(event: str, found: Postings) -> list[UUID]:
    """The facts that state all of its words."""
    words = numbers_in(found.words, event)
    if not words or len(found.words) >= WORDS or found.common.intersection(words):
        return []
    places = np.flatnonzero(found.sheets.stated[words].all(axis=0))
    return found.sheets.ids_of(places) if len(places) <= _LOOKED_AT else []


def _span(fact: Fact, now: datetime) -> tuple[datetime, datetime]:
    """The day, month or year in which it began, on the clock of `now`."""
    assert fact.valid_from is not None  # noqa: S101 - asked before
    start = fact.valid_from.astimezone(now.tzinfo).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    if fact.valid_precision == Precision.DAY:
        return start, start + timedelta(days=1)
    if fact.valid_precision == Precision.YEAR:
        start = start.replace(month=1, day=1)
        return start, start.replace(year=start.year + 1)
    years, month = divmod(start.month, 12)
    start = start.replace(day=1)
    return start, start.replace(year=start.year + years, month=month + 1)
