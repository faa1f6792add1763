"""From the owner's messages to candidates."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, tzinfo

from memory.extraction.rules.clauses import (
    head,
    is_cut_short,
    is_negated,
    plain,
    points_elsewhere,
    time_last,
    without_fillers,
)
from memory.extraction.rules.dates import Dated, Resolved, date_in_front, resolve_dates
from memory.extraction.rules.grammar import third_person
from memory.extraction.rules.patterns import ENTITY_GROUPS, Group, patterns
from memory.extraction.rules.sentences import typed_sentences
from memory.extraction.rules.skips import is_earnest, is_fiction, is_unsure
from memory.extraction.schema import (
    MAX_STATEMENT,
    Candidate,
    EntityMention,
    SourceQuote,
    Validity,
)
from memory.policy.values import WindowMessage
from memory.text import detect_language, has_relative_date, normalise
from memory.text.language import UNKNOWN
from memory.vocabulary import Kind

_FUTURE = re.compile(
    r"\b(?:will|am going|am \w+ing|are \w+ing|plan|have an?|have to|need to|want|decided to)\b",
    re.IGNORECASE,
)
_ABOUT_USER = re.compile(r"^The user\b|\bthe user's\b")
_AND = re.compile(r", and |, | and | & ")
_LONGEST_NAME = 60
_FEWEST_WORDS, _MOST_WORDS = 4, 45


def observe(messages: Sequence[WindowMessage], *, zone: tzinfo | None = None) -> list[Candidate]:
    """Candidates in the order in which they were said; the same statement only once.

    Dates are resolved on the sender's clock: `sent_at` in its own zone, or in `zone` if given.
    """
    found: dict[str, Candidate] = {}
    for message in messages:
        for candidate in _in_message(message, zone):
            found.setdefault(normalise(candidate.statement), candidate)
    return list(found.values())


def _in_message(message: WindowMessage, zone: tzinfo | None) -> Iterator[Candidate]:
    if not message.is_owner_speech or is_fiction(message.content):
        return
    sentences = list(typed_sentences(message.content))
    language = detect_language(" ".join(sentence.text for sentence in sentences))
    if language not in ("en", UNKNOWN):  # too short to tell: the patterns are English enough
        return
    said = message.sent_at.astimezone(zone).date() if zone else message.sent_at.date()
    for sentence in sentences:
        candidate = _candidate(sentence.text, message.handle, said)
        if candidate:
            yield candidate


def _candidate(sentence: str, handle: int, said: date) -> Candidate | None:
    text = plain(sentence)
    clause = _plain_clause(text)
    if not is_earnest(sentence) or is_unsure(clause):
        return None
    dated = resolve_dates(clause, said, future=bool(_FUTURE.search(clause)))
    if dated is None or points_elsewhere(dated.text) or is_cut_short(dated.bare):
        return None
    if match := _match(dated):
        return _proposal(*match, dated, said, SourceQuote(message=handle, quote=sentence))
    return None


def _plain_clause(text: str) -> str:
    """`Last week I moved, and …` as `I moved last week`."""
    length = date_in_front(text)
    rest = text[length:].lstrip(" ,")
    if not length or not re.match(r"(?:I|my)\b", rest, re.IGNORECASE):
        return time_last(without_fillers(head(text)))
    return f"{without_fillers(head(rest))} {text[:1].lower()}{text[1:length]}"


def _match(dated: Dated) -> tuple[Group, re.Match[str]] | None:
    for group, regex in patterns():
        if (group.dated and not dated.when) or is_negated(dated.bare) != group.negative:
            continue
        if match := regex.fullmatch(dated.bare):
            return group, match
    return None


def _proposal(
    group: Group, match: re.Match[str], dated: Dated, said: date, source: SourceQuote
) -> Candidate | None:
    statement = third_person(dated.text, past=group.past)
    words = len(statement.split())
    if not _FEWEST_WORDS <= words <= _MOST_WORDS or len(statement) > MAX_STATEMENT:
        return None
    if has_relative_date(statement, "en") or not _ABOUT_USER.search(statement):
        return None
    return Candidate(
        statement=statement,
        kind=group.kind,
        confidence=group.confidence,
        tags=list(group.tags),
        entities=_entities(match),
        sources=[source],
        validity=_validity(group, dated.when, said),
        language="en",
        changes_behavior=True,
        about_owner=True,
        general_knowledge=False,
    )


def _entities(match: re.Match[str]) -> list[EntityMention]:
    found = [
        EntityMention(type=ENTITY_GROUPS[group], name=name)
        for group, names in match.groupdict().items()
        for name in (part.strip(" .,'") for part in _AND.split(names or ""))
        if 0 < len(name) <= _LONGEST_NAME
    ]
    return found[:10]


def _validity(group: Group, when: Resolved | None, said: date) -> Validity:
    """A date says when an event or a plan is; of a durable fact it may say anything."""
    if when is None or when.start is None:
        return Validity()
    if group.past and when.start > said:
        return Validity()  # "signed up for a course next month"
    if group.kind == Kind.EPISODIC or group.dated:
        return Validity(start=when.start, precision=when.precision)
    return Validity()
