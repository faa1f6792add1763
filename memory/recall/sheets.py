"""What facts have of a message's words. A thousand facts are usual, hence arrays; of the few that
are candidates sheets are written."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from memory.recall.lexical import Asked, saturation

# As the statement of terms.py packs a fact that has a term: big-endian, as Postgres sends.
_PACKED = np.dtype(
    [("id", "S16"), ("tf", ">f8"), ("length", ">i4"), ("words", ">i4"), ("stated", "?")]
)


@dataclass
class Sheet:
    """What a fact has of the message's words, by their numbers. A quote's words count half. What
    that is worth may be known already, and then the words need not be told: see `Worth`."""

    length: float
    words: int
    times: dict[int, float] = field(default_factory=dict)
    stated: set[int] = field(default_factory=set)
    # Time expressions in it, 2 at most.
    dates: float = 0.0
    worth: "Worth | None" = None

    def note(self, word: int, times: float, stated: bool) -> None:
        self.times[word] = max(times, self.times.get(word, 0.0))
        if stated:
            self.stated.add(word)


class Worth(NamedTuple):
    """How much of what was asked a fact meets, as `Asked.score` has it, and how much of it its
    statement does, as `Asked.share`."""

    met: float
    stated: float


@dataclass(frozen=True)
class Sheets:
    """`ids` are 16 bytes each, in order; `times` and `stated` have a row a word and a column a
    fact."""

    ids: Any
    times: Any
    stated: Any
    lengths: Any
    sizes: Any

    @classmethod
    def unpacked(cls, packed: Iterable[tuple[int, bytes]], words: int) -> "Sheets":
        """By number of word, as often as it has lexemes: the lexeme that a fact has most counts."""
        pairs = [(word, np.frombuffer(facts, _PACKED)) for word, facts in packed]
        found = np.concatenate([facts for _, facts in pairs] or [np.empty(0, _PACKED)])
        of_word = np.repeat([word for word, _ in pairs], [len(facts) for _, facts in pairs])
        ids, first, of_fact = np.unique(found["id"], return_index=True, return_inverse=True)
        times, stated = np.zeros((words, len(ids))), np.zeros((words, len(ids)), bool)
        if len(ids):
            np.maximum.at(times, (of_word, of_fact), found["tf"].astype(float))
            said = found["stated"]
            stated[of_word[said], of_fact[said]] = True
        return cls(ids, times, stated, found["length"][first], found["words"][first])

    @classmethod
    def of(cls, sheets: Mapping[UUID, Sheet], words: int) -> "Sheets":
        pairs = sorted((fact_id.bytes, sheet) for fact_id, sheet in sheets.items())
        times, stated = np.zeros((words, len(pairs))), np.zeros((words, len(pairs)), bool)
        for column, (_, sheet) in enumerate(pairs):
            for word, count in sheet.times.items():
                times[word, column] = count
            stated[list(sheet.stated), column] = True
        return cls(
            np.array([key for key, _ in pairs], "S16"),
            times,
            stated,
            np.array([sheet.length for _, sheet in pairs]),
            np.array([sheet.words for _, sheet in pairs]),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def all(self) -> dict[UUID, Sheet]:
        return {self.id(place): self._sheet(place) for place in range(len(self))}

    def get(self, fact_id: UUID) -> Sheet | None:
        place = self._places.get(fact_id.bytes)
        return None if place is None else self._sheet(place)

    def id(self, place: int) -> UUID:
        return UUID(bytes=self._keys[place])

    def counts(self) -> list[int]:
        """How many facts have each word."""
        counted: list[int] = np.count_nonzero(self.times, axis=1).tolist()
        return counted

    def best(self, asked: Asked, average: float, rows: int) -> list[tuple[int, float]]:
        """Places and scores of those that meet most of what was asked; equals by id."""
        scores = self.scores(asked, average)
        places = np.argsort(-scores, kind="stable")[:rows]
        return list(zip(places.tolist(), scores[places].tolist(), strict=True))

    def scores(self, asked: Asked, average: float) -> Any:
        scores = np.zeros(len(self))
        for word, times in enumerate(self.times):
            scores += asked.rarities[word] * saturation(times, self.lengths, average)
        return scores / asked.whole

    def worths(
        self, asked: Asked, said: Asked, average: float, facts: Collection[UUID]
    ) -> dict[UUID, Worth]:
        """Of those of the facts that have any of the words."""
        if not (facts and len(self)):
            return {}
        sought = np.array([fact.bytes for fact in facts], self.ids.dtype)
        places = np.minimum(np.searchsorted(self.ids, sought), len(self) - 1)
        is_there = self.ids[places] == sought
        weights = np.array([said.rarities.get(word, 0.0) for word in range(len(self.times))])
        met = self.scores(asked, average)[places]
        stated = weights @ self.stated[:, places] / said.whole
        return {
            fact: Worth(*worth)
            for fact, known, *worth in zip(
                facts, is_there.tolist(), met.tolist(), stated.tolist(), strict=True
            )
            if known
        }

    def words_of(self, place: int) -> list[int]:
        numbers: list[int] = np.flatnonzero(self.times[:, place]).tolist()
        return numbers

    def _sheet(self, place: int) -> Sheet:
        times, stated = self.times[:, place].tolist(), self.stated[:, place].tolist()
        return Sheet(
            int(self.lengths[place]),
            int(self.sizes[place]),
            {word: count for word, count in enumerate(times) if count},
            {word for word, is_stated in enumerate(stated) if is_stated},
        )

    @cached_property
    def _keys(self) -> Sequence[bytes]:
        raw = self.ids.tobytes()
        return [raw[start : start + 16] for start in range(0, len(raw), 16)]

    @cached_property
    def _places(self) -> dict[bytes, int]:
        return {key: place for place, key in enumerate(self._keys)}
