"""Recall for a chat that waits: what is not there in time rides not at all."""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from django.db import close_old_connections

from agents.models import Agent
from memory.recall.record import Talk
from memory.recall.service import Recall, recall
from memory.recall.trace import Outcome, Why

log = logging.getLogger(__name__)

# A chat may be held up so long, in seconds.
DEADLINE = 0.150
# Recalls that came too late still run to their end; more than so many wait for them.
AT_ONCE = 4
# Of a long message the beginning and the end are looked at.
READ_CHARACTERS = 8_000
RECENT = 3


class Status(StrEnum):
    """What the client is told of its memory, beside the facts."""

    TOLD = "told"
    PARTIAL = "partial"  # something of recall failed; what the rest found, rides
    NOTHING = "nothing"  # nothing relevant
    OFF = "off"
    LATE = "late"
    FAILED = "failed"
    SKIPPED = "skipped"  # the client asked so, or there is nothing to recall for


@dataclass(frozen=True)
class Memory:
    status: Status
    recall: Recall | None = None

    @property
    def block(self) -> str:
        return self.recall.block if self.recall else ""


def look(
    *, agent: Agent, message: str, recent: Sequence[str], talk: Talk | None, nonce: str
) -> Memory:
    """Within DEADLINE. Never raises."""

    def run() -> Recall:
        return recall(
            agent=agent,
            message=_shortened(message),
            recent=[_shortened(one) for one in recent[-RECENT:]],
            conversation=talk.found() if talk else None,
            nonce=nonce,
        )

    try:
        future = _pool().submit(_apart, run)
        return _told(_in_time(future))
    except TimeoutError:
        return Memory(Status.LATE)
    except (
        Exception
    ) as error:  # whatever it is, the chat goes on; its message may quote what was said
        log.warning("a chat goes without memory (%s)", type(error).__qualname__)
        return Memory(Status.FAILED)


def _in_time(future: "Future[Recall]") -> Recall:
    try:
        return future.result(timeout=DEADLINE)
    finally:
        future.cancel()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="proxy-recall")


def _apart(run: Callable[[], Recall]) -> Recall:
    """In a thread that nobody else closes connections for."""
    try:
        return run()
    finally:
        close_old_connections()


def _told(found: Recall) -> Memory:
    if found.trace.empty_because == Why.MEMORY_OFF:
        return Memory(Status.OFF)
    if any(leg.outcome == Outcome.FAILED for leg in found.trace.legs):
        return Memory(Status.PARTIAL, found)
    return Memory(Status.TOLD if found.block else Status.NOTHING, found)


def _shortened(text: str) -> str:
    if len(text) <= READ_CHARACTERS:
        return text
    return f"{text[: READ_CHARACTERS // 2]} … {text[-READ_CHARACTERS // 2 :]}"
