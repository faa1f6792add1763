"""mem0 with its pgvector store. Arguments: the folder of the exchange, the database's address."""

import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="not used", MEM0_DIR=str(FOLDER / "mem0"))

from exchange import Stopwatch, Vectors, run  # type: ignore[import-not-found]  # noqa: E402
from mem0 import Memory  # type: ignore[import-not-found]  # noqa: E402

vectors = Vectors(FOLDER)


class SharedVectors:
    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return vectors.of(text)  # type: ignore[no-any-return]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [vectors.of(text) for text in texts]


def memory(name: str) -> Any:
    """The LLM and the embedder are constructed and never called."""
    never = {"api_key": "not used", "model": "none"}
    made = Memory.from_config(
        {
            "llm": {"provider": "openai", "config": never},
            "embedder": {"provider": "openai", "config": never | {"embedding_dims": 384}},
            "vector_store": {
                "provider": "pgvector",
                "config": {
                    "connection_string": sys.argv[2],
                    "collection_name": name,
                    "embedding_model_dims": 384,
                    "hnsw": False,
                },
            },
            "history_db_path": str(FOLDER / f"{name}.db"),
        }
    )
    made.embedding_model = SharedVectors()
    return made


def answer(name: str, job: dict[str, Any], watch: Stopwatch) -> list[list[tuple[str, float]]]:
    store = memory(name.replace("-", "_").replace(" ", "_"))
    for key, text in job["texts"].items():
        message = [{"role": "user", "content": text}]
        note = {"key": key}
        watch.time(
            "add",
            lambda message=message, note=note: store.add(
                message, user_id="owner", infer=False, metadata=note
            ),
        )
    rankings = []
    for question in job["questions"]:
        found = watch.time(
            "search",
            lambda question=question: store.search(
                question,
                filters={"user_id": "owner"},
                top_k=job["depth"],
                threshold=job["least"],
            ),
        )
        rankings.append([(row["metadata"]["key"], row["score"]) for row in found["results"]])
    return rankings


run(answer)
