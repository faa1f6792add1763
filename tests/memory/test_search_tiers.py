"""How facts, the record and the further tiers share the places of one answer."""

from datetime import UTC, datetime
from functools import partial

import pytest

from agents.models import Agent
from memory.search import tiers
from memory.search.hits import Hit, Scope, Tier
from memory.search.tiers import Asked, FurtherTier, found_in_all


def hits(tier: Tier, count: int) -> list[Hit]:
    return [Hit(tier, 1.0, f"{tier} {n}", datetime(2026, 1, 1, tzinfo=UTC)) for n in range(count)]


def _answer(found: list[Hit], asked: Asked) -> list[Hit]:
    return found[: asked.k]


@pytest.mark.parametrize(
    ("k", "found", "shown"),
    [
        (10, (10, 0, 0), (10, 0, 0)),
        (10, (10, 9, 9), (6, 2, 2)),
        (10, (10, 1, 9), (7, 1, 2)),
        (10, (1, 10, 2), (1, 7, 2)),
        (10, (0, 10, 10), (0, 8, 2)),
        (10, (3, 0, 10), (3, 0, 7)),
        (4, (4, 4, 4), (4, 0, 0)),
        (4, (1, 4, 4), (1, 3, 0)),
        (1, (0, 0, 3), (0, 0, 1)),
    ],
)
def test_no_tier_crowds_out_another(
    monkeypatch: pytest.MonkeyPatch,
    k: int,
    found: tuple[int, int, int],
    shown: tuple[int, int, int],
) -> None:
    before, notes, documents = found
    monkeypatch.setattr(tiers, "_TIERS", {})
    for tier, scope, count in (
        (Tier.SKETCH, Scope.SKETCHES, notes),
        (Tier.DOCUMENT, Scope.DOCUMENTS, documents),
    ):
        several = hits(tier, count)
        tiers.register(FurtherTier(tier, scope, partial(_answer, several), 90, tier))
    told = found_in_all(Asked(Agent(), "words", k), hits(Tier.FACT, before))
    sizes = [
        sum(hit.tier == tier for hit in told) for tier in (Tier.FACT, Tier.SKETCH, Tier.DOCUMENT)
    ]
    assert sizes == list(shown)
    assert [hit.text for hit in told if hit.tier == Tier.FACT] == [
        hit.text for hit in hits(Tier.FACT, before)[: shown[0]]
    ]
