"""Excerpts of the raw record that ride in a prompt unasked: few, and not the same in every one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from agents.gate import MemoryOff, memory_on
from agents.models import Agent
from conversations.models import Conversation, Passage, ShownPassages
from memory.recall.query import read
from memory.recall.trace import Candidate
from memory.search import keys
from memory.search.marks import Mark
from memory.search.service import readable, said
from memory.search.words import content_stems
from memory.sensitive import redact
from memory.text.language import detect_language, language_config

MOST = 2
# Either is enough.
COSINE = 0.55
SHARED_TERMS = 2
# Passages that last rode along, by conversation.
LEDGER = 100
# Of these the best that were not shown are taken.
_LOOKED_AT = 12


@dataclass(frozen=True)
class Excerpt:
    passage: Passage
    text: str
    said_at: datetime
    cosine: float | None

    @property
    def speaker(self) -> str:
        message = self.passage.message
        return (message.speaker or message.role) if message else "nobody named"


def excerpts_for(
    *,
    agent: Agent,
    conversation: Conversation,
    query: str,
    now: datetime | None = None,
    facts: Sequence[Candidate] | None = None,
) -> list[Excerpt]:
    """From the part of this conversation that its assistant no longer sees: nothing before a first
    compaction. What newer facts override is left out, and what rode along lately. Only reads; see
    `told`. `facts` are those that agree most with the question, where recall knows them already.

    Raises MemoryOff, and ValueError for another agent's conversation."""
    if conversation.agent_id != agent.pk:
        raise ValueError("The conversation belongs to another agent.")
    now = now or timezone.now()
    if not conversation.compacted_seq or read(query, (), now).is_small_talk:
        return []
    if not memory_on(agent.owner):
        raise MemoryOff("Memory is off for this owner.")
    query = readable(query)
    known = keys.find(agent, query, now) if facts is None else keys.of(agent, facts)
    shown = set(_ledger(conversation))
    fresh = [
        Excerpt(hit.passage, redact(hit.text), hit.said_at, hit.cosine)
        for hit in said(agent, query, known, _LOOKED_AT, conversation)
        if hit.marks == (Mark.SUMMARISED,) and hit.passage and hit.passage.pk not in shown
    ]
    return _relevant(query, fresh)[:MOST]


def told(conversation: Conversation, excerpts: Sequence[Excerpt]) -> None:
    """They were put into a prompt of this conversation."""
    if not excerpts:
        return
    with transaction.atomic():
        row, _ = ShownPassages.objects.select_for_update().get_or_create(
            conversation=conversation, defaults={"owner_id": conversation.owner_id}
        )
        new = [excerpt.passage.pk for excerpt in excerpts]
        row.passage_ids = [key for key in row.passage_ids if key not in new] + new
        row.passage_ids = row.passage_ids[-LEDGER:]
        row.save(update_fields=["passage_ids"])


def _ledger(conversation: Conversation) -> list[UUID]:
    row = ShownPassages.objects.filter(conversation=conversation).first()
    return row.passage_ids if row else []


def _relevant(query: str, found: list[Excerpt]) -> list[Excerpt]:
    if not found:
        return []
    asked = language_config(detect_language(query))
    texts = [(_language(one, asked), text) for one in found for text in (query, one.text)]
    stems = content_stems(texts)
    shared = [len(ours & theirs) for ours, theirs in zip(stems[::2], stems[1::2], strict=True)]
    return [
        one
        for one, count in zip(found, shared, strict=True)
        if (one.cosine or 0.0) >= COSINE or count >= SHARED_TERMS
    ]


def _language(one: Excerpt, asked: str) -> str:
    """Both texts are cut alike; a short question tells no language, nor does a short passage."""
    known = asked if one.passage.language == "simple" else one.passage.language
    return known if known != "simple" else "english"
