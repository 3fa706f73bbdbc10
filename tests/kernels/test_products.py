"""Products of tiles in registers, against NumPy's, and the labels a visit tells, against log densities."""

from __future__ import annotations

import numpy as np
import pytest

from asterism.kernels.compiled import kernel
from asterism.kernels.density import Normals, gaussian_log_density, visit_of
from asterism.kernels.lanes import TILE
from asterism.kernels.products import add_tile, multiply_tile, panels_of, stride_of
from asterism.kernels.shares import LOOK, SOFT
from asterism.kernels.wide import load_rows

KINDS = [np.dtype(np.float32), np.dtype(np.float64)]
# groups and columns: few groups, which are halves; panels; panels and half a panel; of either type
GROUPS = [
    (1, 1),
    (3, 7),
    (4, 33),
    (5, 24),
    (7, 40),
    (8, 25),
    (10, 30),
    (14, 9),
    (20, 102),
    (27, 30),
    (33, 9),
    (34, 40),
]
EACH = pytest.mark.parametrize("kind", KINDS, ids=str)


def whole(n: int, kind: np.dtype) -> int:
    lanes = 32 // kind.itemsize
    return -(-n // lanes) * lanes


def tile_of(rng: np.random.Generator, columns: int, kind: np.dtype) -> np.ndarray:
    tile = np.zeros((TILE, stride_of(whole(columns, kind), kind.itemsize)), kind)
    tile[:, :columns] = rng.normal(size=(TILE, columns))
    return tile


@EACH
@pytest.mark.parametrize(("k", "columns"), GROUPS)
def test_scores_are_products_with_every_group(kind, k, columns):
    rng = np.random.default_rng(k)
    tile, lines = tile_of(rng, columns, kind), rng.normal(size=(k, columns))
    panels = panels_of(lines, kind)
    scores = np.zeros(whole(k, kind) * TILE, kind)
    scores[: k * TILE] = np.nan
    multiply_tile(tile, panels, k, scores)
    by_group = scores.reshape(-1, TILE)
    want = lines @ tile[:, :columns].T.astype(float)
    assert np.allclose(by_group[:k], want, atol=40 * columns * np.finfo(kind).eps)
    assert not by_group[k:].any()


@EACH
@pytest.mark.parametrize("d", [1, 4, 6, 9, 14, 24, 27, 33, 50, 100])
def test_a_triangle_times_every_row(kind, d):
    rng = np.random.default_rng(d)
    tile, lower = tile_of(rng, d, kind), np.tril(rng.normal(size=(d, d)))
    out = np.full_like(tile, np.nan)
    multiply_tile(tile, panels_of(lower, kind), d, out)
    assert np.allclose(out[:, :d], tile[:, :d].astype(float) @ lower.T, atol=40 * d * np.finfo(kind).eps)


@EACH
@pytest.mark.parametrize(("k", "columns"), [(4, 1), (4, 8), (8, 17), (20, 33), (24, 102)])
def test_sums_of_shares_times_rows(kind, k, columns):
    rng = np.random.default_rng(k)
    tile, shares = tile_of(rng, columns, kind), rng.random((k, TILE)).astype(kind)
    before = rng.normal(size=(k, whole(columns, kind)))
    sums = before.copy()
    add_tile(shares.ravel(), tile, sums)
    want = before + shares.astype(float) @ tile[:, : sums.shape[1]]
    assert np.allclose(sums, want, atol=4 * TILE * np.finfo(kind).eps)


@EACH
@pytest.mark.parametrize("d", [1, 7, 24, 40, 100])
def test_lower_triangles_of_scatters(kind, d):
    rng = np.random.default_rng(d)
    tile, w = tile_of(rng, d, kind), rng.random(TILE).astype(kind)
    scatter = np.zeros((whole(d, kind), whole(d, kind)))
    add_tile(tile * w[:, None], tile, scatter)
    x = tile[:, :d].astype(float)
    want = (x * w[:, None].astype(float)).T @ x
    assert np.allclose(np.tril(scatter[:d, :d]), np.tril(want), atol=4 * TILE * np.finfo(kind).eps)


def test_rows_of_tiles_do_not_share_lines_of_the_cache():
    @kernel
    def stride(width: int, size: int) -> int:
        return stride_of(width, size)

    for size in (4, 8):
        for width in range(1, 300, 7):
            found = stride(width, size)
            assert found >= width
            assert found * size % 64 == 0
            assert found * size // 64 % 2 == 1


@EACH
@pytest.mark.parametrize("d", [24, 25, 31, 40])
@pytest.mark.parametrize("squares", [False, True])
def test_rows_come_with_their_squares_and_absent_rows_as_zeros(kind, d, squares):
    rng = np.random.default_rng(d)
    n, first, high = 300, 2 * TILE, whole(d, kind) if squares else d
    rows, weights = rng.normal(size=(n, d)).astype(kind), rng.integers(0, 3, size=n).astype(float)
    rows[weights == 0] = np.nan
    origin = rng.normal(size=(2, d)).astype(kind)
    tile, w = tile_of(rng, 2 * d + 9, kind), np.full(TILE, np.nan, kind)
    untouched = tile[:, high + d if squares else d + 1].copy()
    load_rows(rows, weights, origin, first, squares, tile, w)
    want = np.zeros((TILE, d), kind)
    want[: n - first] = np.where(weights[first:, None] > 0, rows[first:] - origin[0] - origin[1], 0.0)
    assert np.array_equal(w, np.append(weights[first:], np.zeros(TILE - (n - first))))
    assert np.array_equal(tile[:, :d], want)
    if squares:
        assert np.array_equal(tile[:, high : high + d], want * want)
    else:
        assert np.allclose(
            tile[:, d], 0.5 * (want.astype(float) ** 2).sum(axis=1), rtol=9 * np.finfo(kind).eps
        )
    assert np.array_equal(tile[:, high + d if squares else d + 1], untouched)


@EACH
@pytest.mark.parametrize("structure", ["tied", "diag", "spherical"])
@pytest.mark.parametrize("column", [0, 30, 32])
def test_a_missing_cell_leaves_no_finite_likelihood(kind, structure, column):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 33)).astype(kind)
    x[140, column] = np.nan
    visit = visit_of(components(rng, 33, 3, structure), np.zeros(33), np.log(np.full(3, 1 / 3)), kind)
    assert not np.isfinite(visit.sums(x, np.ones(150), SOFT, np.empty(0))[0])


# --- labels -------------------------------------------------------------------------------------------------------


def components(rng: np.random.Generator, d: int, k: int, structure: str) -> Normals:
    means = rng.normal(size=(k, d)) * 1.5 / np.sqrt(d)
    scales = rng.uniform(0.8, 1.25, size=(k, d))
    lower = np.tril(rng.normal(size=(k, d, d)) * 0.2 / np.sqrt(d), -1) + np.eye(d)
    shaped = {"full": lower, "tied": lower[:1], "diag": scales, "spherical": scales[:, :1]}
    return Normals(means, shaped[structure])


@EACH
@pytest.mark.parametrize("structure", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize(("d", "k"), [(3, 5), (40, 2), (40, 5), (40, 18)])
def test_labels_are_the_largest_densities_or_say_that_they_are_not_sure(kind, structure, d, k):
    rng = np.random.default_rng(d)
    normals, n = components(rng, d, k, structure), 700
    x, w = rng.normal(size=(n, d)).astype(kind), rng.integers(0, 3, size=n).astype(float)
    log_weights = np.log(rng.dirichlet(np.ones(k)))
    visit = visit_of(normals, np.zeros(d), log_weights, kind)
    notes = np.full(n, np.nan)
    looked = visit.sums(x, w, LOOK, notes)[:2]
    there = w > 0
    scores = (gaussian_log_density(x, np.zeros(d), normals) + log_weights)[there]
    sure = notes[there] >= 0
    assert sure.mean() > 0.99
    assert np.array_equal(notes[there][sure], scores.argmax(axis=1)[sure])
    assert np.array_equal(looked, visit.sums(x, w, SOFT, np.empty(0))[:2])


@EACH
@pytest.mark.parametrize("d", [3, 40])
def test_a_row_between_two_groups_is_not_decided(kind, d):
    means = np.zeros((2, d))
    means[:, 0] = -1.0, 1.0
    x = np.random.default_rng(0).normal(size=(300, d)).astype(kind)
    x[:, 0] = 0.0
    notes = np.empty(300)
    visit = visit_of(Normals(means, np.ones((2, 1))), np.zeros(d), np.log([0.5, 0.5]), kind)
    visit.sums(x, np.ones(300), LOOK, notes)
    assert (notes < 0).all()


@EACH
def test_a_group_that_nobody_wants_gets_nothing(kind):
    """Its log weight is -inf, which meets the zeros that fill up the last tile."""
    rng = np.random.default_rng(0)
    normals = components(rng, 40, 3, "diag")
    with np.errstate(divide="ignore"):
        log_weights = np.log([0.5, 0.5, 0.0])
    visit = visit_of(normals, np.zeros(40), log_weights, kind)
    found = visit.totals(visit.sums(rng.normal(size=(150, 40)).astype(kind), np.ones(150), SOFT, np.empty(0)))
    assert found.mass[2] == 0.0
    assert np.isfinite(found.log_likelihood)
    assert np.isclose(found.mass.sum(), 150.0, rtol=1e-6)
