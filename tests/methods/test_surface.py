"""Principal surfaces: projection and step against brute force, known sheets, and the objective that may not rise."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls

import asterism
from asterism import PCA, PrincipalSurface
from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.errors import DataError, NotConvergedWarning, ParameterError
from asterism.methods.sheet import energy, hats, points, projected
from asterism.methods.surface import Shares, Sheet, Surface

NOISE = 0.05


def gutter(n=1500, noise=NOISE, seed=0):
    """A sheet rolled to half a cylinder of radius 1 and length 3, somewhere; and its two coordinates."""
    rng = np.random.default_rng(seed)
    angle, along = rng.uniform(-np.pi / 2, np.pi / 2, n), rng.uniform(-1.5, 1.5, n)
    rows = np.column_stack([np.sin(angle), along, np.cos(angle)]) + noise * rng.normal(size=(n, 3)) + 5
    return rows, angle, along


def triangles(m):
    for i, j in product(range(m - 1), repeat=2):
        yield (i, j), (i + 1, j), (i + 1, j + 1)
        yield (i, j), (i, j + 1), (i + 1, j + 1)


# --- projection --------------------------------------------------------------------------------------------


def test_rows_project_to_the_nearest_point_of_any_triangle():
    rng = np.random.default_rng(0)
    knots, rows = rng.normal(size=(16, 3)), rng.normal(size=(60, 3))
    place, square = projected(knots, rows)
    grid, far = knots.reshape(4, 4, 3), 1e4  # the weight of "shares add up to 1" in least squares
    for x, s in zip(rows, square, strict=True):
        squares = []
        for corners in triangles(4):
            a = np.array([grid[c] for c in corners])
            shares, _ = nnls(np.vstack([a.T, np.full(3, far)]), np.append(x, far))
            squares.append(((shares @ a - x) ** 2).sum())
        assert s == pytest.approx(min(squares), abs=1e-6)
    assert_allclose(((points(knots, place) - rows) ** 2).sum(axis=1), square, atol=1e-12)
    assert (place >= 0).all()
    assert (place <= 3).all()


def test_points_of_a_triangle_are_the_means_of_its_corners_that_the_place_says():
    rng = np.random.default_rng(1)
    knots = rng.normal(size=(9, 2))
    for corners in triangles(3):
        share = rng.dirichlet(np.ones(3))
        place = share @ np.array(corners, float)
        assert_allclose(points(knots, place[None])[0], share @ [knots[3 * i + j] for i, j in corners])


def test_triangles_without_area_are_their_sides():
    knots = np.column_stack([np.repeat(np.arange(3.0), 3), np.zeros(9)])  # the sheet is a line
    rows = np.array([[0.5, 2.0], [-1.0, 0.0], [1.25, -1.0]])
    assert_allclose(projected(knots, rows)[1], [4.0, 1.0, 1.0])
    assert_allclose(projected(np.zeros((9, 2)), rows)[1], (rows**2).sum(axis=1))


# --- the step ----------------------------------------------------------------------------------------------


def test_a_step_solves_the_least_squares_problem():
    rng = np.random.default_rng(2)
    m, s = 4, 0.3
    rows, w, mean = rng.normal(size=(80, 3)), rng.uniform(0, 2, 80), rng.normal(size=3)
    knots = rng.normal(size=(m * m, 3))
    surface = Surface(m, mean, s, 1.0, 0.0)
    sheet = Sheet(knots, s)
    found = surface.update(sheet, surface.summarize(sheet, block_of(rows, w))).knots

    corner, share = hats(projected(knots, rows - mean)[0], m)
    design = np.zeros((80, m * m))
    for i in range(80):
        design[i, corner[i]] += share[i]
    number = np.arange(m * m).reshape(m, m)
    bends = []
    for i, j in product(range(m), repeat=2):
        if i + 2 < m:
            bends.append(([number[i, j], number[i + 1, j], number[i + 2, j]], [1, -2, 1], 1))
        if j + 2 < m:
            bends.append(([number[i, j], number[i, j + 1], number[i, j + 2]], [1, -2, 1], 1))
        if i + 1 < m and j + 1 < m:
            cell = [number[i, j], number[i + 1, j], number[i, j + 1], number[i + 1, j + 1]]
            bends.append((cell, [1, -1, -1, 1], 2))
    energies = np.zeros((len(bends), m * m))
    for row, (at, values, times) in enumerate(bends):
        energies[row, at] = np.sqrt(times) * np.array(values)
    a = np.vstack([np.sqrt(w)[:, None] * design, np.sqrt(s) * energies])
    b = np.vstack([np.sqrt(w)[:, None] * (rows - mean), np.zeros((len(bends), 3))])
    assert_allclose(found, np.linalg.lstsq(a, b)[0], atol=1e-8)
    assert energy(found, m) == pytest.approx(((energies @ found) ** 2).sum(), rel=1e-12)


@pytest.mark.filterwarnings("ignore:The principal surface did not settle")
@pytest.mark.parametrize("smoothness", [1e-6, 0.01, 1.0, 1e4])
def test_the_objective_never_rises(smoothness):
    rows = gutter(300)[0]
    found = PrincipalSurface(6, smoothness=smoothness, tol=0, max_iter=60).fit(rows).history_
    assert len(found) == 60
    assert (np.diff(found) <= 1e-9 * found[0]).all()


def test_blocks_of_any_size_say_the_same():
    rows = gutter(300)[0]
    rng = np.random.default_rng(3)
    surface = Surface(5, rows.mean(axis=0), 0.1, 1.0, 0.0)
    sheet = Sheet(rng.normal(size=(25, 3)), 0.1)
    whole = surface.summarize(sheet, block_of(rows))
    for size in (1, 7, 256, 299):
        merged = Shares(np.zeros((4, 25)), np.zeros((25, 3)), 0.0)
        for a in range(0, 300, size):
            merged = merged.merge(surface.summarize(sheet, block_of(rows[a : a + size], start=a)))
        assert_allclose(merged.beside, whole.beside, atol=1e-10)
        assert_allclose(merged.sums, whole.sums, atol=1e-10)
        assert merged.square == pytest.approx(whole.square, rel=1e-12)


# --- surfaces that are known -------------------------------------------------------------------------------


def test_a_plane_is_the_plane_of_principal_components():
    rng = np.random.default_rng(4)
    plane = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    rows = rng.uniform(-1, 1, size=(600, 2)) * [3, 1] @ plane.T + 7
    surface = PrincipalSurface(5).fit(rows)
    assert surface.explained_ == pytest.approx(1, abs=1e-9)
    assert_allclose((surface.knots_ - surface.mean_) @ (np.eye(5) - plane @ plane.T), 0, atol=1e-9)
    assert_allclose(surface.transform(rows), PCA(2).fit(rows).transform(rows), atol=1e-6)


def test_a_stiff_surface_is_the_plane_of_principal_components():
    rows = gutter(800)[0]
    surface = PrincipalSurface(5, smoothness=1e6, tol=1e-9, max_iter=1000).fit(rows)
    pca = PCA(2).fit(rows)
    knots = (surface.knots_ - pca.mean_).reshape(-1, 3)
    off = knots - knots @ pca.components_.T @ pca.components_
    assert_allclose(off, 0, atol=0.02)
    assert surface.explained_ == pytest.approx(pca.explained_variance_ratio_.sum(), abs=1e-3)


def test_a_rolled_sheet_is_found_and_followed():
    rows, angle, along = gutter()
    surface = PrincipalSurface(smoothness=0.01).fit(rows)
    fresh = gutter(seed=1)[0]
    back = surface.inverse_transform(surface.transform(fresh))
    # Of noise in three directions one leads away from the sheet; the others move rows along it.
    assert ((fresh - back) ** 2).sum(axis=1).mean() < 1.3 * NOISE**2
    pca = PCA(2).fit(rows)
    flat = ((fresh - pca.inverse_transform(pca.transform(fresh))) ** 2).sum(axis=1).mean()
    assert flat > 10 * NOISE**2
    axis = np.abs(np.corrcoef(np.column_stack([surface.transform(rows), angle, along]).T)[:2, 2:])
    assert (axis.max(axis=1) > 0.99).all()
    assert (axis.min(axis=1) < 0.1).all()


def test_what_is_reported_is_what_rows_give():
    rows = gutter(500)[0]
    surface = PrincipalSurface(6, smoothness=0.1).fit(rows)
    back = surface.inverse_transform(surface.transform(rows))
    assert ((rows - back) ** 2).sum() == pytest.approx(surface.distance_, rel=1e-9)
    total = ((rows - rows.mean(axis=0)) ** 2).sum()
    assert surface.explained_ == pytest.approx(1 - surface.distance_ / total, rel=1e-9)


def test_coordinates_beyond_the_border_are_of_the_border():
    surface = PrincipalSurface(4).fit(gutter(200)[0])
    assert_allclose(surface.inverse_transform([[1e6, 1e6], [-1e6, 1e6]]), surface.knots_[[-1, 0], [-1, -1]])


# --- weights, engines, refusals ----------------------------------------------------------------------------


def test_weights_are_copies_and_zero_is_absent():
    rows = gutter(300)[0]
    w = np.random.default_rng(1).integers(0, 3, 300)
    spoiled = rows.copy()
    spoiled[w == 0] = np.nan
    a = PrincipalSurface(6).fit(spoiled, sample_weight=w)
    b = PrincipalSurface(6).fit(np.repeat(rows, w, axis=0))
    assert_allclose(a.knots_, b.knots_, atol=1e-7)
    assert a.explained_ == pytest.approx(b.explained_, rel=1e-9)


def test_same_bits_for_any_number_of_threads():
    rows = gutter(140_000)[0]
    found = []
    for n_threads in (1, 2):
        with asterism.engine(n_threads=n_threads):
            found.append(PrincipalSurface(3, smoothness=100, tol=0.1).fit(rows).knots_)
    assert_array_equal(found[0], found[1])


def test_impossible_requests_are_refused():
    rows = gutter(50)[0]
    with pytest.raises(ParameterError, match="3 knots"):
        PrincipalSurface(2).fit(rows)
    with pytest.raises(ParameterError, match="above 0"):
        PrincipalSurface(smoothness=0).fit(rows)
    with pytest.raises(ParameterError, match="one line"):
        PrincipalSurface().fit(rows[:, :1] * [1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="one line"):
        PrincipalSurface().fit(np.ones((5, 3)))
    with pytest.raises(ParameterError, match="2 columns"):
        PrincipalSurface().fit(ArraySource(rows[:, :1]))
    with pytest.raises(DataError, match="a surface has 2"):
        PrincipalSurface(4).fit(rows).inverse_transform([[1.0]])
    with pytest.warns(NotConvergedWarning, match="3 steps"):
        PrincipalSurface(4, max_iter=3).fit(rows)
    rows[2, 0] = np.nan
    with pytest.raises(DataError, match="row 3, column 'x0'"):
        PrincipalSurface().fit(rows)
