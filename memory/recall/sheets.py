"""What facts have of a message's words. A thousand facts are usual, hence arrays; a sheet tells of
one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from memory.recall.lexical import Asked, saturation

# As the statement of terms.py packs a fact that has a term: big-endian, as Postgres sends.
_PACKED = np.dtype(
    [("id", "S16"), ("tf", ">f8"), ("length", ">i4"), ("words", ">i4"), ("stated", "?")]
)


class Every(NamedTuple):
    """What the term that every fact has tells of it: time expressions in it, 2 at most, and the
    sizes that its sheet has."""

    dates: float
    length: float
    words: int


@dataclass
class Sheet:
    """What a fact has of the message's words, by their numbers. A quote's words count half."""

    length: float
    words: int
    times: dict[int, float] = field(default_factory=dict)
    stated: set[int] = field(default_factory=set)
    # Time expressions in it, 2 at most.
    dates: float = 0.0

    def note(self, word: int, times: float, stated: bool) -> None:
        self.times[word] = max(times, self.times.get(word, 0.0))
        if stated:
            self.stated.add(word)


@dataclass(frozen=True)
class Sheets:
    """`ids` are 16 bytes each; `times` and `stated` have a row a word and a column a fact, all else
    a place a fact."""

    ids: Any
    times: Any
    stated: Any
    lengths: Any
    sizes: Any
    dates: Any

    @classmethod
    def unpacked(cls, packed: Iterable[tuple[int, bytes]], words: int) -> "Sheets":
        """In the order of ids, by number of word, as often as it has lexemes: the lexeme that a
        fact has most counts. Times are not told."""
        pairs = [(word, np.frombuffer(facts, _PACKED)) for word, facts in packed]
        found = np.concatenate([facts for _, facts in pairs] or [np.empty(0, _PACKED)])
        of_word = np.repeat([word for word, _ in pairs], [len(facts) for _, facts in pairs])
        ids, first, of_fact = np.unique(found["id"], return_index=True, return_inverse=True)
        times, stated = np.zeros((words, len(ids))), np.zeros((words, len(ids)), bool)
        if len(ids):
            np.maximum.at(times, (of_word, of_fact), found["tf"].astype(float))
            said = found["stated"]
            stated[of_word[said], of_fact[said]] = True
        lengths, sizes = (found[name][first].astype(float) for name in ("length", "words"))
        return cls(ids, times, stated, lengths, sizes, np.zeros(len(ids)))

    @classmethod
    def of(
        cls, sheets: Mapping[UUID, Sheet], words: int, facts: Iterable[UUID] | None = None
    ) -> "Sheets":
        """Of `facts`, in their order; of all in the order of ids without."""
        ids = sorted(sheets, key=lambda key: key.bytes) if facts is None else list(facts)
        table = cls._empty([key.bytes for key in ids], words)
        for column, key in enumerate(ids):
            if key in sheets:
                table.put(column, sheets[key])
        return table

    @classmethod
    def _empty(cls, ids: Sequence[bytes], words: int) -> "Sheets":
        shape = words, len(ids)
        lengths, sizes, dates = np.zeros((3, len(ids)))
        times, stated = np.zeros(shape), np.zeros(shape, bool)
        return cls(np.array(ids, "S16"), times, stated, lengths, sizes, dates)

    def of_facts(self, facts: Mapping[UUID, Every]) -> "Sheets":
        """Of those facts, in their order, whether they have any of the words or none. Own ids have
        to be in order."""
        table = self._empty([key.bytes for key in facts], len(self.times))
        if facts:
            every = np.array(list(facts.values()), float).T
            table.dates[:], table.lengths[:], table.sizes[:] = every
        if len(self):
            places = np.minimum(np.searchsorted(self.ids, table.ids), len(self) - 1)
            known = self.ids[places] == table.ids
            places = places[known]
            table.times[:, known], table.stated[:, known] = (
                self.times[:, places],
                self.stated[:, places],
            )
            table.lengths[known], table.sizes[known] = self.lengths[places], self.sizes[places]
        return table

    def put(self, column: int, sheet: Sheet) -> None:
        """In place of what a fact has."""
        self.lengths[column], self.sizes[column] = sheet.length, sheet.words
        self.dates[column] = sheet.dates
        self.times[:, column], self.stated[:, column] = 0.0, False
        for word, count in sheet.times.items():
            self.times[word, column] = count
        self.stated[list(sheet.stated), column] = True

    def note(self, column: int, word: int, times: float, stated: bool) -> None:
        self.times[word, column] = max(times, self.times[word, column])
        self.stated[word, column] |= stated

    def __len__(self) -> int:
        return len(self.ids)

    def all(self) -> dict[UUID, Sheet]:
        ids = self.ids_of(slice(None))
        return {key: self.sheet(place) for place, key in enumerate(ids)}

    def ids_of(self, places: Any) -> list[UUID]:
        raw = self.ids[places].tobytes()
        return [UUID(bytes=raw[start : start + 16]) for start in range(0, len(raw), 16)]

    def have(self, places: Any) -> list[list[bool]]:
        """A row a fact, which says of each word whether the fact has it."""
        rows: list[list[bool]] = (self.times[:, places] > 0).T.tolist()
        return rows

    def counts(self) -> list[int]:
        """How many facts have each word."""
        counted: list[int] = np.count_nonzero(self.times, axis=1).tolist()
        return counted

    def best(self, readings: Iterable[Asked], average: float, rows: int) -> tuple[Any, list[float]]:
        """Places and scores of those that meet most of what was asked; equals by id."""
        scores = self.met(readings, average)
        places = np.argsort(-scores, kind="stable")[:rows]
        return places, scores[places].tolist()

    def met(self, readings: Iterable[Asked], average: float) -> Any:
        """How much of it each meets, by the reading that it meets most of."""
        return np.maximum.reduce([self.scores(asked, average) for asked in readings])

    def scores(self, asked: Asked, average: float) -> Any:
        """About 0 to 1.5, comparable between questions."""
        scores = np.zeros(len(self))
        for word, rarity in asked.rarities.items():
            scores += rarity * saturation(self.times[word], self.lengths, average)
        return scores / asked.whole

    def shares(self, said: Asked) -> Any:
        """How much of it each states, 0 to 1."""
        shares = np.zeros(len(self))
        for word, rarity in said.rarities.items():
            shares += rarity * self.stated[word]
        return shares / said.whole

    def sheet(self, place: int) -> Sheet:
        times, stated = self.times[:, place].tolist(), self.stated[:, place].tolist()
        return Sheet(
            int(self.lengths[place]),
            int(self.sizes[place]),
            {word: count for word, count in enumerate(times) if count},
            {word for word, is_stated in enumerate(stated) if is_stated},
            float(self.dates[place]),
        )
