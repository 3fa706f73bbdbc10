"""What a picture looks like around its keypoints, whatever their size, their turn and the light.

    descriptor   4 x 4 fields of 3 scales each, 8 directions in each: 128 numbers; a gradient counts by G(6 scales)
                 and is shared by the nearest fields and directions; unit length, no entry above 0.2, unit length

References
----------
1. Lowe (2004), Distinctive image features from scale-invariant keypoints. Int. J. Comput. Vis. 60:91-110.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from asterism.methods.keypoints import (
    Floats,
    Gradients,
    Keypoints,
    find_keypoints,
    octaves,
    sampled_gradients,
)
from asterism.methods.patches import DIRECTIONS, Parts, clipped_units, directed

FIELDS = 4  # convention: Lowe 2004, along a side
FIELD_WIDTH = 3.0  # convention: Lowe 2004, scales
SAMPLES = 4  # convention: Lowe 2004, gradients along the side of a field
WIDTH = FIELDS**2 * DIRECTIONS  # of a descriptor


@dataclass(frozen=True)
class Regions:
    """The keypoints of one picture and what is around them."""

    places: Floats  # (m, 2) down and across, in pixels; whole numbers are the middles of pixels
    scales: Floats  # (m,) standard deviation of the blur they are found at, in pixels
    turns: Floats  # (m,) main direction of the gradient, from across towards down
    descriptors: Floats  # (m, 128)


def keypoint_regions(grey: Floats) -> Regions:
    """Keypoints of a (height, width) picture of values near 0..1, from the finest octave to the coarsest."""
    rows = [(np.zeros((0, 4)), np.zeros((0, WIDTH)))]
    for octave in octaves(grey):
        gradients = octave.gradients()
        for found in find_keypoints(octave, gradients):
            places = octave.step * found.places + octave.shift
            where = np.column_stack([places, octave.step * found.scales, found.turns])
            rows.append((where, described(gradients, found)))
    where, descriptors = (np.vstack(column) for column in zip(*rows, strict=True))
    return Regions(where[:, :2], where[:, 2], where[:, 3], descriptors)


def described(gradients: Gradients, keypoints: Keypoints) -> Floats:
    """(m, 128) the descriptors of keypoints."""
    side = FIELDS * SAMPLES
    line = (np.arange(side) + 0.5) / SAMPLES - FIELDS / 2  # in fields, from the keypoint
    fields = np.arange(FIELDS) + 0.5 - FIELDS / 2
    near = np.maximum(1.0 - np.abs(line[:, None] - fields), 0.0)
    weights = np.exp(-0.5 * (line[:, None] / (FIELDS / 2)) ** 2)
    shares = np.kron(near * weights, near * weights)  # (samples, fields): of both axes
    offsets = FIELD_WIDTH * np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    down, across = sampled_gradients(gradients, keypoints, offsets)
    histograms = shares.T @ directed(down, across, DIRECTIONS)  # (m, fields, directions)
    return clipped_units(histograms.reshape(-1, WIDTH), flat=0.0)


def keypoint_parts(image: Floats) -> Parts:
    """The regions around the keypoints of a (height, width, channels) picture; there may be none."""
    regions = keypoint_regions(image.mean(axis=2))
    height, width, _ = image.shape
    places = np.clip((regions.places + 0.5) / [height, width], 0.0, 1.0)
    m = len(places)
    return Parts(regions.descriptors, places, np.full(m, 1.0 / max(m, 1)))
