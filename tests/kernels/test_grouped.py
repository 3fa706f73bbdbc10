"""Bounds on groups of centres only save work: labels, step by step, against whole-number arithmetic and no memory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.engines.loop import MEMORY_BYTES
from asterism.estimators.kmeans import KMeans
from asterism.methods.bounds import Groups, groups_for
from asterism.methods.frame import survey
from asterism.methods.lloyd import Lloyd, centers_at, label_rows, lloyd_for


def walk(rows: np.ndarray, start: np.ndarray, groups: Groups, steps: int = 8):
    """Steps with what is remembered of rows, in two blocks; yields centres, labels and how many rows moved."""
    source = ArraySource(rows)
    frame, moments = survey(source)
    method = Lloyd(lloyd_for(frame, moments).grid, 0.0, groups)
    model, memory = centers_at(frame, start), method.blank(len(rows))
    half = len(rows) // 2
    for step in range(steps):
        if method.forgets(model):
            memory[:] = -1
        whole = bool((memory[0] < 0).all())
        tally = method.tally(model)
        parts = [
            method.recall(model, block_of(rows[part], None, part.start), memory[:, part], tally, fresh=whole)
            for part in (slice(0, half), slice(half, len(rows)))
        ]
        yield model, memory[0].copy(), step
        model = method.update(model, parts[0].merge(parts[1]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("d", "k", "span"), [(48, 25, 1), (49, 40, 1), (64, 100, 1), (64, 100, 3), (50, 33, 9), (129, 70, 2)]
)
@pytest.mark.parametrize("missing", [False, True])
def test_labels_under_bounds_are_those_of_all_distances(dtype, d, k, span, missing):
    rng = np.random.default_rng(d * k + span)
    middle = rng.normal(size=(k, d)) * 2.0
    x = (middle[rng.integers(k, size=900)] + rng.normal(size=(900, d))).astype(dtype)
    start = x[rng.choice(len(x), k, replace=False)].astype(float)
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
    groups = Groups(span, math.ceil(math.ceil(k / 16) / span))
    for model, labels, step in walk(x, start, groups):
        y = x.astype(float)[:, None] - model.positions
        squares = np.nansum(y**2, axis=2)
        mine = squares[np.arange(len(x)), labels]
        assert (mine <= squares.min(axis=1) * (1 + 1e-12)).all(), step


def test_bounds_leave_most_rows_alone_once_centres_hardly_move():
    """Otherwise they would save nothing: rows that sleep keep a wrong label that is put on them."""
    rng = np.random.default_rng(0)
    middle = rng.normal(size=(40, 60)) * 5.0
    x = middle[rng.integers(40, size=2000)] + rng.normal(size=(2000, 60))
    source = ArraySource(x)
    frame, moments = survey(source)
    method = lloyd_for(frame, moments, 0.0, [40])
    assert method.groups == Groups(1, 3)
    model, memory, block = centers_at(frame, middle), method.blank(2000), block_of(x)
    for _ in range(3):
        begins = bool(memory[0, 0] < 0)
        model = method.update(model, method.recall(model, block, memory, method.tally(model), fresh=begins))
    labels = memory[0].copy()
    kept = memory[1:].view(np.float32)
    strange = labels ^ 1  # of the same panel: bounds of other groups hold for it as well
    label_rows(model, block, strange, kept)
    assert np.mean(strange == (labels ^ 1)) > 0.9


@pytest.mark.parametrize("ties", [1, 2])
def test_equally_near_centres_under_bounds_give_the_first(ties):
    rng = np.random.default_rng(ties)
    x = rng.integers(-ties, ties + 1, size=(600, 50)).astype(float)
    start = x[rng.choice(600, 30, replace=False)]
    for model, labels, step in walk(x, np.vstack([start, start[:5] + 0.5]), Groups(1, 3), steps=5):
        squares = ((x[:, None] - model.positions) ** 2).sum(axis=2)
        least = squares.min(axis=1)
        sure = np.sort(squares, axis=1)[:, 1] - least > 1e-9 * least
        assert np.array_equal(labels[sure], squares.argmin(axis=1)[sure]), step
        if step == 0:  # whole and half numbers: sums are exact, and ties are ties
            assert np.array_equal(labels, squares.argmin(axis=1))


def test_steps_with_bounds_make_the_centres_of_steps_without():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(3000, 56)).astype(np.float32)
    start = x[:50]
    bounded = [model.offsets for model, _, _ in walk(x, start, Groups(1, 4), 12)]
    plain = [model.offsets for model, _, _ in walk(x, start, Groups(), 12)]
    assert all(np.array_equal(a, b) for a, b in zip(bounded, plain, strict=True))


def test_same_labels_as_scikit_learn_from_the_same_start():
    from sklearn.cluster import KMeans as Theirs

    rng = np.random.default_rng(7)
    x = rng.normal(size=(20, 60))[rng.integers(20, size=4000)] + rng.normal(size=(4000, 60))
    theirs = Theirs(60, init=x[:60], n_init=1, max_iter=15, tol=0).fit(x)
    ours = KMeans(60, init=x[:60], n_init=1, max_iter=15, tol=0).fit(x)
    assert np.array_equal(ours.labels_, theirs.labels_)


def test_bounds_never_take_more_than_their_budget():
    for n in (1000, 10**5, 10**6, 10**7, 10**8):
        for ks in ([100], [256], [1000, 30], [26] * 10):
            groups = groups_for(ks, 64, n)
            assert groups.lines == 0 or 4 * n * len(ks) * (2 + groups.lines) <= MEMORY_BYTES
            assert all(groups.count(k) <= groups.lines for k in ks)
    assert groups_for([100], 64, 10**5) == Groups(1, 7)
    assert groups_for([100], 64, 10**7) == Groups()
    assert groups_for([100], 2, 10**5) == Groups()
