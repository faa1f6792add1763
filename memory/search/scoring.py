"""How likely a passage is what was asked for, in nats. Pure.

A score is absolute: it depends on the question and the record, not on what else was found.
Weights fitted on two conversations of LoCoMo and rounded; docs/search.md says what each is worth.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

from memory.recall.lexical import K1, B, rarity
from memory.search.index import Entry, Postings, Said, Stretch
from memory.text.normal import normalise

MEANING, NEAR_WORDS, STRETCH_WORDS = 7.0, 6.0, 6.0
SPEAKER, LENGTH, QUESTION, WHEN, KEY = 0.8, 0.9, -0.8, 1.25, 0.35
# Answers follow questions, so what was said before tells more than what follows.
WINDOW = {-2: 0.3, -1: 0.6, 0: 1.0, 1: 0.4, 2: 0.3}
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
_TIMES = re.compile(
    r"\d|\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|since"
    r"|recently|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|eilen|tänään|huomenna|viime|ensi|sitten|viikolla|vuonna|\w+kuussa|\w+tai"
    r"|gestern|heute|morgen|letzte[nrs]?|nächste[nrs]?|vor|woche|monat|jahr|\w+tag"
    r"|hier|demain|dernière?|prochaine?|semaine|mois|année|ayer|hoy|mañana|pasad[oa]|semana|mes|año"
    r"|вчера|сегодня|завтра|назад|أمس|اليوم|غدا)\b|昨天|今天|明天|上周|去年|昨日|今日|明日|先週|เมื่อวาน|วันนี้|พรุ่งนี้",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|my|me|mine|myself|minä|minun|minulla|mulla|ich|mein|meine|mir|mich|je|mon|ma|mes|yo|mi"
    r"|eu|meu|minha|io|mio|jag|min|я|мой|моя|أنا)\b|我|私|僕|ฉัน|ผม",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


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
    windows: dict[tuple[UUID, int, int], dict[int, float]] = field(default_factory=dict)

    @cached_property
    def rarities(self) -> list[float]:
        return [rarity(count, self.record.passages) for count in self.postings.counts()]

    @cached_property
    def whole(self) -> float:
        return sum(self.rarities) or 1.0

    def best(self, rows: int) -> list[UUID]:
        """By their own words."""
        scores: dict[UUID, float] = defaultdict(float)
        for word, passages in enumerate(self.postings.passages):
            for passage, times in passages.items():
                length = self.postings.lengths[passage]
                scores[passage] += self.rarities[word] * _saturation(
                    times, length / self.record.average
                )
        return sorted(scores, key=lambda passage: (-scores[passage], passage))[:rows]

    def near(self, entry: Entry, length: float) -> float:
        """By the words of a passage and of what was said around it."""
        relative = length / max(self.record.average_window, 1.0)
        met = 0.0
        for word, places in enumerate(self.postings.by_place):
            times = sum(
                weight * places.get((*entry.stretch, entry.place + step), 0.0)
                for step, weight in WINDOW.items()
            )
            if times:
                met += self.rarities[word] * _saturation(times, relative)
        return met / self.whole

    @cached_property
    def stretches(self) -> list[dict[Stretch, float]]:
        found: list[dict[Stretch, float]] = []
        for places in self.postings.by_place:
            sums: dict[Stretch, float] = defaultdict(float)
            for (conversation, number, _), times in places.items():
                sums[conversation, number] += times
            found.append(sums)
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
        self.question, self.terms, self.texts = question, terms, texts
        self.cosines, self.keys = cosines, keys
        self.lengths: dict[Stretch, dict[int, int]] = defaultdict(dict)
        for entry in neighbours:
            self.lengths[entry.stretch][entry.place] = entry.length
        named = question.names({said.speaker for said in texts.values()})
        self.named = named if len(named) == 1 else set()
        self.of_owner = not named and question.is_of_the_owner
        self.asks_when = question.asks_when
        self.stretches = {
            stretch: terms.in_stretch(stretch, sum(places.values()))
            for stretch, places in self.lengths.items()
        }

    def score(self, entry: Entry) -> float:
        said = self.texts[entry.passage]
        places = self.lengths[entry.stretch]
        length = sum(w * places.get(entry.place + step, 0) for step, w in WINDOW.items())
        spoken = said.speaker in self.named or (self.of_owner and said.from_owner)
        total = MEANING * self.cosines.get(entry.passage, 0.0)
        total += NEAR_WORDS * self.terms.near(entry, length)
        total += STRETCH_WORDS * self.stretches[entry.stretch]
        total += SPEAKER * spoken + LENGTH * math.log1p(entry.words)
        total += QUESTION * said.text.rstrip().endswith(("?", "？", "؟"))
        if self.asks_when:
            total += WHEN * min(2, len(_TIMES.findall(said.text)))
        if said.message is not None:
            total += KEY * self.keys.get(said.message, 0.0)
        return total


def _saturation(times: float, relative_length: float, *, b: float = B) -> float:
    return times * (K1 + 1) / (times + K1 * (1 - b + b * relative_length))
