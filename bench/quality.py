"""How good recall and search are on LoCoMo, beside baselines and peers. No LLM is asked.

    python -m bench.quality [--data FILE] [--keep FOLDER] [--without-peers] [--samples N]

Prints tables; the last line is one JSON object, values in per cent.

(a) turns: messages as raw record; what is wanted are the turns that LoCoMo names as evidence.
(b) facts: LoCoMo's observations as active facts; a fact is worth the turns it rests on, and
    block_recall is what of them fits the block of 1,500 tokens.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench import home, measure, peers
from bench.locomo import CATEGORIES, TUNED_ON, Observation, Sample, load
from bench.locomo_to_jsonl import DATA
from bench.measure import FACT_MEASURES, FACT_MEASURES_TOLD, TURN_MEASURES, Row
from bench.peers import Answers, Job, Peer
from bench.vectors import Vectors

if TYPE_CHECKING:
    from uuid import UUID

    from bench.ours import Store

# Rows asked of every system: more than recall@50 needs, for ten sessions have to be among them.
DEPTH = 200
# Beside the application's own data, which git ignores.
CACHE = Path(__file__).resolve().parent.parent / ".data" / "bench"
NOTES = {
    "ours": "turns: messages alone (text, speaker, time, order); facts: statement, quotes and date",
    "ours_with_facts": "messages, and the observations as facts that cite them",
    "cosine": "exact, over '<date> <speaker>: <text> [image: caption]'; facts: the statement",
    "bm25": "the same texts, Postgres' English stems, k1 1.2, b 0.75; facts with their date",
    "rrf60": f"cosine and bm25, {DEPTH} rows of each, 1/(60 + rank)",
    **{name: f"the texts and vectors of cosine; {note}" for name, note in peers.NOT_GIVEN.items()},
}
Results = dict[str, list[Row]]


def main() -> None:
    options = _options()
    samples = load(options.data)[: options.samples]
    with TemporaryDirectory(prefix="bench-quality-") as temporary:
        home.start(options.keep or Path(temporary))
        turns, facts, asides = _measured(samples, with_peers=not options.without_peers)
    _print(turns, "Turns of the raw record", TURN_MEASURES)
    _print(facts, "Facts", FACT_MEASURES)
    print("\nWhat each system was given:")
    for name in [*turns, *(name for name in facts if name not in turns)]:
        print(f"- {name}: {NOTES[name]}")
    print("\n".join(asides))
    print(json.dumps(_json(turns, facts)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--keep", type=Path, help="a folder for the database")
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--samples", type=int, help="only the first of the ten conversations")
    return parser.parse_args()


def _measured(samples: Sequence[Sample], *, with_peers: bool) -> tuple[Results, Results, list[str]]:
    from bench import ours

    with home.told("vectors for baselines and peers"):
        vectors = _vectors(samples)
    running = _start_peers(samples, vectors) if with_peers else {}
    with home.told("messages"):
        stores = [ours.ingest(sample) for sample in samples]
        ours.index()
    turns: Results = {}
    with home.told("searching the raw record"):
        turns["ours"] = _our_turns(stores)
    with home.told("facts"):
        for store in stores:
            ours.learn(store)
            ours.check(store)
        ours.index()
    with home.told("searching the raw record, with facts"):
        turns["ours_with_facts"] = _our_turns(stores)
    facts: Results = {}
    with home.told("recalling facts"):
        facts["ours"] = _our_facts(stores)
    with home.told("baselines"):
        _baselines(stores, vectors, turns, facts)
    asides = [f"Questions: {len(facts['ours'])}. Tuned on {' and '.join(TUNED_ON)}."]
    for name, peer in running.items():
        with home.told(name):
            answers = peer.answers()
        if answers is None:
            asides.append(f"{name} failed and is left out.")
            continue
        _score_peer(name, answers, stores, turns, facts)
        asides.append(
            f"{name}: median {answers.add_ms:.1f} ms to add a text, {answers.search_ms:.1f} ms to"
            " search; embedding not included, other work going on."
        )
    return turns, facts, asides


def _vectors(samples: Sequence[Sample]) -> Vectors:
    vectors = Vectors(CACHE)
    vectors.add(turn.dated for sample in samples for turn in sample.turns)
    vectors.add(fact.statement for sample in samples for fact in sample.observations)
    vectors.add(question.text for sample in samples for question in sample.questions)
    return vectors


def _start_peers(samples: Sequence[Sample], vectors: Vectors) -> dict[str, Peer]:
    with home.told("peers' environment"):
        python = peers.environment(CACHE / "peers")
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


def _our_turns(stores: "Sequence[Store]") -> list[Row]:
    from bench import ours

    def ask(store: "Store", number: int) -> Row:
        asked = store.sample.questions[number]
        return measure.of_turns(store.sample, asked, ours.ranked_turns(store, asked.text, DEPTH))

    return _two_at_a_time(ask, stores)


def _our_facts(stores: "Sequence[Store]") -> list[Row]:
    from bench import ours

    def ask(store: "Store", number: int) -> Row:
        asked = store.sample.questions[number]
        ranked = ours.ranked_facts(store, asked.text, DEPTH)
        block = ours.evidence(store, ours.told(store, asked.text))
        return measure.of_facts(store.sample, asked, ours.evidence(store, ranked), block)

    return _two_at_a_time(ask, stores)


def _two_at_a_time(ask: Callable[["Store", int], Row], stores: "Sequence[Store]") -> list[Row]:
    """In the order of the questions. One thread computes while the other waits for the database."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda asked: ask(*asked), _questions(stores)))


def _baselines(stores: "Sequence[Store]", vectors: Vectors, turns: Results, facts: Results) -> None:
    for name in ("cosine", "bm25", "rrf60"):
        turns[name], facts[name] = [], []
    for store in stores:
        sample = store.sample
        said = [turn.dated for turn in sample.turns]
        ids = [turn.id for turn in sample.turns]
        for name, number, ranked in _ranked(sample, said, said, vectors):
            found = [ids[place] for place in ranked[:DEPTH]]
            turns[name].append(measure.of_turns(sample, sample.questions[number], found))
        known = [fact.statement for fact in sample.observations]
        dated = [f"{_dates(sample, fact)} {fact.statement}" for fact in sample.observations]
        keys = list(store.facts)
        for name, number, ranked in _ranked(sample, known, dated, vectors):
            facts[name].append(_fact_row(store, number, [keys[place] for place in ranked[:DEPTH]]))


def _ranked(
    sample: Sample, texts: Sequence[str], dated: Sequence[str], vectors: Vectors
) -> Iterable[tuple[str, int, list[int]]]:
    from bench.baselines import Bm25, cosine, fused, stems_of

    matrix = vectors.of(texts)
    bm25 = Bm25(stems_of(dated))
    questions = [question.text for question in sample.questions]
    stems = stems_of(questions)
    for number, vector in enumerate(vectors.of(questions)):
        near, like = cosine(matrix, vector), bm25.ranked(stems[number])
        yield "cosine", number, near
        yield "bm25", number, like
        yield "rrf60", number, fused(near, like)


def _dates(sample: Sample, fact: Observation) -> str:
    return " ".join({f"{sample.by_id[turn].said_at:%d %B %Y}" for turn in fact.evidence})


def _score_peer(
    name: str, answers: Answers, stores: "Sequence[Store]", turns: Results, facts: Results
) -> None:
    turns[name], facts[name] = [], []
    for store, number in _questions(stores):
        sample = store.sample
        said = answers.rankings[f"turns {sample.id}"][number]
        found = [turn for turn, _ in said]
        turns[name].append(measure.of_turns(sample, sample.questions[number], found))
        keys = list(store.facts)
        known = [keys[int(key)] for key, _ in answers.rankings[f"facts {sample.id}"][number]]
        facts[name].append(_fact_row(store, number, known))


def _fact_row(store: "Store", number: int, ranked: "Sequence[UUID]") -> Row:
    from bench import ours

    return measure.of_facts(
        store.sample,
        store.sample.questions[number],
        ours.evidence(store, ranked),
        ours.evidence(store, ours.in_block(store, ranked)),
    )


def _questions(stores: "Sequence[Store]") -> Iterable[tuple["Store", int]]:
    for store in stores:
        yield from product([store], range(len(store.sample.questions)))


def _print(results: Results, title: str, measures: Sequence[str]) -> None:
    for group, belongs in measure.GROUPS.items():
        if any(map(belongs, next(iter(results.values())))):
            print(f"\n{title}, {group}, % [95% interval]")
            _table(results, belongs, measures)
    for number, category in CATEGORIES.items():
        print(f"\n{title}, category {number} ({category}), all conversations, %")
        _table(results, lambda row: row.category == number, measures, sure=False)  # noqa: B023


def _table(
    results: Results, belongs: Callable[[Row], bool], measures: Sequence[str], *, sure: bool = True
) -> None:
    print("| system |", " | ".join(measures), "|")
    print("| --- |", " | ".join("---:" for _ in measures), "|")
    for name, rows in results.items():
        chosen = [row for row in rows if belongs(row)]
        if chosen:
            cells = [_cell(chosen, name, sure=sure) for name in measures]
            print(f"| {name} |", " | ".join(cells), "|")


def _cell(rows: Sequence[Row], name: str, *, sure: bool) -> str:
    value = f"{measure.mean(rows, name):.1f}"
    if not sure:
        return value
    low, high = measure.interval(rows, name)
    return f"{value} [{low:.1f}, {high:.1f}]"


def _json(turns: Results, facts: Results) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    return {
        "turns": {name: measure.summary(rows, TURN_MEASURES) for name, rows in turns.items()},
        "facts": {name: measure.summary(rows, FACT_MEASURES_TOLD) for name, rows in facts.items()},
    }


if __name__ == "__main__":
    main()
