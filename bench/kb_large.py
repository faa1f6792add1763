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
    from knowledge.models import Collection

USER, COLLECTION = "bench-large", "Copies"
# Of the length of a vector; copies of one then lie at a cosine of about 0.9.
_MOVED = 0.35
# Written in the order of their keys: the index of the terms is larger than the database's memory.
_TABLES = {
    "knowledge_document": "id",
    "knowledge_documentpassage": "id",
    "knowledge_documentterm": "term, passage_id",
}
_ALL = (*_TABLES, "knowledge_documentembedding")
_COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name = %s AND is_generated = 'NEVER'
    ORDER BY ordinal_position
"""
_VECTORS = "COPY knowledge_documentembedding ({columns}) FROM STDIN WITH (FORMAT BINARY)"
_EMBEDDING = ("owner_id", "passage_id", "document_id", "generation", "model", "part", "vector")
_TYPES = ("uuid", "uuid", "uuid", "int4", "varchar", "int2", "vector")


def enlarged(agent: "Agent", passages: int) -> "Agent":
    """At least so many. All are written at once, so that what a broken-off run leaves is nothing;
    copies of other documents than there are now are thrown away."""
    from agents.models import User
    from knowledge.models import Collection, DocumentPassage

    owner = User.objects.filter(username=USER).first() or User.objects.create_user(USER)
    collection, _ = Collection.objects.get_or_create(owner=owner, name=COLLECTION)
    source = DocumentPassage.objects.filter(owner=agent.owner).count()
    copies = -(-passages // source)
    there = DocumentPassage.objects.filter(owner=owner).count()
    if there != copies * source:
        _write(copies, agent, collection)
    with home.told("Indexing the vectors"):
        _index()
    return owner.agents.get(is_default=True)


def _write(copies: int, agent: "Agent", collection: "Collection") -> None:
    from memory import embedding, vector_index

    vector_index.drop_vector_index(embedding.MODEL)
    source, owner = agent.owner_id, collection.owner_id
    with psycopg.connect(home.bench_url(), autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET work_mem = '256MB'")
        register_vector(connection)
        with connection.transaction():
            for table in reversed(_ALL):
                connection.execute(f"DELETE FROM {table} WHERE owner_id = %s", [owner])
            for table, order in _TABLES.items():
                with home.told(f"Copying {table} {copies} times"):
                    _copy(connection, table, order, copies, source, collection)
            with home.told("Copying the vectors"):
                for number in range(copies):
                    _copy_vectors(connection, number, source, owner)
        with home.told("Looking at the tables"):
            for table in _ALL:
                connection.execute(f"VACUUM ANALYZE {table}")


def _index() -> None:
    """With memory enough to build it in."""
    from django.db import connection

    from memory import embedding, vector_index

    with connection.cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '2GB'")
        vector_index.ensure_vector_index(embedding.MODEL, 384)
        cursor.execute("RESET maintenance_work_mem")


def _copy(
    connection: psycopg.Connection, table: str, order: str, copies: int, source: object,
    collection: "Collection",
) -> None:  # fmt: skip
    """An id of a copy is made of its number and the original's id."""
    columns = [row[0] for row in connection.execute(_COLUMNS, [table]).fetchall()]
    made = {
        "owner_id": f"'{collection.owner_id}'::uuid",
        "collection_id": f"'{collection.pk}'::uuid",
        "client_id": "NULL::uuid",
        "digest": "encode(sha256((number || digest)::bytea), 'hex')",
    }
    for name in ("id", "document_id", "passage_id"):
        made[name] = f"md5(number::text || {name})::uuid"
    values = ", ".join(made.get(name, f'"{name}"') + f' AS "{name}"' for name in columns)
    names = ", ".join(f'"{name}"' for name in columns)
    connection.execute(
        f"INSERT INTO {table} ({names}) SELECT {names} FROM ("
        f"SELECT {values} FROM {table}, generate_series(0, %s) AS number WHERE owner_id = %s"
        f") AS copied ORDER BY {order}",
        [copies - 1, source],
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
