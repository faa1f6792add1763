"""The last tier: working notes of conversations, by their words alone.

There are few, and they change with every other turn, so that no vector is kept of them."""

from collections.abc import Sequence

from django.db.models import QuerySet
from django.urls import reverse

from conversations.models import Sketch
from conversations.sketches.reading import sketches_readable_by
from memory.search.hits import Hit, Place, Scope, Tier
from memory.search.tiers import Asked, FurtherTier
from memory.search.words import Word, analyse

# Words of the question that a section must have to bear on it, where it has as many.
SHARED = 2
# Of those that have any word, the ones last written.
LOOKED_AT = 200


def find(asked: Asked) -> Sequence[Hit]:
    words = analyse(asked.query, asked.agent.owner)
    met = {row: _met(words, row) for row in _rows(asked, words)}
    enough = min(SHARED, len(words))
    best = sorted(
        (row for row, count in met.items() if count >= enough),
        key=lambda row: (-met[row], -row.updated_at.timestamp(), row.pk),
    )
    return [_hit(row, met[row] / len(words)) for row in best[: asked.k]]


def _rows(asked: Asked, words: Sequence[Word]) -> QuerySet[Sketch]:
    terms = sorted({term for word in words for term in word.terms})
    rows = sketches_readable_by(asked.agent).filter(terms__overlap=terms).defer(None)
    if asked.conversation is not None:
        rows = rows.filter(conversation=asked.conversation)
    return rows.select_related("conversation").order_by("-updated_at", "-pk")[:LOOKED_AT]


def _met(words: Sequence[Word], row: Sketch) -> int:
    terms = set(row.terms)
    return sum(not word.terms.isdisjoint(terms) for word in words)


def _hit(row: Sketch, score: float) -> Hit:
    page = reverse("conversation", args=[row.conversation_id])
    where = f"section {row.key} of “{row.conversation}”"
    return Hit(
        Tier.SKETCH,
        score,
        row.text,
        row.updated_at,
        place=Place(row.pk, where, f"{page}?notes=open#sketches"),
    )


TIER = FurtherTier(
    tier=Tier.SKETCH,
    scope=Scope.SKETCHES,
    find=find,
    order=90,
    heading="working notes of assistants",
)
