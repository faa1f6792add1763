"""What stands ahead of the data in recall's block, in fences of its own: the owner's rules, which
the assistant is to follow, and hints of the application's. Nothing an assistant or a model wrote.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from agents.models import Agent
from conversations.models import Conversation
from memory.models import Rule
from memory.recall.block import Count
from memory.recall.fences import fence
from memory.recall.statements import apart
from memory.rules import past, scope
from memory.rules.telling import Told, tell

log = logging.getLogger(__name__)

# Tokens of o200k, fence and all.
HINTS_BUDGET = 120
HINTS_INTRODUCTION = "From the memory server, for this conversation:"


@dataclass(frozen=True)
class Hint:
    """`lines` for an agent's turn, one line of text each: what they quote is cleaned. `exists` is
    an SQL condition over %(owner)s and %(conversation)s, which the query of the owner's settings
    carries: where it does not hold, `lines` is not called."""

    exists: str
    lines: Callable[[Agent, Conversation | None], Sequence[str]]


# Other apps add theirs when they are ready.
hints: list[Hint] = []


@dataclass(frozen=True)
class Ahead:
    """`text` ends its last line, where there is any; `tokens` is what it costs at most. `rules`
    ride; `rules_left` are on, but over their budget."""

    text: str = ""
    tokens: int = 0
    rules: tuple[Rule, ...] = ()
    rules_left: tuple[Rule, ...] = ()


NOTHING_AHEAD = Ahead()


@dataclass(frozen=True)
class Turn:
    """Whom it is for. `then`: the end of the day that it is of, where that is not now; and whether
    what the owner has taken back since is told too. `any_hints`: by the order of `hints`, whether
    the owner has what each speaks of."""

    agent: Agent
    conversation: Conversation | None
    then: datetime | None
    withdrawn: bool
    any_rules: bool
    any_hints: Sequence[bool]


def gather(turn: Turn, *, rules_budget: int, nonce: str, count: Count) -> Ahead:
    """Asks nothing for an owner who has neither rules nor what hints speak of."""
    told = tell(_rules(turn), budget=rules_budget, nonce=nonce, count=count, as_of=turn.then)
    lines = _lines(turn) if turn.then is None else []
    hinted = fence(
        "hints", HINTS_INTRODUCTION, lines, budget=HINTS_BUDGET, nonce=nonce, count=count
    )
    if not (told.text or told.left or hinted.text):
        return NOTHING_AHEAD
    return Ahead(told.text + hinted.text, told.tokens + hinted.tokens, told.told, told.left)


def told_now(agent: Agent, *, budget: int, nonce: str, count: Count) -> Told:
    """The rules of a turn alone."""
    return tell(list(scope.riding(agent)), budget=budget, nonce=nonce, count=count)


def _rules(turn: Turn) -> list[Rule]:
    """Fails alone: what is known rides without them."""
    if not (turn.any_rules or turn.then):
        return []
    try:
        with apart():
            if turn.then is not None:
                return past.rode(turn.agent, turn.then, withdrawn=turn.withdrawn)
            return list(scope.riding(turn.agent))
    except Exception as error:
        log.warning("recall goes without rules (%s)", type(error).__name__)
        return []


def _lines(turn: Turn) -> list[str]:
    found: list[str] = []
    for hint, is_there in zip(hints, turn.any_hints, strict=False):
        if not is_there:
            continue
        try:
            with apart():
                found += hint.lines(turn.agent, turn.conversation)
        except Exception as error:
            # Its message may quote what was asked.
            log.warning("recall goes without a hint (%s)", type(error).__name__)
    return found
