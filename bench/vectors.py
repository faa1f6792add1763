"""Vectors of the bench's texts, made once by the application's own model and shared by baselines
and peers."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

# Texts that one of several processes is handed.
_AT_ONCE = 256


class Vectors:
    """By text. `folder` keeps them, so that a second run is quick; peers read the same files.
    `workers` make them where there are any."""

    def __init__(self, folder: Path, workers: Executor | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.workers = folder, workers
        self.texts: dict[str, int] = {}
        self.matrix: Any = np.zeros((0, 0), dtype="float32")

    def add(self, texts: Iterable[str]) -> None:
        from memory import embedding

        new = [text for text in dict.fromkeys(texts) if text not in self.texts]
        path = self.folder / f"{_digest(embedding.MODEL, *new)}.npy"
        if not path.exists():
            np.save(path, self._made(new))
        made = np.load(path)
        self.texts |= {text: len(self.texts) + number for number, text in enumerate(new)}
        self.matrix = np.vstack([self.matrix.reshape(-1, made.shape[1]), made])

    def _made(self, texts: Sequence[str]) -> Any:
        from memory import embedding

        # Texts of like length in one batch cost less padding.
        order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
        parts = [order[start : start + _AT_ONCE] for start in range(0, len(order), _AT_ONCE)]
        handed = [[texts[number] for number in part] for part in parts]
        embed = embedding.embed_blocking
        vectors = self.workers.map(embed, handed) if self.workers else map(embed, handed)
        made = np.zeros((len(texts), 384), dtype="float32")
        for part, found in zip(parts, vectors, strict=True):
            made[part] = found
        return made

    def of(self, texts: Iterable[str]) -> Any:
        return self.matrix[[self.texts[text] for text in texts]]

    def part(self, texts: Iterable[str]) -> "Vectors":
        """Those of some texts, to be handed to another process."""
        found, chosen = Vectors(self.folder), list(dict.fromkeys(texts))
        found.texts = {text: number for number, text in enumerate(chosen)}
        found.matrix = self.of(chosen)
        return found

    def hand_over(self, folder: Path) -> None:
        np.save(folder / "vectors.npy", self.matrix)
        (folder / "texts.json").write_text(json.dumps(list(self.texts)))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
