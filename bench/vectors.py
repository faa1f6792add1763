"""Vectors of the bench's texts, made once by the application's own model and shared by baselines
and peers."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np


class Vectors:
    """By text. `folder` keeps them, so that a second run is quick; peers read the same files."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.texts: dict[str, int] = {}
        self.matrix: Any = np.zeros((0, 0), dtype="float32")

    def add(self, texts: Iterable[str]) -> None:
        from memory import embedding

        new = [text for text in dict.fromkeys(texts) if text not in self.texts]
        path = self.folder / f"{_digest(embedding.MODEL, *new)}.npy"
        if not path.exists():
            # Texts of like length in one batch cost less padding.
            order = sorted(range(len(new)), key=lambda number: len(new[number]))
            made = np.zeros((len(new), 384), dtype="float32")
            made[order] = embedding.embed_blocking([new[number] for number in order])
            np.save(path, made)
        made = np.load(path)
        self.texts |= {text: len(self.texts) + number for number, text in enumerate(new)}
        self.matrix = np.vstack([self.matrix.reshape(-1, made.shape[1]), made])

    def of(self, texts: Iterable[str]) -> Any:
        return self.matrix[[self.texts[text] for text in texts]]

    def hand_over(self, folder: Path) -> None:
        np.save(folder / "vectors.npy", self.matrix)
        (folder / "texts.json").write_text(json.dumps(list(self.texts)))


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
