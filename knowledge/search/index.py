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
# Rows read of one word, and of all words of a question together, the rarest first: a row more of a
# word that many passages have says little, and costs as much.
MANY, ROOM = 20_000, 6_000
# Words whose rows are read however many they have.
RAREST = 2
# Of the best passages so many times those wanted are looked at; seldom are more out of sight.
REACH = 4
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
# BM25 by Robertson's usual k1 and b, the best term of each word. Whether a passage answers is asked
# of the best alone: joined to each row, the owner's documents would be read for every question.
_LEXICAL = """
    SELECT passage_id, EXISTS (
        SELECT FROM knowledge_document d WHERE d.owner_id = %(owner)s AND d.id = best.document_id
            AND d.generation = best.generation AND d.collection_id = ANY(%(collections)s))
    FROM (
        SELECT passage_id, document_id, generation, sum(score) AS score FROM (
            SELECT t.passage_id, t.document_id, t.generation, asked.word, asked.rarity * max(
                t.tf * 2.2::float / (t.tf + 0.3::float + t.length * %(slope)s::float)) AS score
            FROM unnest(%(terms)s::text[], %(words)s::int[], %(rarities)s::float[])
                AS asked (term, word, rarity)
            CROSS JOIN LATERAL (
                SELECT passage_id, document_id, generation, tf, length FROM knowledge_documentterm
                WHERE owner_id = %(owner)s AND term = asked.term LIMIT %(many)s
            ) AS t
            GROUP BY 1, 2, 3, 4, asked.rarity
        ) AS met
        GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1 LIMIT %(reach)s
    ) AS best
    ORDER BY score DESC, passage_id
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
    FROM knowledge_documentembedding v
    JOIN knowledge_document d ON d.owner_id = %(owner)s AND d.id = v.document_id
        AND d.generation = v.generation AND d.collection_id = ANY(%(collections)s)
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
        chosen = _chosen(counts)
        if not chosen:
            return []
        values = _numbered(words, chosen)
        values |= {"rarities": [rarities[n] for n in values["words"]], "many": MANY}
        values["slope"] = 1.2 * 0.75 / average
        found = self._rows(_LEXICAL, reach=rows * REACH, **values)
        answering = [passage for passage, answers in found if answers]
        if len(found) == rows * REACH and len(answering) < rows:
            found = self._rows(_LEXICAL, reach=None, **values)
            answering = [passage for passage, answers in found if answers]
        return answering[:rows]

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
            _NEAREST + tail, vector=str(list(vector)), model=embedding.MODEL, **values
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


def _chosen(counts: Sequence[int]) -> list[int]:
    """The words whose rows are read, rarest first."""
    chosen: list[int] = []
    room = ROOM
    for number in sorted((n for n, count in enumerate(counts) if count), key=lambda n: counts[n]):
        room -= counts[number]
        if len(chosen) < RAREST or room >= 0:
            chosen.append(number)
    return chosen


def _numbered(words: Sequence[Word], chosen: Some[int]) -> dict[str, Any]:
    pairs = [(term, number) for number in chosen for term in sorted(words[number].terms)]
    return {"terms": [term for term, _ in pairs], "words": [number for _, number in pairs]}
