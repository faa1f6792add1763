"""Which stored facts a candidate is shown beside: more than recall would ever show.

Rejected and pending ones count too, and no relevance gate holds anything back. The legs fail alone:
without vectors the words and the names still find theirs.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from uuid import UUID

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db.models import Q, QuerySet
from pgvector.django import CosineDistance

from agents.models import Agent
from memory import embedding
from memory.extraction.schema import Candidate
from memory.models import Fact, FactEntity
from memory.policy import Known, Neighbour
from memory.private import sensitive_among
from memory.scope import facts_readable_by
from memory.text import language_config, normalise, words
from memory.vocabulary import ArchivedReason, Kind, State

PER_LEG = 6
PINNED = 20
NAMED = 500  # facts that share a name with a candidate, newest first
# In one call; every candidate keeps its nearest ones.
SHOWN = 120

STATES = (State.ACTIVE, State.PENDING, State.REJECTED)
FORGOTTEN = Q(state=State.ARCHIVED, archived_reason=ArchivedReason.FORGOTTEN)
# What the owner did not want is never crowded out by what is wanted, however old it is.
REFUSED = Q(state=State.REJECTED) | FORGOTTEN

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Neighbourhood:
    """`near` and `cosine` are by candidate number; `near` holds handles of `known`.

    `unseen` are the candidates with a neighbour that this route may not see.
    """

    known: tuple[Known, ...] = ()
    near: Mapping[int, list[int]] = field(default_factory=dict)
    cosine: Mapping[int, list[Neighbour]] = field(default_factory=dict)
    unseen: frozenset[int] = frozenset()


def neighbourhood(
    agent: Agent, candidates: Mapping[int, Candidate], *, with_sensitive: bool
) -> Neighbourhood:
    """`with_sensitive`: what came from a sensitive conversation may be shown, too."""
    if not candidates:
        return Neighbourhood()
    scope = facts_readable_by(agent).filter(Q(state__in=STATES) | FORGOTTEN)
    cosine = _by_vector(scope, candidates)
    legs = [
        {number: [n.fact for n in found] for number, found in cosine.items()},
        {n: _by_words(scope, c.statement, c.language) for n, c in candidates.items()},
        _by_names(scope, candidates),
    ]
    ranked = {number: _merge(leg.get(number, []) for leg in legs) for number in candidates}
    pinned = scope.filter(state=State.ACTIVE, pinned=True).values_list("pk", flat=True)[:PINNED]
    found = _merge([*ranked.values(), pinned])
    hidden = set() if with_sensitive else sensitive_among(agent.owner, found)
    known = _known(scope, [pk for pk in found if pk not in hidden][:SHOWN])
    handles = {fact.fact: fact.handle for fact in known}
    near = {n: [handles[pk] for pk in rows if pk in handles] for n, rows in ranked.items()}
    unseen = frozenset(number for number, rows in ranked.items() if hidden.intersection(rows))
    return Neighbourhood(known, near, cosine, unseen)


def near(scope: QuerySet[Fact], statement: str, language: str) -> list[Neighbour] | None:
    """The nearest facts of a scope by meaning; None where nothing can tell what is near."""
    vectors = _vectors([statement]) if embedding.reads(language) else []
    return _nearest(scope, vectors[0]) if vectors else None


def nearest_to(scope: QuerySet[Fact], statement: str, language: str) -> list[Fact]:
    """The facts of a scope that are nearest to a sentence by meaning or words, nearest first."""
    by_meaning = [one.fact for one in near(scope, statement, language) or ()]
    found = _merge([by_meaning, _by_words(scope, statement, language)])[:PER_LEG]
    rows = scope.in_bulk(found)
    return [rows[pk] for pk in found if pk in rows]


def _known(scope: QuerySet[Fact], shown: list[UUID]) -> tuple[Known, ...]:
    rows = scope.in_bulk(shown)
    facts = [rows[pk] for pk in shown if pk in rows]
    return tuple(
        Known(handle, fact.pk, State(fact.state), fact.statement, Kind(fact.kind))
        for handle, fact in enumerate(facts, start=1)
    )


def _merge(lists: Iterable[Iterable[UUID]]) -> list[UUID]:
    """The first of each list, then the second of each, and so on; none twice."""
    rounds = zip_longest(*lists)
    return list(dict.fromkeys(pk for round_ in rounds for pk in round_ if pk is not None))


def _by_vector(
    scope: QuerySet[Fact], candidates: Mapping[int, Candidate]
) -> dict[int, list[Neighbour]]:
    """Only where the model knows the language: elsewhere its distances mean nothing."""
    known = {n: c.statement for n, c in candidates.items() if embedding.reads(c.language)}
    vectors = _vectors(list(known.values()))
    return {number: _nearest(scope, vector) for number, vector in zip(known, vectors, strict=False)}


def _nearest(scope: QuerySet[Fact], vector: list[float]) -> list[Neighbour]:
    found = (
        scope.filter(embeddings__model=embedding.MODEL)
        .annotate(distance=CosineDistance("embeddings__vector", vector))
        .order_by("distance")
    )
    nearest = {
        fact.pk: Neighbour(fact.pk, State(fact.state), fact.statement, 1 - fact.distance)
        for rows in (found[:PER_LEG], found.filter(REFUSED)[:PER_LEG])
        for fact in rows
    }
    return list(nearest.values())


def _vectors(statements: list[str]) -> list[list[float]]:
    """None where the model is not in memory: loading it is the worker's business, not a run's."""
    try:
        return embedding.embed(statements)
    except embedding.EmbeddingNotReady:
        return []
    except Exception as error:  # whatever stops the model must not stop the reading
        logger.warning("No vectors for neighbours (%s).", type(error).__qualname__)
        return []


def _by_words(scope: QuerySet[Fact], statement: str, language: str) -> list[UUID]:
    """Any of its words; stop words fall out by the language's own list."""
    distinct = dict.fromkeys(word for word in words(statement) if word != "user")
    if not distinct:
        return []
    alternatives = " | ".join("'" + w.replace("\\", "").replace("'", "''") + "'" for w in distinct)
    query = SearchQuery(alternatives, config=language_config(language), search_type="raw")
    found = scope.filter(search=query).annotate(rank=SearchRank("search", query))
    ranked = found.order_by("-rank", "pk").values_list("pk", flat=True)
    return list(dict.fromkeys((*ranked[:PER_LEG], *ranked.filter(REFUSED)[:PER_LEG])))


def _by_names(scope: QuerySet[Fact], candidates: Mapping[int, Candidate]) -> dict[int, list[UUID]]:
    named = {number: _names(candidate) for number, candidate in candidates.items()}
    wanted = {name for names in named.values() for name in names}
    if not wanted:
        return {}
    rows = (
        FactEntity.objects.filter(fact__in=scope, entity__aliases__normal_name__in=wanted)
        .order_by("-fact")
        .values_list("entity__aliases__normal_name", "fact")[:NAMED]
    )
    facts: dict[str, list[UUID]] = defaultdict(list)
    for name, fact in rows:
        facts[name].append(fact)
    return {n: _merge(facts[name] for name in names)[:PER_LEG] for n, names in named.items()}


def _names(candidate: Candidate) -> set[str]:
    return {
        normalise(name)[:120]
        for entity in candidate.entities
        for name in (entity.name, *entity.aliases)
    }
