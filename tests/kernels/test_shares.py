"""Shares of a tile of rows against NumPy, in float64."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from asterism.kernels.lanes import TILE
from asterism.kernels.sharers import SCALE
from asterism.kernels.shares import DRAW, HARD, SOFT, read_notes, settle, share_out

EACH = pytest.mark.parametrize("kind", [np.dtype("f4"), np.dtype("f8")], ids=str)
CUT = {4: 25.0, 8: 40.0}  # nats below the best from which on a group has no share


def shared(scores, w, mode=SOFT, draws=None):
    """(k, TILE) w r, their sums and sums with the number of the row, and the two log-likelihoods."""
    k, kind = len(scores), scores.dtype
    own, work, totals = scores.copy(), np.empty((4, TILE), kind), np.zeros(2)
    share_out(own, k, w, np.zeros(TILE) if draws is None else draws, mode, work, totals)
    mass, more = np.ones(k), np.ones(k)
    settle(own, work[SCALE], np.arange(TILE).astype(kind), mass, more)
    return own, mass - 1.0, more - 1.0, totals


def table(k, kind, weighted, spread=6.0):
    rng = np.random.default_rng(k)
    scores = rng.normal(scale=spread, size=(k, TILE)).astype(kind)
    return scores, (rng.random(TILE) + 0.5 if weighted else np.ones(TILE)).astype(kind)


@EACH
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 11, 20, 33])
@pytest.mark.parametrize("weighted", [False, True])
def test_shares_are_those_of_a_softmax(kind, k, weighted):
    scores, w = table(k, kind, weighted)
    r, mass, more, totals = shared(scores, w)
    s, precision = scores.astype(float), 100 * float(np.finfo(kind).eps)
    want = softmax(s, axis=0) * w
    assert np.allclose(r, want, rtol=precision, atol=2 * np.exp(-CUT[kind.itemsize]))
    assert np.allclose(mass, want.sum(axis=1), rtol=precision, atol=1e-6 if kind == "f4" else 1e-12)
    assert np.allclose(more, want @ np.arange(TILE), rtol=precision, atol=1e-4 if kind == "f4" else 1e-10)
    assert totals == pytest.approx(
        [(w * logsumexp(s, axis=0)).sum(), (w * s.max(axis=0)).sum()], rel=precision
    )


@EACH
@pytest.mark.parametrize("k", [2, 7, 20])
def test_a_group_far_below_the_best_has_no_share_at_all(kind, k):
    scores, w = table(k, kind, weighted=False, spread=200.0)
    r, *_ = shared(scores, w)
    below = scores.max(axis=0) - scores
    assert not r[below > CUT[kind.itemsize]].any()
    assert (r[below < CUT[kind.itemsize] - 1.0] > 0).all()


@EACH
def test_groups_that_are_equally_likely_share_alike(kind):
    r, mass, _, totals = shared(np.full((6, TILE), -3.0, kind), np.ones(TILE, kind))
    assert np.allclose(r, 1 / 6, rtol=2 * np.finfo(kind).eps)
    assert mass == pytest.approx(np.full(6, TILE / 6), rel=1e-6)
    assert totals == pytest.approx([TILE * (np.log(6) - 3.0), -3.0 * TILE], rel=1e-7)


@EACH
@pytest.mark.parametrize("k", [1, 3, 20])
def test_a_row_goes_whole_to_its_likeliest_group(kind, k):
    scores, w = table(k, kind, weighted=True)
    r, mass, *_ = shared(scores, w, HARD)
    want = (np.arange(k)[:, None] == scores.argmax(axis=0)) * w
    assert np.array_equal(r, want)
    assert mass == pytest.approx(want.astype(float).sum(axis=1), rel=1e-6)


@EACH
def test_a_row_goes_where_its_draw_falls(kind):
    scores, w = table(5, kind, weighted=True)
    draws = np.random.default_rng(1).random(TILE)
    r, *_ = shared(scores, w, DRAW, draws)
    picks = (softmax(scores.astype(float), axis=0).cumsum(axis=0) <= draws).sum(axis=0)
    assert np.array_equal(r.argmax(axis=0), picks)
    assert np.array_equal(r.sum(axis=0), w)


@EACH
def test_a_row_without_a_score_lets_no_likelihood_be_finite(kind):
    scores, w = table(4, kind, weighted=False)
    scores[:, 17] = np.nan
    *_, totals = shared(scores, w)
    assert not np.isfinite(totals[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_are_read_from_notes_but_for_rows_to_be_asked_again(weighted):
    notes = np.array([2.0, -1.0, 0.0, 1.0, 0.0, -3.0])
    w = np.array([1.0, 2.0, 0.5, 0.0, 3.0, 1.0]) if weighted else np.empty(0)
    labels, mass = np.full(6, 9, np.int32), np.zeros(3)
    missing = read_notes(notes, w, labels, mass)
    assert labels.tolist() == ([2, -1, 0, -1, 0, -1] if weighted else [2, -1, 0, 1, 0, -1])
    assert missing == (labels < 0).sum()
    assert mass.tolist() == ([3.5, 0.0, 1.0] if weighted else [2.0, 1.0, 1.0])
