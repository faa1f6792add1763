"""What facts have for a message: found by the legs, scored by one formula, judged. Only reads."""

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils import timezone

from agents.models import Agent, OwnerSettings
from memory.models import Fact
from memory.recall import legs
from memory.recall.legs import Reader
from memory.recall.nearest import COLUMNS, Row
from memory.recall.query import read
from memory.recall.scoring import Scores, judge
from memory.recall.statements import apart
from memory.recall.trace import Candidate, LegReport, Why
from memory.recall.tuning import Tuning, tuning

log = logging.getLogger(__name__)


class Seen:
    """All that the legs saw: what may be told, best first, and what of the rest fell out why."""

    def __init__(self, pinned: Sequence[Fact], scores: Scores | None, limits: Tuning) -> None:
        self.pinned, self._scores = pinned, scores
        told, self._left = judge(scores, limits) if scores else ([], [])
        self.told = [scores.candidate(place) for place in told] if scores else []

    def left(self) -> Iterator[tuple[Candidate, Why]]:
        """Best first. They are many, and of interest to few."""
        if self._scores:
            yield from ((self._scores.candidate(place), why) for place, why in self._left)

    def in_order(self) -> list[Candidate]:
        """Relevant or not, best first."""
        scores = self._scores
        return [scores.candidate(place) for place in scores.in_order()] if scores else []


def look_up(reader: Reader, reports: tuple[LegReport, ...]) -> Seen:
    ids = {hit.fact_id for report in reports for hit in report.found.hits}
    rows = _rows(reader, ids)
    pinned = sorted(
        (row.fact for row in rows.values() if row.fact.pinned), key=lambda fact: fact.pk
    )
    # Archived since its leg saw it: gone.
    found = {key: rows[key] for key in ids if key in rows}
    if not found:
        return Seen(pinned, None, reader.tuning)
    measured = legs.measure(reader, reports, found)
    return Seen(pinned, Scores(measured, reader.query.now, reader.tuning), reader.tuning)


def ranking(
    *,
    agent: Agent,
    message: str,
    now: datetime | None = None,
    rows: int = 200,
    reader_at: Callable[[Reader], Reader] = lambda reader: reader,
    heard: Callable[[tuple[LegReport, ...]], None] = lambda reports: None,
) -> list[Candidate]:
    """The facts that agree most with a message, best first, relevant or not. For search, which
    leaves the judgement to whoever asks; the gate of memory is the caller's. `reader_at` takes the
    reader to another time; `heard` is told how each leg fared."""
    zone = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=agent.owner_id)
    now = (now or timezone.now()).astimezone(ZoneInfo(zone))
    reader = reader_at(Reader(agent, read(message, (), now), replace(tuning(), rows_per_leg=rows)))
    reports = legs.run(reader)
    heard(reports)
    return look_up(reader, reports).in_order()[:rows]


def _rows(reader: Reader, ids: Collection[UUID]) -> dict[UUID, Row]:
    """Those that no leg has read with its own look."""
    try:
        with apart():
            rows = legs.read_rows(reader, ids)
    except Exception as error:
        # What vectors and terms know of those that no leg has read is lost; what they say is not.
        log.warning("recall could not measure its candidates: %s", type(error).__name__)
        facts = reader.facts.filter(Q(pk__in=list(ids)) | reader.rides).only(*COLUMNS)
        rows = {fact.pk: Row(fact, "", None, None, None) for fact in facts} | reader.rows
    known = reader.as_known([row.fact for row in rows.values()])
    return dict(zip(rows, map(_of, known, rows.values()), strict=True))


def _of(fact: Fact, row: Row) -> Row:
    return row if fact is row.fact else row._replace(fact=fact)
