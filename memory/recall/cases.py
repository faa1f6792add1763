"""Confirmed cases that bear on the message, to ride behind the facts. Fails alone, as the legs
do."""

import logging
import time
from collections.abc import Sequence
from typing import Any

from memory import embedding
from memory.cases import relevance
from memory.cases.relevance import Relevant, told_as
from memory.recall.block import CaseLine
from memory.recall.legs import Reader
from memory.recall.statements import apart
from memory.recall.trace import Leg, LegReport, Outcome

log = logging.getLogger(__name__)


def look(reader: Reader, *, any_active: bool) -> tuple[list[Relevant], tuple[LegReport, ...]]:
    """No report for an owner without cases, who pays nothing for them."""
    if not any_active or reader.query.is_small_talk:
        return [], ()
    started = time.perf_counter()
    found: list[Relevant] = []
    outcome, detail = Outcome.OK, ""
    try:
        with apart():
            found = relevance.relevant(
                agent=reader.agent,
                message=reader.query.in_context,
                vector=_vector(reader),
                language=reader.query.language,
            )[: relevance.MOST]
        detail = f"{len(found)} that ride along"
    except Exception as error:
        # Its message may quote what was asked.
        outcome, detail = Outcome.FAILED, type(error).__name__
        log.warning("recall found no cases: %s", detail)
    elapsed = 1000 * (time.perf_counter() - started)
    return found, (LegReport(Leg.CASES, outcome, detail=detail, milliseconds=elapsed),)


def lines(found: Sequence[Relevant]) -> list[CaseLine]:
    return [
        CaseLine(one.case.pk, told_as(one.case), one.case.happened_at, one.case.quality)
        for one in found
    ]


def shown(found: Sequence[Relevant], told: Sequence[CaseLine]) -> tuple[Relevant, ...]:
    ids: set[Any] = {line.pk for line in told}
    return tuple(one for one in found if one.case.pk in ids)


def _vector(reader: Reader) -> list[float] | None:
    """Of the message in its context, or of its last sentence where it is too long to be read as a
    whole; words alone go on without the model."""
    try:
        return reader.vectors[-1]
    except embedding.EmbeddingNotReady:
        return None
