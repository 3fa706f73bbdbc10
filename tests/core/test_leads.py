"""Leads only save work: labels, step by step, against all distances, and centres against steps without a memory."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.estimators.kmeans import KMeans
from asterism.methods.frame import survey
from asterism.methods.lloyd import centers_at, lloyd_for, relabel


def walk(rows: np.ndarray, start: np.ndarray, *, remember: bool = True, steps: int = 8):
    """Steps in two blocks, with what is remembered of rows or without; yields centres, labels and the step."""
    frame, moments = survey(ArraySource(rows))
    method = lloyd_for(frame, moments)
    model, memory = centers_at(frame, start), method.blank(len(rows))
    half = len(rows) // 2
    for step in range(steps):
        if method.forgets(model) or not remember:
            memory[:] = -1
        whole = bool((memory[0] < 0).all())
        parts = [
            method.recall(model, block_of(rows[part], None, part.start), memory[:, part], fresh=whole)
            for part in (slice(0, half), slice(half, len(rows)))
        ]
        yield model, memory[0].copy(), step
        model = method.update(model, parts[0].merge(parts[1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("d", "k"), [(2, 70), (48, 25), (49, 40), (64, 100), (129, 70), (700, 6)])
@pytest.mark.parametrize("missing", [False, True])
def test_labels_under_leads_are_those_of_all_distances(dtype, d, k, missing):
    rng = np.random.default_rng(d * k)
    middle = rng.normal(size=(k, d)) * 2.0
    x = (middle[rng.integers(k, size=900)] + rng.normal(size=(900, d))).astype(dtype)
    start = x[rng.choice(len(x), k, replace=False)].astype(float)
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
    for model, labels, step in walk(x, start):
        squares = np.stack([np.nansum((x.astype(float) - c) ** 2, axis=1) for c in model.positions], axis=1)
        mine = squares[np.arange(len(x)), labels]
        assert (mine <= squares.min(axis=1) * (1 + 1e-12)).all(), step


def test_leads_leave_most_rows_alone_once_centres_hardly_move():
    """Otherwise they would save nothing: rows that are not read keep a wrong label that is put on them."""
    rng = np.random.default_rng(0)
    middle = rng.normal(size=(40, 60)) * 5.0
    x = middle[rng.integers(40, size=2000)] + rng.normal(size=(2000, 60))
    frame, moments = survey(ArraySource(x))
    method = lloyd_for(frame, moments)
    model, memory, block = centers_at(frame, middle), method.blank(2000), block_of(x)
    for _ in range(3):
        model = method.update(model, method.recall(model, block, memory, fresh=bool(memory[0, 0] < 0)))
    strange = np.stack([memory[0] ^ 1, memory[1]])
    assert np.mean(relabel(model, block, strange) == (memory[0] ^ 1)) > 0.9


@pytest.mark.parametrize("ties", [1, 2])
def test_equally_near_centres_under_leads_give_the_first(ties):
    rng = np.random.default_rng(ties)
    x = rng.integers(-ties, ties + 1, size=(600, 50)).astype(float)
    start = x[rng.choice(600, 30, replace=False)]
    for model, labels, step in walk(x, np.vstack([start, start[:5] + 0.5]), steps=5):
        squares = ((x[:, None] - model.positions) ** 2).sum(axis=2)
        least = squares.min(axis=1)
        sure = np.sort(squares, axis=1)[:, 1] - least > 1e-9 * least
        assert np.array_equal(labels[sure], squares.argmin(axis=1)[sure]), step
        if step == 0:  # whole and half numbers: sums are exact, and ties are ties
            assert np.array_equal(labels, squares.argmin(axis=1))


@pytest.mark.parametrize("d", [5, 56])
def test_steps_with_a_memory_make_the_centres_of_steps_without(d):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3000, d)).astype(np.float32)
    remembered, plain = (
        [model.offsets for model, _, _ in walk(x, x[:50], remember=remember, steps=12)]
        for remember in (True, False)
    )
    assert all(np.array_equal(a, b) for a, b in zip(remembered, plain, strict=True))


def test_same_labels_as_scikit_learn_from_the_same_start():
    from sklearn.cluster import KMeans as Theirs

    rng = np.random.default_rng(7)
    x = rng.normal(size=(20, 60))[rng.integers(20, size=4000)] + rng.normal(size=(4000, 60))
    theirs = Theirs(60, init=x[:60], n_init=1, max_iter=15, tol=0).fit(x)
    ours = KMeans(60, init=x[:60], n_init=1, max_iter=15, tol=0).fit(x)
    assert np.array_equal(ours.labels_, theirs.labels_)
