"""What stands ahead of the data in recall's block, in fences of its own: the owner's rules, which
the assistant is to follow, and hints of the application's. Nothing an assistant or a model wrote.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agents.models import Agent
from conversations.models import Conversation
from memory.recall import legs
from memory.recall.block import NONCE_CHARACTERS, Count
from memory.recall.clean import clean

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
    """`text` ends its last line, where there is any; `tokens` is what it costs at most."""

    text: str = ""
    tokens: int = 0
    hints: tuple[str, ...] = ()


NOTHING_AHEAD = Ahead()


def gather(
    *,
    agent: Agent,
    conversation: Conversation | None,
    any_hints: Sequence[bool],
    nonce: str,
    count: Count,
) -> Ahead:
    """`any_hints`: by the order of `hints`, whether the owner has any of it."""
    hinted = _lines(agent, conversation, any_hints)
    return _fenced("hints", HINTS_INTRODUCTION, hinted, HINTS_BUDGET, nonce, count)


def _lines(agent: Agent, conversation: Conversation | None, wanted: Sequence[bool]) -> list[str]:
    found: list[str] = []
    for hint, is_there in zip(hints, wanted, strict=False):
        if not is_there:
            continue
        try:
            with legs.apart():
                found += hint.lines(agent, conversation)
        except Exception as error:
            # Its message may quote what was asked.
            log.warning("recall goes without a hint (%s)", type(error).__name__)
    return found


def _fenced(
    name: str, introduction: str, lines: Sequence[str], budget: int, nonce: str, count: Count
) -> Ahead:
    """As many lines as fit, in order."""
    opening = (f'<{name} id="', f'">\n{introduction}\n', f'</{name} id="', '">\n')
    # No character of a nonce takes more than one token.
    tokens = sum(map(count, opening)) + 2 * NONCE_CHARACTERS
    kept: list[str] = []
    for line in lines:
        shown = f"- {clean(line, nonce)}\n"
        cost = count(shown)
        if tokens + cost <= budget:
            kept.append(shown)
            tokens += cost
    if not kept:
        return NOTHING_AHEAD
    text = opening[0] + nonce + opening[1] + "".join(kept) + opening[2] + nonce + opening[3]
    return Ahead(text, tokens, tuple(kept))
