"""What runners share. Runs in the peers' environment, where nothing of ours can be imported."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Rankings = list[list[tuple[str, float]]]


class Vectors:
    def __init__(self, folder: Path) -> None:
        texts = json.loads((folder / "texts.json").read_text())
        self.rows = {text: number for number, text in enumerate(texts)}
        self.matrix = np.load(folder / "vectors.npy")

    def of(self, text: str) -> list[float]:
        return self.matrix[self.rows[text]].tolist()  # type: ignore[no-any-return]


def run(
    answer: Callable[[str, dict[str, Any], "Stopwatch"], list[list[tuple[str, float]]]],
) -> None:
    folder = Path(sys.argv[1])
    watch = Stopwatch()
    jobs = json.loads((folder / "jobs.json").read_text())
    rankings = {name: answer(name, job, watch) for name, job in jobs.items()}
    told = {
        "rankings": rankings,
        "add_ms": statistics.median(watch.taken["add"]),
        "search_ms": statistics.median(watch.taken["search"]),
    }
    (folder / "answers.json").write_text(json.dumps(told))


class Stopwatch:
    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = {"add": [], "search": []}

    def time(self, what: str, action: Callable[[], Any]) -> Any:
        started = time.perf_counter()
        result = action()
        self.taken[what].append(1_000 * (time.perf_counter() - started))
        return result
