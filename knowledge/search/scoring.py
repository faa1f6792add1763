"""What of the documents bears on a question, and how much. Pure.

A score is absolute: it depends on the question and the documents, not on what else was found.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from knowledge.search.index import Sheet

# Either gate opens: meaning, or words in common. Of words two, or as many as make half of all that
# was asked: a rare word tells, a common one does not.
LEAST_COSINE = 0.25
LEAST_WORDS, LEAST_SHARE = 2, 0.15
TELLING_SHARE = 0.5
# How much a passage's cosine and its words weigh, and what of the question its title and headings
# have: few words, chosen to tell what it is about.
MEANING, WORDS, HEADINGS = 1.0, 0.5, 0.1
K1, B = 1.2, 0.75
# What raises or lowers a score, and never decides whether a passage is found.
CLOSE, OUTCOME, WEB = 1.5, 0.8, 0.6
PER_DOCUMENT = 2


@dataclass(frozen=True)
class Match:
    """`share`: how much of the question its words are, 0 to 1; `headed`: those of its title and
    headings alone. `cosine` is None where the model can't tell."""

    passage: UUID
    cosine: float | None
    words: int
    share: float
    lexical: float
    headed: float = 0.0

    @property
    def opens(self) -> bool:
        if self.cosine is not None and self.cosine >= LEAST_COSINE:
            return True
        enough = self.words >= LEAST_WORDS and self.share >= LEAST_SHARE
        return enough or self.share >= TELLING_SHARE

    @property
    def score(self) -> float:
        meaning = max(self.cosine or 0.0, 0.0)
        return MEANING * meaning + WORDS * self.lexical + HEADINGS * self.headed


@dataclass(frozen=True)
class Ranked:
    match: Match
    score: float


class Matcher:
    """`rarities`: of the question's words, by number."""

    def __init__(self, rarities: Mapping[int, float], average: float) -> None:
        self.rarities, self.average = rarities, average
        self.whole = sum(rarities.values()) or 1.0

    def match(self, passage: UUID, cosine: float | None, sheet: Sheet | None) -> Match:
        times = sheet.times if sheet else {}
        length = sheet.length if sheet else 0
        lexical = sum(
            self.rarities[word] * self._saturation(count, length) for word, count in times.items()
        )
        return Match(passage, cosine, len(times), self.share(times), lexical / self.whole)

    def share(self, words: Iterable[int]) -> float:
        """How much of the question these are."""
        return sum(self.rarities[word] for word in words) / self.whole

    def _saturation(self, times: int, length: int) -> float:
        return times * (K1 + 1) / (times + K1 * (1 - B + B * length / self.average))


def best(
    matches: Iterable[Match], weights: Mapping[UUID, float], documents: Mapping[UUID, UUID], k: int
) -> list[Ranked]:
    """The best first, at most two of one document. `weights` and `documents` are by passage; what
    has no document is not there any more."""
    ranked = [
        Ranked(match, match.score * weights[match.passage])
        for match in matches
        if match.opens and match.passage in documents
    ]
    ranked.sort(key=lambda one: (-one.score, one.match.passage))
    return _spread(ranked, documents, k)


def _spread(ranked: Sequence[Ranked], documents: Mapping[UUID, UUID], k: int) -> list[Ranked]:
    shown: dict[UUID, int] = {}
    found: list[Ranked] = []
    for one in ranked:
        document = documents[one.match.passage]
        if shown.get(document, 0) < PER_DOCUMENT and len(found) < k:
            shown[document] = shown.get(document, 0) + 1
            found.append(one)
    return found
