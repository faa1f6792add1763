"""Tiers of search behind facts, cases and the raw record, each registered by who keeps it.

A tier has its own gate of relevance: what it finds in a search of everything bears on the question.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from agents.models import Agent
from conversations.models import Conversation
from memory.search.failures import Failures, SearchPart
from memory.search.hits import Hit, Scope, Tier


@dataclass(frozen=True)
class Asked:
    """A checked question: memory is on, the query is readable and not empty. `conversation` is
    the agent's owner's, and narrows what belongs to conversations. What fails only in part says so
    to `failures`."""

    agent: Agent
    query: str
    k: int
    conversation: Conversation | None = None
    failures: Failures = field(default_factory=Failures, compare=False)


Find = Callable[[Asked], Sequence[Hit]]


@dataclass(frozen=True)
class FurtherTier:
    """`find` gives at most `k` hits, best first, only what the agent may read. A lower `order`
    comes first. `heading` names it where an answer says in which order it is."""

    tier: Tier
    scope: Scope
    find: Find
    order: int
    heading: str


_TIERS: dict[Tier, FurtherTier] = {}


def register(tier: FurtherTier) -> None:
    _TIERS[tier.tier] = tier


def further() -> list[FurtherTier]:
    return sorted(_TIERS.values(), key=lambda one: one.order)


def of_scope(scope: Scope) -> FurtherTier | None:
    return next((one for one in further() if one.scope == scope), None)


def found_in(tier: FurtherTier, asked: Asked) -> Sequence[Hit]:
    """Nothing where it fails, alone."""
    return asked.failures.alone(SearchPart(tier.scope), partial(tier.find, asked), ())


def found_in_all(asked: Asked, before: Sequence[Hit]) -> list[Hit]:
    """`before` and the hits of the further tiers behind it, `k` in all. The raw record fills any
    number, so each further tier has a fifth of the places for itself, and what `before` leaves."""
    each = [found_in(one, asked) for one in further()]
    own = [min(len(found), asked.k // 5) for found in each]
    hits = list(before[: asked.k - sum(own)])
    left = asked.k - sum(own) - len(hits)
    for found, size in zip(each, own, strict=True):
        more = min(left, len(found) - size)
        left -= more
        hits += found[: size + more]
    return hits


def headings() -> str:
    """Of all tiers, in their order: "facts first, then …"."""
    return ", then ".join(
        ["facts first", "cases", "what was said, verbatim", *(one.heading for one in further())]
    )
