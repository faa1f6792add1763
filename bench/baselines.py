"""What a good afternoon's work would be: cosine, BM25, and the two by reciprocal ranks. In memory,
over the same vectors as the peers, with Postgres' English stems."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db import connection

# As usual: Robertson and Zaragoza (2009).
_K1 = 1.2
_B = 0.75
# Cormack, Clarke and Büttcher (2009), which Timothy and others took over.
_RANK_OFFSET = 60
# Rows of each leg that are fused.
_FUSED = 200

Stems = list[str]


def cosine(vectors: Any, question: Any) -> list[int]:
    """Numbers of the texts, best first."""
    return np.argsort(-(vectors @ question), kind="stable").tolist()  # type: ignore[no-any-return]


def fused(*rankings: Sequence[int]) -> list[int]:
    scores: dict[int, float] = defaultdict(float)
    for ranking in rankings:
        for rank, number in enumerate(ranking[:_FUSED], 1):
            scores[number] += 1 / (_RANK_OFFSET + rank)
    return sorted(scores, key=lambda number: (-scores[number], number))


class Bm25:
    def __init__(self, texts: Sequence[Stems]) -> None:
        self.count = len(texts)
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, stems in enumerate(texts):
            for stem, times in Counter(stems).items():
                self.postings[stem].append((number, times))
        average = sum(map(len, texts)) / max(1, len(texts))
        self.norms = [_K1 * (1 - _B + _B * len(stems) / average) for stems in texts]

    def ranked(self, question: Stems) -> list[int]:
        scores: dict[int, float] = defaultdict(float)
        for stem in set(question):
            found = self.postings.get(stem, ())
            rarity = math.log(1 + (self.count - len(found) + 0.5) / (len(found) + 0.5))
            for number, times in found:
                scores[number] += rarity * times * (_K1 + 1) / (times + self.norms[number])
        return sorted(scores, key=lambda number: (-scores[number], number))


def stems_of(texts: Sequence[str]) -> list[Stems]:
    """With their repetitions; without stop words."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT number, lexeme, cardinality(positions) FROM unnest(%s::text[]) WITH ORDINALITY"
            " AS texts(body, number), unnest(to_tsvector('english', body))",
            [list(texts)],
        )
        rows = cursor.fetchall()
    found: list[Stems] = [[] for _ in texts]
    for number, lexeme, times in rows:
        found[number - 1] += [lexeme] * times
    return found
