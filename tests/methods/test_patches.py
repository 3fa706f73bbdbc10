"""Tiles, patches and their features, against loops that say what they mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asterism.errors import DataError, ParameterError
from asterism.methods.patches import (
    DIRECTIONS,
    as_image,
    cut_tiles,
    grid_parts,
    join_tiles,
    segment,
    segment_parts,
)

few = settings(max_examples=40, deadline=None)


@few
@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 4), st.integers(1, 6))
def test_tiles_make_the_picture_again(height, width, channels, side):
    picture = np.arange(height * width * channels).reshape(height, width, channels)
    tiles = cut_tiles(picture, side)
    assert tiles.shape == (-(-height // side) * -(-width // side), side * side * channels)
    np.testing.assert_array_equal(join_tiles(tiles, picture.shape, side), picture)


def test_colour_features_are_means_and_spreads_of_patches():
    image = np.random.default_rng(0).random((13, 17, 3))
    parts = grid_parts(image, 4, 3, ["colour"])
    rows = []
    for i in range(0, 10, 3):
        for j in range(0, 14, 3):
            patch = image[i : i + 4, j : j + 4].reshape(-1, 3)
            rows.append([*patch.mean(axis=0), *patch.std(axis=0)])
    np.testing.assert_allclose(parts.features, rows, rtol=1e-12)
    assert parts.sizes.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(parts.places[0], [2 / 13, 2 / 17])


@pytest.mark.parametrize("quarter_turns", range(4))
def test_edges_fall_into_the_direction_they_run(quarter_turns):
    ramp = np.tile(np.linspace(0, 1, 12), (12, 1))  # brighter to the right: direction 0
    image = np.rot90(ramp, -quarter_turns)[:, :, None].copy()  # a quarter turn to the right: downwards
    parts = grid_parts(image, 8, 4, ["gradient"])
    strengths = parts.features.reshape(-1, 4, DIRECTIONS).sum(axis=(0, 1))
    assert strengths.argmax() == quarter_turns * DIRECTIONS // 4
    assert np.delete(strengths, strengths.argmax()).max() < 1e-9
    np.testing.assert_allclose(np.linalg.norm(parts.features, axis=1), 1.0)


def test_gradient_features_do_not_change_with_light_or_hardly_with_contrast():
    image = np.random.default_rng(1).random((16, 16, 1))
    plain, light, strong = (grid_parts(x, 8, 8, ["gradient"]).features for x in (image, image + 3, image * 4))
    np.testing.assert_allclose(plain, light, atol=1e-12)
    np.testing.assert_allclose(plain, strong, atol=1e-3)


def test_an_even_picture_has_no_edges_and_no_pattern():
    parts = grid_parts(np.full((8, 8, 2), 0.3), 4, 4, ["gradient", "pixels"])
    np.testing.assert_allclose(parts.features, 0.0, atol=1e-12)


def test_segments_follow_the_colours():
    image = np.zeros((24, 24, 3))
    image[:, 12:] = [1.0, 0.0, 0.0]
    labels = segment(image, 8)
    assert len(np.unique(labels)) == 8
    assert not set(np.unique(labels[:, :12])) & set(np.unique(labels[:, 12:]))
    parts = segment_parts(image, 8, ["colour"])
    np.testing.assert_allclose(np.unique(parts.features[:, 0]), [0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(parts.features[:, 3:], 0.0, atol=1e-9)
    assert parts.sizes.sum() == pytest.approx(1.0)
    assert parts.sizes @ parts.places == pytest.approx([0.5, 0.5])  # the middle of all pixels


def test_what_cannot_be_cut_is_told():
    with pytest.raises(DataError, match="no patch of 9 x 9"):
        grid_parts(np.zeros((8, 12, 1)), 9, 1, ["colour"])
    with pytest.raises(DataError, match="no 100 segments"):
        segment(np.zeros((5, 5, 1)), 100)
    with pytest.raises(ParameterError, match="no pixels in common"):
        segment_parts(np.random.default_rng(0).random((8, 8, 1)), 2, ["pixels"])
    with pytest.raises(DataError, match=r"picture 3 has no number at pixel \(1, 0\)"):
        as_image(np.array([[0.0], [np.nan]]), 3)
