"""Products of tiles in registers, against NumPy's, and the labels a visit tells, against log densities."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from asterism.data.block import frozen
from asterism.kernels.compiled import kernel
from asterism.kernels.density import NO_DRAWS, Normals, gaussian_log_density, visit_of
from asterism.kernels.lanes import TILE
from asterism.kernels.products import (
    add_tile,
    halve_squares,
    norm_slab,
    score_slab,
    stride_of,
    whiten_slab,
    whole_fours,
    whole_vectors,
)
from asterism.kernels.shares import LOOK, SOFT
from asterism.kernels.tied import bring_one_home
from asterism.kernels.vectors import BYTES, SLAB
from asterism.kernels.wide import bring_slab, tile_at

KINDS = [np.dtype(np.float32), np.dtype(np.float64)]
GROUPS = [(1, 1), (3, 7), (4, 33), (5, 24), (8, 25), (10, 30), (20, 102), (33, 9)]  # groups and columns
EACH = pytest.mark.parametrize("kind", KINDS, ids=str)


def told(visit, rows: np.ndarray, weights: np.ndarray, mode: int = SOFT, notes: np.ndarray = NO_DRAWS):
    """Sums of rows that are read-only, as blocks are: for others, every kernel would be compiled once more."""
    return visit.sums(frozen(rows), frozen(weights), mode, notes)


def slabs(kind: np.dtype) -> range:
    return range(0, TILE, SLAB * BYTES // kind.itemsize)


def tile_of(rng: np.random.Generator, lines: int, columns: int, kind: np.dtype) -> np.ndarray:
    tile = np.zeros((lines, stride_of(whole_vectors(columns, kind.itemsize), kind.itemsize)), kind)
    tile[:, :columns] = rng.normal(size=(lines, columns))
    return tile


def in_fours(lines: np.ndarray, kind: np.dtype) -> np.ndarray:
    out = np.zeros((whole_fours(len(lines)), lines.shape[1]), kind)
    out[: len(lines)] = lines
    return out


@EACH
@pytest.mark.parametrize(("k", "columns"), GROUPS)
@pytest.mark.parametrize("besides", ["halves", "squares"])
def test_scores_are_products_with_every_group(kind, k, columns, besides):
    rng = np.random.default_rng(k)
    columns = whole_fours(columns)
    turned = tile_of(rng, columns + 1, TILE, kind)
    more = 1 if besides == "halves" else columns
    lines = rng.normal(size=(k, columns + more + 1))
    scores = np.full((whole_fours(k), TILE), np.nan, kind)
    for at in slabs(kind):
        score_slab(in_fours(lines, kind), turned, at, columns, scores, at, turned, 0)
    x = turned[:, :TILE].astype(float)
    beside = x[columns:] if besides == "halves" else x[:more] ** 2
    want = lines[:, :columns] @ x[:columns] + lines[:, columns:-1] @ beside + lines[:, -1:]
    assert np.allclose(scores[:k], want, atol=100 * columns * np.finfo(kind).eps)
    assert not scores[k:].any()


@EACH
@pytest.mark.parametrize("d", [1, 4, 6, 9, 14, 24, 27, 33, 50, 100])
def test_a_triangle_times_every_row(kind, d):
    rng = np.random.default_rng(d)
    high, lower = whole_fours(d), np.tril(rng.normal(size=(d, d)))
    turned, lines = tile_of(rng, high, TILE, kind), np.zeros((high, high + 1), kind)
    lines[:d, :d] = lower
    out = np.full((high, turned.shape[1]), np.nan, kind)
    for at in slabs(kind):
        whiten_slab(lines, turned, at, high, out, at, turned, 0)
    x = turned[:d, :TILE].astype(float)
    assert np.allclose(out[:d, :TILE], lower @ x, atol=40 * d * np.finfo(kind).eps)


@EACH
@pytest.mark.parametrize("d", [1, 6, 24, 33, 100])
def test_squares_of_a_triangle_times_every_row(kind, d):
    rng = np.random.default_rng(d)
    high = whole_fours(d)
    turned, lower, constant = (
        tile_of(rng, d, TILE, kind),
        np.tril(rng.normal(size=(d, d))),
        rng.normal(size=d),
    )
    turned = np.concatenate([turned, np.zeros((high - d, turned.shape[1]), kind)])
    factor = np.zeros((high, high + 1), kind)
    factor[:d, :d], factor[:d, -1] = lower, constant
    out = np.full(TILE, 3.0, kind)
    for at in slabs(kind):
        norm_slab(factor, np.ascontiguousarray(turned[:, at : at + slabs(kind).step]), out, at)
    y = lower @ turned[:d, :TILE].astype(float) + constant[:, None]
    assert np.allclose(out, 3.0 - 0.5 * (y * y).sum(axis=0), rtol=40 * d * np.finfo(kind).eps)


@EACH
@pytest.mark.parametrize(("k", "columns"), [(4, 1), (4, 8), (8, 17), (12, 70), (20, 33), (24, 102)])
@pytest.mark.parametrize(("depth", "squares"), [(TILE, False), (TILE, True), (36, False)])
def test_sums_of_shares_times_rows(kind, k, columns, depth, squares):
    rng = np.random.default_rng(k)
    tile, shares = tile_of(rng, TILE, columns, kind), rng.random((k, TILE)).astype(kind)
    width = whole_vectors(columns, kind.itemsize)
    before = rng.normal(size=(k, 2 * width if squares else width))
    sums = before.copy()
    add_tile(shares, tile, depth, width, squares, False, sums)
    x = tile[:depth, :width].astype(float)
    want = before.copy()
    want[:, -width:] += shares[:, :depth].astype(float) @ (x**2 if squares else x)
    assert np.allclose(sums, want, atol=10 * TILE * np.finfo(kind).eps)


@EACH
@pytest.mark.parametrize("d", [1, 7, 24, 40, 100])
def test_lower_triangles_of_scatters(kind, d):
    rng = np.random.default_rng(d)
    tile, w = tile_of(rng, TILE, d, kind), rng.random(TILE).astype(kind)
    width = whole_vectors(d, kind.itemsize)
    scatter = np.zeros((whole_fours(d), width))
    weighed = in_fours(np.ascontiguousarray((tile[:, :d] * w[:, None]).T), kind)
    add_tile(weighed, tile, TILE, width, False, True, scatter)
    x = tile[:, :d].astype(float)
    want = (x * w[:, None].astype(float)).T @ x
    assert np.allclose(np.tril(scatter[:d, :d]), np.tril(want), atol=4 * TILE * np.finfo(kind).eps)


def test_rows_of_tiles_do_not_share_lines_of_the_cache():
    for size in (4, 8):
        for width in range(1, 300, 7):
            found = stride_of(width, size)
            assert found >= width
            assert found * size % 64 == 0
            assert found * size // 64 % 2 == 1


@EACH
@pytest.mark.parametrize("d", [1, 3, 8, 16, 24, 25, 31, 40])
def test_rows_are_turned_with_their_squares_and_absent_rows_are_zeros(kind, d):
    rng = np.random.default_rng(d)
    n, first = 300, 2 * TILE
    rows, w = rng.normal(size=(n, d)).astype(kind), np.zeros(TILE, kind)
    w[: n - first] = rng.integers(0, 3, size=n - first)
    rows[first:][w[: n - first] == 0] = np.nan
    origin = rng.normal(size=(2, d)).astype(kind)
    tile, turned = tile_of(rng, TILE, d, kind) * 0, tile_of(rng, whole_fours(d) + 1, TILE, kind)
    for at in slabs(kind):
        bring_slab(rows, origin, first, at, w, False, tile, turned, at)
    want = np.zeros((TILE, d), kind)
    there = w[: n - first, None] > 0
    want[: n - first] = np.where(there, rows[first:] - origin[0] - origin[1], 0.0)
    assert np.array_equal(tile[:, :d], want)
    assert np.array_equal(turned[:d, :TILE], want.T)
    assert not turned[d:-1, :TILE].any()
    half = 0.5 * (want.astype(float) ** 2).sum(axis=1)
    assert np.allclose(turned[-1, :TILE], half, rtol=9 * np.finfo(kind).eps)


# --- rows as they lie in the table ----------------------------------------------------------------------------------


@EACH
def test_rows_are_read_where_they_lie_only_if_enough_follows_and_columns_come_in_fours(kind):
    copy = np.zeros((TILE, 48), kind)
    rows = np.ones((2 * TILE, 32), kind)
    found = [tile_at(rows, first, True, copy)[1] for first in (0, TILE, 2 * TILE - 1)]
    assert found == [True, True, False]  # whole vectors: nothing need follow
    narrow = np.ones((2 * TILE, 4), kind)
    lanes = BYTES // kind.itemsize
    last = TILE - (lanes - 4) // 4  # the last tile after which the rest of a vector follows
    assert [tile_at(narrow, first, True, copy)[1] for first in (0, last, last + 1)] == [True, True, False]
    assert not tile_at(rows, 0, False, copy)[1]
    assert not tile_at(np.ones((2 * TILE, 33), kind), 0, True, copy)[1]
    other = rows.astype(np.float64 if kind == np.float32 else np.float32)
    assert not tile_at(other, 0, True, copy)[1]


AT_THE_EDGE = """
import ctypes, mmap, sys
import numpy as np
from asterism.data.block import frozen
from asterism.kernels.density import Normals, visit_of
kind, page = np.dtype(sys.argv[1]), mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
for d, n in ((32, 300), (36, 257), (100, 256), (25, 129), (8, 257), (12, 300)):
    pages = -(-n * d * kind.itemsize // page)
    room = mmap.mmap(-1, (pages + 1) * page)
    edge = ctypes.addressof(ctypes.c_char.from_buffer(room)) + pages * page
    assert libc.mprotect(ctypes.c_void_p(edge), page, 0) == 0  # nobody may read beyond the table
    rows = np.frombuffer(room, kind, n * d, pages * page - n * d * kind.itemsize).reshape(n, d)
    rows[:] = np.random.default_rng(0).normal(size=(n, d))
    for factors in (np.ones((3, 1)), np.ones((3, d)), np.eye(d)[None], np.repeat(np.eye(d)[None], 3, axis=0)):
        visit = visit_of(Normals(np.zeros((3, d)), factors), np.zeros(d), np.log(np.full(3, 1 / 3)), kind)
        assert np.isclose(visit.mass(visit.sums(frozen(rows), frozen(np.ones(n)), 0, np.empty(0))).sum(), n)
print("read nothing else")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pages are protected by a call of Linux's C library")
@EACH
def test_nothing_is_read_beyond_the_table(kind):
    found = subprocess.run([sys.executable, "-c", AT_THE_EDGE, str(kind)], capture_output=True, text=True)
    assert found.stdout == "read nothing else\n", found.stderr


@EACH
@pytest.mark.parametrize("structure", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("d", [32, 33])
def test_a_table_away_from_zero_and_absent_rows_tell_the_same(kind, structure, d):
    """Rows that are copied, as they are not near 0 or some are absent, and rows that are read where they lie."""
    rng = np.random.default_rng(d)
    normals, log_weights = components(rng, d, 5, structure), np.log(rng.dirichlet(np.ones(5)))
    x = rng.integers(-40, 40, size=(700, d)) / 16  # exact in either type, with an offset too
    far = np.full(d, 1024.0)
    some = np.insert(x, [3, 400], np.nan, axis=0)
    w = np.where(np.isnan(some[:, 0]), 0.0, 1.0)
    found = []
    for rows, weights, reference in (
        (x, np.ones(700), 0 * far),
        (x + far, np.ones(700), far),
        (some, w, 0 * far),
    ):
        visit = visit_of(normals, reference, log_weights, kind)
        found.append(visit.totals(told(visit, rows.astype(kind), weights)))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            assert np.allclose(
                a, b, rtol=200 * np.finfo(kind).eps, atol=4e4 * np.finfo(kind).eps
            )  # of 700 rows


@EACH
@pytest.mark.parametrize("structure", ["tied", "diag", "spherical", "full"])
def test_what_an_absent_row_holds_is_nowhere_in_the_sums(kind, structure):
    """It follows a tile that is read where it lies, and whole vectors of whose last row reach into it."""
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(400, 36)).astype(kind), np.ones(400)
    x[TILE], w[TILE] = np.inf, 0.0
    visit = visit_of(components(rng, 36, 3, structure), np.zeros(36), np.log(np.full(3, 1 / 3)), kind)
    assert np.isfinite(told(visit, x, w)).all()


@EACH
@pytest.mark.parametrize("structure", ["tied", "diag", "spherical", "full"])
@pytest.mark.parametrize("column", [0, 30, 32])
def test_a_missing_cell_leaves_no_finite_likelihood(kind, structure, column):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 33)).astype(kind)
    x[140, column] = np.nan
    visit = visit_of(components(rng, 33, 3, structure), np.zeros(33), np.log(np.full(3, 1 / 3)), kind)
    assert not np.isfinite(told(visit, x, np.ones(150))[0])


@EACH
@pytest.mark.parametrize("apart", [0.5, 4.0])
@pytest.mark.parametrize(("d", "k"), [(24, 3), (33, 7), (40, 180)])
def test_scatters_of_groups_to_which_many_or_few_rows_matter(kind, apart, d, k):
    """Few rows wait for others; with 180 groups of 40 columns there is no room to wait (``MOST_WAITING``)."""
    rng = np.random.default_rng(k)
    normals = components(rng, d, k, "full")
    normals = Normals(normals.offsets * (apart / 1.5), normals.factors)
    labels = rng.integers(k, size=900)
    x, w = normals.offsets[labels] + rng.normal(size=(900, d)), rng.integers(0, 3, size=900).astype(float)
    x = x.astype(kind)
    log_weights = np.log(rng.dirichlet(np.ones(k)))
    visit = visit_of(normals, np.zeros(d), log_weights, kind)
    found = visit.totals(told(visit, x, w))
    scores = gaussian_log_density(frozen(x), np.zeros(d), normals) + log_weights
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares *= w[:, None] / shares.sum(axis=1, keepdims=True)
    mass = shares.sum(axis=0)
    means = shares.T @ x / mass[:, None]
    size = 3e3 * np.finfo(kind).eps * (1.0 + mass)
    assert np.allclose(found.mass, mass, rtol=0, atol=size.max())
    for c in range(k):
        z = x - means[c]
        want = (z * shares[:, c : c + 1]).T @ z
        assert np.allclose(found.scatters[c], want, rtol=0, atol=20 * size[c] * (1 + apart**2))


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
    looked = told(visit, x, w, LOOK, notes)[:2]
    there = w > 0
    scores = (gaussian_log_density(frozen(x), np.zeros(d), normals) + log_weights)[there]
    sure = notes[there] >= 0
    assert sure.mean() > 0.99
    assert np.array_equal(notes[there][sure], scores.argmax(axis=1)[sure])
    assert np.array_equal(looked, told(visit, x, w)[:2])


@EACH
@pytest.mark.parametrize("d", [3, 40])
def test_a_row_between_two_groups_is_not_decided(kind, d):
    means = np.zeros((2, d))
    means[:, 0] = -1.0, 1.0
    x = np.random.default_rng(0).normal(size=(300, d)).astype(kind)
    x[:, 0] = 0.0
    notes = np.empty(300)
    visit = visit_of(Normals(means, np.ones((2, 1))), np.zeros(d), np.log([0.5, 0.5]), kind)
    told(visit, x, np.ones(300), LOOK, notes)
    assert (notes < 0).all()


@EACH
@pytest.mark.parametrize("structure", ["diag", "full"])
def test_a_group_that_nobody_wants_gets_nothing(kind, structure):
    """Its log weight is -inf, which meets the zeros that fill up the last tile."""
    rng = np.random.default_rng(0)
    normals = components(rng, 40, 3, structure)
    with np.errstate(divide="ignore"):
        log_weights = np.log([0.5, 0.5, 0.0])
    visit = visit_of(normals, np.zeros(40), log_weights, kind)
    found = visit.totals(told(visit, rng.normal(size=(150, 40)).astype(kind), np.ones(150)))
    assert found.mass[2] == 0.0
    assert np.isfinite(found.log_likelihood)
    assert np.isclose(found.mass.sum(), 150.0, rtol=1e-6)


# --- short vectors --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(BYTES == 32, reason="this processor's vectors are short ones")
def test_short_vectors_do_the_same(tmp_path):
    """These tests once more as a processor without long vectors runs them, in a process that compiles for one."""
    short = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+sse,+sse2,+avx,+avx2,+fma,+bmi,+bmi2,+f16c"}
    some = "products or triangle or sums or squares or turned or same or scatters"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-k", f"({some}) and not short", __file__]
    found = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **short, "NUMBA_CACHE_DIR": str(tmp_path)}
    )
    assert found.returncode == 0, found.stdout[-3000:]


# --- one matrix for all ---------------------------------------------------------------------------------------------


@kernel
def halved(turned: np.ndarray, depth: int, to: int, at: int) -> None:
    halve_squares(turned, depth, to, at)


@EACH
@pytest.mark.parametrize("columns", [4, 8, 12, 100])
def test_half_squares_are_those_of_numpy_slab_by_slab(columns, kind):
    turned = np.random.default_rng(columns).normal(size=(columns + 2, TILE)).astype(kind)
    before = turned.copy()
    for at in slabs(kind):
        halved(turned, columns, columns, at)
    want = 0.5 * (before[:columns].astype(np.float64) ** 2).sum(axis=0)
    assert np.allclose(turned[columns], want, rtol=1e-5 if kind == np.float32 else 1e-13)
    others = [j for j in range(columns + 2) if j != columns]
    assert np.array_equal(turned[others], before[others])


def test_scatter_about_new_means_is_that_of_the_rows_themselves():
    rng, (n, k, d) = np.random.default_rng(3), (200, 4, 5)
    rows, r = rng.normal(size=(n, d)) + 2.0, rng.dirichlet(np.ones(k), size=n)
    r[:, 2] = 0.0  # nobody has a share of it
    r /= r.sum(axis=1, keepdims=True)
    mass, sums, lower = r.sum(axis=0), np.full((8, 7), np.nan), np.full((8, 7), np.nan)
    sums[:k, :d], lower[:d, :d] = r.T @ rows, np.tril(rows.T @ rows)
    last = rng.normal(size=(k, d))
    shifts, scatter = np.empty((k, d)), np.empty((d, d))
    bring_one_home(mass, sums, lower, last, shifts, scatter)
    there = [0, 1, 3]
    means = (r.T @ rows)[there] / mass[there, None]
    assert np.allclose(last[there] + shifts[there], means, rtol=0, atol=1e-12)
    assert not shifts[2].any()
    away = rows[:, None, :] - means
    want = np.einsum("nc,nci,ncj->ij", r[:, there], away, away)
    assert np.allclose(scatter, want, rtol=0, atol=1e-10)
    assert np.array_equal(scatter, scatter.T)
