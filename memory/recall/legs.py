"""The legs of recall: each finds facts in its own way, and fails alone."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Q, QuerySet

from agents.models import Agent
from memory import embedding
from memory.models import Fact
from memory.recall import named, nearest, terms
from memory.recall.census import Census, take
from memory.recall.first import UNASKED, First
from memory.recall.happenings import Times, times_of
from memory.recall.nearest import Condition, Row
from memory.recall.of_periods import of_periods
from memory.recall.query import Query, is_latin
from memory.recall.scoring import Measures, Standings
from memory.recall.sheets import Every, Sheets
from memory.recall.statements import apart
from memory.recall.terms import Postings
from memory.recall.thinking import Thinking, Vectors
from memory.recall.trace import Found, Hit, Leg, LegReport, Outcome
from memory.recall.tuning import Tuning
from memory.scope import facts_readable_by, recallable, recallable_sql
from memory.text.language import UNKNOWN, language_config

log = logging.getLogger(__name__)

_PINNED = "memory_fact.owner_id = %(owner)s AND memory_fact.state = 'active' AND memory_fact.pinned"


@dataclass(frozen=True)
class Reader:
    """Who asks, and when: all that decides which facts a leg may see. What is read for one leg is
    kept for the scores."""

    agent: Agent
    query: Query
    tuning: Tuning
    # What `think` began for this message, if it was called, and what was asked for it at first.
    thinking: Thinking | None = field(default=None, kw_only=True)
    first: First = field(default=UNASKED, kw_only=True)

    @cached_property
    def facts(self) -> QuerySet[Fact]:
        return recallable(facts_readable_by(self.agent), self.query.now).order_by()

    @cached_property
    def asked(self) -> Condition:
        """What `facts` ask, for statements that the ORM does not make."""
        values = {"owner": self.agent.owner_id, "now": self.query.now}
        if self.agent.reads != Agent.Reads.ALL:
            values["agent"] = self.agent.pk
        return Condition(recallable_sql(self.agent), values, kept=True)

    @property
    def rides(self) -> Q:
        """What rides on every turn."""
        return Q(pinned=True)

    @cached_property
    def riding(self) -> Condition:
        return Condition(_PINNED, {"owner": self.agent.owner_id}, kept=True)

    @cached_property
    def rows(self) -> dict[UUID, Row]:
        """Facts that were read, whichever leg found them."""
        return {}

    def as_known(self, facts: Iterable[Fact]) -> Iterable[Fact]:
        """Rows as they are to be read; memory/recall/as_of.py has them as they were."""
        return facts

    def sheets(self, facts: Mapping[UUID, Every]) -> Sheets:
        """In their order, by what the term that every fact has tells of them."""
        return terms.fill_in(self.postings, self.agent, facts)

    @cached_property
    def census(self) -> Census:
        counts = self.first.counts
        return Census(self.agent.owner_id, *counts) if counts else take(self.agent)

    @cached_property
    def postings(self) -> Postings:
        words = terms.analyse(self.query, self.agent, self.first.words)
        topics = terms.topics_of(words, self.query)
        return terms.postings(words, self.agent, self.census, self.tuning.rows_per_word, topics)

    @property
    def vectors(self) -> Vectors:
        return self.thought.vectors()

    @cached_property
    def thought(self) -> Thinking:
        return self.thinking or _embed(self.query)

    @cached_property
    def readable(self) -> set[str] | None:
        """Languages of facts whose distance from the question means something; None for any."""
        return readable_languages(self.query)

    @cached_property
    def times(self) -> Times:
        """The periods that the message names."""
        return times_of(self.query, lambda: self.postings, self._look_at)

    def _look_at(self, ids: Sequence[UUID]) -> Iterable[Fact]:
        return self.as_known(self.facts.filter(pk__in=ids).only(*nearest.COLUMNS)) if ids else ()


def think(query: Query) -> Thinking | None:
    """Has the model begin, so that it computes while the caller asks the database. None where the
    vectors would mean nothing."""
    return None if query.is_small_talk or not _is_readable(query) else _embed(query)


def _embed(query: Query) -> Thinking:
    """Of the message put as facts are."""
    return Thinking(query.readings)


class Skipped(Exception):
    """A leg has nothing to go by. The message says why, and quotes nothing."""


def run(reader: Reader) -> tuple[LegReport, ...]:
    """The leg that needs the model goes last: it computes while the others ask the database, and
    what they found is read."""
    _look_ahead(reader)
    reports: dict[Leg, LegReport] = {}
    for leg in LEGS:
        if leg != Leg.VECTOR:
            reports[leg] = _run(leg, LEGS[leg], reader)
    _read_ahead(reader, reports.values())
    reports[Leg.VECTOR] = _run(Leg.VECTOR, LEGS[Leg.VECTOR], reader)
    return tuple(reports[leg] for leg in LEGS)


def _look_ahead(reader: Reader) -> None:
    if not _is_readable(reader.query):
        return
    thought = reader.thought
    try:
        with apart():
            asked, census = _trusted(reader), reader.census
    except Exception:  # the legs say so themselves
        log.debug("recall looks for nothing ahead")
    else:
        # What is asked of an earlier day is asked in statements of its own.
        if asked.kept:
            thought.then(lambda vectors: _nearest(vectors, asked, census, reader.tuning))


def _read_ahead(reader: Reader, reports: Iterable[LegReport]) -> None:
    try:
        with apart():
            read_rows(reader, {hit.fact_id for report in reports for hit in report.found.hits})
    except Exception:  # it is tried again, and told then
        log.debug("recall read nothing ahead")


def read_rows(reader: Reader, ids: Collection[UUID]) -> dict[UUID, Row]:
    """All that were read, with these and those that ride anyway. Scope, state and validity are
    asked again."""
    missing = [fact_id for fact_id in ids if fact_id not in reader.rows]
    if missing or not reader.rows:
        found = nearest.of_ids(reader.asked, reader.agent.owner_id, missing, reader.riding)
        reader.rows.update((row.fact.id, row) for row in found)
    return reader.rows


def by_vector(reader: Reader) -> Found:
    """Facts of a similar meaning."""
    asked, vectors = _trusted(reader), reader.vectors
    rows = reader.thought.near()
    if rows is None:
        rows = _near(reader, vectors, asked)
    reader.rows.update((row.fact.id, row) for row in rows)
    return Found(_best_first(nearest.cosines(rows, vectors), reader))


def _near(reader: Reader, vectors: Vectors, asked: Condition) -> list[Row]:
    """Counts and terms are read beside the vectors, and belong to another leg: where they are what
    is broken, the vectors do without."""
    try:
        with apart():
            return _nearest(vectors, asked, reader.census, reader.tuning)
    except DatabaseError as error:
        log.warning("recall compares vectors alone: %s", type(error).__name__)
        owner, rows = reader.agent.owner_id, reader.tuning.rows_per_leg
        return nearest.alone(vectors, asked, owner, rows)


def _nearest(vectors: Vectors, asked: Condition, census: Census, limits: Tuning) -> list[Row]:
    """To any of the vectors, each fact once."""
    near: dict[UUID, Row] = {}
    for number in range(len(vectors)):
        turned = [*vectors[number:], *vectors[:number]]
        rows = nearest.nearest(turned, asked, census, limits.rows_per_leg)
        near |= {row.fact.id: row for row in rows}
    return list(near.values())


def by_full_text(reader: Reader) -> Found:
    """Facts that share words with the message."""
    found = reader.postings
    if not found.words:
        raise Skipped("no word of content")
    best = found.best(reader.tuning.prior, reader.tuning.rows_per_leg)
    return Found(tuple(Hit(fact_id, score, met) for fact_id, score, met in best))


def by_entity(reader: Reader) -> Found:
    """Facts about a person, project, place … that the message names. A name that every other fact
    carries proves nothing."""
    if not reader.query.names:
        raise Skipped("nothing that could be a name")
    called = named.entities(reader.agent.owner_id, reader.query, reader.first.names)
    if not called:
        return Found(())
    pairs = named.about(called, reader.asked, reader.agent.owner_id, reader.tuning.rows_per_word)
    common = _common(Counter(entity for _, entity in pairs), reader)
    names: dict[UUID, dict[str, None]] = {}
    for fact_id, entity in pairs:
        if entity not in common:
            names.setdefault(fact_id, {}).update(dict.fromkeys(called[entity]))
    ranked = sorted(names, key=lambda fact_id: -len(names[fact_id]))
    return Found(tuple(Hit(key, float(len(names[key])), tuple(names[key])) for key in ranked))


def by_time(reader: Reader) -> Found:
    """Facts of the days, months or years that the message names."""
    times = reader.times
    if not times.spans:
        raise Skipped("no date")
    ids = of_periods(
        times.spans, reader.asked, now=reader.query.now, rows=reader.tuning.rows_per_leg
    )
    called = tuple(span.words for span in times.spans)
    # All that was before some event is too much to tell for one word that was asked.
    beside = 0 if times.by_event else reader.tuning.words_beside_date
    return Found(
        hits=tuple(Hit(fact_id, 1.0, called) for fact_id in ids),
        opens=len(times.beside) <= beside,
    )


def by_recency(reader: Reader) -> Found:
    """The newest facts, whatever the message says. What was said long ago and only read or
    brought in now is not new."""
    if not reader.tuning.recency_leg:
        raise Skipped("switched off")
    since = reader.query.now - timedelta(days=reader.tuning.recency_days)
    said = reader.facts.filter(created_at__gte=since, observed_at__gte=since)
    newest = said.order_by("-created_at", "pk")
    ids = newest.values_list("pk", flat=True)[: reader.tuning.recency_rows]
    return Found(tuple(Hit(fact_id, 1.0) for fact_id in ids), opens=True)


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
        with apart():
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


def measure(reader: Reader, reports: Sequence[LegReport], found: Mapping[UUID, Row]) -> Measures:
    """What the score needs of these facts, whichever leg found them. A leg that failed or had
    nothing to go by adds nothing."""
    went = {report.leg for report in reports if report.outcome == Outcome.OK}
    opened = {hit.fact_id for one in reports if one.found.opens for hit in one.found.hits}
    readable = reader.readable
    cosines = nearest.cosines(
        (row for row in found.values() if tells(row.language, row.fact, readable)),
        reader.vectors if Leg.VECTOR in went else (),
    )
    return Measures(
        facts=[row.fact for row in found.values()],
        legs=Standings(reports),
        opened=opened,
        cosines=cosines,
        sheets=_sheets(reader, found) if Leg.TEXT in went else None,
        postings=reader.postings if Leg.TEXT in went else None,
        periods=reader.times.spans if Leg.TIME in went else (),
        asks_of_periods=Leg.TIME in went and not reader.times.beside,
        asks_when=reader.query.asks_when,
    )


def _sheets(reader: Reader, found: Mapping[UUID, Row]) -> Sheets | None:
    """What is archived by now has left the index: as_of.py measures that anew."""
    facts = {key: row.every or Every(0.0, 0.0, 0) for key, row in found.items()}
    try:
        with apart():
            return reader.sheets(facts)
    except Exception as error:
        log.warning("recall could not measure its candidates: %s", type(error).__name__)
        return None


def _is_readable(query: Query) -> bool:
    """With a model of one language a question in another would find whatever is in that other.
    Short questions are taken for another language now and then, so Latin script will do."""
    return not embedding.READS or query.is_latin or embedding.reads(query.language)


def readable_languages(query: Query) -> set[str] | None:
    if not embedding.READS:
        return None
    readable = {language_config(code) for code in embedding.READS}
    if query.language == UNKNOWN or embedding.reads(query.language):
        readable.add("simple")
    return readable


def tells(language: str, fact: Fact, readable: set[str] | None) -> bool:
    """Whether a distance from the question means something. Facts of no language that Postgres
    knows are in any: of those in another script the model saw nothing but that it knows none of
    their words, as of a message that is none."""
    if readable is None:
        return True
    if language != "simple":
        return language in readable
    any_script = "simple" in map(language_config, embedding.READS)
    return language in readable and (any_script or is_latin(fact.statement))


def trusted(reader: Reader, facts: QuerySet[Fact]) -> QuerySet[Fact]:
    """Those of which a distance from the question means something. Raises Skipped."""
    readable = _read_by_the_model(reader)
    return facts if readable is None else facts.filter(language__in=sorted(readable))


def _trusted(reader: Reader) -> Condition:
    readable = _read_by_the_model(reader)
    if readable is None:
        return reader.asked
    return reader.asked.also(
        "memory_fact.language = ANY(%(languages)s::text[])", languages=sorted(readable)
    )


def _read_by_the_model(reader: Reader) -> set[str] | None:
    if not _is_readable(reader.query):
        raise Skipped("the embedding model does not read this script")
    return reader.readable


def _common(carried: Counter[UUID], reader: Reader) -> set[UUID]:
    limits = reader.tuning
    try:
        with apart():
            many = max(limits.common_name_least, limits.common_name * reader.census.facts)
    except Exception:  # the other legs say so themselves
        return set()
    return {entity for entity, count in carried.items() if count >= many}


def _best_first(scores: dict[UUID, float], reader: Reader) -> tuple[Hit, ...]:
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0].int))
    return tuple(Hit(fact_id, score) for fact_id, score in ranked[: reader.tuning.rows_per_leg])
