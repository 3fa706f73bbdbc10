"""Pieces that tables with known groups are put together from: arcs, lines, boxes, discs, normal groups, noise.

Every piece is an array (n, d). A drawn table is a pair: rows (n, d) and labels (n,), 1.. for groups and 0 for
background noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Labels = NDArray[np.int64]
Drawn = tuple[Array, Labels]
Rng = np.random.Generator


def about(rng: Rng, n: int, by: float = 0.2) -> int:
    """A size near n: sizes are drawn as well, so that no rule fits the one that was written down."""
    return round(n * rng.uniform(1 - by, 1 + by))


def join(*parts: Array) -> Drawn:
    """The parts as groups 1, 2, ..."""
    return np.vstack(parts), np.repeat(np.arange(1, len(parts) + 1), [len(part) for part in parts])


def rotation(rng: Rng, d: int) -> Array:
    """A rotation (d, d), evenly drawn."""
    return np.asarray(np.linalg.qr(rng.normal(size=(d, d)))[0])


# --- curves -------------------------------------------------------------------------------------------------------


def arc(
    rng: Rng, n: int, radius: float, width: float, span: tuple[float, float] = (0.0, 2.0),
    center: tuple[float, float] = (0.0, 0.0),
) -> Array:  # fmt: skip
    """An arc between two angles in half turns; a ring by default. ``width`` is the standard deviation across it."""
    angle = np.pi * rng.uniform(*span, n)
    r = radius + width * rng.normal(size=n)
    return np.c_[r * np.cos(angle), r * np.sin(angle)] + center


def spiral(rng: Rng, n: int, turns: float, width: float, phase: float, even: bool = False) -> Array:
    """An arm out to radius 1; ``even`` spaces its rows evenly instead of by chance."""
    share = np.linspace(0.04, 1, n) if even else rng.uniform(0.04, 1, n)
    t = np.sqrt(share)  # as many rows a length outside as inside
    angle = 2 * np.pi * turns * t + phase
    return np.c_[t * np.cos(angle), t * np.sin(angle)] + width * rng.normal(size=(n, 2))


def polyline(rng: Rng, n: int, corners: ArrayLike, width: float, even: bool = False) -> Array:
    """Rows along straight pieces between corners (m, d), as many a length everywhere."""
    points = np.asarray(corners, float)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    ends = np.r_[0.0, lengths.cumsum()]
    place = ends[-1] * (np.linspace(0, 1, n) if even else rng.uniform(0, 1, n))
    rows = np.column_stack([np.interp(place, ends, column) for column in points.T])
    return rows + width * rng.normal(size=rows.shape)


# --- regions ------------------------------------------------------------------------------------------------------


def box(rng: Rng, n: int, low: Sequence[float], high: Sequence[float]) -> Array:
    """Even in a box."""
    return rng.uniform(low, high, (n, len(low)))


def ball(rng: Rng, n: int, d: int, radius: float = 1.0, center: ArrayLike = 0.0) -> Array:
    """Even in a ball; a disc where d = 2."""
    return sphere(rng, n, d) * radius * rng.uniform(0, 1, (n, 1)) ** (1 / d) + np.asarray(center)


def sphere(rng: Rng, n: int, d: int) -> Array:
    """Even on the surface of the ball of radius 1."""
    z = rng.normal(size=(n, d))
    return np.asarray(z / np.linalg.norm(z, axis=1, keepdims=True))


def lattice(rng: Rng, n: int, radius: float, center: ArrayLike, jitter: float = 0.15) -> Array:
    """The n places of a square lattice nearest to the center, jittered: regular spacing, as plots on paper have."""
    half = int(np.ceil(np.sqrt(n)))
    across = np.arange(-half, half + 1)
    places = np.stack(np.meshgrid(across, across), axis=-1).reshape(-1, 2) + rng.uniform(-0.3, 0.3, 2)
    places = places[np.argsort(np.linalg.norm(places, axis=1))[:n]] + jitter * rng.normal(size=(n, 2))
    return np.asarray(places * radius / np.sqrt(n / np.pi) + np.asarray(center))


def spots(rng: Rng, n: int, center: ArrayLike, sd: ArrayLike) -> Array:
    """A normal group with these standard deviations, axes not turned."""
    middle = np.asarray(center, float)
    return middle + np.asarray(sd) * rng.normal(size=(n, len(middle)))


# --- normal groups ------------------------------------------------------------------------------------------------


def factors(rng: Rng, k: int, d: int, spread: tuple[float, float], stretch: float) -> list[Array]:
    """k matrices (d, d) that make standard normal rows into groups, z @ factor: an overall standard deviation from
    ``spread``, axes longer and shorter by up to ``stretch``, turned."""
    return [
        np.exp(rng.uniform(*np.log(spread)))
        * np.exp(rng.uniform(-1, 1, d) * np.log(stretch))[:, None]
        * rotation(rng, d)
        for _ in range(k)
    ]


def centers_apart(rng: Rng, factors: Sequence[Array], gap: float) -> Array:
    """Centers (k, d), none nearer to another than ``gap`` times the mean of both groups' standard deviations along
    the line between them, in a box that grows until they fit: so the nearest are about that near."""
    k, d = len(factors), len(factors[0])
    side = gap * float(np.mean([np.linalg.norm(f) for f in factors])) / np.sqrt(d)
    side *= max(1.0, 0.7 * k ** (1 / d))
    while True:
        placed: list[Array] = []
        for _ in range(60 * k):
            place = rng.uniform(0, side, d)
            if all(_apart(place, q, factors[len(placed)], factors[j]) >= gap for j, q in enumerate(placed)):
                placed.append(place)
            if len(placed) == k:
                return np.array(placed)
        side *= 1.08


def _apart(a: Array, b: Array, factor_a: Array, factor_b: Array) -> float:
    line = a - b
    distance = float(np.linalg.norm(line))
    along = (np.linalg.norm(factor_a @ line) + np.linalg.norm(factor_b @ line)) / (2 * distance)
    return distance / float(along)


def normal_groups(
    rng: Rng, sizes: Sequence[int], d: int, gap: float, spread: tuple[float, float] = (1.0, 1.0),
    stretch: float = 1.0,
) -> Drawn:  # fmt: skip
    """Normal groups whose nearest neighbours lie about ``gap`` standard deviations apart; sizes vary by a fifth."""
    shapes = factors(rng, len(sizes), d, spread, stretch)
    places = centers_apart(rng, shapes, gap)
    return join(*[
        place + rng.normal(size=(about(rng, n), d)) @ shape
        for n, place, shape in zip(sizes, places, shapes, strict=True)
    ])  # fmt: skip


# --- rows of no group ---------------------------------------------------------------------------------------------


def with_noise(rng: Rng, table: Drawn, share: float) -> Drawn:
    """Even background noise over the table and a margin, ``share`` of all rows."""
    rows, labels = table
    n = round(share / (1 - share) * len(rows))
    low, high = rows.min(axis=0), rows.max(axis=0)
    margin = 0.05 * (high - low)
    return (
        np.vstack([rows, rng.uniform(low - margin, high + margin, (n, rows.shape[1]))]),
        np.r_[labels, np.zeros(n, np.int64)],
    )


def with_outliers(rng: Rng, table: Drawn, n: int, degrees: float = 1.2) -> Drawn:
    """n rows of a heavy-tailed distribution as wide as the table: some are very far out."""
    rows, labels = table
    far = np.median(rows, axis=0) + 1.5 * rows.std(axis=0) * rng.standard_t(degrees, (n, rows.shape[1]))
    return np.vstack([rows, far]), np.r_[labels, np.zeros(n, np.int64)]
