"""LoCoMo through the application itself: rows in Postgres, and the functions that serve the API.

One owner per conversation, one conversation per session. What search and recall are called is known
here alone (`ranked_turns`, `ranked_facts`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from uuid import UUID

from agents.audit import acting, command, person
from agents.models import Agent, OwnerSettings, User
from bench.home import clock
from bench.locomo import Sample, Turn
from conversations.ingest import store_messages
from conversations.models import Message
from conversations.record import Incoming, Into
from memory import embedding, tokens
from memory.lifecycle import Draft, Source, propose
from memory.models import Evidence, Fact
from memory.recall import block
from memory.recall.finding import ranking
from memory.recall.service import recall
from memory.recall.tuning import tuning
from memory.search import vectors
from memory.search.service import search
from memory.text.language import detect_language, language_config
from memory.vocabulary import Kind, Origin, State

# Facts of a block of 1,500 tokens: no line has fewer than 15.
_MORE_THAN_FIT = 100
_A_MINUTE = timedelta(minutes=1)

Covered = list[tuple[str, ...]]


@dataclass
class Store:
    sample: Sample
    owner: User
    agent: Agent
    facts: dict[UUID, Fact] = field(default_factory=dict)
    # The evidence of each fact: ids of turns.
    evidence: dict[UUID, tuple[str, ...]] = field(default_factory=dict)


def ingest(sample: Sample) -> Store:
    with acting(command("bench")):
        owner = User.objects.create(username=sample.id)
        OwnerSettings.objects.update_or_create(owner=owner, defaults={"memory_enabled": True})
        agent = Agent.objects.create(owner=owner, slug="main", name="Main", is_default=True)
    for session, turns in sample.by_session.items():
        into = Into(agent=agent, source="locomo", external_id=session)
        with clock(turns[-1].said_at + _A_MINUTE):
            store_messages(into=into, messages=[_message(turn, sample) for turn in turns])
    return Store(sample, owner, agent)


def learn(store: Store) -> None:
    """The observations become facts, each confirmed by the owner when it was said. They name no
    entities, because nobody extracted any."""
    messages = {
        message.client_id: message
        for message in Message.objects.filter(owner=store.owner).select_related("conversation")
    }
    for observation in store.sample.observations:
        sources = [messages[turn] for turn in observation.evidence]
        said_at = max((m.sent_at for m in sources), default=store.sample.turns[0].said_at)
        draft = Draft(
            statement=observation.statement,
            kind=Kind.SEMANTIC,
            origin=Origin.EXTRACTION,
            observed_at=said_at,
            language=language_config(detect_language(observation.statement)),
            sources=tuple(Source(message, message.content) for message in sources),
            conversation=sources[0].conversation if sources else None,
        )
        with clock(said_at + _A_MINUTE):
            fact = propose(
                owner=store.owner,
                agent=store.agent,
                draft=draft,
                actor=person(store.owner),
                state=State.ACTIVE,
            )
        store.facts[fact.pk] = fact
        store.evidence[fact.pk] = observation.evidence


def index(owner: User) -> None:
    """What the worker does after a commit."""
    embedding.store_embeddings(embedding.missing_embeddings().filter(owner=owner))
    vectors.store_embeddings(vectors.missing().filter(owner=owner))


def ranked_turns(store: Store, question: str, depth: int) -> list[str]:
    """Ids of turns, best first, from the raw record."""
    hits = search(
        agent=store.agent, query=question, scope="raw", k=depth, now=store.sample.asked_at
    )
    messages = (hit.passage.message for hit in hits if hit.passage)
    return list(dict.fromkeys(message.client_id for message in messages if message))


def ranked_facts(store: Store, question: str, depth: int) -> list[UUID]:
    """Facts in the order of their scores, before gates and cut."""
    found = ranking(agent=store.agent, message=question, now=store.sample.asked_at, rows=depth)
    return [candidate.fact.pk for candidate in found]


def told(store: Store, question: str) -> list[UUID]:
    """The facts of the block, behind gates and cut."""
    recalled = recall(agent=store.agent, message=question, now=store.sample.asked_at)
    return [item.fact.pk for item in recalled.items]


def in_block(store: Store, ranked: Sequence[UUID]) -> list[UUID]:
    """Those that fit the block of any system's ranking, rendered and counted as ours is."""
    limits = tuning()
    packed = block.pack(
        pinned=[],
        found=[store.facts[key] for key in ranked[:_MORE_THAN_FIT]],
        budget=limits.budget,
        pinned_budget=0,
        now=store.sample.asked_at,
        nonce=block.new_nonce(),
        count=_count,
    )
    return [fact.pk for fact in packed.found]


@lru_cache(maxsize=100_000)
def _count(line: str) -> int:
    """The same lines come again with other questions."""
    return tokens.count(line)


def evidence(store: Store, facts: Sequence[UUID]) -> Covered:
    return [store.evidence[key] for key in facts]


def check(store: Store) -> None:
    """The rows are what the bench believes they are."""
    stored = Evidence.objects.filter(owner=store.owner).count()
    assert stored == sum(map(len, store.evidence.values())), "evidence was lost"
    said = Message.objects.filter(owner=store.owner).count()
    assert said == len(store.sample.turns), "messages were lost"


def _message(turn: Turn, sample: Sample) -> Incoming:
    return Incoming(
        client_id=turn.id,
        role=Message.Role.USER,
        content=turn.content,
        sent_at=turn.said_at,
        zone="UTC",
        speaker=turn.speaker,
        from_owner=turn.speaker == sample.speakers[0],
    )
