"""A big store for benches: seeded with COPY, past the triggers, into a Postgres of its own."""

import itertools
import random
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
from pgvector.psycopg import register_vector

from agents.models import Agent, OwnerSettings, User, new_id
from memory.text import text_hash

DIMENSION = 384
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
_VERBS = ("lives in", "works with", "likes", "visited", "owns", "prefers", "met", "repaired")
_STATES = ("active",) * 16 + ("pending",) * 2 + ("rejected", "archived")
_CLUSTERS = 300


@dataclass(frozen=True)
class Seeded:
    owner: User
    agent: Agent
    facts: int


def vocabulary(size: int = 20_000) -> list[str]:
    """Words of two to four syllables; the first ones are the common ones."""
    rng = random.Random(1)
    syllables = [a + b for a in "bcdfghklmnprstv" for b in "aeiou"]
    words: dict[str, None] = {}
    while len(words) < size:
        words["".join(rng.choices(syllables, k=rng.randint(2, 4)))] = None
    return list(words)


class Writer:
    """Rows of one owner after another, through one superuser's connection."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True)
        self.connection.execute("SET session_replication_role = replica")
        register_vector(self.connection)
        self.words = vocabulary()
        self.weights = list(itertools.accumulate(1 / n for n in range(5, len(self.words) + 5)))
        self.random = random.Random(2)
        self.numbers = np.random.default_rng(3)
        self.centres = self.numbers.standard_normal((_CLUSTERS, DIMENSION)).astype("float32")

    def seed(self, name: str, facts: int, *, model: str) -> Seeded:
        owner = User.objects.create(username=name)
        OwnerSettings.objects.update_or_create(owner=owner)
        agent = Agent.objects.create(owner=owner, slug="main", name="Main", is_default=True)
        other = Agent.objects.create(owner=owner, slug="work", name="Work")
        conversations = self._conversations(owner, agent, max(1, facts // 10))
        runs = self._runs(owner, agent, conversations)
        ids = self._facts(owner, [agent.pk, None, None, other.pk], facts, conversations, runs)
        self._vectors(owner, ids, model)
        self._entities(owner, ids)
        return Seeded(owner, agent, facts)

    def analyse(self) -> None:
        self.connection.execute("VACUUM ANALYZE")

    def copy(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        with (
            self.connection.cursor() as cursor,
            cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy,
        ):
            for row in rows:
                copy.write_row(row)

    def sentence(self) -> str:
        words = self.random.choices(self.words, cum_weights=self.weights, k=5)
        return f"The user {self.random.choice(_VERBS)} {' '.join(words)} {new_id().hex[-6:]}."

    def _facts(
        self,
        owner: User,
        agents: list[uuid.UUID | None],
        count: int,
        conversations: list[uuid.UUID],
        runs: list[uuid.UUID],
    ) -> list[uuid.UUID]:
        ids = [new_id() for _ in range(count)]
        columns = (
            "id, owner_id, agent_id, kind, statement, text_hash, language, state, confidence,"
            " tags, pinned, origin, valid_precision, created_at, observed_at, last_confirmed_at,"
            " archived_reason, archived_from, withheld_for, withheld_detail, prompt_version,"
            " reviewer_id, reviewed_at, conversation_id, run_id, valid_from"
        )
        self.copy("memory_fact", columns, self._fact_rows(owner, agents, ids, conversations, runs))
        # What the triggers would have done.
        self.connection.execute("SELECT remembrancer_index_facts(%s)", [ids])
        return ids

    def _fact_rows(
        self,
        owner: User,
        agents: list[uuid.UUID | None],
        ids: list[uuid.UUID],
        conversations: list[uuid.UUID],
        runs: list[uuid.UUID],
    ) -> Iterator[tuple[Any, ...]]:
        pick = self.random
        for number, fact_id in enumerate(ids):
            statement, state = self.sentence(), pick.choice(_STATES)
            said = NOW - timedelta(hours=pick.randint(1, 20_000))
            archived = ("forgotten", "active") if state == "archived" else ("", "")
            reviewed = (owner.pk, said) if state in {"active", "rejected"} else (None, None)
            yield (
                fact_id, owner.pk, pick.choice(agents),
                pick.choice(("semantic", "semantic", "episodic", "procedural")), statement,
                text_hash(statement), pick.choice(("english",) * 9 + ("finnish",)), state,
                pick.choice((0.6, 0.8, 0.9, 1.0)), [], state == "active" and number < 12,
                "extraction", "day", said, said, said, *archived, [], "", "", *reviewed,
                pick.choice(conversations), pick.choice(runs), pick.choice((None, None, said)),
            )  # fmt: skip

    def _vectors(self, owner: User, ids: list[uuid.UUID], model: str) -> None:
        columns = "owner_id, fact_id, model, vector"
        with (
            self.connection.cursor() as cursor,
            cursor.copy(
                f"COPY memory_factembedding ({columns}) FROM STDIN WITH (FORMAT BINARY)"
            ) as copy,
        ):
            copy.set_types(["uuid", "uuid", "varchar", "vector"])
            for start in range(0, len(ids), 10_000):
                part = ids[start : start + 10_000]
                for fact_id, vector in zip(part, self._points(len(part)), strict=True):
                    copy.write_row((owner.pk, fact_id, model, vector))

    def _points(self, count: int) -> Any:
        centres = self.centres[self.numbers.integers(0, _CLUSTERS, count)]
        points = centres + 0.8 * self.numbers.standard_normal((count, DIMENSION)).astype("float32")
        return points / np.linalg.norm(points, axis=1, keepdims=True)

    def _entities(self, owner: User, ids: list[uuid.UUID]) -> None:
        names = self.words[100 : 100 + max(10, len(ids) // 50)]
        entities = [new_id() for _ in names]
        pairs = list(zip(entities, names, strict=True))
        self.copy(
            "memory_entity",
            "id, owner_id, type, name, normal_name",
            ((entity, owner.pk, "person", name.title(), name) for entity, name in pairs),
        )
        self.copy(
            "memory_entityalias",
            "owner_id, entity_id, name, normal_name",
            ((owner.pk, entity, name.title(), name) for entity, name in pairs),
        )
        self.copy(
            "memory_factentity",
            "owner_id, fact_id, entity_id",
            ((owner.pk, fact_id, self.random.choice(entities)) for fact_id in ids),
        )

    def _conversations(self, owner: User, agent: Agent, count: int) -> list[uuid.UUID]:
        ids = [new_id() for _ in range(count)]
        columns = (
            "id, owner_id, agent_id, source, external_id, title, read_only, sensitive, created_at,"
            " last_activity_at, first_message_at, last_message_at, last_seq, compacted_seq,"
            " cursor_seq, due_trigger, attempts, last_error"
        )
        self.copy(
            "conversations_conversation",
            columns,
            (
                (
                    key, owner.pk, agent.pk, "api", f"c{n}", self.sentence(), False, False,
                    *([NOW - timedelta(minutes=n)] * 4), 10, 0, 10, "", 0, "",
                )
                for n, key in enumerate(ids)
            ),
        )  # fmt: skip
        self._messages(owner, ids)
        return ids

    def _messages(self, owner: User, conversations: list[uuid.UUID]) -> None:
        columns = (
            "id, owner_id, conversation_id, seq, client_id, role, kind, speaker, from_owner,"
            " content, sent_at, zone, on_branch, created_at"
        )
        self.copy(
            "conversations_message",
            columns,
            (
                (
                    new_id(), owner.pk, conversation, seq, f"m{seq}",
                    "user" if seq % 2 else "assistant", "said", "", bool(seq % 2),
                    self.sentence(), NOW, "UTC", True, NOW,
                )
                for conversation in conversations
                for seq in range(1, 11)
            ),
        )  # fmt: skip

    def _runs(self, owner: User, agent: Agent, conversations: list[uuid.UUID]) -> list[uuid.UUID]:
        ids = [new_id() for _ in range(10 * len(conversations))]
        columns = (
            "id, owner_id, agent_id, conversation_id, trigger, state, attempt, first_seq, last_seq,"
            " observer, route, prompt_version, started_at, error, llm_calls, input_tokens,"
            " output_tokens, counts"
        )
        self.copy(
            "memory_extractionrun",
            columns,
            (
                (
                    key, owner.pk, agent.pk, conversations[n // 10], "idle", "applied", 1,
                    n % 10 + 1, n % 10 + 1, "rules", "", "", NOW - timedelta(minutes=n), "", 0,
                    0, 0, '{"created": 1}',
                )
                for n, key in enumerate(ids)
            ),
        )  # fmt: skip
        return ids
