"""How good recall and search are on LoCoMo, beside baselines and peers. No LLM is asked.

    python -m bench.quality [--data FILE] [--keep FOLDER] [--without-peers] [--samples N]

Prints tables; the last line is one JSON object, values in per cent.

(a) turns: messages as raw record; what is wanted are the turns that LoCoMo names as evidence.
(b) facts: LoCoMo's observations as active facts; a fact is worth the turns it rests on, and
    block_recall is what of them fits the block of 1,500 tokens.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import home, measure, peers
from bench.locomo import CATEGORIES, TUNED_ON, Sample, load
from bench.locomo_to_jsonl import DATA
from bench.measure import DEPTH, FACT_MEASURES, FACT_MEASURES_TOLD, TURN_MEASURES, Results, Row
from bench.peers import Job, Peer
from bench.vectors import Vectors

if TYPE_CHECKING:
    from bench.conversation import Measured

CACHE = home.KEPT
NOTES = {
    "ours": "turns: messages alone (text, speaker, time, order); facts: statement, quotes and date",
    "ours_with_facts": "messages, and the observations as facts that cite them",
    "cosine": "exact, over '<date> <speaker>: <text> [image: caption]'; facts: the statement",
    "bm25": "the same texts, Postgres' English stems, k1 1.2, b 0.75; facts with their date",
    "rrf60": f"cosine and bm25, {DEPTH} rows of each, 1/(60 + rank); no weights of age and kind",
    **{name: f"the texts and vectors of cosine; {note}" for name, note in peers.NOT_GIVEN.items()},
}


def main() -> None:
    options = _options()
    started = time.monotonic()
    samples = load(options.data)[: options.samples]
    with TemporaryDirectory(prefix="bench-quality-") as temporary:
        folder = options.keep or Path(temporary)
        turns, facts, asides = _measured(samples, folder, with_peers=not options.without_peers)
        home.stop()
    _print(turns, "Turns of the raw record", TURN_MEASURES)
    _print(facts, "Facts", FACT_MEASURES)
    print("\nWhat each system was given:")
    for name in [*turns, *(name for name in facts if name not in turns)]:
        print(f"- {name}: {NOTES[name]}")
    print("\n".join(asides))
    print(f"Took {(time.monotonic() - started) / 60:.1f} minutes.")
    print(json.dumps(_json(turns, facts)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--keep", type=Path, help="a folder for the database")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--samples", type=int, help="only the first of the ten conversations")
    return parser.parse_args()


def _measured(
    samples: Sequence[Sample], folder: Path, *, with_peers: bool
) -> tuple[Results, Results, list[str]]:
    with ThreadPoolExecutor(2) as beside:
        python = beside.submit(peers.environment, CACHE / "peers") if with_peers else None
        with home.told("model"):
            home.load(folder)
        with home.workers(folder) as workers:
            with home.told("database, and vectors for baselines and peers"):
                made = beside.submit(_vectors, samples, workers)
                home.migrate()
                vectors = made.result()
            running = _start_peers(python.result(), samples, vectors) if python else {}
            found = _all_measured(samples, vectors, workers)
    from bench.conversation import of_peer

    turns, facts = _joined(one.turns for one in found), _joined(one.facts for one in found)
    asides = [f"Questions: {len(facts['ours'])}. Tuned on {' and '.join(TUNED_ON)}."]
    for name, peer in running.items():
        with home.told(name):
            answers = peer.answers()
        if answers is None:
            asides.append(f"{name} failed and is left out.")
            continue
        turns[name], facts[name] = of_peer([one.store for one in found], answers.rankings)
        asides.append(
            f"{name}: median {answers.add_ms:.1f} ms to add a text, {answers.search_ms:.1f} ms to"
            " search; embedding not included, other work going on."
        )
    return turns, facts, asides


def _vectors(samples: Sequence[Sample], workers: Executor) -> Vectors:
    vectors = Vectors(CACHE, workers)
    vectors.add(turn.dated for sample in samples for turn in sample.turns)
    vectors.add(fact.statement for sample in samples for fact in sample.observations)
    vectors.add(question.text for sample in samples for question in sample.questions)
    return vectors


def _all_measured(
    samples: Sequence[Sample], vectors: Vectors, workers: Executor
) -> "list[Measured]":
    """The longest first, so that no worker is left alone with one at the end."""
    from bench.conversation import measured

    running = {
        workers.submit(measured, sample, vectors.part(_texts(sample))): sample.id
        for sample in sorted(samples, key=lambda sample: -len(sample.questions))
    }
    found: dict[str, Measured] = {}
    for number, done in enumerate(as_completed(running), 1):
        one = found[running[done]] = done.result()
        asked = len(one.store.sample.questions)
        print(
            f"{running[done]}: {asked} questions in {one.seconds:.0f} s; {number} of"
            f" {len(running)} conversations",
            file=sys.stderr,
            flush=True,
        )
    return [found[sample.id] for sample in samples]


def _texts(sample: Sample) -> Iterator[str]:
    yield from (turn.dated for turn in sample.turns)
    yield from (fact.statement for fact in sample.observations)
    yield from (question.text for question in sample.questions)


def _joined(parts: Iterable[Results]) -> Results:
    joined: Results = {}
    for part in parts:
        for name, rows in part.items():
            joined.setdefault(name, []).extend(rows)
    return joined


def _start_peers(python: Path, samples: Sequence[Sample], vectors: Vectors) -> dict[str, Peer]:
    jobs = dict(_jobs(samples))
    url = home.superuser_url()
    return {
        name: Peer(name, python=python, jobs=jobs, vectors=vectors, url=url)
        for name in peers.NOT_GIVEN
    }


def _jobs(samples: Sequence[Sample]) -> Iterable[tuple[str, Job]]:
    for sample in samples:
        questions = [question.text for question in sample.questions]
        said = {turn.id: turn.dated for turn in sample.turns}
        yield f"turns {sample.id}", Job(said, questions, DEPTH)
        known = {str(n): fact.statement for n, fact in enumerate(sample.observations)}
        yield f"facts {sample.id}", Job(known, questions, DEPTH)


def _print(results: Results, title: str, measures: Sequence[str]) -> None:
    for group, belongs in measure.GROUPS.items():
        if any(map(belongs, next(iter(results.values())))):
            print(f"\n{title}, {group}, % [95% interval]")
            _table(results, belongs, measures)
    for number, category in CATEGORIES.items():
        print(f"\n{title}, category {number} ({category}), all conversations, % [95% interval]")
        _table(results, lambda row: row.category == number, measures)  # noqa: B023


def _table(results: Results, belongs: Callable[[Row], bool], measures: Sequence[str]) -> None:
    print("| system |", " | ".join(measures), "|")
    print("| --- |", " | ".join("---:" for _ in measures), "|")
    for name, rows in results.items():
        chosen = [row for row in rows if belongs(row)]
        if chosen:
            cells = [_cell(chosen, name) for name in measures]
            print(f"| {name} |", " | ".join(cells), "|")


def _cell(rows: Sequence[Row], name: str) -> str:
    low, high = measure.interval(rows, name)
    return f"{measure.mean(rows, name):.1f} [{low:.1f}, {high:.1f}]"


def _json(turns: Results, facts: Results) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    return {
        "turns": {name: measure.summary(rows, TURN_MEASURES) for name, rows in turns.items()},
        "facts": {name: measure.summary(rows, FACT_MEASURES_TOLD) for name, rows in facts.items()},
    }


if __name__ == "__main__":
    main()
