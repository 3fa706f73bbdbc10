"""Parts of pictures and what they look like: tiles and back, patches on a grid, segments, features.

A feature of a patch or a segment joins what was asked for:

    "colour"    mean and standard deviation of every channel
    "histogram" shares of the pixels in each cell of a colour space
    "gradient"  a histogram of edge directions, weighted by edge strength, in 2 x 2 quarters (segments: in one)
    "pixels"    the patch itself, less its mean, over its standard deviation

References
----------
1. Lowe (2004), Distinctive image features from scale-invariant keypoints. Int. J. Comput. Vis. 60:91-110.
2. Coates, Ng, Lee (2011), An analysis of single-layer networks in unsupervised feature learning. AISTATS 15:215-223.
3. Achanta et al. (2012), SLIC superpixels. IEEE Trans. PAMI 34:2274-2282.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from asterism.data.source import ArraySource
from asterism.errors import DataError, ParameterError
from asterism.methods.colours import ColourCells
from asterism.methods.kmeans import fit_kmeans

Feature = Literal["colour", "histogram", "gradient", "pixels"]
FEATURES: tuple[Feature, ...] = ("colour", "histogram", "gradient", "pixels")
DIRECTIONS = 8  # of edges, all the way round
STRONGEST = (
    0.2  # share of a histogram's length that one direction may have: one bright edge is not everything
)
FLAT = 1e-2  # standard deviation, in shares of the range, that is noise rather than a pattern
SEGMENT_STEPS = 10  # of k-means: segments need to be neat, not perfect
CHANNELS = ColourCells()  # colours are counted by the channels as they are

Floats = NDArray[np.float64]


# --- pictures ---------------------------------------------------------------------------------------------------


def as_image(picture: Any, number: int | str = 0) -> Floats:
    """(height, width, channels) with values near 0..1: bytes are divided by 255, floats are taken as they are."""
    array = np.asarray(picture)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3 or 0 in array.shape or array.dtype.kind not in "fiub":
        raise DataError(
            f"picture {number} is not numbers of shape (height, width) or (height, width, channels), but "
            f"{array.dtype} of shape {np.shape(picture)}.",
            "Give a list of arrays, or one array with the pictures along its first axis.",
        )
    image = array / 255.0 if array.dtype == np.uint8 else array.astype(np.float64)
    if not np.isfinite(image).all():
        i, j = np.argwhere(~np.isfinite(image).all(axis=2))[0]
        raise DataError(
            f"picture {number} has no number at pixel ({i}, {j}).", "Fill it in, or leave it out."
        )
    return image


def cut_tiles(picture: NDArray[Any], side: int) -> NDArray[Any]:
    """(tiles, side * side * channels) a picture as squares side by side; the last ones repeat its edge.

    >>> cut_tiles(np.arange(6).reshape(2, 3, 1), 2).tolist()
    [[0, 1, 3, 4], [2, 2, 5, 5]]
    """
    height, width, channels = picture.shape
    down, across = -(-height // side), -(-width // side)
    more = ((0, down * side - height), (0, across * side - width), (0, 0))
    whole = np.pad(picture, more, mode="edge") if side > 1 else picture
    tiles = whole.reshape(down, side, across, side, channels).swapaxes(1, 2)
    return tiles.reshape(down * across, side * side * channels)


def join_tiles(tiles: NDArray[Any], shape: tuple[int, ...], side: int) -> NDArray[Any]:
    """The picture of this shape again.

    >>> join_tiles(np.array([[0, 1, 3, 4], [2, 2, 5, 5]]), (2, 3, 1), 2)[:, :, 0].tolist()
    [[0, 1, 2], [3, 4, 5]]
    """
    height, width, channels = shape
    down, across = -(-height // side), -(-width // side)
    whole = tiles.reshape(down, across, side, side, channels).swapaxes(1, 2)
    return np.ascontiguousarray(whole.reshape(down * side, across * side, channels)[:height, :width])


# --- parts ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parts:
    """Features of the parts of one picture, and where the parts are."""

    features: Floats  # (m, f)
    places: Floats  # (m, 2) middles, down and across, in shares of the picture's sides
    sizes: Floats  # (m,) share of the picture: what a part counts


def grid_parts(
    image: Floats, side: int, step: int, kinds: Sequence[Feature], colours: ColourCells = CHANNELS
) -> Parts:
    """Square patches of ``side`` pixels, every ``step`` pixels."""
    height, width, _ = image.shape
    if side > min(height, width):
        raise DataError(
            f"A picture of {height} x {width} pixels has no patch of {side} x {side}.",
            "Give a smaller patch.",
        )
    windows = sliding_window_view(image, (side, side), axis=(0, 1))[::step, ::step]
    down, across = windows.shape[:2]
    patches = windows.reshape(down * across, -1, side * side)  # (m, channels, pixels)
    parts: list[Floats] = []
    if "colour" in kinds:
        parts.append(np.concatenate([patches.mean(axis=2), patches.std(axis=2)], axis=1))
    if "histogram" in kinds:
        cells = sliding_window_view(colours.cells(image), (side, side), axis=(0, 1))[::step, ::step]
        pixels = cells.reshape(down * across, -1, side * side).swapaxes(1, 2)
        part = np.repeat(np.arange(down * across), side * side)
        shape = (down * across, colours.count(image.shape[2]))
        parts.append(_shares(pixels.reshape(len(part), -1), part, shape))
    if "gradient" in kinds:
        parts.append(_window_gradients(image, side, step))
    if "pixels" in kinds:
        flat = patches.reshape(len(patches), -1)
        flat = flat - flat.mean(axis=1, keepdims=True)
        parts.append(flat / np.sqrt((flat**2).mean(axis=1, keepdims=True) + FLAT**2) / np.sqrt(flat.shape[1]))
    i, j = np.divmod(np.arange(down * across), across)
    places = np.stack([(i * step + side / 2) / height, (j * step + side / 2) / width], axis=1)
    return Parts(np.hstack(parts), places, np.full(len(places), 1.0 / len(places)))


def segment_parts(
    image: Floats, n_segments: int, kinds: Sequence[Feature], colours: ColourCells = CHANNELS
) -> Parts:
    """Segments: pixels that are near and alike, found by k-means on place and colour."""
    height, width, channels = image.shape
    found, labels = np.unique(segment(image, n_segments), return_inverse=True)
    labels = labels.ravel()
    mass = np.bincount(labels).astype(np.float64)
    pixels = image.reshape(-1, channels)

    def means(values: Floats) -> Floats:  # (pixels, c) -> (segments, c)
        sums = [np.bincount(labels, column, minlength=len(found)) for column in values.T]
        return np.stack(sums, axis=1) / mass[:, None]

    parts: list[Floats] = []
    if "colour" in kinds:
        average = means(pixels)
        parts += [average, np.sqrt(means((pixels - average[labels]) ** 2))]
    if "histogram" in kinds:
        cells = colours.cells(image).reshape(len(labels), -1)
        parts.append(_shares(cells, labels, (len(found), colours.count(channels))))
    if "gradient" in kinds:
        parts.append(clipped_units(means(_directions(image).reshape(-1, DIRECTIONS))))
    if "pixels" in kinds:
        raise ParameterError("Segments have no pixels in common.", 'Ask for "colour", "gradient" or both.')
    i, j = np.divmod(np.arange(height * width), width)
    places = means(np.stack([(i + 0.5) / height, (j + 0.5) / width], axis=1))
    return Parts(np.hstack(parts), places, mass / mass.sum())


def segment(image: Floats, n_segments: int) -> NDArray[np.int32]:
    """(height, width) numbers of segments; starts on an even grid, so that segments are of like size.

    Places are scaled so that a segment's side counts as much as a fifth of the range of colours.
    """
    height, width, channels = image.shape
    if n_segments > height * width:
        raise DataError(
            f"A picture of {height} x {width} pixels has no {n_segments} segments.", "Ask for fewer segments."
        )
    side = np.sqrt(height * width / n_segments)
    i, j = np.divmod(np.arange(height * width), width)
    rows = np.column_stack([0.2 * i / side, 0.2 * j / side, image.reshape(-1, channels)])
    across = max(1, round(width / side))
    down = -(-n_segments // across)
    start = [
        rows[int((r + 0.5) * height / down) * width + int((c + 0.5) * width / across)]
        for r in range(down)
        for c in range(across)
    ][:n_segments]
    fit = fit_kmeans(ArraySource(rows), n_segments, init=np.array(start), max_iter=SEGMENT_STEPS, tol=1e-3)
    return fit.labels.reshape(height, width)


def _shares(cells: NDArray[np.intp], part: NDArray[np.intp], shape: tuple[int, int]) -> Floats:
    """Shares of pixels, of shape (parts, cells), from the cells (pixels, t) and the part (pixels,) of each."""
    counts = np.bincount((part[:, None] * shape[1] + cells).ravel(), minlength=shape[0] * shape[1])
    return counts.reshape(shape) / np.bincount(part, minlength=shape[0])[:, None]


# --- edges ------------------------------------------------------------------------------------------------------


def _directions(image: Floats) -> Floats:
    """(height, width, DIRECTIONS) strength of the edge at a pixel, shared by the two nearest directions."""
    grey = image.mean(axis=2)
    down = np.gradient(grey, axis=0) if len(grey) > 1 else np.zeros_like(grey)
    across = np.gradient(grey, axis=1) if grey.shape[1] > 1 else np.zeros_like(grey)
    return directed(down, across, DIRECTIONS)


def directed(down: Floats, across: Floats, n: int) -> Floats:
    """(..., n) lengths of gradients, each shared by the two nearest of ``n`` directions.

    >>> directed(np.array(0.0), np.array(2.0), 4).tolist()
    [2.0, 0.0, 0.0, 0.0]
    """
    strength = np.hypot(down, across)[..., None]
    turn = (np.arctan2(down, across) / (2.0 * np.pi) % 1.0)[..., None] * n
    low = np.floor(turn).astype(np.intp)
    share = turn - low
    out = np.zeros((*np.shape(down), n))
    np.put_along_axis(out, low % n, strength * (1.0 - share), axis=-1)
    np.put_along_axis(out, (low + 1) % n, strength * share, axis=-1)
    return out


def _window_gradients(image: Floats, side: int, step: int) -> Floats:
    """(m, 4 DIRECTIONS) histograms of the quarters of every patch, from sums over rectangles."""
    height, width, _ = image.shape
    above = np.zeros((height + 1, width + 1, DIRECTIONS))
    above[1:, 1:] = _directions(image).cumsum(axis=0).cumsum(axis=1)
    half = -(-side // 2)  # of an odd side both quarters have the middle line
    i = np.arange(0, height - side + 1, step)
    j = np.arange(0, width - side + 1, step)
    quarters = []
    for a in (i, i + side - half):
        for b in (j, j + side - half):
            right = above[a + half][:, b + half] - above[a][:, b + half]
            quarters.append(right - above[a + half][:, b] + above[a][:, b])
    return clipped_units(np.maximum(np.concatenate(quarters, axis=2), 0.0).reshape(len(i) * len(j), -1))


def clipped_units(histograms: Floats, flat: float = FLAT) -> Floats:
    """To length 1, no entry above ``STRONGEST``, to length 1 again; what is not longer than ``flat`` stays near 0."""

    length = np.sqrt((histograms**2).sum(axis=1, keepdims=True) + flat**2)
    clipped = np.minimum(histograms / length, STRONGEST)
    lost = np.sqrt((clipped**2).sum(axis=1, keepdims=True))
    scaled: Floats = clipped / np.maximum(lost, 1e-300) * np.minimum(lost / STRONGEST, 1.0)
    return scaled
