"""What a search reads of the documents' index. Everything is one owner's, and of documents that
the agent may read, as they answer now."""

from collections.abc import Collection as Some
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models import User
from memory import embedding, vector_index
from memory.recall.lexical import rarity
from memory.search.words import Word

TABLE = "knowledge_documentembedding"
# Rows read of a word that is not among the rarest of its question, and of any: an entry more says
# little, and costs as much.
FEW, MANY = 4000, 20_000
# Words whose rows are read however many they have.
RAREST = 2
# Vectors of the same passage, at most, with the ones that stand for no answer.
PARTS = 3

_CENSUS = """
    SELECT coalesce(sum(passages), 0), coalesce(sum(length), 0),
        coalesce(sum(passages) FILTER (WHERE collection_id = ANY(%(collections)s)), 0),
        array_agg(DISTINCT language)
    FROM knowledge_document WHERE owner_id = %(owner)s AND generation IS NOT NULL
"""
_COUNTS = """
    SELECT asked.word, (
        SELECT count(*) FROM (
            SELECT FROM knowledge_documentterm
            WHERE owner_id = %(owner)s AND term = asked.term LIMIT %(many)s
        ) AS rows)
    FROM unnest(%(terms)s::text[], %(words)s::int[]) AS asked (term, word)
"""
_ANSWERS = """
    JOIN knowledge_document d ON d.owner_id = %(owner)s AND d.id = {rows}.document_id
        AND d.generation = {rows}.generation AND d.collection_id = ANY(%(collections)s)
"""
# BM25 by Robertson's usual k1 and b, the best term of each word.
_LEXICAL = """
    SELECT passage_id FROM (
        SELECT t.passage_id, asked.word, asked.rarity * max(
            t.tf * 2.2 / (t.tf + 1.2 * (0.25 + 0.75 * t.length / %(average)s))) AS score
        FROM unnest(%(terms)s::text[], %(words)s::int[], %(rarities)s::float[])
            AS asked (term, word, rarity)
        CROSS JOIN LATERAL (
            SELECT passage_id, document_id, generation, tf, length FROM knowledge_documentterm
            WHERE owner_id = %(owner)s AND term = asked.term LIMIT %(many)s
        ) AS t
        {answers}
        GROUP BY 1, 2, asked.rarity
    ) AS met
    GROUP BY passage_id ORDER BY sum(score) DESC, passage_id LIMIT %(rows)s
"""
_SHEETS = """
    SELECT t.passage_id, asked.word, max(t.tf), max(t.length)
    FROM knowledge_documentterm t
    JOIN unnest(%(terms)s::text[], %(words)s::int[]) AS asked (term, word) USING (term)
    WHERE t.owner_id = %(owner)s AND t.term = ANY(%(terms)s) AND t.passage_id = ANY(%(passages)s)
    GROUP BY 1, 2
"""
_NEAREST = """
    SELECT v.passage_id, 1 - (v.vector <=> %(vector)s::vector)
    FROM knowledge_documentembedding v {answers}
    WHERE v.owner_id = %(owner)s AND v.model = %(model)s
"""
_BY_NEARNESS = " ORDER BY v.vector <=> %(vector)s::vector, v.passage_id LIMIT %(rows)s"
# The index has half-precision copies; the cosine is taken from the whole vector.
_BY_INDEX = " ORDER BY {here} <=> {sought} LIMIT %(rows)s"
_AMONG = " AND v.passage_id = ANY(%(passages)s)"


@dataclass(frozen=True)
class Census:
    """Passages of the owner, the sum of their terms, those in sight, and their configurations."""

    passages: int
    length: int
    visible: int
    languages: tuple[str, ...]

    @property
    def average(self) -> float:
        return max(self.length / max(self.passages, 1), 1.0)


@dataclass
class Sheet:
    """A passage's words of the question, by number, each as often as it has it."""

    length: int
    times: dict[int, int] = field(default_factory=dict)


class Index:
    def __init__(self, owner: User, collections: Sequence[UUID]) -> None:
        self.values: dict[str, Any] = {"owner": owner.pk, "collections": list(collections)}

    def census(self) -> Census:
        passages, length, visible, languages = self._rows(_CENSUS)[0]
        return Census(int(passages), int(length), int(visible), tuple(languages or ()))

    def rarities(self, words: Sequence[Word], census: Census) -> tuple[dict[int, float], list[int]]:
        """How rare each word is among the owner's passages, and in how many of them it is."""
        counts = [0] * len(words)
        for word, count in self._rows(_COUNTS, many=MANY, **_numbered(words, range(len(words)))):
            counts[word] = max(counts[word], count)
        return {n: rarity(count, census.passages) for n, count in enumerate(counts)}, counts

    def lexical(
        self, words: Sequence[Word], rarities: Mapping[int, float], counts: Sequence[int],
        average: float, rows: int,
    ) -> list[UUID]:  # fmt: skip
        """The passages that have most of the question, by its words that are not too common."""
        known = sorted((n for n in rarities if counts[n]), key=lambda n: counts[n])
        chosen = [n for place, n in enumerate(known) if place < RAREST or counts[n] <= FEW]
        if not chosen:
            return []
        values = _numbered(words, chosen)
        values["rarities"] = [rarities[n] for n in values["words"]]
        found = self._rows(
            _answering(_LEXICAL, "t"), many=MANY, average=average, rows=rows, **values
        )
        return [row[0] for row in found]

    def sheets(self, words: Sequence[Word], passages: Some[UUID]) -> dict[UUID, Sheet]:
        """Of passages that are known to answer."""
        found: dict[UUID, Sheet] = {}
        values = _numbered(words, range(len(words)))
        for passage, word, times, length in self._rows(_SHEETS, passages=list(passages), **values):
            found.setdefault(passage, Sheet(length)).times[word] = times
        return found

    def nearest(self, vector: Sequence[float], census: Census, rows: int) -> dict[UUID, float]:
        """Cosines of the nearest passages, by the best part of each."""
        wanted = rows * PARTS
        if self._is_large(census, wanted):
            order = _BY_INDEX.format(
                here=vector_index.place("v.vector", "v.owner_id", len(vector)),
                sought=vector_index.place("%(vector)s::vector", "%(owner)s::uuid", len(vector)),
            )
            with vector_index.approximate(census.passages * PARTS):
                found = self._cosines(order, vector, rows=wanted)
            if len(found) >= min(rows, census.visible):
                return found
        return self._cosines(_BY_NEARNESS, vector, rows=wanted)

    def cosines(self, vector: Sequence[float], passages: Some[UUID]) -> dict[UUID, float]:
        return self._cosines(_AMONG, vector, passages=list(passages)) if passages else {}

    def _is_large(self, census: Census, rows: int) -> bool:
        if census.passages <= vector_index.EXACT_UP_TO // PARTS:
            return False
        return vector_index.exists(TABLE, embedding.MODEL) and vector_index.is_worth_it(
            rows=rows, visible=census.visible * PARTS, owned=census.passages * PARTS
        )

    def _cosines(self, tail: str, vector: Sequence[float], **values: Any) -> dict[UUID, float]:
        rows = self._rows(
            _answering(_NEAREST, "v") + tail,
            vector=str(list(vector)),
            model=embedding.MODEL,
            **values,
        )
        best: dict[UUID, float] = {}
        for passage, cosine in rows:
            best[passage] = max(cosine, best.get(passage, -1.0))
        return best

    def _rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql, self.values | values)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def _answering(sql: str, rows: str) -> str:
    return sql.replace("{answers}", _ANSWERS.replace("{rows}", rows))


def _numbered(words: Sequence[Word], chosen: Some[int]) -> dict[str, Any]:
    pairs = [(term, number) for number in chosen for term in sorted(words[number].terms)]
    return {"terms": [term for term, _ in pairs], "words": [number for _, number in pairs]}
