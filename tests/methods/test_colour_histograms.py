"""Colour histograms against NumPy's, colour spaces against Python's, Pillow's and published values."""

import colorsys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from asterism.errors import DataError
from asterism.methods.colours import SPACES, ColourCells, as_rgb, in_space, lab_of
from asterism.methods.patches import grid_parts, segment, segment_parts

few = settings(max_examples=30, deadline=None)


def picture(height=13, width=17, channels=3, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, channels)) / 255.0


@few
@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 99))
def test_joint_histograms_of_patches_are_those_of_numpy(channels, bins, seed):
    image = picture(channels=channels, seed=seed)
    found = grid_parts(image, 5, 4, ["histogram"], ColourCells(None, bins)).features
    patches = [image[i : i + 5, j : j + 5] for i in range(0, 9, 4) for j in range(0, 13, 4)]
    for row, patch in zip(found, patches, strict=True):
        counts, _ = np.histogramdd(patch.reshape(-1, channels), bins=bins, range=[(0, 1)] * channels)
        np.testing.assert_allclose(row, counts.ravel() / 25, rtol=1e-12)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("joint", [True, False])
def test_histograms_of_a_space_are_those_of_numpy(space, joint):
    image = picture()
    colours = ColourCells(space, 5, joint)
    found = grid_parts(image, 13, 4, ["histogram"], colours).features
    pixels = in_space(image, space)
    c = pixels.shape[2]
    assert found.shape == (2, colours.count(3)) == (2, 5**c if joint else 5 * c)
    for row, a in zip(found, (0, 4), strict=True):
        part = pixels[:, a : a + 13].reshape(-1, c)
        if joint:
            counts = np.histogramdd(part, bins=5, range=[(0, 1)] * c)[0].ravel()
        else:
            counts = np.concatenate([np.histogram(part[:, i], 5, (0, 1))[0] for i in range(c)])
        np.testing.assert_allclose(row, counts / 169, rtol=1e-12)


def test_histograms_of_segments_are_those_of_numpy():
    image = picture()
    labels = segment(image, 4)
    found = segment_parts(image, 4, ["histogram"], ColourCells(None, 3)).features
    for row, label in zip(found, np.unique(labels), strict=True):
        counts, _ = np.histogramdd(image[labels == label], bins=3, range=[(0, 1)] * 3)
        np.testing.assert_allclose(row, counts.ravel() / (labels == label).sum(), rtol=1e-12)


def test_numbers_outside_0_to_1_are_in_the_outer_cells():
    cells = ColourCells(bins=4).cells(np.array([[[-2.0], [0.0], [1.0], [3.0]]]))
    assert cells.ravel().tolist() == [0, 0, 3, 3]


def test_hue_saturation_value_are_those_of_python():
    image = np.concatenate([picture(8, 9), np.zeros((1, 9, 3)), np.full((1, 9, 3), 0.5)])
    wanted = [colorsys.rgb_to_hsv(*pixel) for pixel in image.reshape(-1, 3)]
    np.testing.assert_allclose(in_space(image, "hsv").reshape(-1, 3), wanted, atol=1e-12)


def test_grey_is_that_of_pillow():
    image = picture()
    theirs = np.asarray(Image.fromarray(np.rint(image * 255).astype(np.uint8)).convert("L"))
    np.testing.assert_allclose(in_space(image, "grey")[:, :, 0] * 255, theirs, atol=1.0)


@pytest.mark.parametrize(
    ("rgb", "lab"),  # the published corners of sRGB under D65
    [
        ((1, 1, 1), (100, 0, 0)),
        ((0, 0, 0), (0, 0, 0)),
        ((1, 0, 0), (53.24, 80.09, 67.20)),
        ((0, 1, 0), (87.73, -86.18, 83.18)),
        ((0, 0, 1), (32.30, 79.19, -107.86)),
    ],
)
def test_lab_of_the_corners_of_srgb(rgb, lab):
    np.testing.assert_allclose(lab_of(np.array(rgb, dtype=float)), lab, atol=0.02)


def test_grey_is_repeated_and_opacity_left_out():
    image = picture(channels=4)
    np.testing.assert_array_equal(as_rgb(image), image[:, :, :3])
    np.testing.assert_array_equal(as_rgb(image[:, :, :2]), image[:, :, [0, 0, 0]])
    with pytest.raises(DataError, match="5 channels has no red"):
        as_rgb(np.zeros((2, 2, 5)))
    with pytest.raises(DataError, match="8000 cells"):
        ColourCells(bins=20).count(3)
