"""A store of any size, seeded with COPY, for the bench of speed.

Statements are of English words, common ones often and rare ones seldom, about subjects; the vector
of a fact lies near the real one of its subject. A fifth of the facts is about somebody named. Terms
and counts are made by the application's own functions and triggers, and the index last.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from agents.models import Agent, OwnerSettings, User, new_id
from memory import embedding, vector_index
from memory.text import text_hash

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SUBJECTS = 1_500
# Facts of one owner that come one after the other, as from one conversation.
_CHUNK = 50
_INDEXED_AT_ONCE = 5_000
# How far a fact lies from its subject: a cosine of about 0.8.
_SPREAD = 0.75
_VERBS = ("likes", "bought", "repaired", "planned", "read about", "works with", "avoids", "sold")
_STATES = ("active",) * 19 + ("pending",)
_FACT = (
    "id, owner_id, agent_id, kind, statement, text_hash, language, state, confidence, tags, pinned,"
    " origin, valid_precision, created_at, observed_at, last_confirmed_at, archived_reason,"
    " archived_from, withheld_for, withheld_detail, prompt_version, reviewer_id, reviewed_at"
)


@dataclass(frozen=True)
class Owner:
    user: User
    agent: Agent
    other: Agent
    facts: int
    # Names of those whom facts are about.
    names: Sequence[str]


@dataclass(frozen=True)
class _Chunk:
    owner: Owner
    ids: Sequence[UUID]
    subjects: Sequence[int]


def words() -> list[str]:
    """English ones, from the tokens of the packaged model, the common ones first."""
    tokens = (embedding.packaged_weights() / "vocab.txt").read_text().split()
    return [token for token in tokens if token.isascii() and token.isalpha() and len(token) > 3]


class Seeder:
    def __init__(self, url: str) -> None:
        self.url = url
        self.random = random.Random(1)
        self.numbers = np.random.default_rng(2)
        self.words = words()
        self.weights = list(accumulate(1 / n for n in range(20, len(self.words) + 20)))
        self.subjects = [self.pick(2) for _ in range(SUBJECTS)]
        statements = [f"The user likes {' '.join(subject)}." for subject in self.subjects]
        self.centres = np.array(embedding.embed_blocking(statements), np.float32)

    def pick(self, count: int) -> list[str]:
        return self.random.choices(self.words, cum_weights=self.weights, k=count)

    def owner(self, name: str, facts: int) -> Owner:
        user = User.objects.create(username=name)
        OwnerSettings.objects.update_or_create(owner=user)
        agent = Agent.objects.create(owner=user, slug="main", name="Main", is_default=True)
        other = Agent.objects.create(owner=user, slug="work", name="Work")
        rare = self.words[len(self.words) // 2 :]
        names = [word.title() for word in self.random.sample(rare, max(5, facts // 100))]
        return Owner(user, agent, other, facts, names)

    def keep(self, stores: Mapping[str, Sequence[Owner]], file: Path) -> None:
        """Who is in the store, once it is filled."""
        found = {
            label: [
                [str(one.user.pk), str(one.agent.pk), str(one.other.pk), one.facts, one.names]
                for one in owners
            ]
            for label, owners in stores.items()
        }
        file.write_text(json.dumps(found))

    def kept(self, file: Path) -> dict[str, list[Owner]]:
        stores: dict[str, list[Any]] = json.loads(file.read_text())
        return {label: [_owner(*one) for one in owners] for label, owners in stores.items()}

    def fill(self, owners: Sequence[Owner]) -> None:
        """Owners take turns, as they would."""
        chunks = list(self._chunks(owners))
        with psycopg.connect(self.url, autocommit=True) as connection:
            register_vector(connection)
            connection.execute("SET session_replication_role = replica")
            named = self._facts(connection, chunks)
            self._vectors(connection, chunks)
            self._entities(connection, owners, named)
        ids = [fact_id for chunk in chunks for fact_id in chunk.ids]
        parts = [ids[n : n + _INDEXED_AT_ONCE] for n in range(0, len(ids), _INDEXED_AT_ONCE)]
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(self._index, parts))

    def settle(self) -> None:
        """What autovacuum would have come to: statistics, and pages known to be visible to all."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SELECT remembrancer_fold_counts(1)")
            connection.execute("VACUUM ANALYZE")

    def question(self, owner: Owner, number: int) -> str:
        """No two are alike. Half name somebody, a fifth a month; all are about a subject."""
        one, two = self.random.choice(self.subjects)
        (third,) = self.pick(1)
        forms = (
            f"what do I know about {one} {two} and {third}?",
            f"did {self.random.choice(owner.names)} ever mention {one} or {two} {third}?",
            f"where did I get the {one} {two} for the {third}",
            f"remind {self.random.choice(owner.names)} of the {third} {one} {two}",
            f"what was it with {one} {two} {third} in March 2026?",
        )
        return forms[number % len(forms)]

    def _chunks(self, owners: Sequence[Owner]) -> Iterator[_Chunk]:
        left = {owner.user.pk: owner.facts for owner in owners}
        while any(left.values()):
            for owner in owners:
                # In proportion, so that all end together.
                share = max(_CHUNK, owner.facts // 20)
                count = min(share, left[owner.user.pk])
                if count:
                    left[owner.user.pk] -= count
                    subjects = self.numbers.integers(0, SUBJECTS, count).tolist()
                    yield _Chunk(owner, [new_id() for _ in range(count)], subjects)

    def _facts(
        self, connection: psycopg.Connection[Any], chunks: Sequence[_Chunk]
    ) -> Mapping[UUID, tuple[UUID, int]]:
        """The owner and the number of the name, of each fact that has one."""
        named: dict[UUID, tuple[UUID, int]] = {}
        with (
            connection.cursor() as cursor,
            cursor.copy(f"COPY memory_fact ({_FACT}) FROM STDIN") as copy,
        ):
            for chunk in chunks:
                for fact_id, subject in zip(chunk.ids, chunk.subjects, strict=True):
                    name = self._name(chunk.owner)
                    if name is not None:
                        named[fact_id] = chunk.owner.user.pk, name
                    copy.write_row(self._fact(chunk.owner, fact_id, subject, name))
        return named

    def _name(self, owner: Owner) -> int | None:
        return self.random.randrange(len(owner.names)) if self.random.random() < 0.2 else None

    def _fact(self, owner: Owner, fact_id: UUID, subject: int, name: int | None) -> tuple[Any, ...]:
        pick = self.random
        who = "The user" if name is None else owner.names[name]
        about = [*self.subjects[subject], *self.pick(pick.randint(1, 5))]
        statement = f"{who} {pick.choice(_VERBS)} {' '.join(about)} {pick.randrange(10**6)}."
        said = NOW - timedelta(hours=pick.randint(1, 20_000))
        agents = (owner.agent.pk,) * 5 + (None,) * 4 + (owner.other.pk,)
        state = pick.choice(_STATES)
        reviewed = (owner.user.pk, said) if state == "active" else (None, None)
        return (
            fact_id, owner.user.pk, pick.choice(agents),
            pick.choice(("semantic", "semantic", "episodic", "procedural")), statement,
            text_hash(statement), "english", state, pick.choice((0.6, 0.8, 0.9, 1.0)), [], False,
            "extraction", "day", said, said, said, "", "", [], "", "", *reviewed,
        )  # fmt: skip

    def _vectors(self, connection: psycopg.Connection[Any], chunks: Sequence[_Chunk]) -> None:
        columns = "owner_id, fact_id, model, vector"
        with (
            connection.cursor() as cursor,
            cursor.copy(
                f"COPY memory_factembedding ({columns}) FROM STDIN WITH (FORMAT BINARY)"
            ) as copy,
        ):
            copy.set_types(["uuid", "uuid", "varchar", "vector"])
            for chunk in chunks:
                vectors = self._near(chunk.subjects)
                for fact_id, vector in zip(chunk.ids, vectors, strict=True):
                    copy.write_row((chunk.owner.user.pk, fact_id, embedding.MODEL, vector))

    def _near(self, subjects: Sequence[int]) -> Any:
        noise = self.numbers.standard_normal((len(subjects), self.centres.shape[1]), np.float32)
        noise *= _SPREAD / np.sqrt(self.centres.shape[1])
        points = self.centres[subjects] + noise
        return points / np.linalg.norm(points, axis=1, keepdims=True)

    def _entities(
        self,
        connection: psycopg.Connection[Any],
        owners: Sequence[Owner],
        named: Mapping[UUID, tuple[UUID, int]],
    ) -> None:
        entities = {
            (owner.user.pk, number): (new_id(), name)
            for owner in owners
            for number, name in enumerate(owner.names)
        }
        tables: dict[str, list[tuple[Any, ...]]] = {
            "memory_entity (id, owner_id, type, name, normal_name)": [
                (entity, owner, "person", name, name.lower())
                for (owner, _), (entity, name) in entities.items()
            ],
            "memory_entityalias (owner_id, entity_id, name, normal_name)": [
                (owner, entity, name, name.lower())
                for (owner, _), (entity, name) in entities.items()
            ],
            "memory_factentity (owner_id, fact_id, entity_id)": [
                (key[0], fact_id, entities[key][0]) for fact_id, key in named.items()
            ],
        }
        for table, rows in tables.items():
            with (
                connection.cursor() as cursor,
                cursor.copy(f"COPY {table} FROM STDIN") as copy,
            ):
                for row in rows:
                    copy.write_row(row)

    def _index(self, ids: Sequence[UUID]) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SELECT remembrancer_index_facts(%s)", [list(ids)])


def _owner(user: str, agent: str, other: str, facts: int, names: Sequence[str]) -> Owner:
    agents = Agent.objects.select_related("owner").in_bulk([UUID(agent), UUID(other)])
    one = agents[UUID(agent)]
    return Owner(one.owner, one, agents[UUID(other)], facts, names)


def build_index() -> None:
    """As after an import of everything: the migration's empty index goes first."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '2GB'")
    vector_index.ensure_vector_index(embedding.MODEL, 384)


def drop_index() -> None:
    vector_index.drop_vector_index(embedding.MODEL)
