"""langmem: the store that its search tool asks. Argument: the folder of the exchange."""

import sys
from pathlib import Path
from typing import Any

from exchange import Stopwatch, Vectors, run  # type: ignore[import-not-found]
from langgraph.store.memory import InMemoryStore  # type: ignore[import-not-found]

vectors = Vectors(Path(sys.argv[1]))


def embed(texts: list[str]) -> list[list[float]]:
    return [vectors.of(text) for text in texts]


def answer(name: str, job: dict[str, Any], watch: Stopwatch) -> list[list[tuple[str, float]]]:
    store = InMemoryStore(index={"dims": 384, "embed": embed, "fields": ["content"]})
    space = ("memories", "owner")
    for key, text in job["texts"].items():
        value = {"content": text}
        watch.time("add", lambda key=key, value=value: store.put(space, key, value))
    rankings = []
    for question in job["questions"]:
        found = watch.time(
            "search",
            lambda question=question: store.search(space, query=question, limit=job["depth"]),
        )
        rankings.append([(row.key, row.score) for row in found])
    return rankings


run(answer)
