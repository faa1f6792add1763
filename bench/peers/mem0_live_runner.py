"""mem0 with its pgvector store, one question at a time.

Arguments: a folder, the database's address, the name of the collection, the owner, the folder of
the model's weights, and that of our packages, of which sentence-transformers is lent. The folder
has rows.jsonl ({"id", "owner", "text"} a line) and vectors.npy: mem0 writes the first few itself,
the rest is copied into its table as it writes them. Each line read is {"question", "vector",
"owner"}, answered by the milliseconds of two searches: one that is given the vector, and one that
embeds the question itself as its users have it do, with sentence-transformers on torch.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER, (URL, NAME, OWNER, WEIGHTS, LENT) = Path(sys.argv[1]), sys.argv[2:7]
os.environ.update(
    MEM0_TELEMETRY="False",
    OPENAI_API_KEY="not used",
    MEM0_DIR=str(FOLDER / "mem0"),
    HF_HUB_OFFLINE="1",
)
# Behind its own packages.
sys.path.append(LENT)

from mem0 import Memory  # type: ignore[import-not-found]  # noqa: E402
from mem0_rows import fill  # type: ignore[import-not-found]  # noqa: E402


class GivenVector:
    vector: list[float] = []

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.vector

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.vector for _ in texts]


def memory(given: GivenVector) -> Any:
    """As it comes, HNSW included. The LLM and the embedder are constructed and never called."""
    never = {"api_key": "not used", "model": "none"}
    store = {"connection_string": URL, "collection_name": NAME, "embedding_model_dims": 384}
    made = Memory.from_config(
        {
            "llm": {"provider": "openai", "config": never},
            "embedder": {"provider": "openai", "config": never | {"embedding_dims": 384}},
            "vector_store": {"provider": "pgvector", "config": store},
            "history_db_path": str(FOLDER / f"{NAME}.db"),
        }
    )
    made.embedding_model = given
    return made


def questions() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def main() -> None:
    given = GivenVector()
    store = memory(given)
    fill(store, FOLDER, URL, NAME, given=given)
    own = own_embedder()
    print("ready", flush=True)
    for asked in questions():
        given.vector = asked["vector"]
        print(search(store, given, asked), search(store, own, asked), flush=True)


def search(store: Any, embedder: Any, asked: dict[str, Any]) -> float:
    store.embedding_model = embedder
    started = time.perf_counter()
    store.search(asked["question"], filters={"user_id": asked.get("owner", OWNER)}, top_k=20)
    return 1_000 * (time.perf_counter() - started)


def own_embedder() -> Any:
    """On the same weights as ours. Warm, as it would be in a server."""
    from mem0.configs.embeddings.base import BaseEmbedderConfig  # type: ignore[import-not-found]
    from mem0.embeddings.huggingface import HuggingFaceEmbedding  # type: ignore[import-not-found]

    made = HuggingFaceEmbedding(BaseEmbedderConfig(model=WEIGHTS, model_kwargs={"device": "cpu"}))
    made.embed("warm up")
    return made


main()
