"""What is read of the bench by a machine, and what its processes hand each other."""

from pathlib import Path

import numpy as np

from bench import quality
from bench.measure import FACT_MEASURES, TURN_MEASURES, Row
from bench.vectors import Vectors
from memory import embedding

TURNS = {
    *("recall@5", "recall@10", "recall@25", "recall@50"),
    *("hit@10", "mrr", "ndcg@10", "session_recall@5", "session_recall@10"),
}
FACTS = {"recall@5", "recall@10", "block_recall"}


def rows(*measures: str) -> list[Row]:
    tuned = Row("conv-26", 1, dict.fromkeys(measures, 0.0))
    return [tuned, Row("conv-41", 5, dict.fromkeys(measures, 100 / 3))]


def test_the_last_line_has_every_system_group_and_measure() -> None:
    turns = {name: rows(*TURN_MEASURES) for name in ("ours", "ours_with_facts", "cosine")}
    told = quality._json(turns, {"ours": rows(*FACT_MEASURES)})
    assert set(told) == {"turns", "facts"}
    assert set(told["turns"]) == {"ours", "ours_with_facts", "cosine"}
    for of_system, measures in [(told["turns"]["ours"], TURNS), (told["facts"]["ours"], FACTS)]:
        assert set(of_system) == {"all", "heldout"}
        assert of_system["all"] == dict.fromkeys(measures, 16.67)
        assert of_system["heldout"] == dict.fromkeys(measures, 33.33)


def test_conversations_are_joined_in_their_order() -> None:
    first, second = rows("mrr")
    joined = quality._joined([{"ours": [first], "bm25": [second]}, {"ours": [second]}])
    assert joined == {"ours": [first, second], "bm25": [second]}


def test_each_text_keeps_its_vector(tmp_path: Path) -> None:
    texts = ["A cat sleeps on the warm windowsill.", "Rain.", "The train to Oulu was late again."]
    vectors = Vectors(tmp_path)
    vectors.add(texts)
    expected = np.array([embedding.embed([text])[0] for text in texts])
    assert np.allclose(vectors.of(texts), expected, atol=1e-5)
    part = vectors.part([texts[2], texts[0]])
    assert np.array_equal(part.of([texts[0], texts[2]]), vectors.of([texts[0], texts[2]]))
