"""What a reviewer sees of one fact: why it waits, what to beware of, and the words it rests on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conversations.models import Message
from memory.lifecycle import version
from memory.models import Evidence, Fact
from memory.review.masking import masked
from memory.review.wording import Piece, changes
from memory.sensitive import addresses_assistant, credentials, directive, hidden_text
from memory.text import find_quote
from memory.vocabulary import WARNINGS, Withheld

# Those that can name the very words.
_WORDS: dict[str, Callable[[str], str | None]] = {
    Withheld.DIRECTIVE: directive,
    Withheld.ADDRESSES_ASSISTANT: addresses_assistant,
}
AROUND = 280  # characters shown on each side of a quote
LONGEST_QUOTE = 1_500
# A secret that begins outside of what is shown is still one.
_MARGIN = 200


@dataclass(frozen=True, slots=True)
class Reason:
    code: str
    label: str
    is_warning: bool
    words: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message cut around a quote. Empty `quote`: it is not in the message any more."""

    message: Message
    before: str
    quote: str
    after: str


@dataclass(frozen=True, slots=True)
class Replaced:
    fact: Fact
    changes: list[Piece]


@dataclass(frozen=True, slots=True)
class Card:
    """`statement` is masked; `badges` warn of what the text does to a reader."""

    fact: Fact
    statement: str
    seen: str
    reasons: list[Reason]
    badges: list[str]
    excerpts: list[Excerpt]
    replaces: list[Replaced]
    next_fact: Fact | None = None

    @property
    def is_flagged(self) -> bool:
        """Too doubtful to be confirmed among others without a look of its own."""
        return bool(self.badges) or any(reason.is_warning for reason in self.reasons)

    @property
    def may_be_rule(self) -> bool:
        """It reads like an instruction: as a fact it would be data, as a rule it is followed."""
        return Withheld.DIRECTIVE in self.fact.withheld_for

    @property
    def names_words(self) -> bool:
        return any(reason.words for reason in self.reasons)

    @property
    def hides_text(self) -> bool:
        return HIDES in self.badges


SPEAKS, HIDES, SECRET = "speaks to the assistant", "hidden characters", "holds a secret"


def card(fact: Fact, next_fact: Fact | None = None) -> Card:
    evidence = list(fact.evidence.all())
    texts = [fact.statement, *(row.quote[:LONGEST_QUOTE] for row in evidence)]
    (statement,) = masked(fact.statement)
    return Card(
        fact=fact,
        statement=statement,
        seen=version(fact),
        reasons=reasons(fact, texts),
        badges=badges(texts),
        excerpts=[excerpt(row) for row in evidence],
        replaces=[
            Replaced(row.target, changes(masked(row.target.statement)[0], statement))
            for row in fact.targets.all()
            if row.open
        ],
        next_fact=next_fact,
    )


def badges(texts: Sequence[str]) -> list[str]:
    checks: tuple[tuple[str, Callable[[str], object]], ...] = (
        (SPEAKS, addresses_assistant),
        (HIDES, hidden_text),
        (SECRET, credentials),
    )
    return [badge for badge, check in checks if any(check(text) for text in texts)]


def reasons(fact: Fact, texts: Sequence[str] = ()) -> list[Reason]:
    found = [
        Reason(
            code=code,
            label=Withheld(code).label if code in Withheld.values else code,
            is_warning=code in WARNINGS,
            words=_words(code, texts),
        )
        for code in fact.withheld_for
    ]
    # Warnings first; within each, policy's own order.
    return sorted(found, key=lambda reason: not reason.is_warning)


def _words(code: str, texts: Sequence[str]) -> str:
    find = _WORDS.get(code)
    return next(filter(None, map(find, texts)), None) or "" if find else ""


def excerpt(row: Evidence, around: int = AROUND) -> Excerpt:
    content = row.message.content
    span = find_quote(content, row.quote)
    if span is None:
        (head,) = masked(content[: 2 * around + _MARGIN])
        return Excerpt(row.message, before=_head(head, 2 * around), quote="", after="")
    start, end = span
    first = max(start - around - _MARGIN, 0)
    window = content[first : end + around + _MARGIN]
    before, quote, after = masked(window, (start - first, end - first))
    return Excerpt(
        row.message,
        before=_tail(before, around),
        quote=_head(quote, LONGEST_QUOTE),
        after=_head(after, around),
    )


def _head(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    return text[:length].rsplit(None, 1)[0] + " …"


def _tail(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    return "… " + text[-length:].split(None, 1)[-1]
