"""`search_kb`: one question to the documents that an agent may read. Only reads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from django.db.models import F
from django.http import Http404
from django.urls import reverse

from agents.gate import MemoryOff, memory_on
from agents.models import Agent
from conversations.models import Conversation
from knowledge.models import Collection, Document, DocumentPassage
from knowledge.pins import pinned_to
from knowledge.scope import collections_readable_by
from knowledge.search import scoring
from knowledge.search.index import Census, Index
from knowledge.search.scoring import Match, Matcher
from knowledge.vocabulary import DocumentOrigin
from memory import embedding
from memory.moment import one_moment
from memory.search.failures import Failures
from memory.search.meaning import Meaning
from memory.search.service import readable
from memory.search.words import Word, analyse, content_stems
from memory.text.language import language_config

MOST = 50  # results
# Passages of each kind that are scored.
ROWS = 100


@dataclass(frozen=True)
class Found:
    """A passage with its document and collection. `words`: how many of the question's it has."""

    passage: DocumentPassage
    score: float
    cosine: float | None
    words: int

    @property
    def document(self) -> Document:
        return self.passage.document

    @property
    def path(self) -> list[str]:
        return path_of(self.passage)

    @property
    def pages(self) -> str:
        return pages_of(self.passage)

    @property
    def link(self) -> str:
        return link_to(self.passage)


def search_kb(
    agent: Agent,
    query: str,
    k: int = 8,
    conversation: Conversation | None = None,
    collection: Collection | None = None,
    failures: Failures | None = None,
) -> list[Found]:
    """The best first, at most `k` in all and two of a document. What is pinned to `conversation`
    weighs more; `collection` narrows. Where the model or the vectors fail words alone decide, and
    `failures` has it afterwards.

    Raises MemoryOff; Http404 for a collection that the agent may not read, and ValueError for a
    conversation of another agent's.
    """
    if conversation is not None and conversation.agent_id != agent.pk:
        raise ValueError("The conversation belongs to another agent.")
    if not memory_on(agent.owner):
        raise MemoryOff("Memory is off for this owner.")
    known = _collections(agent, collection)
    query, k = readable(query), max(0, min(k, MOST))
    if not query or not k or not known:
        return []
    pinned = pinned_to(conversation) if conversation else set()
    close = {row.pk for row in known if row.agent_id == agent.pk or row.pk in pinned}
    ids = [row.pk for row in known]
    return _Search(agent, query, ids, failures or Failures()).found(close, k)


def path_of(passage: DocumentPassage) -> list[str]:
    """Title and headings, each once."""
    return list(dict.fromkeys([passage.document.title, *passage.headings]))


def pages_of(passage: DocumentPassage) -> str:
    """In words: "page 12", "pages 12 to 13", or nothing where the document has none."""
    first, last = passage.page_from, passage.page_to
    if first is None:
        return ""
    return f"page {first}" if last in (None, first) else f"pages {first} to {last}"


def link_to(passage: DocumentPassage) -> str:
    """Within our pages; programs are told `absolute(link_to(…))`."""
    page = reverse("document", args=[passage.document_id])
    return f"{page}?at={passage.ordinal}#passage-{passage.ordinal}"


def _collections(agent: Agent, narrowed: Collection | None) -> list[Collection]:
    rows = list(collections_readable_by(agent).only("pk", "agent_id"))
    if narrowed is None:
        return rows
    chosen = [row for row in rows if row.pk == narrowed.pk]
    if not chosen:
        raise Http404("There is no such collection.")
    return chosen


_OF_DOCUMENT = ("document_id", "document__origin", "document__collection_id", "document__title")


class _Place(NamedTuple):
    """What of a passage its score depends on, beside what it says."""

    passage: UUID
    document: UUID
    origin: str
    collection: UUID
    # Its language, title and headings.
    breadcrumb: tuple[str, str]


class _Search:
    def __init__(
        self, agent: Agent, query: str, collections: Sequence[UUID], failures: Failures
    ) -> None:
        self.agent, self.query, self.collections = agent, query, collections
        self.failures, self.index = failures, Index(agent.owner, collections)

    def found(self, close: set[UUID], k: int) -> list[Found]:
        """From one moment to the next a document that is read anew has other passages, and each
        statement by itself would look for those of another."""
        meaning = Meaning(self.query, self.failures)
        with one_moment():
            found = self._found(meaning, close, k)
        return self._still_there(found)

    def _found(self, meaning: Meaning, close: set[UUID], k: int) -> list[Found]:
        census = self.index.census()
        if not census.visible:
            return []
        words = analyse(self.query, self.agent.owner, census.languages)
        matcher, matches = self._matches(meaning, words, census)
        places = self._places([pk for pk, match in matches.items() if match.opens])
        headed, known = _headed(words, places), {"simple", *map(language_config, embedding.READS)}
        ranked = scoring.best(
            [
                _told(matches[place.passage], place, matcher.share(headed[place.breadcrumb]), known)
                for place in places
            ],
            {place.passage: _weight(place, close) for place in places},
            {place.passage: place.document for place in places},
            k,
        )
        chosen = self._texts([one.match.passage for one in ranked])
        return [
            Found(chosen[match.passage], one.score, match.cosine, match.words)
            for one in ranked
            if (match := one.match).passage in chosen
        ]

    def _still_there(self, found: Sequence[Found]) -> list[Found]:
        """Asked of this moment: what was deleted, purged or taken out of sight since is gone."""
        there = Document.objects.filter(
            owner=self.agent.owner,
            pk__in={one.document.pk for one in found},
            collection__in=self.collections,
        )
        known = set(there.order_by().values_list("pk", flat=True)) if found else set()
        return [one for one in found if one.document.pk in known]

    def _matches(
        self, meaning: Meaning, words: Sequence[Word], census: Census
    ) -> tuple[Matcher, dict[UUID, Match]]:
        near = meaning.near(lambda vector: self.index.nearest(vector, census, ROWS))
        rarities, counts = self.index.rarities(words, census)
        alike = self.index.lexical(words, rarities, counts, census.average, ROWS)
        rest = [passage for passage in alike if passage not in near]
        near |= meaning.near(lambda vector: self.index.cosines(vector, rest))
        candidates = [*near, *(passage for passage in alike if passage not in near)]
        sheets = self.index.sheets(words, candidates)
        matcher = Matcher(rarities, census.average)
        return matcher, {
            one: matcher.match(one, near.get(one), sheets.get(one)) for one in candidates
        }

    def _places(self, passages: Sequence[UUID]) -> list[_Place]:
        rows = DocumentPassage.objects.filter(owner=self.agent.owner, pk__in=passages)
        names = ("pk", *_OF_DOCUMENT, "language", "headings")
        return [
            _Place(pk, document, origin, collection, (language, "\n".join((title, *headings))))
            for pk, document, origin, collection, title, language, headings in (
                rows.order_by().values_list(*names)
            )
        ]

    def _texts(self, passages: Sequence[UUID]) -> dict[UUID, DocumentPassage]:
        rows = DocumentPassage.objects.filter(
            owner=self.agent.owner,
            pk__in=passages,
            generation=F("document__generation"),
            document__collection__in=self.collections,
        )
        return {row.pk: row for row in rows.select_related("document__collection__agent")}


def _headed(words: Sequence[Word], places: Sequence[_Place]) -> dict[tuple[str, str], list[int]]:
    """By number, the words of the question that title and headings have. Many passages have the
    same ones."""
    breadcrumbs = list(dict.fromkeys(place.breadcrumb for place in places))
    return {
        breadcrumb: [number for number, word in enumerate(words) if word.terms & stems]
        for breadcrumb, stems in zip(breadcrumbs, content_stems(breadcrumbs), strict=True)
    }


def _told(match: Match, place: _Place, headed: float, known: set[str]) -> Match:
    """The model's distances to a text in a language that it can't read mean nothing."""
    is_read = not embedding.READS or place.breadcrumb[0] in known
    return replace(match, cosine=match.cosine if is_read else None, headed=headed)


def _weight(place: _Place, close: set[UUID]) -> float:
    weight = scoring.CLOSE if place.collection in close else 1.0
    if place.origin == DocumentOrigin.OUTCOME:
        weight *= scoring.OUTCOME
    elif place.origin == DocumentOrigin.WEB:
        weight *= scoring.WEB
    return weight
