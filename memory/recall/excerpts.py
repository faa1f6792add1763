"""What was said earlier in this conversation and summarised away, to ride beside the facts. Fails
alone, as the legs do."""

import logging
import time
from collections.abc import Callable, Sequence
from uuid import UUID

from conversations.models import Conversation
from memory.recall.block import Quote
from memory.recall.legs import Reader
from memory.recall.statements import apart
from memory.recall.trace import Candidate, Leg, LegReport, Outcome
from memory.search import automatic
from memory.search.automatic import Excerpt

log = logging.getLogger(__name__)


def look(
    reader: Reader, conversation: Conversation | None, facts: Callable[[], Sequence[Candidate]]
) -> tuple[list[Excerpt], tuple[LegReport, ...]]:
    """`facts`: those that agree most with the message. No report where nothing was summarised."""
    if conversation is None or not conversation.compacted_seq or reader.query.is_small_talk:
        return [], ()
    started = time.perf_counter()
    found: list[Excerpt] = []
    outcome, detail = Outcome.OK, ""
    try:
        with apart():
            found = automatic.excerpts_for(
                agent=reader.agent,
                conversation=conversation,
                query=reader.query.message,
                now=reader.query.now,
                facts=facts(),
            )
        detail = f"{len(found)} that ride along"
    except Exception as error:
        # Its message may quote what was asked.
        outcome, detail = Outcome.FAILED, type(error).__name__
        log.warning("recall found no excerpts: %s", detail)
    elapsed = 1000 * (time.perf_counter() - started)
    return found, (LegReport(Leg.RAW, outcome, detail=detail, milliseconds=elapsed),)


def quotes(excerpts: Sequence[Excerpt]) -> list[Quote]:
    return [Quote(one.passage.pk, one.text, one.said_at, one.speaker) for one in excerpts]


def shown(excerpts: Sequence[Excerpt], told: Sequence[Quote]) -> tuple[Excerpt, ...]:
    ids: set[UUID] = {quote.pk for quote in told}
    return tuple(one for one in excerpts if one.passage.pk in ids)
