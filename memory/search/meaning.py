"""What a question means, for the looks at vectors of a search."""

from collections.abc import Callable
from uuid import UUID

from memory import embedding
from memory.search.failures import Failures, SearchPart
from memory.text.language import UNKNOWN, detect_language

Look = Callable[[list[float]], dict[UUID, float]]


class Meaning:
    """Asks the model at once. Nothing is near where it is not there or fails, where its distances
    mean nothing in the question's language, and once vectors could not be asked."""

    def __init__(self, question: str, failures: Failures) -> None:
        self._failures = failures
        self._vector = self._of(question)

    def near(self, look: Look) -> dict[UUID, float]:
        """What the look finds, by key."""
        if (vector := self._vector) is None:
            return {}
        found = self._failures.alone(SearchPart.MEANING, lambda: look(vector), None)
        if found is None:
            self._vector = None
        return found or {}

    def _of(self, question: str) -> list[float] | None:
        language = detect_language(question)
        if language != UNKNOWN and not embedding.reads(language):
            return None
        return self._failures.alone(
            SearchPart.MEANING, lambda: embedding.embed([question])[0], None
        )
