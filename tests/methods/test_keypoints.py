"""Keypoints of pictures whose blobs are known, and descriptors of pictures that were turned or lit."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from asterism.methods import keypoints
from asterism.methods.descriptors import FIELDS, described, keypoint_parts, keypoint_regions
from asterism.methods.keypoints import Keypoints
from asterism.methods.patches import DIRECTIONS

BLOBS = [(30.0, 30.0, 2.0, 0.6), (31.5, 90.3, 3.0, 0.5), (90.0, 35.0, 4.5, 0.6), (95.0, 100.0, 7.0, -0.15)]


def blobs(items, shape=(140, 140)):
    """Gaussian blobs (down, across, standard deviation, height) on a grey ground."""
    i, j = np.indices(shape)
    return 0.2 + sum(h * np.exp(-0.5 * ((i - y) ** 2 + (j - x) ** 2) / b**2) for y, x, b, h in items)


def texture(seed=0, shape=(96, 120)):
    smooth = gaussian_filter(np.random.default_rng(seed).random(shape), 2)
    return (smooth - smooth.min()) / np.ptp(smooth)


def pairs(a, b, places, turns):
    """Rows of ``a`` and ``b`` that are the same region, where a's are expected at these places and turns."""
    away = np.hypot(*(places[:, None] - b.places).transpose(2, 0, 1))
    away += 10 * np.abs(np.log(a.scales[:, None] / b.scales))
    away += 3 * np.abs((turns[:, None] - b.turns + np.pi) % (2 * np.pi) - np.pi)
    rows = np.flatnonzero(away.min(axis=1) < 1)
    return rows, away.argmin(axis=1)[rows]


def test_keypoints_are_the_blobs_and_their_scale_is_the_blobs_size():
    regions = keypoint_regions(blobs(BLOBS))
    places, of = np.unique(regions.places.round(6), axis=0, return_inverse=True)
    assert len(places) == len(BLOBS)
    for y, x, b, _ in BLOBS:
        away = np.hypot(*(places - [y, x]).T)
        assert away.min() < 0.05
        scales = regions.scales[of.ravel() == away.argmin()]
        np.testing.assert_allclose(scales, b / 2 ** (1 / 6), rtol=0.03)  # where D is extreme, by its formula


def test_large_pictures_are_not_doubled_and_have_the_same_blobs(monkeypatch):
    monkeypatch.setattr(keypoints, "DOUBLED_PIXELS", 0)
    regions = keypoint_regions(blobs(BLOBS[1:]))
    for y, x, b, _ in BLOBS[1:]:
        nearest = np.hypot(*(regions.places - [y, x]).T).argmin()
        np.testing.assert_allclose(regions.places[nearest], [y, x], atol=0.1)
        np.testing.assert_allclose(regions.scales[nearest], b / 2 ** (1 / 6), rtol=0.05)


@pytest.mark.parametrize(
    "grey",
    [
        np.full((40, 40), 0.7),  # even
        np.tile(np.linspace(0, 1, 40), (40, 1)),  # a ramp
        np.tile(np.arange(40) >= 20, (40, 1)).astype(float),  # one edge
        0.05 * blobs(BLOBS),  # hardly visible
        np.zeros((1, 1)),
        np.zeros((3, 50)),
    ],
)
def test_where_there_is_no_blob_there_is_no_keypoint(grey):
    parts = keypoint_parts(grey[:, :, None])
    assert parts.features.shape == (0, 128)
    assert parts.places.shape == (0, 2)
    assert len(parts.sizes) == 0


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_descriptors_hardly_change_with_a_quarter_turn(quarters):
    grey = texture()
    regions, turned = keypoint_regions(grey), keypoint_regions(np.rot90(grey, quarters).copy())
    places, width, height = regions.places, grey.shape[1], grey.shape[0]
    for _ in range(quarters):  # against the clock: (i, j) goes to (width - 1 - j, i)
        places = np.column_stack([width - 1 - places[:, 1], places[:, 0]])
        width, height = height, width
    rows, theirs = pairs(regions, turned, places, regions.turns - quarters * np.pi / 2)
    assert len(rows) > 0.85 * len(regions.turns) > 100
    change = np.linalg.norm(regions.descriptors[rows] - turned.descriptors[theirs], axis=1)
    others = np.linalg.norm(regions.descriptors[1:] - regions.descriptors[:-1], axis=1)
    assert np.median(change) < 0.02
    assert np.quantile(change, 0.9) < 0.15
    assert np.median(others) > 0.5  # what two different places differ by


def test_descriptors_do_not_change_with_brightness_or_contrast():
    grey = texture(1)
    regions, dimmed = keypoint_regions(grey), keypoint_regions(0.6 * grey + 0.3)
    rows, theirs = pairs(dimmed, regions, dimmed.places, dimmed.turns)
    assert len(rows) == len(dimmed.turns) > 50
    np.testing.assert_allclose(dimmed.descriptors, regions.descriptors[theirs], atol=1e-3)
    assert len(dimmed.turns) < len(regions.turns)  # the faintest are lost


def test_descriptors_hardly_change_with_the_size_of_the_picture():
    items = [(40.0, 40.0, 3.0, 0.6), (46.0, 40.0, 2.5, 0.5), (40.0, 52.0, 4.0, -0.15)]
    doubled = [(2 * y, 2 * x, 2 * b, h) for y, x, b, h in items]
    one = keypoint_regions(blobs(items, (80, 80)))
    two = keypoint_regions(blobs(doubled, (160, 160)))
    smaller = type(two)(two.places / 2, two.scales / 2, two.turns, two.descriptors)
    rows, theirs = pairs(one, smaller, one.places, one.turns)
    assert len(rows) >= 3
    assert np.linalg.norm(one.descriptors[rows] - two.descriptors[theirs], axis=1).max() < 0.1


def test_a_descriptor_is_the_histogram_of_its_samples():
    """A loop over the 16 x 16 samples, as the paper says it."""
    height, width = 60, 64
    i, j = np.indices((height, width)).astype(float)
    down, across = np.sin(i / 9 + j / 13), np.cos(j / 8 - i / 11)  # smooth enough to interpolate
    levels, place, turn = np.array([2.0]), np.array([[30.0, 31.0]]), 0.7
    scale = 1.6 * 2 ** (2 / 3)
    fields = np.float32(np.stack([down] * 3)), np.float32(np.stack([across] * 3))
    found = described(fields, Keypoints(levels, place, np.array([turn])))[0]
    wanted = np.zeros((FIELDS, FIELDS, DIRECTIONS))
    for u in (np.arange(16) + 0.5) / 4 - 2:
        for v in (np.arange(16) + 0.5) / 4 - 2:
            y = place[0, 0] + 3 * scale * (u * np.cos(turn) + v * np.sin(turn))
            x = place[0, 1] + 3 * scale * (v * np.cos(turn) - u * np.sin(turn))
            gy, gx = np.sin(y / 9 + x / 13), np.cos(x / 8 - y / 11)
            angle = (np.arctan2(gy, gx) - turn) % (2 * np.pi) * DIRECTIONS / (2 * np.pi)
            strength = np.hypot(gy, gx) * np.exp(-(u**2 + v**2) / (2 * 2**2))
            for a in range(FIELDS):
                for b in range(FIELDS):
                    near = max(0, 1 - abs(u + 1.5 - a)) * max(0, 1 - abs(v + 1.5 - b))
                    for d in range(DIRECTIONS):
                        apart = min(abs(angle - d), DIRECTIONS - abs(angle - d))
                        wanted[a, b, d] += strength * near * max(0, 1 - apart)
    wanted = np.minimum(wanted.ravel() / np.linalg.norm(wanted), 0.2)
    np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted), atol=5e-3)
    np.testing.assert_allclose(np.linalg.norm(found), 1.0)


def test_places_of_parts_are_shares_of_the_sides():
    parts = keypoint_parts(blobs([(19.5, 59.5, 3.0, 0.6)], (80, 80))[:, :, None])
    np.testing.assert_allclose(parts.places, np.tile([0.25, 0.75], (len(parts.sizes), 1)), atol=1e-3)
    assert parts.sizes.sum() == pytest.approx(1.0)
