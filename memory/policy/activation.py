"""May a candidate become active without its owner's word? The answer and every reason against."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone

from memory.extraction.schema import Candidate, Validity
from memory.policy.grounding import names_day, unsaid
from memory.policy.screen import cited
from memory.policy.values import SURE, Passed, PolicyContext, WindowMessage
from memory.sensitive import (
    addresses_assistant,
    contact_or_payment,
    credentials,
    directive,
    hidden_text,
    show_hidden,
)
from memory.text import find_quotes, is_typed
from memory.vocabulary import Kind, Precision, State, Withheld

# Where the day ends last: UTC-12. Past for the server can still be today for the owner.
_LATEST_ZONE = timezone(-timedelta(hours=12))

Reason = tuple[Withheld, str]


def activation(
    passed: Passed, ctx: PolicyContext
) -> tuple[State, tuple[Withheld, ...], dict[Withheld, str]]:
    """The state to be born in, what withholds it, and what was found for those that find a phrase.

    Only what happened, on a day that is over, in words the owner typed, may pass: a standing
    preference or a how-to is where an instruction would hide.
    """
    reasons = [*((reason, "") for reason in passed.withheld), *_reasons(passed.candidate, ctx)]
    reasons = reasons or list(_ungrounded(passed.candidate, ctx))
    details = {reason: detail for reason, detail in reasons if detail}
    withheld = tuple(dict.fromkeys(reason for reason, _ in reasons))
    return (State.PENDING if withheld else State.ACTIVE), withheld, details


def remember_state(
    statement: str, *, message: WindowMessage | None, quote: str | None, at_cap: bool = False
) -> tuple[State, tuple[Withheld, ...], dict[Withheld, str]]:
    """For an assistant's `remember`: it must point at words that its owner typed.

    A statement with a credential must not be stored at all: ask `credentials` first.
    """
    reasons = list(sensitive_reasons((statement,), quotes=(quote or "",)))
    if message is None or quote is None or not _typed_by_owner(message, quote):
        reasons.append((Withheld.NOT_TYPED, ""))
    if at_cap:
        reasons.append((Withheld.CAP_REACHED, ""))
    state = State.PENDING if reasons else State.ACTIVE
    details = {reason: detail for reason, detail in reasons if detail}
    return state, tuple(reason for reason, _ in reasons), details


def sensitive_reasons(texts: tuple[str, ...], *, quotes: tuple[str, ...] = ()) -> Iterator[Reason]:
    """Texts are what an assistant would be shown; of quotes only hidden characters matter."""
    found = (
        (Withheld.DIRECTIVE, next(filter(None, map(directive, texts)), None)),
        (Withheld.ADDRESSES_ASSISTANT, next(filter(None, map(addresses_assistant, texts)), None)),
    )
    yield from ((reason, phrase) for reason, phrase in found if phrase)
    if any(contact_or_payment(text) or credentials(text) for text in texts):
        yield Withheld.CONTACT, ""
    if hiding := next(filter(hidden_text, (*texts, *quotes)), None):
        yield Withheld.HIDDEN_TEXT, show_hidden(hiding)


def is_over(validity: Validity, now: datetime) -> bool:
    """Did the whole day, month or year in which it began end before `now`, on any clock?"""
    if validity.start is None:
        return False
    return _after(validity.start, validity.precision) <= now.astimezone(_LATEST_ZONE).date()


def _after(start: date, precision: Precision) -> date:
    """The first day that is no longer part of the day, month or year of `start`."""
    if start.year == date.max.year:
        return date.max
    if precision == Precision.DAY:
        return start + timedelta(days=1)
    if precision == Precision.YEAR:
        return date(start.year + 1, 1, 1)
    return date(start.year + start.month // 12, start.month % 12 + 1, 1)


def _reasons(candidate: Candidate, ctx: PolicyContext) -> Iterator[Reason]:
    if candidate.kind == Kind.SEMANTIC:
        yield Withheld.DURABLE, ""
    elif candidate.kind == Kind.PROCEDURAL:
        yield Withheld.PROCEDURAL, ""
    elif not is_over(candidate.validity, ctx.now):
        yield Withheld.NO_DATE, ""
    if ctx.sure is None:
        yield Withheld.EVENTS_WAIT, ""
    if candidate.confidence < (ctx.sure or SURE):
        yield Withheld.LOW_CONFIDENCE, ""
    sources = cited(candidate, ctx)
    if any(message.kind == "document" for message, _ in sources):
        yield Withheld.DOCUMENT, ""
    elif not all(_typed_by_owner(message, quote) for message, quote in sources):
        yield Withheld.NOT_TYPED, ""
    names = (name for e in candidate.entities for name in (e.name, *e.aliases))
    quotes = tuple(source.quote for source in candidate.sources)
    yield from sensitive_reasons((candidate.statement, *names), quotes=quotes)
    if ctx.rule_based:
        yield Withheld.RULE_BASED, ""
    if ctx.at_cap:
        yield Withheld.CAP_REACHED, ""


def _ungrounded(candidate: Candidate, ctx: PolicyContext) -> Iterator[Reason]:
    """An event that nothing else withholds: a model may have misread what it cites."""
    sources, validity = cited(candidate, ctx), candidate.validity
    if not names_day(candidate.statement, validity.start, validity.precision):
        yield Withheld.NO_DATE, ""
    more = unsaid(
        candidate.statement,
        said="\n".join(message.content for message, _ in sources),
        quoted="\n".join(quote for _, quote in sources),
        day=validity.start,
        language=candidate.language,
    )
    if more:
        yield Withheld.OTHER_WORDS, more


def _typed_by_owner(message: WindowMessage, quote: str) -> bool:
    return message.is_owner_speech and any(
        is_typed(message.content, *found) for found in find_quotes(message.content, quote)
    )
