"""Fills mem0's table: the first few memories by mem0 itself, the rest copied in as it writes them.

The folder has rows.jsonl ({"id", "owner", "text"} a line) and vectors.npy.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg import sql

WRITTEN = 20


def fill(store: Any, folder: Path, url: str, name: str, given: Any = None) -> None:
    """`given.vector`, where there is one, is what mem0's embedder answers next."""
    rows = [json.loads(line) for line in (folder / "rows.jsonl").open()]
    matrix = np.load(folder / "vectors.npy")
    for row, vector in zip(rows[:WRITTEN], matrix, strict=False):
        if given is not None:
            given.vector = vector.tolist()
        message = [{"role": "user", "content": row["text"]}]
        store.add(message, user_id=row["owner"], infer=False)
    with psycopg.connect(url, autocommit=True) as connection:
        _copy_rest(connection, name, rows, matrix)


def _copy_rest(
    connection: psycopg.Connection[Any], name: str, rows: list[dict[str, str]], matrix: Any
) -> None:
    table, index = sql.Identifier(name), f"{name}_hnsw_idx"
    (example,) = connection.execute(
        sql.SQL("SELECT payload FROM {} LIMIT 1").format(table)
    ).fetchone() or ({},)
    (made,) = connection.execute(
        "SELECT indexdef FROM pg_indexes WHERE indexname = %s", [index]
    ).fetchone() or (None,)
    connection.execute("SET maintenance_work_mem = '2GB'")
    connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(index)))
    with (
        connection.cursor() as cursor,
        cursor.copy(sql.SQL("COPY {} (id, vector, payload) FROM STDIN").format(table)) as copy,
    ):
        for row, vector in zip(rows[WRITTEN:], matrix[WRITTEN:], strict=True):
            text = row["text"]
            told = {"data": text, "text_lemmatized": text.lower(), "user_id": row["owner"]}
            copy.write_row((row["id"], str(vector.tolist()), json.dumps(example | told)))
    if made:
        connection.execute(made)
    connection.execute(sql.SQL("VACUUM ANALYZE {}").format(table))
