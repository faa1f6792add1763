"""An owner with very many passages: copies of the manuals, each with other ids, and vectors a
little moved, so that no two lie in one place. Written past the triggers."""

from typing import TYPE_CHECKING

import numpy as np
import psycopg
from pgvector import Vector
from pgvector.psycopg import register_vector

from bench import home

if TYPE_CHECKING:
    from agents.models import Agent

USER, COLLECTION = "bench-large", "Copies"
# Of the length of a vector; copies of one then lie at a cosine of about 0.9.
_MOVED = 0.35
_TABLES = ("knowledge_document", "knowledge_documentpassage", "knowledge_documentterm")
_COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = %s AND is_generated = 'NEVER'
    ORDER BY ordinal_position
"""
_VECTORS = "COPY knowledge_documentembedding ({columns}) FROM STDIN WITH (FORMAT BINARY)"
_EMBEDDING = ("owner_id", "passage_id", "document_id", "generation", "model", "part", "vector")
_TYPES = ("uuid", "uuid", "uuid", "int4", "varchar", "int2", "vector")


def enlarged(agent: "Agent", passages: int) -> "Agent":
    from agents.models import User
    from knowledge.models import Collection, DocumentPassage
    from memory import embedding, vector_index

    known = User.objects.filter(username=USER).first()
    if known is not None:
        return known.agents.get(is_default=True)
    owner = User.objects.create_user(USER)
    collection = Collection.objects.create(owner=owner, name=COLLECTION)
    there = DocumentPassage.objects.filter(owner=agent.owner).count()
    copies = -(-passages // there)
    with home.told(f"Copying {there} passages {copies} times"):
        vector_index.drop_vector_index(embedding.MODEL)
        with psycopg.connect(home.bench_url(), autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            register_vector(connection)
            for number in range(copies):
                for table in _TABLES:
                    _copy(connection, table, number, agent.owner_id, owner.pk, collection.pk)
                _copy_vectors(connection, number, agent.owner_id, owner.pk)
    with home.told("Indexing the vectors"):
        vector_index.ensure_vector_index(embedding.MODEL, 384)
        with psycopg.connect(home.bench_url(), autocommit=True) as connection:
            for table in (*_TABLES, "knowledge_documentembedding"):
                connection.execute(f"VACUUM ANALYZE {table}")
    return owner.agents.get(is_default=True)


def _copy(
    connection: psycopg.Connection, table: str, number: int, source: object, owner: object,
    collection: object,
) -> None:  # fmt: skip
    """An id of a copy is made of its number and the original's id."""
    columns = [row[0] for row in connection.execute(_COLUMNS, [table]).fetchall()]
    made = {
        "owner_id": f"'{owner}'::uuid",
        "collection_id": f"'{collection}'::uuid",
        "client_id": "NULL",
        "digest": f"encode(sha256(('{number}' || digest)::bytea), 'hex')",
    }
    for name in ("id", "document_id", "passage_id"):
        made[name] = f"md5('{number}' || {name})::uuid"
    values = ", ".join(made.get(name, f'"{name}"') for name in columns)
    names = ", ".join(f'"{name}"' for name in columns)
    connection.execute(
        f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} WHERE owner_id = %s", [source]
    )


def _copy_vectors(
    connection: psycopg.Connection, number: int, source: object, owner: object
) -> None:
    rows = connection.execute(
        "SELECT md5(%(n)s || passage_id)::uuid, md5(%(n)s || document_id)::uuid, generation, model,"
        " part, vector FROM knowledge_documentembedding WHERE owner_id = %(source)s",
        {"n": str(number), "source": source},
    ).fetchall()
    moves = np.random.default_rng(number).standard_normal((len(rows), 384)) * (_MOVED / 384**0.5)
    copy = _VECTORS.format(columns=", ".join(_EMBEDDING))
    with connection.cursor() as cursor, cursor.copy(copy) as writer:
        writer.set_types(_TYPES)
        for row, move in zip(rows, moves, strict=True):
            moved = np.asarray(row[5].to_numpy() if isinstance(row[5], Vector) else row[5]) + move
            moved = (moved / np.linalg.norm(moved)).astype("float32")
            writer.write_row((owner, *row[:5], Vector(moved)))
