"""One search over facts and the raw record. Only reads."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property, partial
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils import timezone

from agents.gate import MemoryOff, memory_on
from agents.models import Agent, OwnerSettings
from conversations.models import Conversation, Passage
from memory import embedding
from memory.cases import relevance
from memory.cases.relevance import Relevant
from memory.cases.scope import cases_readable_by
from memory.recall.as_of import at, end_of
from memory.search import keys, tiers
from memory.search.failures import Failures, SearchPart
from memory.search.hits import Hit, Scope, Tier
from memory.search.index import Entry, Index
from memory.search.keys import Keys
from memory.search.marks import Marked, marked
from memory.search.meaning import Meaning
from memory.search.scoring import WINDOW, Question, Record, Scorer, Terms
from memory.search.tiers import Asked
from memory.search.words import analyse
from memory.text.characters import without_hidden
from memory.vocabulary import State

# Characters of a question that are read; what the model reads of it is about half.
READ = 2000
# Passages of each kind that are scored, and how many of them bring their neighbours along. On
# LoCoMo the same as scoring every passage; 60 and 20 cost 0.4 of recall@50.
ROWS, LEADING = 100, 40
MOST = 200  # hits
# Searches of the record for one question: see `said`.
TRIES = 2


@dataclass(frozen=True)
class Scored:
    entry: Entry
    score: float
    cosine: float | None


def search(
    *,
    agent: Agent,
    query: str,
    scope: Scope | str = Scope.ALL,
    k: int = 10,
    now: datetime | None = None,
    conversation: Conversation | None = None,
    as_of: date | None = None,
    withdrawn: bool = True,
    failures: Failures | None = None,
) -> list[Hit]:
    """Facts first, then cases, passages, and what further tiers find, each best first, at most `k`
    in all. In `all` facts that bear on the question take at most half, unless the record leaves
    room, and cases two.

    `conversation` narrows the raw record. `as_of` and `withdrawn` as in recall; then of the record
    what was stored by the end of that day and is still on its branch, and nothing of cases and
    further tiers. What fails of it fails alone, and `failures` has it afterwards. Raises MemoryOff,
    DayToCome, and ValueError for another owner's conversation.
    """
    if not memory_on(agent.owner):
        raise MemoryOff("Memory is off for this owner.")
    if conversation is not None and conversation.owner_id != agent.owner_id:
        raise ValueError("The conversation belongs to another owner.")
    scope, k = Scope(scope), max(0, min(k, MOST))
    query = readable(query)
    if not query or not k:
        return []
    then = None if as_of is None else _end_of(as_of, agent, now)
    failures = failures or Failures()
    asked = tiers.Asked(agent, query, k, conversation, failures)
    if scope == Scope.CASES:
        return [] if then else _cases(asked, gate=False)[:k]
    if tier := tiers.of_scope(scope):
        return [] if then else list(tiers.found_in(tier, asked))[:k]
    known = _keys(asked, then or now, withdrawn, is_past=then is not None)
    facts = [] if scope == Scope.RAW else _facts(known, scope)
    raw = [] if scope == Scope.FACTS else _raw(asked, known, then)
    if scope == Scope.ALL:
        facts = facts[: max(k - k // 2, k - len(raw))]
        cases = [] if then else _cases(asked)[: relevance.MOST]
        found = [*facts, *cases, *raw][:k]
        return found if then else tiers.found_in_all(asked, found)
    return [*facts[:k], *raw][:k]


def readable(query: str) -> str:
    return without_hidden(query[:READ]).replace("\x00", " ").strip()


def _end_of(day: date, agent: Agent, now: datetime | None) -> datetime | None:
    clock = OwnerSettings.objects.values_list("time_zone", flat=True).get(owner=agent.owner_id)
    return end_of(day, (now or timezone.now()).astimezone(ZoneInfo(clock)))


def _keys(asked: Asked, now: datetime | None, withdrawn: bool, *, is_past: bool) -> Keys:
    find = partial(keys.find, asked.agent, asked.query, now, failures=asked.failures)
    if now is not None and is_past:
        find = partial(find, reader_at=partial(at, moment=now, withdrawn=withdrawn))
    return asked.failures.alone(SearchPart.FACTS, find, Keys())


def _raw(asked: Asked, known: Keys, then: datetime | None) -> list[Hit]:
    def find() -> list[Hit]:
        talk, failures = asked.conversation, asked.failures
        return said(asked.agent, asked.query, known, asked.k, talk, then, failures)

    return asked.failures.alone(SearchPart.RAW, find, [])


def said(
    agent: Agent,
    query: str,
    known: Keys,
    k: int,
    conversation: Conversation | None = None,
    stored_by: datetime | None = None,
    failures: Failures | None = None,
) -> list[Hit]:
    """From the part of the record that the agent may read. Asked once more where something that was
    met was taken back meanwhile: what was said instead came too late to be met."""
    for _ in range(TRIES):
        search = RawSearch(agent, query, known, conversation, stored_by, failures)
        hits = search.hits(k)
        if not search.lost:
            break
    return hits


def _facts(known: Keys, scope: Scope) -> list[Hit]:
    return [
        Hit(Tier.FACT, one.score, one.fact.statement, one.fact.observed_at, fact=one.fact)
        for one in known.candidates
        if one.follows or scope == Scope.FACTS
    ]


def _cases(asked: Asked, *, gate: bool = True) -> list[Hit]:
    find = partial(_relevant_cases, asked, gate=gate)
    nothing: list[Relevant] = []
    return [
        Hit(
            Tier.CASE,
            one.score,
            relevance.told_as(one.case),
            one.case.happened_at,
            cosine=one.cosine,
            case=one.case,
        )
        for one in asked.failures.alone(SearchPart.CASES, find, nothing)
    ]


def _relevant_cases(asked: Asked, *, gate: bool) -> list[Relevant]:
    """One look at an index tells whether there are any."""
    agent, query = asked.agent, asked.query
    if not cases_readable_by(agent).filter(state=State.ACTIVE).exists():
        return []
    vector = asked.failures.alone(SearchPart.MEANING, lambda: embedding.embed([query])[0], None)
    return relevance.relevant(agent=agent, message=query, vector=vector, gate=gate)


class RawSearch:
    """One question to the part of the record that the agent may read."""

    def __init__(
        self,
        agent: Agent,
        query: str,
        known: Keys,
        conversation: Conversation | None = None,
        stored_by: datetime | None = None,
        failures: Failures | None = None,
    ) -> None:
        self.failures = failures or Failures()
        self.question, self.known = Question(query), known
        self.words = analyse(query, agent.owner)
        self.index = Index(agent, conversation, stored_by)
        self.owner = agent.owner
        # Whether a passage that was met is not there any more.
        self.lost = False

    def hits(self, k: int) -> list[Hit]:
        best = self.ranked()[:k]
        passages = {passage.pk: passage for passage in self._passages(best)}
        self.lost |= len(passages) < len(best)
        notes = marked(list(passages.values()), self.known.facts, self.known.cited)
        return [
            _hit(one, passages[one.entry.passage], notes[one.entry.passage])
            for one in best
            if one.entry.passage in passages
        ]

    def ranked(self) -> list[Scored]:
        record = self.record
        if not record.passages:
            return []
        terms = Terms(self.index.postings(self.words), record)
        chosen, neighbours = self._candidates(terms)
        texts = self.index.texts([entry.passage for entry in chosen])
        self.lost |= self.index.values["stored_by"] is None and len(texts) < len(chosen)
        chosen = [entry for entry in chosen if entry.passage in texts]
        cosines = self._cosines(chosen)
        scorer = Scorer(self.question, terms, neighbours, texts, cosines, self.known.lifts)
        scored = [
            Scored(entry, scorer.score(entry), cosines.get(entry.passage)) for entry in chosen
        ]
        return sorted(scored, key=lambda one: (-one.score, one.entry.passage))

    @cached_property
    def meaning(self) -> Meaning:
        return Meaning(self.question.text, self.failures)

    @cached_property
    def record(self) -> Record:
        return Record(*self.index.totals())

    @cached_property
    def near(self) -> dict[UUID, float]:
        passages = self.record.passages
        return self.meaning.near(lambda vector: self.index.nearest(vector, ROWS, passages))

    def _candidates(self, terms: Terms) -> tuple[list[Entry], list[Entry]]:
        """What is to be scored, and all of the stretches that it stands in."""
        alike = terms.best(ROWS)
        seeds = {*self.near, *alike, *self._cited()}
        found = self.index.entries(seeds)
        self.lost |= not {*self.near, *alike} <= {entry.passage for entry in found}
        around = self.index.of_stretches(entry.stretch for entry in found)
        by_place = {(*entry.stretch, entry.place): entry for entry in around}
        leading = {*list(self.near)[:LEADING], *alike[:LEADING]}
        chosen = {entry.passage: entry for entry in found}
        for entry in found:
            if entry.passage in leading:
                for step in WINDOW:
                    beside = by_place.get((*entry.stretch, entry.place + step))
                    if beside is not None:
                        chosen[beside.passage] = beside
        return list(chosen.values()), around

    def _cited(self) -> Collection[UUID]:
        """Passages of the facts that agree most; whether they are readable the index says."""
        messages = self.known.leading
        rows = Passage.objects.filter(owner=self.owner, message__in=messages)
        return list(rows.values_list("pk", flat=True)) if messages else []

    def _cosines(self, entries: Sequence[Entry]) -> dict[UUID, float]:
        rest = [entry.passage for entry in entries if entry.passage not in self.near]
        return self.near | self.meaning.near(lambda vector: self.index.cosines(vector, rest))

    def _passages(self, best: Sequence[Scored]) -> list[Passage]:
        """Asked again: what left the branch or was purged meanwhile is gone."""
        chosen = Passage.objects.filter(
            owner=self.owner, pk__in=[one.entry.passage for one in best], indexed__isnull=False
        )
        # Many passages of few conversations: to make each one's again takes longer than to ask.
        rows = list(chosen.select_related("message").defer("search", "message__content"))
        conversations = Conversation.objects.select_related("agent").in_bulk(
            {passage.conversation_id for passage in rows}
        )
        found = [passage for passage in rows if passage.conversation_id in conversations]
        for passage in found:
            passage.conversation = conversations[passage.conversation_id]
        return found


def _hit(one: Scored, passage: Passage, notes: Marked) -> Hit:
    return Hit(
        tier=Tier.RAW,
        score=one.score,
        text=passage.text,
        said_at=passage.said_at,
        passage=passage,
        marks=notes.marks,
        overridden_by=notes.overridden_by,
        cosine=one.cosine,
    )
