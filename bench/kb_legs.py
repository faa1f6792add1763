"""What each leg finds by itself: every passage is scored, nothing is gated."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from agents.models import Agent
    from knowledge.models import DocumentPassage

PER_DOCUMENT, SHOWN, ROWS = 2, 30, 300


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
        from knowledge.search.scoring import Matcher
        from memory.search.words import analyse

        words = analyse(query, self.agent.owner, self.census.languages)
        rarities, _ = self.index.rarities(words, self.census)
        matcher = Matcher(rarities, self.census.average)
        sheets = self.index.sheets(words, list(self.passages))
        return {pk: matcher.match(pk, None, sheet).lexical for pk, sheet in sheets.items()}

    def both(self, query: str) -> dict[UUID, tuple[float, float]]:
        """Cosine and BM25's share of every passage that either finds."""
        from memory import embedding

        found, near = self.lexical(query), self.cosines(query)
        best = sorted(found, key=lambda pk: -found[pk])[:ROWS]
        [vector] = embedding.embed_blocking([query])
        near |= self.index.cosines(vector, [pk for pk in best if pk not in near])
        return {pk: (cosine, found.get(pk, 0.0)) for pk, cosine in near.items()}

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
