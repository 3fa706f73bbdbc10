"""How many groups: the verdict on tables whose answer is known."""

from __future__ import annotations

import numpy as np

from asterism import choose_k


def three_groups(rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([rng.normal(size=(60, 2)) + centre for centre in ([0, 0], [9, 0], [0, 9])])


def test_three_groups_far_apart_are_three_and_the_labels_are_theirs():
    choice = choose_k(three_groups(np.random.default_rng(0)), k=range(1, 6), random_state=0)
    assert choice.k == 3
    assert 0 <= choice.confidence <= 1


def test_uniform_rows_have_no_groups():
    choice = choose_k(np.random.default_rng(1).uniform(size=(200, 2)), k=range(1, 6), random_state=0)
    assert choice.k == 1


def test_the_same_seed_gives_the_same_verdict():
    rows = three_groups(np.random.default_rng(2))
    first, second = (choose_k(rows, k=range(1, 5), random_state=3) for _ in range(2))
    assert (first.k, first.verdict, first.confidence) == (second.k, second.verdict, second.confidence)
