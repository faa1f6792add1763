"""What a message of several sentences may ask: its topics. Pure."""

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import NamedTuple

from memory.recall.small_talk import FUNCTION_WORDS, SMALL_TALK
from memory.text.words import words

# Sentences of fewer content words say nothing without their neighbours, unless they ask.
TOPIC_WORDS = 4
# Topics read at most, and characters of one.
TOPICS = 4
TOPIC_READ = 300

# Behind some a space follows, and a quotation mark or a bracket may stand between.
_SPACED = ".!?…؟।॥۔։።፧\u037e"
_GLUED = "。！？｡។။།"
_CLOSING = r"\"'”’»)\]*_"
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"
_END = re.compile(
    rf"(?<=[{_SPACED}])\s+|(?<=[{_SPACED}][{_CLOSING}])\s+|(?<=[{_GREEK}];)\s+"
    rf"|(?<=[{_GLUED}])(?![」』”）])|(?<=[{_GLUED}][」』”）])"
)
# Inside of an address it asks nothing.
_ASKS = re.compile(rf"\?(?![\w=&])|[？؟፧՞\u037e]|[{_GREEK}];")


class Topic(NamedTuple):
    text: str
    asks: bool


def content_words(text: str) -> list[str]:
    """In order; of English only what is no function word."""
    return [word for word in words(text) if word not in FUNCTION_WORDS and says(word)]


def says(word: str) -> bool:
    return any(char.isalnum() for char in word)


def questions(text: str) -> int:
    """How many there seem to be."""
    return len(_ASKS.findall(text))


def topics(text: str) -> list[Topic]:
    """Sentences, each behind those that say too little by themselves; what a line asks stands by
    itself, and so do the first line and the last: a request may, whatever was pasted beside it. A
    long sentence is several."""
    parted = _Parted()
    lines = [line for line in text.splitlines() if says(line)]
    edges = {0, len(lines) - 1} if len(lines) > 1 else set()
    for place, line in enumerate(lines):
        is_alone = place in edges and _is_of_something(line)
        if is_alone:
            parted.end()
        for number, sentence in enumerate(_sentences(line)):
            parted.add(sentence, begins=not number)
        if is_alone:
            parted.end(enough=1)
    parted.end()
    return parted.found


def _is_of_something(line: str) -> bool:
    return any(word not in SMALL_TALK for word in content_words(line))


def chosen(found: Sequence[Topic]) -> list[Topic]:
    """What is asked stands before or behind what was pasted, mostly behind, if it does not show
    that it asks."""
    if len(found) <= TOPICS:
        return list(found)
    between = range(1, len(found) - 1)
    best = sorted(between, key=lambda place: (not found[place].asks, -place))
    return [found[place] for place in sorted({0, *best[: TOPICS - 2], len(found) - 1})]


class _Parted:
    def __init__(self) -> None:
        self.found: list[Topic] = []
        self._waiting = ""

    def add(self, sentence: str, *, begins: bool) -> None:
        """`begins`: at the start of a line."""
        asks = bool(_ASKS.search(sentence))
        if (asks and begins) or len(self._waiting) + len(sentence) > TOPIC_READ:
            self.end()
        self._waiting = f"{self._waiting} {sentence}".strip()
        if len(content_words(self._waiting)) >= (1 if asks else TOPIC_WORDS):
            self._found(asks)

    def end(self, enough: int = TOPIC_WORDS) -> None:
        """What says too little belongs to what stands before it."""
        said = len(content_words(self._waiting))
        last = self.found[-1] if self.found else None
        fits = last and len(last.text) + len(self._waiting) < TOPIC_READ
        if said >= enough or (said and not fits):
            self._found(asks=False)
        elif said and last:
            self.found[-1] = Topic(f"{last.text} {self._waiting}", last.asks)
        self._waiting = ""

    def _found(self, asks: bool) -> None:
        self.found.append(Topic(self._waiting, asks))
        self._waiting = ""


def _sentences(line: str) -> Iterator[str]:
    for sentence in _END.split(line):
        if len(sentence) <= TOPIC_READ:
            yield sentence
        else:
            yield from wrap(sentence, TOPIC_READ, break_on_hyphens=False)
