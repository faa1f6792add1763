"""How much of what was asked a text meets: BM25 by the words of the question. Pure."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

# Robertson's usual k1. Facts are short, so that their length says little: on LoCoMo b 0.75 costs
# 0.8 of recall@5.
K1 = 1.2
B = 0.3


def rarity(count: int, rows: int) -> float:
    return math.log(1 + (max(rows - count, 0) + 0.5) / (count + 0.5))


def saturation(times: float, length: float, average: float) -> float:
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / max(average, 1.0)))


@dataclass(frozen=True)
class Asked:
    """The words of a question, by number, and how rare each is. A word that no row has is as rare
    as can be: asking for what is not there must not make what is there relevant."""

    rarities: Mapping[int, float]

    def of(self, words: Iterable[int]) -> "Asked":
        """Had only these been asked for."""
        return Asked({word: self.rarities[word] for word in words if word in self.rarities})

    @cached_property
    def whole(self) -> float:
        return sum(self.rarities.values()) or 1.0
