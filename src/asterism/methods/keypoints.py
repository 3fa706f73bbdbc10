"""Keypoints: places where a picture has a blob or a corner, how large it is, and which way it is turned.

    L_s = G(s) * picture,  s = 1.6 2^(i / 3);    D_i = L_(i+1) - L_i    differences of Gaussians
    keypoint   an extremum of D among its 26 neighbours in place and scale, refined by a quadratic;
               |D| at least ``CONTRAST``, and curved in both directions: tr(H)^2 / det(H) < (r + 1)^2 / r
    turn       peaks of the histogram of gradient directions around it, weighted by G(1.5 s)

A Gaussian blob of standard deviation b is a keypoint of scale b / 2^(1/6), where the difference of its heights after
two blurs, b^2 / (b^2 + s^2) - b^2 / (b^2 + 2^(2/3) s^2), is largest.

References
----------
1. Lowe (2004), Distinctive image features from scale-invariant keypoints. Int. J. Comput. Vis. 60:91-110.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, map_coordinates, maximum_filter, minimum_filter, zoom
from scipy.spatial import cKDTree

from asterism.methods.patches import directed

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Gradients = tuple[NDArray[np.float32], NDArray[np.float32]]  # (SCALES, h, w) down, and across

SCALES = 3  # convention: Lowe 2004, in an octave: from one scale to its double
FIRST_SCALE = 1.6  # convention: Lowe 2004, standard deviation of the first level of an octave in its pixels
CAMERA_BLUR = 0.5  # convention: Lowe 2004, that a picture has already
CONTRAST = 0.04 / SCALES  # convention: OpenCV's; the paper's 0.03 leaves few keypoints in a dim picture
EDGE_RATIO = 10.0  # convention: Lowe 2004, of the two curvatures; more is an edge
FLAT_CURVE = 1e-18  # derived: curvatures of 1e-6 in all three directions, far below any contrast
NEAR = 0.6  # pixels from the extremum; not 0.5: half way between two pixels either will do
MOVES = 5  # convention: OpenCV's, steps from pixel to pixel until the extremum lies within half a pixel
LEAST_SIDE = 8  # convention: pixels of the smallest octave; its last blur is nearly as wide
DOUBLED_PIXELS = 1 << 20  # convention: larger pictures are not doubled, which takes four times the memory
TURNS = 36  # convention: Lowe 2004, directions of a histogram
PEAK_SHARE = 0.8  # convention: Lowe 2004, of the highest peak, that makes a keypoint of its own
MOST_TURNS = 4  # convention: VLFeat's, of one place; a round blob has no direction
WINDOW = 1.5  # convention: Lowe 2004, scales: standard deviation of the weights around a keypoint
SMOOTHING = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)  # convention: OpenCV's, of neighbouring directions
BATCH = 256  # keypoints whose neighbourhoods are in memory together


@dataclass(frozen=True)
class Octave:
    """Levels of blur of the picture at one resolution."""

    levels: NDArray[np.float32]  # (SCALES + 3, h, w)
    step: float  # pixels of the picture from one pixel of the octave to the next
    shift: float  # where its first pixel lies in the picture

    def gradients(self) -> Gradients:
        """Down and across, of the levels 1 to SCALES."""
        levels = self.levels[1 : SCALES + 1]
        return np.asarray(np.gradient(levels, axis=1)), np.asarray(np.gradient(levels, axis=2))


@dataclass(frozen=True)
class Keypoints:
    """Places in one octave, in its own pixels."""

    levels: Floats  # (m,) s: the scale is FIRST_SCALE 2^(s / SCALES)
    places: Floats  # (m, 2) down and across
    turns: Floats  # (m,) angle of the main gradient, from across towards down

    @property
    def scales(self) -> Floats:
        """(m,) standard deviation of the blur, in pixels of the octave."""
        scales: Floats = FIRST_SCALE * 2.0 ** (self.levels / SCALES)
        return scales

    def batches(self) -> Iterator[Keypoints]:
        """A few at a time."""
        for a in range(0, len(self.turns), BATCH):
            b = a + BATCH
            yield Keypoints(self.levels[a:b], self.places[a:b], self.turns[a:b])


# --- levels of blur ---------------------------------------------------------------------------------------------


def octaves(grey: Floats) -> Iterator[Octave]:
    """Levels of blur of a (height, width) picture of values near 0..1, one resolution after the other."""
    doubled = grey.size <= DOUBLED_PIXELS
    base = grey.astype(np.float32)
    if doubled:
        base = zoom(base, 2, order=1, mode="nearest", grid_mode=True)
    step, blur = (0.5, 2.0 * CAMERA_BLUR) if doubled else (1.0, CAMERA_BLUR)
    shift = (step - 1.0) / 2.0  # the picture's border stays where it is
    while min(base.shape) >= LEAST_SIDE:
        levels = [gaussian_filter(base, np.sqrt(FIRST_SCALE**2 - blur**2)) if blur < FIRST_SCALE else base]
        for i in range(1, SCALES + 3):
            before = FIRST_SCALE * 2.0 ** ((i - 1) / SCALES)
            levels.append(gaussian_filter(levels[-1], before * np.sqrt(2.0 ** (2.0 / SCALES) - 1.0)))
        yield Octave(np.stack(levels), step, shift)
        base, step, blur = levels[SCALES][::2, ::2], 2.0 * step, FIRST_SCALE


# --- places -----------------------------------------------------------------------------------------------------


def find_keypoints(octave: Octave, gradients: Gradients) -> Iterator[Keypoints]:
    """Extrema of the differences of Gaussians with contrast, off edges, one for each main direction; in batches."""
    differences = np.diff(octave.levels, axis=0)
    found = _distinct(_refined(differences, _extrema(differences)))
    plain = Keypoints(found[:, 0], found[:, 1:], np.zeros(len(found)))
    return (_turned(gradients, batch) for batch in plain.batches())


def _extrema(differences: NDArray[np.float32]) -> Ints:
    """(m, 3) level, down, across of those above, or below, all of their 26 neighbours; equals are kept."""
    inner = (slice(1, -1),) * 3
    least = 0.5 * CONTRAST  # at a pixel; the extremum between pixels may be higher
    high = (differences == maximum_filter(differences, 3)) & (differences > least)
    low = (differences == minimum_filter(differences, 3)) & (differences < -least)
    return np.argwhere((high | low)[inner]) + 1


def _refined(differences: NDArray[np.float32], place: Ints) -> Floats:
    """(m, 3) extrema of quadratics through the neighbours; without those of low contrast and those on edges."""
    top = np.array(differences.shape) - 2
    for _ in range(MOVES):
        place, offset, _, _ = _quadratic(differences, place)
        far = np.abs(offset) > NEAR
        if not far.any():
            break
        place = place + np.where(far, np.sign(offset), 0.0).astype(np.intp)
        place = place[((place >= 1) & (place <= top)).all(axis=1)]
    place, offset, slope, curve = _quadratic(differences, place)
    height = differences[tuple(place.T)] + 0.5 * (slope * offset).sum(axis=1)
    trace = curve[:, 1, 1] + curve[:, 2, 2]
    det = curve[:, 1, 1] * curve[:, 2, 2] - curve[:, 1, 2] ** 2
    kept = (np.abs(offset) <= 1.0).all(axis=1) & (np.abs(height) >= CONTRAST)
    kept &= trace**2 * EDGE_RATIO < (EDGE_RATIO + 1.0) ** 2 * det
    found: Floats = (place + offset)[kept]
    return found


def _quadratic(differences: NDArray[np.float32], place: Ints) -> tuple[Ints, Floats, Floats, Floats]:
    """Pixels, where from each (m, 3) its quadratic is level, its slopes and curvatures; flat ones are left out."""
    slope, curve = _derivatives(differences, place)
    solvable = np.abs(np.linalg.det(curve)) > FLAT_CURVE
    place, slope, curve = place[solvable], slope[solvable], curve[solvable]
    return place, -np.linalg.solve(curve, slope[:, :, None])[:, :, 0], slope, curve


def _derivatives(differences: NDArray[np.float32], place: Ints) -> tuple[Floats, Floats]:
    """(m, 3) slopes and (m, 3, 3) second derivatives at pixels, by central differences."""
    unit = np.eye(3, dtype=np.intp)

    def at(move: Ints) -> Floats:
        values: Floats = differences[tuple((place + move).T)].astype(np.float64)
        return values

    slope, curve = np.empty((len(place), 3)), np.empty((len(place), 3, 3))
    for a in range(3):
        slope[:, a] = 0.5 * (at(unit[a]) - at(-unit[a]))
        curve[:, a, a] = at(unit[a]) + at(-unit[a]) - 2.0 * at(0 * unit[a])
        for b in range(a):
            plus, minus = unit[a] + unit[b], unit[a] - unit[b]
            curve[:, a, b] = curve[:, b, a] = 0.25 * (at(plus) + at(-plus) - at(minus) - at(-minus))
    return slope, curve


def _distinct(found: Floats) -> Floats:
    """Without those that are the same extremum, found from two pixels between which it lies."""
    if len(found) < 2:
        return found
    pairs = cKDTree(found).query_pairs(0.5, output_type="ndarray")
    return np.delete(found, np.unique(pairs.max(axis=1)), axis=0) if len(pairs) else found


# --- directions -------------------------------------------------------------------------------------------------


def sampled_gradients(gradients: Gradients, keypoints: Keypoints, offsets: Floats) -> tuple[Floats, Floats]:
    """(m, samples) gradients down and across at ``offsets`` (samples, 2) from each keypoint, in units of its scale.

    Offsets and gradients turn with the keypoint. Outside the picture a gradient is 0.
    """
    sine, cosine = np.sin(keypoints.turns)[:, None], np.cos(keypoints.turns)[:, None]
    u, v = keypoints.scales[:, None] * offsets[:, 0], keypoints.scales[:, None] * offsets[:, 1]
    i = keypoints.places[:, :1] + cosine * u + sine * v
    j = keypoints.places[:, 1:] - sine * u + cosine * v
    level = np.clip(np.rint(keypoints.levels), 1, SCALES) - 1.0
    at = np.stack([np.broadcast_to(level[:, None], i.shape), i, j])
    down, across = (map_coordinates(gradient, at, order=1, output=np.float64) for gradient in gradients)
    return cosine * down - sine * across, sine * down + cosine * across


def _turned(gradients: Gradients, plain: Keypoints) -> Keypoints:
    """A keypoint for every main direction of the gradients around each place."""
    line = np.linspace(-3.0, 3.0, 17) * WINDOW
    offsets = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    weights = np.exp(-0.5 * (offsets**2).sum(axis=1) / WINDOW**2)
    down, across = sampled_gradients(gradients, plain, offsets)
    histograms = weights @ directed(down, across, TURNS)
    smooth = sum(c * np.roll(histograms, s, axis=1) for s, c in zip(range(-2, 3), SMOOTHING, strict=True))
    before, after = np.roll(smooth, 1, axis=1), np.roll(smooth, -1, axis=1)
    peak = (smooth > before) & (smooth >= after) & (smooth >= PEAK_SHARE * smooth.max(axis=1, keepdims=True))
    rank = np.argsort(np.argsort(-np.where(peak, smooth, -1.0), axis=1), axis=1)
    row, turn = np.nonzero(peak & (rank < MOST_TURNS))
    a, b, c = before[row, turn], smooth[row, turn], after[row, turn]
    angle = (turn + 0.5 * (a - c) / (a - 2.0 * b + c)) * (2.0 * np.pi / TURNS)  # the top of a parabola
    return Keypoints(plain.levels[row], plain.places[row], angle)
