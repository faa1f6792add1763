"""What one conversation of LoCoMo gives: ours through the application, and baselines in memory.

One process measures one conversation from its first message to its last question, so that several
can be measured at once.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from bench import measure, ours
from bench.baselines import Bm25, cosine, fused, stems_of
from bench.locomo import Observation, Sample
from bench.measure import DEPTH, Results, Row
from bench.ours import Store
from bench.vectors import Vectors

# Passages asked of our own search: ten sessions are among them, and twice as many take a quarter
# more of processor time. Only the MRR would see an answer behind them, by 0.01.
_HITS = 100


@dataclass(frozen=True)
class Measured:
    """By system, in the order of the questions. `store` tells what peers' facts are worth."""

    store: Store
    turns: Results
    facts: Results
    seconds: float


def measured(sample: Sample, vectors: Vectors) -> Measured:
    started = time.monotonic()
    store = ours.ingest(sample)
    ours.index(store.owner)
    turns: Results = {"ours": _our_turns(store)}
    ours.learn(store)
    ours.check(store)
    ours.index(store.owner)
    turns["ours_with_facts"] = _our_turns(store)
    facts: Results = {"ours": _our_facts(store)}
    return Measured(
        store,
        turns | _turns_of_baselines(store, vectors),
        facts | _facts_of_baselines(store, vectors),
        time.monotonic() - started,
    )


def of_peer(
    stores: Iterable[Store], rankings: Mapping[str, Sequence[Sequence[tuple[str, float]]]]
) -> tuple[list[Row], list[Row]]:
    """Turns and facts. `rankings` by "turns" or "facts" and the conversation, as jobs name them."""
    turns, facts = [], []
    for store in stores:
        sample, keys = store.sample, list(store.facts)
        said, known = rankings[f"turns {sample.id}"], rankings[f"facts {sample.id}"]
        for number, question in enumerate(sample.questions):
            found = [turn for turn, _ in said[number]]
            turns.append(measure.of_turns(sample, question, found))
            facts.append(_fact_row(store, number, [keys[int(key)] for key, _ in known[number]]))
    return turns, facts


def _our_turns(store: Store) -> list[Row]:
    return [
        measure.of_turns(store.sample, asked, ours.ranked_turns(store, asked.text, _HITS))
        for asked in store.sample.questions
    ]


def _our_facts(store: Store) -> list[Row]:
    rows = []
    for asked in store.sample.questions:
        ranked = ours.evidence(store, ours.ranked_facts(store, asked.text, DEPTH))
        block = ours.evidence(store, ours.told(store, asked.text))
        rows.append(measure.of_facts(store.sample, asked, ranked, block))
    return rows


def _turns_of_baselines(store: Store, vectors: Vectors) -> Results:
    sample, found = store.sample, _no_rows()
    said = [turn.dated for turn in sample.turns]
    ids = [turn.id for turn in sample.turns]
    for name, number, ranked in _ranked(sample, said, said, vectors):
        turns = [ids[place] for place in ranked[:DEPTH]]
        found[name].append(measure.of_turns(sample, sample.questions[number], turns))
    return found


def _facts_of_baselines(store: Store, vectors: Vectors) -> Results:
    sample, found = store.sample, _no_rows()
    known = [fact.statement for fact in sample.observations]
    dated = [f"{_dates(sample, fact)} {fact.statement}" for fact in sample.observations]
    keys = list(store.facts)
    for name, number, ranked in _ranked(sample, known, dated, vectors):
        found[name].append(_fact_row(store, number, [keys[place] for place in ranked[:DEPTH]]))
    return found


def _no_rows() -> Results:
    return {"cosine": [], "bm25": [], "rrf60": []}


def _ranked(
    sample: Sample, texts: Sequence[str], dated: Sequence[str], vectors: Vectors
) -> Iterable[tuple[str, int, list[int]]]:
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


def _fact_row(store: Store, number: int, ranked: Sequence[UUID]) -> Row:
    return measure.of_facts(
        store.sample,
        store.sample.questions[number],
        ours.evidence(store, ranked),
        ours.evidence(store, ours.in_block(store, ranked)),
    )
