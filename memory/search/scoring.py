"""How likely a passage is what was asked for, in nats. Pure.

A score is absolute: it depends on the question and the record, not on what else was found.
Weights fitted on two conversations of LoCoMo and rounded; docs/search.md says what each is worth.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
import numpy.typing as npt

from memory.recall.lexical import K1, B, rarity
from memory.search.index import Entry, Postings, Said, Stretch
from memory.text.normal import normalise

MEANING, NEAR_WORDS, STRETCH_WORDS = 7.0, 6.0, 6.0
SPEAKER, LENGTH, QUESTION, WHEN, KEY = 0.8, 0.9, -0.8, 1.25, 0.35
# Answers follow questions, so what was said before tells more than what follows.
WINDOW = {-2: 0.3, -1: 0.6, 0: 1.0, 1: 0.4, 2: 0.3}
_REACH = 2
_EDGE = 2.2  # weight that the ends of a stretch lack, both together
# A stretch is long, and its length says how much it strays.
_STRETCH_B = 0.75

_ASKS_WHEN = re.compile(
    r"\b(?:when|how long|(?:what|which) (?:date|day|year|month|time)|milloin|koska|mihin aikaan"
    r"|kuinka kauan|wann|wie lange|quand|combien de temps|cuándo|cuánto tiempo|quando|quanto tempo"
    r"|wanneer|hoe lang|när|hur länge|når|hvor længe|kiedy|kdy|mikor|ne zaman|когда|сколько времени"
    r"|коли|متى)\b|什么时候|何时|几点|いつ|何時|เมื่อไหร่|เมื่อไร|언제",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_TIMES = frozenset(
    _WORD.findall(
        "yesterday today tonight tomorrow last next ago week weeks weekend month months year years"
        " since recently january february march april may june july august september october"
        " november december monday tuesday wednesday thursday friday saturday sunday"
        " eilen tänään huomenna viime ensi sitten viikolla vuonna gestern heute morgen vor"
        " letzte letzten letzter letztes nächste nächsten nächster nächstes woche monat jahr"
        " hier demain dernier dernière prochain prochaine semaine mois année"
        " ayer hoy mañana pasado pasada semana mes año"
        " вчера сегодня завтра назад أمس اليوم غدا"
    )
)
_TIME_ENDINGS = ("kuussa", "tai", "tag")
_TIMES_UNSPACED = re.compile("昨天|今天|明天|上周|去年|昨日|今日|明日|先週|เมื่อวาน|วันนี้|พรุ่งนี้")
_FIRST_PERSON = re.compile(
    r"\b(?:i|my|me|mine|myself|minä|minun|minulla|mulla|ich|mein|meine|mir|mich|je|mon|ma|mes|yo|mi"
    r"|eu|meu|minha|io|mio|jag|min|я|мой|моя|أنا)\b|我|私|僕|ฉัน|ผม",
    re.IGNORECASE,
)

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    text: str

    @property
    def asks_when(self) -> bool:
        return bool(_ASKS_WHEN.search(self.text))

    @property
    def is_of_the_owner(self) -> bool:
        return bool(_FIRST_PERSON.search(self.text))

    def names(self, speakers: Iterable[str]) -> set[str]:
        text = f" {' '.join(_WORD.findall(normalise(self.text)))} "
        return {name for name in speakers if name and f" {normalise(name)} " in text}


@dataclass(frozen=True)
class Record:
    """Of all that may be searched: passages, the sum of their lengths, stretches."""

    passages: int
    length: int
    stretches: int

    @property
    def average(self) -> float:
        return self.length / max(self.passages, 1)

    @property
    def average_window(self) -> float:
        inside = sum(WINDOW.values()) * self.passages - _EDGE * self.stretches
        return max(self.average, self.average * inside / max(self.passages, 1))

    @property
    def average_stretch(self) -> float:
        return self.length / max(self.stretches, 1)


@dataclass
class Terms:
    """The lexical part. What is divided by `whole` is the share of the question that is met."""

    postings: Postings
    record: Record

    @cached_property
    def rarities(self) -> list[float]:
        return [rarity(count, self.record.passages) for count in self.postings.counts()]

    @cached_property
    def whole(self) -> float:
        return sum(self.rarities) or 1.0

    def best(self, rows: int) -> list[UUID]:
        """By their own words."""
        known, scores = self.postings, defaultdict[int, float](float)
        for rare, passages in zip(self.rarities, known.by_number, strict=True):
            for number, times in passages.items():
                length = known.lengths[number]
                scores[number] += rare * _saturation(times, length / self.record.average)
        order = sorted(scores, key=lambda number: (-scores[number], known.passages[number]))
        return [known.passages[number] for number in order[:rows]]

    def near(self, entries: Sequence[Entry]) -> dict[UUID, float]:
        """By the words of a passage and of what was said around it. `entries`: all of some
        stretches."""
        line = _Line(entries)
        relative = line.around(line.lengths()) / max(self.record.average_window, 1.0)
        met = np.zeros(line.size)
        for rare, stretches in zip(self.rarities, self.postings.by_stretch, strict=True):
            times = line.around(line.times(stretches))
            met += rare * _saturation(times, relative)
        shares = (met / self.whole).tolist()
        return {entry.passage: shares[line.at(entry)] for entry in entries}

    @cached_property
    def stretches(self) -> list[dict[Stretch, float]]:
        found: list[dict[Stretch, float]] = []
        for stretches in self.postings.by_stretch:
            found.append({key: sum(places.values()) for key, places in stretches.items()})
        return found

    def in_stretch(self, stretch: Stretch, length: float) -> float:
        """By the words of the whole stretch, as one text."""
        relative = length / max(self.record.average_stretch, 1.0)
        met = 0.0
        for sums in self.stretches:
            if times := sums.get(stretch):
                rare = rarity(len(sums), self.record.stretches)
                met += rare * _saturation(times, relative, b=_STRETCH_B)
        return met / self.whole


class _Line:
    """The passages of some stretches on one line, with gaps where a window reaches over an end."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries
        self.last: dict[Stretch, int] = {}
        for entry in entries:
            self.last[entry.stretch] = max(entry.place, self.last.get(entry.stretch, 0))
        self.starts: dict[Stretch, int] = {}
        self.size = 0
        for stretch, place in self.last.items():
            self.starts[stretch] = self.size
            self.size += place + 1 + _REACH

    def at(self, entry: Entry) -> int:
        return self.starts[entry.stretch] + entry.place

    def lengths(self) -> Numbers:
        found = np.zeros(self.size)
        for entry in self.entries:
            found[self.at(entry)] = entry.length
        return found

    def times(self, stretches: Mapping[Stretch, Mapping[int, float]]) -> Numbers:
        found = np.zeros(self.size)
        for stretch, start in self.starts.items():
            for place, times in stretches.get(stretch, {}).items():
                # What came meanwhile stands behind what was read.
                if place <= self.last[stretch]:
                    found[start + place] = times
        return found

    def around(self, numbers: Numbers) -> Numbers:
        """Each with its neighbours, weighted."""
        padded = np.pad(numbers, _REACH)
        total = np.zeros(self.size)
        for step, weight in WINDOW.items():
            total += weight * padded[_REACH + step : _REACH + step + self.size]
        return total


class Scorer:
    """`cosines` is empty where the model can't tell; `keys` is by message."""

    def __init__(
        self,
        question: Question,
        terms: Terms,
        neighbours: Sequence[Entry],
        texts: Mapping[UUID, Said],
        cosines: Mapping[UUID, float],
        keys: Mapping[UUID, float],
    ) -> None:
        self.texts, self.cosines, self.keys = texts, cosines, keys
        named = question.names({said.speaker for said in texts.values()})
        self.named = named if len(named) == 1 else set()
        self.of_owner = not named and question.is_of_the_owner
        self.asks_when = question.asks_when
        self.near = terms.near(neighbours)
        lengths: dict[Stretch, dict[int, int]] = defaultdict(dict)
        for entry in neighbours:
            lengths[entry.stretch][entry.place] = entry.length
        self.stretches = {
            stretch: terms.in_stretch(stretch, sum(places.values()))
            for stretch, places in lengths.items()
        }

    def score(self, entry: Entry) -> float:
        said = self.texts[entry.passage]
        spoken = said.speaker in self.named or (self.of_owner and said.from_owner)
        total = MEANING * self.cosines.get(entry.passage, 0.0)
        # Neighbours were read later; of what was purged meanwhile nothing is known.
        total += NEAR_WORDS * self.near.get(entry.passage, 0.0)
        total += STRETCH_WORDS * self.stretches.get(entry.stretch, 0.0)
        total += SPEAKER * spoken + LENGTH * math.log1p(entry.words)
        total += QUESTION * said.text.rstrip().endswith(("?", "？", "؟"))
        if self.asks_when:
            total += WHEN * min(2, _times_in(said.text))
        if said.message is not None:
            total += KEY * self.keys.get(said.message, 0.0)
        return total


def _times_in(text: str) -> int:
    """Digits, and words for a time."""
    text = text.lower()
    words: int = sum(
        word in _TIMES or (word.endswith(_TIME_ENDINGS) and word not in _TIME_ENDINGS)
        for word in _WORD.findall(text)
    )
    digits = sum(map(str.isdecimal, text))
    return digits + words + len(_TIMES_UNSPACED.findall(text))


def _saturation(times: Any, relative_length: Any, *, b: float = B) -> Any:
    """Of one text, or of an array of them."""
    return times * (K1 + 1) / (times + K1 * (1 - b + b * relative_length))
