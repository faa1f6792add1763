"""The parts of a search fail alone: the others answer, and the answer says which did not."""

import logging
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import TypeVar

from memory import embedding
from memory.recall.statements import apart
from memory.recall.trace import Leg, LegReport, Outcome

log = logging.getLogger(__name__)
Answer = TypeVar("Answer")


class SearchPart(StrEnum):
    """A scope, or the vectors of all of them: where `meaning` fails words alone decide."""

    MEANING = "meaning"
    FACTS = "facts"
    CASES = "cases"
    RAW = "raw"
    DOCUMENTS = "documents"
    SKETCHES = "sketches"


_NAMES = {
    SearchPart.FACTS: "facts",
    SearchPart.CASES: "cases",
    SearchPart.RAW: "what was said",
    SearchPart.DOCUMENTS: "documents",
    SearchPart.SKETCHES: "working notes",
}


class Failures:
    """Of one search."""

    def __init__(self) -> None:
        self._parts: set[SearchPart] = set()

    @property
    def parts(self) -> list[SearchPart]:
        return [part for part in SearchPart if part in self._parts]

    def alone(self, part: SearchPart, find: Callable[[], Answer], otherwise: Answer) -> Answer:
        """What it finds, or `otherwise` where it fails."""
        try:
            with apart():
                return find()
        except embedding.EmbeddingNotReady as reason:
            log.warning("search goes by words alone: %s", reason)
        except Exception as error:
            # Its message may quote what was asked.
            log.warning("search failed in part (%s): %s", part, type(error).__name__)
        self._parts.add(part)
        return otherwise

    def heard(self, reports: Iterable[LegReport]) -> None:
        """Of the legs by which facts are found."""
        for report in reports:
            if report.outcome == Outcome.FAILED:
                by_vector = report.leg == Leg.VECTOR
                self._parts.add(SearchPart.MEANING if by_vector else SearchPart.FACTS)

    def in_words(self) -> str:
        """For whoever reads the answer. The empty text where nothing failed."""
        names = [_NAMES[part] for part in self.parts if part in _NAMES]
        told = []
        if names:
            which = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
            told.append(f"Incomplete: the search of {which} failed, wholly or in part.")
        if SearchPart.MEANING in self._parts:
            told.append("Words alone were compared, because the search by meaning failed.")
        return " ".join(told)
