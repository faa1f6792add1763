"""What a search reads of the raw record's index. Everything is one owner's, and of conversations
that the agent may read."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import connection

from agents.models import Agent
from conversations.models import Conversation
from memory import embedding, vector_index
from memory.search.words import Word

TABLE = "conversations_passageembedding"
# Passages read for one term; what more of them have is nearly as common as can be.
ROWS_PER_TERM = 4000

_SCOPE = """
    AND conversation_id = ANY(ARRAY(
        SELECT id FROM conversations_conversation
        WHERE owner_id = %(owner)s AND (%(agent)s::uuid IS NULL OR agent_id = %(agent)s)
            AND (%(conversation)s::uuid IS NULL OR id = %(conversation)s)))
"""
_TOTALS = """
    SELECT count(*), coalesce(sum(length), 0), count(DISTINCT (conversation_id, stretch))
    FROM conversations_indexedpassage WHERE owner_id = %(owner)s {scope}
"""
# Each term is a scan of the index alone. What they mean is summed by the caller: quicker than here.
_POSTINGS = """
    SELECT asked.word, found.*
    FROM unnest(%(terms)s::text[], %(words)s::int[]) AS asked (term, word)
    CROSS JOIN LATERAL (
        SELECT conversation_id, stretch, place, passage_id, tf, length
        FROM conversations_passageterm
        WHERE owner_id = %(owner)s AND term = asked.term {scope} LIMIT %(rows)s
    ) AS found
"""
_NEAREST = """
    SELECT passage_id, 1 - (vector <=> %(vector)s::vector)
    FROM conversations_passageembedding JOIN conversations_indexedpassage USING (passage_id)
    WHERE conversations_passageembedding.owner_id = %(owner)s AND model = %(model)s
"""
_BY_NEARNESS = " ORDER BY vector <=> %(vector)s::vector, passage_id LIMIT %(rows)s"
# The index has half-precision copies; the cosine is taken from the whole vector.
_BY_INDEX = " ORDER BY {here} <=> {sought} LIMIT %(rows)s"
_STRETCHES = """
    SELECT conversation_id, stretch, place, passage_id, length, words
    FROM conversations_indexedpassage
    JOIN unnest(%(conversations)s::uuid[], %(stretches)s::int[]) AS near (conversation_id, stretch)
        USING (conversation_id, stretch)
    WHERE owner_id = %(owner)s
"""
_ENTRIES = """
    SELECT conversation_id, stretch, place, passage_id, length, words
    FROM conversations_indexedpassage
    WHERE owner_id = %(owner)s AND passage_id = ANY(%(passages)s) {scope}
"""
_TEXTS = """
    SELECT p.id, p.message_id, p.text, coalesce(m.speaker, ''), coalesce(m.from_owner, false)
    FROM conversations_passage p LEFT JOIN conversations_message m ON m.id = p.message_id
    WHERE p.owner_id = %(owner)s AND p.id = ANY(%(passages)s) AND m.on_branch IS NOT FALSE
        AND (%(stored_by)s::timestamptz IS NULL OR m.created_at <= %(stored_by)s)
"""

Stretch = tuple[UUID, int]


class Entry(NamedTuple):
    """A passage's place in its conversation and its size."""

    conversation: UUID
    number: int
    place: int
    passage: UUID
    length: int
    words: int

    @property
    def stretch(self) -> Stretch:
        return self.conversation, self.number


class Said(NamedTuple):
    """What of a passage's text a score depends on."""

    passage: UUID
    message: UUID | None
    text: str
    speaker: str
    from_owner: bool


@dataclass
class Postings:
    """By word: which passages have it, at which place of a stretch, and how often. Passages are
    numbered, since a dictionary takes a number five times as fast as an id."""

    words: Sequence[Word]
    by_stretch: list[dict[Stretch, dict[int, float]]]
    by_number: list[dict[int, float]]
    passages: list[UUID] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def counts(self) -> list[int]:
        return [len(found) for found in self.by_number]


class Index:
    """The part of one owner's record that an agent may search; with `stored_by` only texts of
    messages that were there by then are read."""

    def __init__(
        self,
        agent: Agent,
        conversation: Conversation | None = None,
        stored_by: datetime | None = None,
    ) -> None:
        self.values: dict[str, Any] = {
            "owner": agent.owner_id,
            "agent": None if agent.reads == Agent.Reads.ALL else agent.pk,
            "conversation": conversation.pk if conversation else None,
            "stored_by": stored_by,
        }
        open_to_all = agent.reads == Agent.Reads.ALL and conversation is None
        self.scope = "" if open_to_all else _SCOPE

    def totals(self) -> tuple[int, int, int]:
        """Passages, the sum of their lengths, stretches."""
        passages, length, stretches = self._rows(_TOTALS)[0]
        return int(passages), int(length), int(stretches)

    def postings(self, words: Sequence[Word]) -> Postings:
        numbered = [(term, number) for number, word in enumerate(words) for term in word.terms]
        rows = self._rows(
            _POSTINGS,
            terms=[term for term, _ in numbered],
            words=[number for _, number in numbered],
            rows=ROWS_PER_TERM,
        )
        found = Postings(words, [{} for _ in words], [{} for _ in words])
        numbers: dict[UUID, int] = {}
        for word, conversation, stretch, place, passage, times, length in rows:
            number = numbers.setdefault(passage, len(numbers))
            if number == len(found.passages):
                found.passages.append(passage)
                found.lengths.append(length)
            places = found.by_stretch[word].setdefault((conversation, stretch), {})
            places[place] = max(times, places.get(place, 0.0))
            of_word = found.by_number[word]
            of_word[number] = max(times, of_word.get(number, 0.0))
        return found

    def nearest(self, vector: Sequence[float], rows: int, passages: int) -> dict[UUID, float]:
        """The best first, of so many passages. Every vector of the owner is compared, unless there
        are very many."""
        if self._is_large(rows, passages):
            order = _BY_INDEX.format(
                here=vector_index.place("vector", f"{TABLE}.owner_id", len(vector)),
                sought=vector_index.place("%(vector)s::vector", "%(owner)s::uuid", len(vector)),
            )
            with vector_index.approximate(passages):
                found = self._cosines(_NEAREST + "{scope}" + order, vector, rows=rows)
            if len(found) == rows:
                return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0].int)))
        return self._cosines(_NEAREST + "{scope}" + _BY_NEARNESS, vector, rows=rows)

    def _is_large(self, rows: int, passages: int) -> bool:
        if passages <= vector_index.EXACT_UP_TO:
            return False
        return vector_index.exists(TABLE, embedding.MODEL) and vector_index.is_worth_it(
            rows=rows, visible=passages, owned=passages
        )

    def cosines(self, vector: Sequence[float], passages: Collection[UUID]) -> dict[UUID, float]:
        probe = _NEAREST + " AND passage_id = ANY(%(passages)s)"
        return self._cosines(probe, vector, passages=list(passages))

    def entries(self, passages: Collection[UUID]) -> list[Entry]:
        return [Entry(*row) for row in self._rows(_ENTRIES, passages=list(passages))]

    def of_stretches(self, stretches: Iterable[Stretch]) -> list[Entry]:
        """Of conversations that entries have shown to be readable."""
        wanted = sorted(set(stretches))
        rows = self._rows(
            _STRETCHES,
            conversations=[conversation for conversation, _ in wanted],
            stretches=[number for _, number in wanted],
        )
        return [Entry(*row) for row in rows]

    def texts(self, passages: Collection[UUID]) -> dict[UUID, Said]:
        rows = self._rows(_TEXTS, passages=list(passages))
        return {row[0]: Said(*row) for row in rows}

    def _cosines(self, sql: str, vector: Sequence[float], **values: Any) -> dict[UUID, float]:
        rows = self._rows(sql, vector=str(list(vector)), model=embedding.MODEL, **values)
        return dict(rows)

    def _rows(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql.format(scope=self.scope), self.values | values)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
