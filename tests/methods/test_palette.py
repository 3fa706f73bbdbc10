"""Colours of pictures: cells, looked-up codes, splitting, against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import asterism
from asterism import _core
from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.engines.reduce import reduce
from asterism.errors import ParameterError, TooFewRowsError
from asterism.methods.palette import ColourCells, ColourIndex, DistinctColours, as_pixels, cell_bits
from asterism.methods.quantize import encode, fit_quantizer

few = settings(max_examples=25, deadline=None)


def photograph(n=20_000, d=3, seed=0):
    rng = np.random.default_rng(seed)
    middles = rng.uniform(20, 235, (12, d))
    return np.clip(middles[rng.integers(12, size=n)] + rng.normal(0, 15, (n, d)), 0, 255).astype(np.uint8)


@few
@given(st.integers(1, 4), st.integers(1, 70), st.integers(0, 2**31))
def test_looked_up_codes_are_the_nearest_ones(d, k, seed):
    rng = np.random.default_rng(seed)
    codes = rng.uniform(-5, 260, (k, d)) if seed % 2 else rng.integers(0, 256, (k, d)).astype(float)
    pixels = rng.integers(0, 256, (500, d)).astype(np.uint8)
    seen = reduce(ArraySource(pixels[:250]), ColourCells.of).seen  # the rest may be in cells never seen
    labels, squares, mass = ColourIndex.of(codes, seen).encode(block_of(pixels))
    brute = ((pixels[:, None].astype(float) - codes) ** 2).sum(axis=2)
    np.testing.assert_array_equal(labels, brute.argmin(axis=1))
    assert squares == pytest.approx(brute.min(axis=1).sum(), rel=1e-12)
    np.testing.assert_array_equal(mass, np.bincount(labels, minlength=k))


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_cells_hold_weights_and_means_of_their_colours(d):
    pixels, w = photograph(3000, d), np.random.default_rng(1).integers(0, 3, 3000).astype(float)
    cells = reduce(ArraySource(pixels, w), ColourCells.of)
    means, mass = cells.rows()
    number = np.zeros(len(pixels), int)
    for j in range(d):
        number = number << cell_bits(d) | pixels[:, j] >> (8 - cell_bits(d))
    present = np.unique(number[w > 0])
    np.testing.assert_array_equal(cells.seen, present)
    for c in (0, len(present) // 2, len(present) - 1):
        mine = number == present[c]
        assert mass[c] == w[mine].sum()
        np.testing.assert_allclose(means[c], np.average(pixels[mine], axis=0, weights=w[mine]), rtol=1e-12)


def test_distinct_colours_merge_to_those_of_all_pixels():
    pixels = photograph(2000) // 16 * 16
    w = np.arange(2000) % 3.0
    parts = [
        DistinctColours.of(block_of(pixels[a:b], w[a:b])) for a, b in ((0, 700), (700, 700), (700, 2000))
    ]
    both = parts[0].merge(parts[1]).merge(parts[2])
    colours, group = np.unique(pixels[w > 0], axis=0, return_inverse=True)
    rows, mass = both.rows()
    order = np.lexsort(rows.T[::-1])
    np.testing.assert_array_equal(rows[order], colours)
    np.testing.assert_array_equal(mass[order], np.bincount(group.ravel(), w[w > 0]))


def test_splitting_makes_parts_of_all_points_and_means_of_parts():
    points, w = np.random.default_rng(5).normal(size=(200, 3)), np.ones(200)
    centers = np.empty((10, 3))
    assert _core.split_points(points, w, centers) == 10
    assert len(np.unique(centers, axis=0)) == 10
    one = np.empty((1, 3))
    assert _core.split_points(points, w, one) == 1
    np.testing.assert_allclose(one[0], points.mean(axis=0), rtol=1e-12)
    assert _core.split_points(points[:4], w[:4], np.empty((9, 3))) == 4


def test_codes_of_cells_are_nearly_as_good_as_codes_of_pixels():
    pixels = photograph(50_000)
    cells = fit_quantizer(ArraySource(pixels), 32)
    all_pixels = fit_quantizer(ArraySource(pixels.astype(float)), 32, seed=0, n_init=3)
    assert cells.usage.distortion <= 1.1 * all_pixels.usage.distortion


def test_without_a_step_the_codes_are_those_that_k_means_starts_from():
    pixels = photograph(20_000)
    none, one, many = (fit_quantizer(ArraySource(pixels), 32, max_iter=m) for m in (0, 1, 300))
    assert (none.n_iter, one.n_iter) == (0, 1)
    assert many.usage.distortion < one.usage.distortion < none.usage.distortion < 1.15 * many.usage.distortion
    with pytest.raises(ParameterError, match="max_iter"):
        fit_quantizer(ArraySource(pixels.astype(float)), 32, max_iter=0)


def test_a_picture_with_few_colours_comes_back_without_loss():
    colours = np.random.default_rng(6).integers(0, 256, (20, 3)).astype(np.uint8)
    pixels = colours[np.random.default_rng(7).integers(20, size=5000)]
    fit = fit_quantizer(ArraySource(pixels), 20)
    assert fit.usage.distortion == 0.0
    with pytest.raises(TooFewRowsError, match="20 distinct colours"):
        fit_quantizer(ArraySource(pixels), 21)


def test_neighbouring_colours_in_one_cell_are_told_apart_when_codes_suffice():
    pixels = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2], [7, 7, 7]], np.uint8).repeat(5, axis=0)
    assert fit_quantizer(ArraySource(pixels), 4).usage.distortion == 0.0


def test_pixels_of_weight_0_are_absent():
    pixels, w = photograph(4000), np.arange(4000) % 2.0
    with_zeros = fit_quantizer(ArraySource(pixels, w), 16)
    without = fit_quantizer(ArraySource(pixels[1::2]), 16)
    np.testing.assert_array_equal(with_zeros.model.books[0], without.model.books[0])
    assert with_zeros.usage.distortion == pytest.approx(without.usage.distortion, rel=1e-12)


def test_a_picture_in_floats_gets_the_same_codes_from_the_same_books():
    pixels = photograph(5000)
    model = fit_quantizer(ArraySource(pixels), 16).model
    np.testing.assert_array_equal(
        encode(model, ArraySource(pixels)), encode(model, ArraySource(pixels.astype(float)))
    )


def test_same_bits_for_any_number_of_threads():
    pixels = photograph(300_000)
    assert as_pixels(ArraySource(pixels)).n_blocks > 2
    found = []
    for n_threads in (1, 2):
        with asterism.engine(n_threads=n_threads):
            found.append(fit_quantizer(ArraySource(pixels), 16))
    np.testing.assert_array_equal(found[0].model.books[0], found[1].model.books[0])
    assert found[0].usage.squares == found[1].usage.squares
