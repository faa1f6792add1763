"""mem0's library behind FastAPI, as its own server has it: a function for each address, in threads.

Arguments: a folder with what mem0_rows.py reads, the database's address, a port, the folder of the
embedding model and its graph. It embeds each text itself, on the runtime and with the weights that
Remembrancer uses.
"""

import os
import sys
from pathlib import Path
from typing import Any

FOLDER, URL, PORT, WEIGHTS, GRAPH = Path(sys.argv[1]), sys.argv[2], *sys.argv[3:6]
os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="not used", MEM0_DIR=str(FOLDER / "mem0"))
sys.path.insert(0, str(Path(__file__).parents[2]))

import uvicorn  # noqa: E402
from fastapi import FastAPI  # type: ignore[import-not-found]  # noqa: E402
from mem0 import Memory  # type: ignore[import-not-found]  # noqa: E402
from mem0_rows import fill  # type: ignore[import-not-found]  # noqa: E402
from pydantic import BaseModel  # noqa: E402

from memory.encoders import OnnxEncoder  # noqa: E402


class Embedder:
    """Called as mem0 calls its own."""

    def __init__(self) -> None:
        self.encoder = OnnxEncoder(GRAPH, Path(WEIGHTS), threads=1)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return self.encoder.encode([text])[0]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return self.encoder.encode(texts)


class Asked(BaseModel):
    query: str
    user_id: str


class Told(BaseModel):
    messages: list[dict[str, str]]
    user_id: str


def memory() -> Any:
    """As it comes, HNSW included. No LLM: the text itself is the memory."""
    never = {"api_key": "not used", "model": "none"}
    store = {"connection_string": URL, "collection_name": "api", "embedding_model_dims": 384}
    made = Memory.from_config(
        {
            "llm": {"provider": "openai", "config": never},
            "embedder": {"provider": "openai", "config": never | {"embedding_dims": 384}},
            "vector_store": {"provider": "pgvector", "config": store},
            "history_db_path": str(FOLDER / "history.db"),
        }
    )
    made.embedding_model = Embedder()
    return made


def application() -> Any:
    app, store = FastAPI(), memory()
    fill(store, FOLDER, URL, "api")

    def health() -> dict[str, bool]:
        return {"ok": True}

    def search(asked: Asked) -> Any:
        return store.search(asked.query, filters={"user_id": asked.user_id}, top_k=20)

    def add(told: Told) -> Any:
        return store.add(told.messages, user_id=told.user_id, infer=False)

    app.get("/health")(health)
    app.post("/search")(search)
    app.post("/memories")(add)
    return app


uvicorn.run(application(), host="127.0.0.1", port=int(PORT), log_level="warning")
