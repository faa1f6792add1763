"""The legs of recall: each finds facts in its own way, has its own gate, and fails alone."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet
from pgvector.django import CosineDistance

from agents.models import Agent
from memory import embedding
from memory.models import Fact
from memory.recall import full_text
from memory.recall.dates import Period, periods
from memory.recall.query import Query, as_facts_say, content_words
from memory.recall.trace import Found, Hit, Leg, LegReport, Outcome
from memory.recall.tuning import Tuning
from memory.scope import facts_readable_by, recallable
from memory.text.language import UNKNOWN, language_config

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reader:
    """Who asks, and when: all that decides which facts a leg may see."""

    agent: Agent
    query: Query
    tuning: Tuning

    @cached_property
    def facts(self) -> QuerySet[Fact]:
        return recallable(facts_readable_by(self.agent), self.query.now).order_by()


class Skipped(Exception):
    """A leg has nothing to go by. The message says why, and quotes nothing."""


def run(reader: Reader) -> tuple[LegReport, ...]:
    return tuple(_run(leg, find, reader) for leg, find in LEGS.items())


def by_vector(reader: Reader) -> Found:
    """Facts of a similar meaning."""
    facts, least = _trusted(reader)
    gates = dict(
        _with_gate(text, reader) for text in (reader.query.message, reader.query.in_context)
    )
    cosines: dict[UUID, float] = {}
    refused: dict[UUID, float] = {}
    for vector, gate in zip(embedding.embed(list(gates)), gates.values(), strict=True):
        for fact_id, distance in _nearest(vector, facts, reader):
            seen = cosines if 1 - distance >= max(gate, least) else refused
            seen[fact_id] = max(1 - distance, seen.get(fact_id, -1.0))
    below = {fact_id: cosine for fact_id, cosine in refused.items() if fact_id not in cosines}
    return Found(hits=_best_first(cosines, reader), refused=_best_first(below, reader))


def by_full_text(reader: Reader) -> Found:
    """Facts that share words with the message."""
    words = full_text.analyse(reader.query, reader.agent.owner)
    if not words:
        raise Skipped("no word of content")
    limits = reader.tuning
    matches = full_text.search(words, reader.facts, limits.rows_per_leg)
    hits: list[Hit] = []
    refused: list[Hit] = []
    for match in matches:
        tells = match.covered >= limits.words_covered or match.rarest <= limits.rare_word
        hit = Hit(match.fact_id, match.score, match.words)
        (hits if tells else refused).append(hit)
    return Found(tuple(hits), tuple(refused))


def by_entity(reader: Reader) -> Found:
    """Facts about a person, project, place … that the message names."""
    if not reader.query.names:
        raise Skipped("nothing that could be a name")
    named = reader.facts.filter(
        factentity__entity__aliases__owner=reader.agent.owner,
        factentity__entity__aliases__normal_name__in=reader.query.names,
    ).values("pk")
    rows = named.annotate(
        named=Count("factentity__entity", distinct=True),
        names=ArrayAgg("factentity__entity__aliases__normal_name", distinct=True),
    ).order_by("-named", "-last_confirmed_at", "pk")
    found = rows.values_list("pk", "named", "names")[: reader.tuning.rows_per_leg]
    return Found(tuple(Hit(pk, float(count), tuple(names)) for pk, count, names in found))


def by_time(reader: Reader) -> Found:
    """Facts of the days, months or years that the message names."""
    spans = periods(reader.query.message, reader.query.now)
    if not spans:
        raise Skipped("no date")
    when = Q()
    rest = reader.query.message
    for span in spans:
        when |= _in_period(span, reader)
        rest = rest.replace(span.words, " ")
    rows = reader.facts.filter(when).order_by("-observed_at", "pk")
    ids = rows.values_list("pk", flat=True)[: reader.tuning.rows_per_leg]
    called = tuple(span.words for span in spans)
    return Found(
        hits=tuple(Hit(fact_id, 1.0, called) for fact_id in ids),
        alone=len(content_words(rest)) <= reader.tuning.words_beside_date,
    )


def by_recency(reader: Reader) -> Found:
    """The newest facts, whatever the message says."""
    if not reader.tuning.recency_leg:
        raise Skipped("switched off")
    since = reader.query.now - timedelta(days=reader.tuning.recency_days)
    newest = reader.facts.filter(created_at__gte=since).order_by("-created_at", "pk")
    ids = newest.values_list("pk", flat=True)[: reader.tuning.recency_rows]
    return Found(tuple(Hit(fact_id, 1.0) for fact_id in ids))


LEGS: dict[Leg, Callable[[Reader], Found]] = {
    Leg.VECTOR: by_vector,
    Leg.TEXT: by_full_text,
    Leg.ENTITY: by_entity,
    Leg.TIME: by_time,
    Leg.RECENCY: by_recency,
}


def _run(leg: Leg, find: Callable[[Reader], Found], reader: Reader) -> LegReport:
    started = time.perf_counter()
    outcome, found, detail = Outcome.OK, Found(()), ""
    try:
        with _apart():
            found = find(reader)
    except Skipped as reason:
        outcome, detail = Outcome.SKIPPED, str(reason)
    except embedding.EmbeddingNotReady as reason:
        outcome, detail = Outcome.FAILED, str(reason)
    except Exception as error:
        # Its message may quote what was asked.
        outcome, detail = Outcome.FAILED, type(error).__name__
        log.warning("recall leg %s failed: %s", leg, detail)
    elapsed = 1000 * (time.perf_counter() - started)
    return LegReport(leg, outcome, found, detail, milliseconds=elapsed)


@contextmanager
def _apart() -> Iterator[None]:
    """A failed statement must not take the caller's transaction with it. Where there is none, each
    statement is one of its own, and a savepoint would only cost two more."""
    if not connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        yield


def _trusted(reader: Reader) -> tuple[QuerySet[Fact], float]:
    """The facts whose distance from the question means something, and the least cosine that does.

    With a model of one language a question in another would find whatever is in that other. Short
    questions are taken for another language now and then, so facts in the model's own stay.
    """
    language = reader.query.language
    if embedding.reads(language):
        return reader.facts, 0.0
    if not reader.query.is_latin:
        raise Skipped("the embedding model does not read this script")
    readable = [language_config(code) for code in embedding.READS]
    if language == UNKNOWN:
        return reader.facts.filter(language__in=[*readable, "simple"]), 0.0
    return reader.facts.filter(language__in=readable), reader.tuning.cosine_about_owner


def _with_gate(text: str, reader: Reader) -> tuple[str, float]:
    """What to embed, and the least cosine that makes a fact relevant to it."""
    asked = as_facts_say(text)
    tuning = reader.tuning
    return asked, tuning.cosine if asked == text else tuning.cosine_about_owner


def _nearest(
    vector: list[float], facts: QuerySet[Fact], reader: Reader
) -> QuerySet[Fact, tuple[UUID, float]]:
    """Exact: every vector of the owner is compared. No distance is in the conditions, because rows
    of another model may have another dimension."""
    near = facts.filter(embeddings__owner=reader.agent.owner, embeddings__model=embedding.MODEL)
    near = near.annotate(distance=CosineDistance("embeddings__vector", vector))
    return near.order_by("distance", "pk").values_list("pk", "distance")[
        : reader.tuning.rows_per_leg
    ]


def _best_first(cosines: dict[UUID, float], reader: Reader) -> tuple[Hit, ...]:
    ranked = sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Hit(fact_id, cosine) for fact_id, cosine in ranked[: reader.tuning.rows_per_leg])


def _in_period(span: Period, reader: Reader) -> Q:
    """What holds from then on. What was only said then is of then too, but of no future."""
    begins = Q(valid_from__gte=span.start, valid_from__lt=span.end)
    if span.end > reader.query.now:
        return begins
    said = Q(valid_from__isnull=True, observed_at__gte=span.start, observed_at__lt=span.end)
    return begins | said
