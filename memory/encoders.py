"""What turns texts into vectors: the packaged model on ONNX Runtime, any other one on torch.

For one short query ONNX Runtime takes 5.5 ms of a processor where torch under sentence-transformers
takes 14, the vectors being the same to seven digits. A process that finds the graph made needs no
torch: it is ready in half a second instead of several, in a third of the memory.
"""

import json
import logging
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer

log = logging.getLogger(__name__)

# Texts of one pass, and tokens with their padding: what a pass holds in memory grows with both.
_BATCH = 32
_TOKENS = 2048
# Changes where `_export` does, so that no graph of another make is taken for this one's.
_MAKE = 1


class Encoder(Protocol):
    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        """Vectors of length one, in the order of the texts. Any number of threads may call it."""
        ...


class OnnxEncoder:
    """A BERT whose vector is the mean over its tokens."""

    def __init__(self, graph: str, folder: Path, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # Waiting threads would burn the processor that the database needs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"]
        )
        self.tokenizer = _tokenizer(folder)

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        rows = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        vectors: list[list[float]] = [[] for _ in rows]
        for places in _batches([len(row) for row in rows]):
            found = self._pass([rows[place] for place in places])
            for place, vector in zip(places, found, strict=True):
                vectors[place] = vector
        return vectors

    def _pass(self, rows: Sequence[Sequence[int]]) -> list[list[float]]:
        shape = len(rows), max(map(len, rows))
        tokens, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for number, row in enumerate(rows):
            tokens[number, : len(row)], mask[number, : len(row)] = row, 1
        (vectors,) = self.session.run(None, {"tokens": tokens, "mask": mask})
        return vectors.tolist()  # type: ignore[no-any-return]


class TorchEncoder:
    """Whatever sentence-transformers can load."""

    def __init__(self, name: str, threads: int) -> None:
        if Path(name).is_dir():
            # Everything is on this disk: nothing may be looked up elsewhere.
            os.environ.setdefault("HF_HUB_OFFLINE", "1")
        with _quiet():
            import torch
            from sentence_transformers import SentenceTransformer

            torch.set_num_threads(threads)
            self.model: SentenceTransformer = SentenceTransformer(name, device="cpu")

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        vectors = self.model.encode(
            list(texts), batch_size=_BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return vectors.tolist()  # type: ignore[no-any-return]


def packaged(folder: Path, *, package: str, graphs: Path, threads: int) -> OnnxEncoder:
    """The weights in `folder`. Their graph is made once, seconds of work, and kept in `graphs`."""
    kept = graphs / f"{package}-{version(package)}-{_MAKE}.onnx"
    if kept.exists():
        try:
            return OnnxEncoder(str(kept), folder, threads)
        except Exception as error:  # half a disk, another runtime: it is made anew
            log.warning("the kept graph %s can't be used: %s", kept.name, type(error).__name__)
    with TemporaryDirectory(prefix="remembrancer-graph-") as drafts:
        graph = Path(drafts) / kept.name
        _export(folder, graph)
        return OnnxEncoder(str(_keep(graph, kept)), folder, threads)


def _export(folder: Path, graph: Path) -> None:
    """In a process of its own: torch stays behind with it."""
    subprocess.run(
        [sys.executable, "-m", "memory.encoders", folder, graph],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        check=True,
    )


def _keep(graph: Path, kept: Path) -> Path:
    """Several processes may start at once: the last one wins, and none sees half a file."""
    draft = kept.with_name(f".{kept.name}-{os.getpid()}")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(graph, draft)
        return draft.replace(kept)
    except OSError as error:
        log.warning("the graph of the embedding model can't be kept: %s", error.strerror)
        return graph


def export(folder: str, graph: str) -> None:
    """Writes the graph of a BERT; the mean over its tokens and the length of one are part of it."""
    import torch
    from transformers import AutoModel

    class Sentences(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = AutoModel.from_pretrained(folder, attn_implementation="eager")

        def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            states = self.bert(input_ids=tokens, attention_mask=mask).last_hidden_state
            weights = mask.unsqueeze(-1).to(states.dtype)
            mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, p=2.0, dim=1)

    example = torch.tensor([[101, 2000, 102], [101, 2001, 102]])
    sizes = {0: "texts", 1: "length"}
    torch.onnx.export(
        Sentences().eval(),
        (example, torch.ones_like(example)),
        graph,
        input_names=["tokens", "mask"],
        output_names=["vectors"],
        dynamic_axes={"tokens": sizes, "mask": sizes, "vectors": {0: "texts"}},
        opset_version=17,
        dynamo=False,
    )


def _tokenizer(folder: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    limits = json.loads((folder / "sentence_bert_config.json").read_text())
    tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    # Settled before any thread shares it: changing it while another one encodes would fail.
    tokenizer.no_padding()
    tokenizer.enable_truncation(limits["max_seq_length"])
    return tokenizer


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts that go together, the short ones first: the less padding, the less work."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        full = len(batch) == _BATCH or (len(batch) + 1) * lengths[place] > _TOKENS
        if batch and full:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


class _quiet(warnings.catch_warnings):
    """The libraries' own deprecations and bars are not ours to mend."""

    def __enter__(self) -> Any:
        entered = super().__enter__()
        warnings.simplefilter("ignore")
        from transformers.utils import logging as transformers_logging

        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        return entered


if __name__ == "__main__":
    with _quiet():
        export(*sys.argv[1:])
