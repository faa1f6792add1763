"""Opponents that play badly would make any figure look good."""

import numpy as np
import pytest

from bench.baselines import Bm25, cosine, fused, stems_of


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = [["tea", "cup"], ["cup", "milk"], ["cup", "dog"], ["cat", "dog"]]
    assert Bm25(texts).ranked(["tea", "cup"])[0] == 0
    assert Bm25(texts).ranked(["bird"]) == []


def test_a_short_text_beats_a_long_one_with_the_same_word() -> None:
    texts = [["tea", *"abcdefgh"], ["tea", "a"]]
    assert Bm25(texts).ranked(["tea"]) == [1, 0]


def test_cosine_ranks_everything() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert cosine(vectors, np.array([0.0, 1.0])) == [1, 2, 0]


def test_what_both_found_comes_before_what_one_found() -> None:
    assert fused([1, 2, 3], [4, 2, 5])[0] == 2


@pytest.mark.django_db
def test_stems_leave_out_stop_words_and_keep_repetitions() -> None:
    assert stems_of(["The dogs and a dog", "", "Running"]) == [["dog", "dog"], [], ["run"]]
