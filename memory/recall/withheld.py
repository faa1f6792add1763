"""What a message would have found, had it been allowed to: facts that wait, were rejected, archived
or have expired, and those of other assistants. For whoever asks why something was not told; slower
than recall, which never looks at them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib.postgres.search import SearchQuery
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Least
from django.utils import timezone
from pgvector.django import CosineDistance

from agents.gate import memory_on
from agents.models import Agent, OwnerSettings
from memory import embedding
from memory.models import Fact
from memory.recall import legs, terms
from memory.recall.legs import Reader
from memory.recall.query import read
from memory.recall.scoring import Measures, Scores, Standings
from memory.recall.sheets import Sheets
from memory.recall.trace import Candidate, NearMiss, Why
from memory.recall.tuning import tuning
from memory.scope import facts_of, facts_readable_by, recallable
from memory.vocabulary import ArchivedReason, State

MOST = 10
_LOOKED_AT = 60
_WHY = {
    State.PENDING: Why.PENDING,
    State.REJECTED: Why.REJECTED,
    State.ARCHIVED: Why.ARCHIVED,
    State.ACTIVE: Why.EXPIRED,
}
_TERMS = """
    SELECT fact_id, term, tf, stated, length, words
    FROM remembrancer_terms_of_facts(%(facts)s, 'infinity') WHERE term = ANY(%(terms)s)
"""


def look(
    *, agent: Agent, message: str, now: datetime | None = None, other_agents: bool = False
) -> list[NearMiss]:
    """Best first, at most MOST; none while memory is off. `other_agents`: for the owner's eyes."""
    if not memory_on(agent.owner):
        return []
    clock = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=agent.owner_id)
    now = (now or timezone.now()).astimezone(ZoneInfo(clock))
    reader = Reader(agent, read(message, (), now), tuning())
    if reader.query.is_small_talk:
        return []
    facts = _withheld(reader, other_agents=other_agents)
    found = [one for one in _scored(reader, facts) if one.opens or one.follows]
    readable = set(
        facts_readable_by(agent)
        .filter(pk__in=[one.fact.pk for one in found])
        .values_list("pk", flat=True)
    )
    return [NearMiss(one.fact, _why(one.fact, readable), one) for one in found[:MOST]]


def _why(fact: Fact, readable: set[UUID]) -> Why:
    return _WHY[State(fact.state)] if fact.pk in readable else Why.SCOPE


def _withheld(reader: Reader, *, other_agents: bool) -> QuerySet[Fact]:
    """A superseded fact lives on in its successor, a purged one not at all."""
    agent = reader.agent
    facts = facts_of(agent.owner) if other_agents else facts_readable_by(agent)
    told = recallable(facts_readable_by(agent), reader.query.now)
    over = [ArchivedReason.PURGED, ArchivedReason.SUPERSEDED, ArchivedReason.MERGED]
    return facts.exclude(pk__in=told.values("pk")).exclude(archived_reason__in=over).order_by()


def _scored(reader: Reader, facts: QuerySet[Fact]) -> list[Candidate]:
    """Best first."""
    near = _cosines(reader, facts)
    ids = set(facts.filter(_shares_a_word(reader)).values_list("pk", flat=True)[:_LOOKED_AT])
    ids |= set(near)
    found = list(Fact.objects.filter(pk__in=ids).defer("search"))
    readable = legs.readable_languages(reader.query)
    telling = {fact.pk for fact in found if legs.tells(fact.language, fact, readable)}
    seen = Measures(
        facts=found,
        legs=Standings(),
        cosines={key: cosine for key, cosine in near.items() if key in telling},
        sheets=_sheets(reader, [fact.pk for fact in found]),
        postings=reader.postings,
        asks_when=reader.query.asks_when,
    )
    scores = Scores(seen, reader.query.now, reader.tuning)
    return [scores.candidate(place) for place in scores.in_order()]


def _cosines(reader: Reader, facts: QuerySet[Fact]) -> dict[UUID, float]:
    """The nearest to any reading of the message."""
    try:
        vectors = reader.vectors
        trusted = legs.trusted(reader, facts)
    except (embedding.EmbeddingNotReady, legs.Skipped):
        return {}
    distances = [CosineDistance("embeddings__vector", vector) for vector in vectors]
    found = (
        trusted.filter(embeddings__owner=reader.agent.owner, embeddings__model=embedding.MODEL)
        .annotate(distance=Least(*distances) if len(distances) > 1 else distances[0])
        .order_by("distance", "pk")
        .values_list("pk", "distance")
    )
    return {fact_id: 1 - distance for fact_id, distance in found[:_LOOKED_AT]}


def _shares_a_word(reader: Reader) -> Q:
    lexemes = {lexeme for word in reader.postings.words for lexeme in word.lexemes}
    if not lexemes:
        return Q(pk__in=[])
    quoted = ("'" + lexeme.replace("\\", "").replace("'", "''") + "'" for lexeme in lexemes)
    return Q(search=SearchQuery(" | ".join(sorted(quoted)), search_type="raw", config="simple"))


def _sheets(reader: Reader, facts: Sequence[UUID]) -> Sheets:
    words = reader.postings.words
    numbers = terms.numbered(words)
    with connection.cursor() as cursor:
        cursor.execute(_TERMS, {"facts": list(facts), "terms": list(numbers)})
        return Sheets.of(terms.sheets_of(cursor.fetchall(), numbers), len(words), facts)
