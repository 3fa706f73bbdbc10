"""Principal curves: projection against brute force, known curves, and the objective that may not rise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import asterism
from asterism import PCA, PrincipalCurve
from asterism.errors import DataError, ParameterError
from asterism.methods.curve import projected


def parabola(n=2000, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1.5, 1.5, n)
    return t, np.column_stack([t, t**2]) + noise * rng.normal(size=(n, 2)) + 5


def test_rows_project_to_the_nearest_point():
    rng = np.random.default_rng(0)
    knots, rows = rng.normal(size=(6, 3)), rng.normal(size=(50, 3))
    place, square = projected(knots, rows)
    fine = np.linspace(0, 5, 50_001)
    points = np.stack([np.interp(fine, np.arange(6), k) for k in knots.T], axis=1)
    for x, s, u in zip(rows, square, place, strict=True):
        assert s == pytest.approx(((points - x) ** 2).sum(axis=1).min(), abs=1e-6)
        at = np.array([np.interp(u, np.arange(6), k) for k in knots.T])
        assert ((x - at) ** 2).sum() == pytest.approx(s, abs=1e-12)


def test_a_parabola_is_found_and_followed():
    t, rows = parabola()
    curve = PrincipalCurve(smoothness=0.02).fit(rows)
    assert curve.explained_ > 0.98
    assert curve.explained_ > PCA(1).fit(rows).explained_variance_ratio_[0] + 0.05
    along = curve.transform(rows)[:, 0]
    assert abs(np.corrcoef(np.argsort(np.argsort(along)), np.argsort(np.argsort(t)))[0, 1]) > 0.99
    back = curve.inverse_transform(curve.transform(rows))
    assert ((rows - back) ** 2).sum() == pytest.approx(curve.distance_, rel=1e-9)
    total = ((rows - rows.mean(axis=0)) ** 2).sum()
    assert curve.explained_ == pytest.approx(1 - curve.distance_ / total, rel=1e-9)


@pytest.mark.filterwarnings("ignore:The principal curve did not settle")
@pytest.mark.parametrize("smoothness", [0.0, 0.01, 1.0])
def test_the_objective_never_rises(smoothness):
    found = PrincipalCurve(smoothness=smoothness, tol=0, max_iter=60).fit(parabola(500)[1]).history_
    assert (np.diff(found) <= 1e-9 * found[0]).all()


def test_a_stiff_curve_is_the_first_component():
    _, rows = parabola()
    curve = PrincipalCurve(smoothness=1e9, tol=1e-12, max_iter=1000).fit(rows)
    sides = np.diff(curve.knots_, axis=0)
    sides /= np.sqrt((sides**2).sum(axis=1))[:, None]
    assert_allclose(np.abs(sides @ PCA(1).fit(rows).components_[0]), 1, atol=1e-3)


def test_weights_are_copies_and_zero_is_absent():
    _, rows = parabola(300)
    w = np.random.default_rng(1).integers(0, 3, 300)
    spoiled = rows.copy()
    spoiled[w == 0] = np.nan
    a = PrincipalCurve().fit(spoiled, sample_weight=w)
    b = PrincipalCurve().fit(np.repeat(rows, w, axis=0))
    assert_allclose(a.knots_, b.knots_, atol=1e-7)
    assert a.explained_ == pytest.approx(b.explained_, rel=1e-9)


def test_same_bits_for_any_number_of_threads():
    _, rows = parabola(300_000)
    found = []
    for n_threads in (1, 2):
        with asterism.engine(n_threads=n_threads):
            found.append(PrincipalCurve(10, tol=1e-2).fit(rows).knots_)
    assert_array_equal(found[0], found[1])


def test_impossible_requests_are_refused():
    _, rows = parabola(50)
    with pytest.raises(ParameterError, match="3 knots"):
        PrincipalCurve(2).fit(rows)
    with pytest.raises(ParameterError, match="equal"):
        PrincipalCurve().fit(np.ones((5, 2)))
    rows[2, 0] = np.nan
    with pytest.raises(DataError, match="row 3, column 'x0'"):
        PrincipalCurve().fit(rows)
