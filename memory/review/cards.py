"""What a reviewer sees of one fact: why it waits, and the words that it rests on."""

from dataclasses import dataclass

from conversations.models import Message
from memory.lifecycle import version
from memory.models import Evidence, Fact
from memory.sensitive.hidden import hidden_text
from memory.text import find_quote
from memory.vocabulary import Withheld

# Reasons that warn of the text itself; the others only say which rule made it wait.
WARNINGS = frozenset(
    {
        Withheld.DIRECTIVE,
        Withheld.CONTACT,
        Withheld.HIDDEN_TEXT,
        Withheld.ADDRESSES_ASSISTANT,
        Withheld.NOT_TYPED,
        Withheld.ASSISTANT_CLAIM,
        Withheld.TARGET_GONE,
    }
)
AROUND = 280  # characters shown on each side of a quote


@dataclass(frozen=True, slots=True)
class Reason:
    code: str
    label: str
    is_warning: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message cut around a quote. Empty `quote`: it is not in the message any more."""

    message: Message
    before: str
    quote: str
    after: str


@dataclass(frozen=True, slots=True)
class Card:
    fact: Fact
    seen: str
    reasons: list[Reason]
    excerpts: list[Excerpt]
    replaces: list[Fact]
    hides_text: bool
    next_fact: Fact | None


def card(fact: Fact, next_fact: Fact | None) -> Card:
    evidence = list(fact.evidence.all())
    return Card(
        fact=fact,
        seen=version(fact),
        reasons=reasons(fact),
        excerpts=[excerpt(row) for row in evidence],
        replaces=[row.target for row in fact.targets.all() if row.open],
        hides_text=any(
            hidden_text(text) for text in (fact.statement, *(e.quote for e in evidence))
        ),
        next_fact=next_fact,
    )


def reasons(fact: Fact) -> list[Reason]:
    found = [
        Reason(code, Withheld(code).label if code in Withheld.values else code, code in WARNINGS)
        for code in fact.withheld_for
    ]
    # Warnings first; within each, policy's own order.
    return sorted(found, key=lambda reason: not reason.is_warning)


def excerpt(row: Evidence, around: int = AROUND) -> Excerpt:
    content = row.message.content
    span = find_quote(content, row.quote)
    if span is None:
        return Excerpt(row.message, before=_head(content, 2 * around), quote="", after="")
    start, end = span
    return Excerpt(
        row.message,
        before=_tail(content[:start], around),
        quote=content[start:end],
        after=_head(content[end:], around),
    )


def _head(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    return text[:length].rsplit(None, 1)[0] + " …"


def _tail(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    return "… " + text[-length:].split(None, 1)[-1]
