"""Documents as a tier of a search of everything: behind the memory, before working notes."""

from collections.abc import Sequence

from knowledge.search.service import Found, path_of, search_kb
from memory.search.hits import Hit, Place, Scope, Tier
from memory.search.tiers import Asked, FurtherTier
from memory.sensitive import redact

# A search of everything lists what bears on the question and no more, so that its gate is closer
# than that of a search of documents, where the best of little is still wanted.
COSINE, WORDS = 0.4, 2


def find(asked: Asked) -> Sequence[Hit]:
    """Of one conversation no document is."""
    if asked.conversation is not None:
        return []
    found = search_kb(asked.agent, asked.query, asked.k, failures=asked.failures)
    return [_hit(one) for one in found if _bears_on_it(one)]


def _bears_on_it(found: Found) -> bool:
    return (found.cosine or 0.0) >= COSINE or found.words >= WORDS


def _hit(found: Found) -> Hit:
    passage, document = found.passage, found.document
    pages = f", {found.pages}" if found.pages else ""
    return Hit(
        Tier.DOCUMENT,
        found.score,
        redact(passage.text),
        document.indexed_at or document.created_at,
        cosine=found.cosine,
        place=Place(passage.pk, f"{redact(' > '.join(path_of(passage)))}{pages}", found.link),
    )


TIER = FurtherTier(
    tier=Tier.DOCUMENT,
    scope=Scope.DOCUMENTS,
    find=find,
    order=50,
    heading="documents",
)
