"""Other memories beside ours, each in a virtual environment that the bench makes for them all.

A runner reads a folder (jobs.json, texts.json, vectors.npy) and prints its rankings as JSON. It
never embeds: everybody gets the same vectors. No peer is given an LLM.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.vectors import Vectors

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements.txt"
NOT_GIVEN = {
    "mem0": (
        "infer=False, so no LLM: one memory per text, no entity links; no spaCy, whose model is no"
        " package, so no lemmas, and its keyword search asks for every word of the question;"
        " exact search instead of HNSW, one collection per conversation"
    ),
    "langmem": "its store alone, which its search tool asks; no LLM that writes memories",
}


@dataclass(frozen=True)
class Job:
    """Texts by id, and what is asked of them."""

    texts: Mapping[str, str]
    questions: Sequence[str]
    depth: int
    # The least score, on the peer's own scale.
    least: float = 0.0


# For each question the ids, best first, with the peer's own score.
Rankings = list[list[tuple[str, float]]]


@dataclass(frozen=True)
class Answers:
    rankings: dict[str, Rankings]
    # Milliseconds: medians of one write and of one search, embedding not included.
    add_ms: float
    search_ms: float


class Peer:
    """Runs beside us in a process of its own until it is asked for its answers."""

    def __init__(
        self, name: str, *, python: Path, jobs: Mapping[str, Job], vectors: Vectors, url: str
    ) -> None:
        self.name = name
        # The runner holds it open.
        self.folder = TemporaryDirectory(prefix=f"bench-{name}-")
        folder = Path(self.folder.name)
        (folder / "jobs.json").write_text(
            json.dumps({key: asdict(job) for key, job in jobs.items()})
        )
        vectors.hand_over(folder)
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen(
            [python, HERE / f"{name}_runner.py", folder, url],
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )

    def answers(self) -> Answers | None:
        """None where it failed, after saying so: what the others answered still counts."""
        failed = self.process.wait() != 0
        self.log.close()
        folder = Path(self.folder.name)
        if failed:
            print(f"{self.name} failed:\n{(folder / 'log').read_text()[-2_000:]}", file=sys.stderr)
        told = None if failed else json.loads((folder / "answers.json").read_text())
        self.folder.cleanup()
        return None if told is None else Answers(**told)


def environment(folder: Path) -> Path:
    """The Python that has the peers, made on first use."""
    python = folder / "bin" / "python"
    done = folder / REQUIREMENTS.read_text().replace("\n", "_").replace("/", "")[:200]
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        # Compiled is what a runner imports, the first time it does.
        install = [*pip, "install", "-qq", "--no-compile"]
        subprocess.run([*install, "--requirement", REQUIREMENTS], check=True)
        done.touch()
    return python
