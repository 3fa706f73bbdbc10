"""Chunks that are apart, beside all ways to group them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.methods import bound
from asterism.methods.apart import NEVER, best_apart, programme, shapes_of, shares_apart

few = settings(max_examples=60, deadline=None)


@st.composite
def graphs(draw):
    m, k = draw(st.integers(2, 5)), draw(st.integers(1, 4))
    edges = [(i, j) for i in range(m) for j in range(i + 1, m)]
    kept = draw(st.lists(st.sampled_from(edges), min_size=1, unique=True))
    seed = draw(st.integers(0, 1000))
    return np.random.default_rng(seed).normal(size=(m, k)) * 3, np.array(sorted(kept))


def ways(scores, apart):
    """Every allowed way and its score."""
    m, k = scores.shape
    kept = [z for z in product(range(k), repeat=m) if all(z[a] != z[b] for a, b in apart)]
    return kept, np.array([scores[np.arange(m), z].sum() for z in kept])


@few
@given(graphs())
def test_shares_and_heights_are_those_of_all_ways(problem):
    scores, apart = problem
    kept, heights = ways(scores, apart)
    height = 0.0
    for shape in shapes_of(len(scores), apart):
        found = best_apart(shape, scores[shape.chunks])
        if not kept:
            continue
        shares, log_sum = shares_apart(shape, scores[shape.chunks])
        height += log_sum.sum()
        p = np.exp(heights - heights.max()) / np.exp(heights - heights.max()).sum()
        for chunk, q in zip(shape.chunks.ravel(), shares.reshape(-1, scores.shape[1]), strict=True):
            expected = [p[[z[chunk] == g for z in kept]].sum() for g in range(scores.shape[1])]
            np.testing.assert_allclose(q, expected, atol=1e-12)
        best = kept[int(heights.argmax())]
        assert found[0].ravel().tolist() == [best[chunk] for chunk in shape.chunks.ravel()]
    if kept:
        alone = [u for u in range(len(scores)) if u not in apart]
        alone_height = np.log(np.exp(scores[alone]).sum(axis=1)).sum()
        assert height + alone_height == pytest.approx(np.log(np.exp(heights).sum()))


@few
@given(graphs())
def test_no_way_is_seen(problem):
    scores, apart = problem
    kept, _ = ways(scores, apart)
    heights = [best_apart(s, scores[s.chunks])[1].min() for s in shapes_of(len(scores), apart)]
    assert (min(heights) < NEVER / 2) == (not kept)
    every = np.ones(len(scores), bool)
    found = programme(scores, apart, np.ones(len(scores), int), 0, None, every)
    assert (found is None) == (not kept)


@few
@given(graphs())
def test_the_programme_finds_the_best_way(problem):
    scores, apart = problem
    kept, heights = ways(scores, apart)
    if kept:
        found = programme(scores, apart, np.ones(len(scores), int), 0, None, np.ones(len(scores), bool))
        assert tuple(found) == kept[int(heights.argmax())]


def test_components_of_one_shape_are_summed_together():
    [shape] = shapes_of(7, np.array([[0, 4], [1, 2], [5, 6]]))
    assert shape.chunks.tolist() == [[0, 4], [1, 2], [5, 6]]


def test_where_tables_would_be_too_large_the_best_way_stands_for_all(monkeypatch):
    from asterism.methods.linked import Known

    known = Known.of(4, apart=[(0, 1), (1, 2), (2, 3)])
    scores = np.array([[2.0, 1.0], [2.0, 0.0], [1.0, 0.0], [0.0, 0.5]])
    rows = bound.block_of(scores)
    whole = bound.Bound(
        np.arange(4), rows, np.arange(4), np.full(4, -1, np.int32), known.chunks.apart, np.ones(4, int), 2
    )
    exact, _ = whole.best(scores)
    monkeypatch.setattr(bound, "MOST_CELLS", 1)
    crowded = bound.Bound(
        np.arange(4), rows, np.arange(4), np.full(4, -1, np.int32), known.chunks.apart, np.ones(4, int), 2
    )
    assert (crowded.best(scores)[0] == exact).all()
    shares, height = crowded.shares(scores)
    assert (shares == np.eye(2)[exact]).all()
    assert height == pytest.approx(scores[np.arange(4), exact].sum())
