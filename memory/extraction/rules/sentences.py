"""An owner's message as sentences, each with its place in the message."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.text import typed_spans

_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|\n+|(?<=[\u2600-\u27bf\U0001f300-\U0001faff])\s+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|approx|no|dept|inc|ltd|jr|sr|e\.g|i\.e|a\.m|p\.m|u\.s|u\.k)"
    r"|\b[A-Z])\.\s*\Z",
    re.IGNORECASE,
)
_LONGEST = 300  # characters; nobody says one simple thing about himself in more


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is verbatim."""

    text: str
    start: int
    end: int


def typed_sentences(content: str) -> Iterator[Sentence]:
    """Sentences of what the owner typed; a piece beside pasted text is none."""
    for start, end in typed_spans(content):
        for sentence in _sentences(content, start, end):
            if len(sentence.text) <= _LONGEST and _stands_alone(content, sentence):
                yield sentence


def _sentences(content: str, start: int, end: int) -> Iterator[Sentence]:
    begin = start
    for stop in [*_ends(content, start, end), end]:
        text = content[begin:stop]
        stripped = text.strip()
        if stripped:
            first = begin + text.index(stripped[0])
            yield Sentence(stripped, first, first + len(stripped))
        begin = stop


def _ends(content: str, start: int, end: int) -> Iterator[int]:
    for match in _END.finditer(content, start, end):
        if "\n" in match[0] or not _ABBREVIATION.search(content[start : match.start()][-12:]):
            yield match.end()


def _stands_alone(content: str, sentence: Sentence) -> bool:
    """Not the rest of a line of which the other part is code or a quotation."""
    before = content[: sentence.start].rstrip(" \t*-•")
    after = content[sentence.end :].lstrip(" \t")
    return before[-1:] not in set('`"“„«‘') and after[:1] not in set("`“„«‘")
