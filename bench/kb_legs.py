"""What each leg finds by itself, and what scores are made of: every passage is scored, nothing is
gated."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

if TYPE_CHECKING:
    from agents.models import Agent
    from knowledge.models import DocumentPassage
    from knowledge.search.scoring import Matcher
    from memory.search.words import Word

PER_DOCUMENT, SHOWN, ROWS = 2, 30, 300


class Parts(NamedTuple):
    """Of a passage's score, before they are weighed."""

    cosine: float
    words: float
    headings: float


class Legs:
    def __init__(self, agent: "Agent") -> None:
        from knowledge.models import DocumentPassage
        from knowledge.scope import collections_of
        from knowledge.search.index import Index

        keys = list(collections_of(agent.owner).values_list("pk", flat=True))
        self.agent, self.index = agent, Index(agent.owner, keys)
        self.census = self.index.census()
        rows = DocumentPassage.objects.filter(owner=agent.owner).select_related("document")
        self.passages = {row.pk: row for row in rows}

    def by_words(self, query: str) -> Sequence["DocumentPassage"]:
        """BM25, k1 1.2 and b 0.75."""
        return self.best(self.lexical(query))

    def by_meaning(self, query: str) -> Sequence["DocumentPassage"]:
        return self.best(self.cosines(query))

    def lexical(self, query: str) -> dict[UUID, float]:
        """Of every passage that has a word of the question."""
        from memory.search.words import analyse

        words = analyse(query, self.agent.owner, self.census.languages)
        matcher = self._matcher(words)
        sheets = self.index.sheets(words, list(self.passages))
        return {pk: matcher.match(pk, None, sheet).lexical for pk, sheet in sheets.items()}

    def parts(self, query: str) -> dict[UUID, Parts]:
        """Of every passage that either leg finds."""
        from memory import embedding
        from memory.search.words import analyse

        found, near = self.lexical(query), self.cosines(query)
        best = sorted(found, key=lambda pk: -found[pk])[:ROWS]
        [vector] = embedding.embed_blocking([query])
        near |= self.index.cosines(vector, [pk for pk in best if pk not in near])
        words = analyse(query, self.agent.owner, self.census.languages)
        matcher = self._matcher(words)
        headed = {
            pk: matcher.share(n for n, word in enumerate(words) if word.terms & self.headings[pk])
            for pk in near
        }
        return {pk: Parts(near[pk], found.get(pk, 0.0), headed[pk]) for pk in near}

    def _matcher(self, words: Sequence["Word"]) -> "Matcher":
        from knowledge.search.scoring import Matcher

        rarities, _ = self.index.rarities(words, self.census)
        return Matcher(rarities, self.census.average)

    @cached_property
    def headings(self) -> dict[UUID, frozenset[str]]:
        """Stems of title and headings."""
        from memory.search.words import content_stems

        titles = {
            pk: (row.language, "\n".join((row.document.title, *row.headings)))
            for pk, row in self.passages.items()
        }
        stems = content_stems(list(titles.values()))
        return {pk: frozenset(found) for pk, found in zip(titles, stems, strict=True)}

    def cosines(self, query: str) -> dict[UUID, float]:
        from memory import embedding

        [vector] = embedding.embed_blocking([query])
        return self.index.nearest(vector, self.census, ROWS)

    def best(self, scores: Mapping[UUID, float]) -> list["DocumentPassage"]:
        shown: list[DocumentPassage] = []
        for pk in sorted(scores, key=lambda pk: (-scores[pk], pk)):
            passage = self.passages[pk]
            if sum(one.document_id == passage.document_id for one in shown) < PER_DOCUMENT:
                shown.append(passage)
            if len(shown) == SHOWN:
                break
        return shown
