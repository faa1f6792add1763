"""From a window to verdicts: observer, screen, neighbours, reflector, policy. Writes nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from agents.models import OwnerSettings
from conversations.models import Conversation, Message
from memory import lifecycle, llm
from memory.extraction.apply import Verdict
from memory.extraction.neighbours import STATES, neighbourhood
from memory.extraction.observer import observe
from memory.extraction.reflector import reflect
from memory.extraction.schema import Candidate
from memory.extraction.windows import Window
from memory.policy import (
    Dropped,
    Outcome,
    Passed,
    PolicyContext,
    Screened,
    Stored,
    passed_over,
    resolve,
    screen_batch,
    without_reflector,
)
from memory.policy.screen import dropped
from memory.recall import record
from memory.rules.scope import texts_for
from memory.scope import facts_of, facts_readable_by
from memory.text import text_hash
from memory.vocabulary import Gate, State

# The statements most recently recalled into a conversation; older ones have scrolled away.
RECALLED = 500


@dataclass
class Meter:
    """Counts what the model cost, failed calls included."""

    usage: llm.Usage = field(default_factory=llm.Usage)

    def add(self, usage: llm.Usage) -> None:
        self.usage += usage

    @contextmanager
    def counting(self) -> Iterator[None]:
        try:
            yield
        except llm.LlmError as error:
            self.add(error.usage)
            raise


def read(
    *,
    window: Window,
    route: llm.Route | None,
    now: datetime,
    meter: Meter,
    before_call: Callable[[], None],
) -> list[Verdict]:
    """`before_call` runs before each question to the model. Raises LlmError."""
    if not window.may_hold_facts:
        return []
    before_call()
    with meter.counting():
        observation = observe(window, route)
    meter.add(observation.usage)
    candidates = list(observation.candidates)
    context = _context(window, candidates, now, rule_based=route is None)
    answers = _screen(window, candidates, context)
    passed = {n: a for n, a in enumerate(answers, start=1) if isinstance(a, Passed)}
    before_call()
    with meter.counting():
        outcomes = _resolve(window, passed, context, route, meter)
    return [
        Verdict(candidate, outcomes[n] if isinstance(answer, Passed) else answer)
        for n, (candidate, answer) in enumerate(zip(candidates, answers, strict=True), start=1)
    ]


def _screen(
    window: Window, candidates: Sequence[Candidate], context: PolicyContext
) -> list[Screened]:
    answers = screen_batch(candidates, context)
    return [
        answer
        if isinstance(answer, Dropped) or _cites_something_new(candidate, window)
        else dropped(candidate, Gate.QUOTE_NOT_FOUND, "quotes only messages that were read before")
        for candidate, answer in zip(candidates, answers, strict=True)
    ]


def _cites_something_new(candidate: Candidate, window: Window) -> bool:
    return any(window.is_new(source.message) for source in candidate.sources)


def _resolve(
    window: Window,
    passed: Mapping[int, Passed],
    context: PolicyContext,
    route: llm.Route | None,
    meter: Meter,
) -> dict[int, Outcome]:
    """With a reflector and something to compare with, only what it answered may become active.

    A candidate beside a sensitive fact waits: the reflector could not compare the two.
    """
    candidates = {number: answer.candidate for number, answer in passed.items()}
    private = route is None or route.name == llm.PRIVATE
    agent = window.conversation.agent.acting()
    around = neighbourhood(agent, candidates, with_sensitive=private)
    decisions = {}
    asked = route is not None and bool(around.known)
    if route is not None:
        reflection = reflect(candidates, around.known, around.near, route)
        meter.add(reflection.usage)
        decisions = reflection.decisions
    return {
        number: resolve(answer, decisions[number], around.known, context)
        if number in decisions and number not in around.unseen
        else passed_over(answer, context)
        if asked or number in around.unseen
        else without_reflector(answer, around.cosine.get(number, ()), context)
        for number, answer in passed.items()
    }


def _context(
    window: Window, candidates: Sequence[Candidate], now: datetime, *, rule_based: bool
) -> PolicyContext:
    conversation = window.conversation
    statements = [candidate.statement for candidate in candidates]
    buried = lifecycle.barred(conversation.owner, statements)
    return PolicyContext(
        messages=window.for_policy(),
        now=now,
        same=_same(conversation, statements),
        is_tombstoned=lambda statement: statement in buried,
        recalled=(
            *record.statements_told(conversation=conversation, most=RECALLED),
            *texts_for(conversation.agent.acting()),
        ),
        headers=tuple(_headers(window.numbered.values())),
        rule_based=rule_based,
        at_cap=_at_cap(conversation),
        sure=conversation.owner.settings.event_confidence,
    )


def _same(conversation: Conversation, statements: Iterable[str]) -> dict[str, Stored]:
    rows = facts_readable_by(conversation.agent.acting()).filter(
        text_hash__in={text_hash(statement) for statement in statements}, state__in=STATES
    )
    found = [(row.text_hash, Stored(row.pk, State(row.state))) for row in rows]
    # The last one stays: active over pending over rejected.
    return dict(sorted(found, key=lambda pair: -STATES.index(pair[1].state)))


def _headers(messages: Iterable[Message]) -> Iterator[str]:
    """A digest begins with its header, up to the first blank line (conversations.ingest)."""
    for message in messages:
        if message.kind == Message.Kind.OUTCOME:
            yield from message.content.split("\n\n", 1)[0].splitlines()


def _at_cap(conversation: Conversation) -> bool:
    """A hint for the review card; lifecycle.propose has the last word."""
    caps = OwnerSettings.objects.get(owner=conversation.owner)
    if caps.cap_per_agent is None:
        return False
    agent = conversation.agent.acting()
    active = facts_of(conversation.owner).filter(agent=agent, state=State.ACTIVE)
    return active.count() >= caps.cap_per_agent
