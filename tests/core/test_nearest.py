"""Labels against whole-number arithmetic: no rounding in the oracle, so ties and close calls are decided exactly."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism import _core
from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.methods.frame import Frame, survey
from asterism.methods.kmeans import nearest
from asterism.methods.lloyd import Lloyd, centers_at
from asterism.methods.lloyd import labels_of as labels_in
from asterism.stats.groups import grid_of

COLUMNS = (1, 2, 3, 4, 7, 8, 15, 16, 17, 23, 24, 40, 47, 48, 49, 300)
CENTERS = (1, 2, 3, 4, 5, 8, 23, 24, 25, 60)
BOTH_FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def exact_nearest(x: np.ndarray, c: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """argmin over whole numbers, cells that are not seen left out; the first of equals."""
    squares = [(((x - center) * seen) ** 2).sum(axis=1) for center in c]
    return np.argmin(squares, axis=0)


def labels_of(rows: np.ndarray, centers: np.ndarray, missing: bool, reference: np.ndarray | None = None):
    known = np.where(np.isnan(rows), 0.0, rows).astype(np.float64)
    reference = known[0].copy() if reference is None else reference
    widest = max(float(np.ptp(known, axis=0).max()), 1.0)
    frame = Frame(reference, float(np.ldexp(1.0, -np.frexp(widest)[1])), missing)
    return nearest(centers_at(frame, centers), ArraySource(rows))


@BOTH_FLOATS
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("reach", [2, 1000], ids=["ties", "close calls"])
def test_label_is_the_nearest_centre_and_the_first_of_equals(dtype, missing, reach):
    rng = np.random.default_rng(reach + missing)
    for d in COLUMNS:
        x = rng.integers(-reach, reach + 1, size=(261, d))
        seen = rng.random(x.shape) > 0.3 if missing else np.ones(x.shape, bool)
        rows = np.where(seen, x, np.nan).astype(dtype)
        for k in CENTERS:
            c = rng.integers(-reach, reach + 1, size=(k, d))
            got = labels_of(rows, c.astype(float), missing)
            assert np.array_equal(got, exact_nearest(x, c, seen)), (d, k)


@BOTH_FLOATS
@pytest.mark.parametrize("missing", [False, True])
def test_duplicated_centres_give_the_first_of_them(dtype, missing):
    rng = np.random.default_rng(1)
    for d, k in [(2, 6), (20, 30), (60, 7), (60, 40)]:
        rows = rng.normal(size=(300, d)).astype(dtype)
        c = rng.normal(size=(k, d))
        twice = np.vstack([c, c])
        assert np.array_equal(labels_of(rows, twice, missing), labels_of(rows, c, missing))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("d", [1, 2, 20, 60])
def test_fine_structure_in_groups_a_hundred_million_apart(d, missing):
    """In float32 every row of the far group has the same score to all its centres: float64 must decide."""
    rng = np.random.default_rng(d)
    far = 10**8 * (np.arange(400) % 2)[:, None]
    x = rng.integers(-5, 6, size=(400, d)) + far
    seen = rng.random(x.shape) > 0.2 if missing else np.ones(x.shape, bool)
    seen[:, 0] = True
    c = rng.integers(-5, 6, size=(30, d)) + 10**8 * (np.arange(30) % 2)[:, None]
    got = labels_of(np.where(seen, x, np.nan), c.astype(float), missing)
    assert np.array_equal(got, exact_nearest(x, c, seen))


def test_fine_structure_in_far_groups_of_a_float32_table():
    rng = np.random.default_rng(0)
    x = rng.integers(-5, 6, size=(400, 3)) + 2**20 * (np.arange(400) % 2)[:, None]
    c = rng.integers(-5, 6, size=(24, 3)) + 2**20 * (np.arange(24) % 2)[:, None]
    got = labels_of(x.astype(np.float32), c.astype(float), False)
    assert np.array_equal(got, exact_nearest(x, c, np.ones(x.shape, bool)))


def test_float32_rows_under_a_reference_that_is_not_a_float32():
    rng = np.random.default_rng(3)
    reference = np.array([1e6 + 1 / 3, -1e6 - 1 / 7])
    rows = (reference + rng.normal(size=(3000, 2))).astype(np.float32)
    centers = reference + rng.normal(size=(20, 2))
    squares = ((rows.astype(float)[:, None] - centers) ** 2).sum(axis=2)
    assert np.array_equal(labels_of(rows, centers, False, reference), squares.argmin(axis=1))


@pytest.mark.parametrize("size", [1e15, 1e25, 1e60, 1e120])
def test_rows_far_beyond_the_range_of_float32_are_labelled_exactly(size):
    rng = np.random.default_rng(4)
    unit = rng.normal(size=(200, 3))
    centers = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]]) * size
    squares = ((unit[:, None] * size - centers) ** 2).sum(axis=2)
    frame = Frame(np.zeros(3), 1.0, False)  # of a table whose values are near 1
    got = nearest(centers_at(frame, centers), ArraySource(unit * size))
    assert np.array_equal(got, squares.argmin(axis=1))


def lloyd(d: int, missing: bool) -> Lloyd:
    return Lloyd(grid_of(np.repeat([10.0, 1.0], [d, d if missing else 1]), 2000.0, 700))


@BOTH_FLOATS
def test_sums_are_those_of_the_rows_of_each_group(dtype):
    """Against float64 sums taken group by group."""
    rng = np.random.default_rng(5)
    for d, k, missing in [(1, 1, False), (3, 4, True), (20, 5, False), (60, 30, True), (60, 7, False)]:
        rows = rng.normal(size=(700, d)).astype(dtype)
        if missing:
            rows[rng.random(rows.shape) < 0.3] = np.nan
        weights = rng.choice([0.0, 1.0, 2.5], size=700)
        reference = np.zeros(d)
        centers = np.vstack([rng.normal(size=(k, d)), np.full((1, d), 1e3)])  # the last without rows
        model = centers_at(Frame(reference, 0.25, missing), centers)
        moves = lloyd(d, missing).summarize(model, block_of(rows, weights, 1000))
        far = moves.far
        labels = nearest(model, ArraySource(rows))
        y = rows.astype(float) - centers[labels]
        seen = ~np.isnan(y)
        y = np.where(seen, y, 0.0)
        for c in range(k):
            mine = np.where(labels == c, weights, 0.0)
            x = np.where(seen, rows.astype(float), 0.0)
            assert np.allclose(moves.totals[c], mine @ x, rtol=1e-12, atol=1e-11)
            assert np.allclose(moves.mass[c], mine @ seen if missing else mine.sum(), rtol=1e-14)
        assert np.isclose(-moves.gain, weights @ (y * y).sum(axis=1), rtol=1e-12)
        squares = np.where(weights > 0, (y * y).sum(axis=1), -1.0)
        order = np.argsort(-squares, kind="stable")[: len(far.row)]
        assert np.array_equal(far.row, order + 1000)
        assert np.allclose(far.distance, squares[order], rtol=1e-12)
        assert np.array_equal(far.values, rows[order], equal_nan=True)


def test_absent_rows_may_hold_anything():
    rng = np.random.default_rng(6)
    for d in (2, 60):
        rows = rng.normal(size=(300, d))
        weights = np.where(np.arange(300) % 7 == 0, 0.0, 1.0)
        centers = np.vstack([rng.normal(size=(5, d)), np.full((1, d), 1e3)])  # the last without rows
        model = centers_at(Frame(np.zeros(d), 0.25, False), centers)
        clean = lloyd(d, False).summarize(model, block_of(rows, weights))
        rows[::7] = np.array([np.nan, np.inf, -np.inf, 1e300])[np.arange(43) % 4][:, None]
        dirty = lloyd(d, False).summarize(model, block_of(rows, weights))
        assert np.array_equal(clean.sums, dirty.sums)
        assert clean.gain == dirty.gain
        assert np.array_equal(clean.far.row, dirty.far.row)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["huge cell", "huge column", "two scales", "rows of zeros", "far from 0"])
def test_labels_are_exact_where_float32_tells_little(kind, missing, dtype):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(700, 60))
    if kind == "huge cell":
        x[:, 7] *= np.where(rng.random(700) < 0.5, 1e4, 1.0)
    elif kind == "huge column":
        x[:, 7] *= 1e6
    elif kind == "two scales":
        x[::2] += 1e7
    elif kind == "rows of zeros":
        x[::3] = 0.0
    else:
        x += 1e9
    x = x.astype(dtype)
    centers = x[rng.choice(700, 40, replace=False)].astype(float)
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
    frame, _ = survey(ArraySource(x))
    model = centers_at(frame, centers)
    labels = labels_in(model, block_of(x))
    squares = np.nansum(((x - frame.reference)[:, None] - model.offsets) ** 2, axis=2)
    assert (squares[np.arange(700), labels] <= squares.min(axis=1) * (1 + 1e-12)).all()


# --- the kernels themselves ----------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([0, 1, 2, 7, 63, 64, 65, 130]), st.sampled_from([0, 1, 2, 3, 7, 8, 9, 17, 31, 600]),
    st.sampled_from([1, 3, 4, 5, 9]), st.booleans(), st.sampled_from([np.float32, np.float64]), st.integers(0, 2**32),
)  # fmt: skip
def test_every_shape_agrees_with_numpy(n, d, k, missing, dtype, seed):
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(n, d)).astype(dtype), rng.choice([0.0, 1.0, 0.5], size=n)
    if missing:
        rows[rng.random((n, d)) < 0.3] = np.nan
    rows.flags.writeable = False
    reference, offsets = rng.normal(size=d), rng.normal(size=(k, d))
    core = _core.Centers(reference, offsets, np.zeros(d), 0.25, missing)
    squares = np.nansum(((rows.astype(float) - reference)[:, None] - offsets) ** 2, axis=2)
    assert np.allclose(_core.squared_distances(rows, reference, offsets), squares, rtol=1e-13, atol=0)
    labels = _core.nearest(rows, core)
    assert labels.dtype == np.int32
    assert np.array_equal(labels, squares.argmin(axis=1))
    leads = np.full(n, np.nan, np.float32)
    again = _core.relabel(rows, core, np.full(n, -1, np.int32), leads, np.zeros(k))
    assert np.array_equal(again, labels)
    two = np.sort(np.sqrt(np.hstack([squares, np.full((n, 1), np.inf)])), axis=1)
    assert (leads <= 0.25 * (two[:, 1] - two[:, 0]) + 1e-12).all()
    inertia, mass = _core.scatter(rows, weights, core, labels)
    assert np.isclose(inertia, weights @ squares.min(axis=1), rtol=1e-12)
    assert np.allclose(mass, np.bincount(labels, weights, k), rtol=1e-14)


@BOTH_FLOATS
def test_labels_of_a_row_do_not_depend_on_the_rows_around_it(dtype):
    rng = np.random.default_rng(9)
    x = rng.integers(-3, 4, size=(400, 9)).astype(dtype)
    core = _core.Centers(np.zeros(9), x[:20].astype(float), np.zeros(9), 0.125, False)
    whole = _core.nearest(x, core)
    for cut in (1, 63, 64, 65, 399):
        parts = [_core.nearest(np.ascontiguousarray(part), core) for part in (x[:cut], x[cut:])]
        assert np.array_equal(np.concatenate(parts), whole)


def test_rows_are_read_again_only_where_the_lead_is_used_up():
    rows = np.array([[0.0], [1.0], [9.0], [10.0]])
    core = _core.Centers(np.zeros(1), np.array([[0.0], [10.0]]), np.zeros(1), 1.0, False)
    leads = np.full(4, np.nan, np.float32)
    labels = _core.relabel(rows, core, np.full(4, -1, np.int32), leads, np.zeros(2))
    assert labels.tolist() == [0, 0, 1, 1]
    assert np.allclose(leads, [10, 8, 8, 10], atol=0.05)
    strange = _core.relabel(rows, core, np.array([1, 1, 1, 1], np.int32), leads, np.array([9.0, 9.0]))
    assert strange.tolist() == [1, 0, 1, 1]  # the first row is not read


@pytest.mark.parametrize("wrong", ["columns", "labels", "label", "drift", "weights", "no centres"])
def test_what_does_not_fit_together_is_refused(wrong):
    core = _core.Centers(np.zeros(2), np.zeros((3, 2)), np.zeros(2), 1.0, False)
    rows, labels = (
        np.zeros((4, 3 if wrong == "columns" else 2)),
        np.zeros(3 if wrong == "labels" else 4, np.int32),
    )
    labels[1] = 3 if wrong == "label" else 0
    drift, weights = np.zeros(2 if wrong == "drift" else 3), np.ones(3 if wrong == "weights" else 4)
    with pytest.raises(_core.ShapeError):  # noqa: PT012  each of them is refused by one
        _core.relabel(rows, core, labels, np.zeros(4, np.float32), drift)
        _core.scatter(rows, weights, core, labels)
        _core.Centers(np.zeros(2), np.zeros((0, 2)), np.zeros(2), 1.0, False)


def test_rows_of_other_types_are_refused():
    core = _core.Centers(np.zeros(2), np.zeros((3, 2)), np.zeros(2), 1.0, False)
    with pytest.raises(TypeError):
        _core.nearest(np.zeros(4), core)
    with pytest.raises(TypeError):
        _core.relabel(np.zeros((4, 2)), core, np.zeros(4, np.int32), np.zeros(4), np.zeros(3))


def test_centres_can_be_sent_to_another_process_after_they_were_used():
    model = centers_at(Frame(np.zeros(2), 0.25, False), np.array([[0.0, 0.0], [3.0, 3.0]]))
    block = block_of(np.array([[1.0, 1.0], [2.0, 2.0]]))
    expected = labels_in(model, block)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.offsets, model.offsets)
    assert np.array_equal(labels_in(again, block), expected)
