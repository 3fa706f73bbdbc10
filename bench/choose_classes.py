"""Tables of normal groups as the literature on clustering has them: few rows, long ones side by side, many sizes;
and classes that overlap in many columns. One table has the moments of Fisher's irises."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.choose_pieces import Array, Drawn, Rng, about, join, spots

# --- normal groups ------------------------------------------------------------------------------------------------


def seven_sizes(rng: Rng) -> Drawn:
    """Seven round groups of 34 to 273 rows; some nearly touch."""
    groups = (
        (170, (0, 0), 1.4), (34, (rng.uniform(3.6, 4.2), -3.4), 0.6), (273, (14, 0), 1.8), (102, (19.5, -1), 1.0),
        (130, (14, -9), 1.3), (45, (10, -8.5), 0.7), (34, (4, -7), 0.6),
    )  # fmt: skip
    return join(*[spots(rng, about(rng, n), place, sd) for n, place, sd in groups])


def scattered(rng: Rng, k: int, n: int, gap: float) -> Drawn:
    """Few rows a group, widths from 0.6 to 1.4, and centers at least ``gap`` apart whatever the widths."""
    places: list[Array] = []
    side = 1.6 * gap * np.sqrt(k)
    while len(places) < k:
        place = rng.uniform(0, side, 2)
        if all(np.linalg.norm(place - other) > gap for other in places):
            places.append(place)
        side *= 1.002
    return join(*[spots(rng, about(rng, n, 0.3), p, rng.uniform(0.6, 1.4)) for p in places])


def long_side_by_side(rng: Rng) -> Drawn:
    """Two normal groups six times as long as wide, the second beside the first."""
    turn = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    shift = (rng.uniform(2, 3), -rng.uniform(2, 3))
    return join(*[spots(rng, about(rng, 200), (0, 0), (3, 0.5)) @ turn + s * np.array(shift) for s in (0, 1)])


def round_and_long(rng: Rng, n: int) -> Drawn:
    """Two large groups that overlap."""
    place = (rng.uniform(2.8, 3.3), rng.uniform(0.5, 1.0))
    return join(spots(rng, about(rng, n), (0, 0), 1), spots(rng, about(rng, n), place, (1, 1.6)))


# --- many columns -------------------------------------------------------------------------------------------------


def flowers(rng: Rng) -> Drawn:
    """Three normal classes with means and covariances as Fisher's irises have (1936)."""
    means = ((5.0, 3.4, 1.46, 0.25), (5.94, 2.77, 4.26, 1.33), (6.59, 2.97, 5.55, 2.03))
    covariances = np.array([
        np.diag([0.35, 0.38, 0.17, 0.1]) ** 2,
        [[0.266, 0.085, 0.183, 0.056], [0.085, 0.098, 0.083, 0.041],
         [0.183, 0.083, 0.221, 0.073], [0.056, 0.041, 0.073, 0.039]],
        [[0.404, 0.094, 0.303, 0.049], [0.094, 0.104, 0.071, 0.048],
         [0.303, 0.071, 0.305, 0.049], [0.049, 0.048, 0.049, 0.075]],
    ])  # fmt: skip
    pairs = zip(means, covariances, strict=True)
    return join(*[rng.multivariate_normal(mean, cov, about(rng, 50)) for mean, cov in pairs])


def one_covariance(rng: Rng, n: int, d: int, apart: float) -> Drawn:
    """Three classes with the same correlations; ``apart`` is the standard deviation of their means in a column."""
    shape = np.eye(d) + 0.35 * rng.normal(size=(d, d))
    means = apart * rng.normal(size=(3, d))
    return join(*[rng.normal(size=(about(rng, n), d)) @ shape + mean for mean in means])


def own_covariances(rng: Rng, k: int, n: int, d: int, apart: float) -> Drawn:
    """k classes, each with a width and correlations of its own."""
    parts = []
    for mean in apart * rng.normal(size=(k, d)):
        shape = rng.uniform(0.6, 1.2) * (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
        parts.append(rng.normal(size=(about(rng, n), d)) @ shape + mean)
    return join(*parts)


def skewed_by_factors(rng: Rng, n: int, d: int) -> Drawn:
    """Two classes that differ in one of two factors, in lognormal columns; the second class is wider."""
    loadings, shift = rng.normal(size=(2, d)), (rng.uniform(2.4, 3.0), 0)
    parts = []
    for place, sd in (((0, 0), 1.0), (shift, 1.6)):
        common = spots(rng, about(rng, n), place, sd) @ loadings
        parts.append(np.exp(0.35 * (common + 0.8 * rng.normal(size=common.shape))))
    return join(*parts)


NORMALS: dict[str, Callable[[Rng], Drawn]] = {
    "seven of many sizes": seven_sizes,
    "scattered 3 of 40": lambda r: scattered(r, 3, 40, 5.0),
    "scattered 3 of 40, near": lambda r: scattered(r, 3, 40, 4.0),
    "scattered 5 of 20": lambda r: scattered(r, 5, 20, 5.0),
    "scattered 2 of 60": lambda r: scattered(r, 2, 60, 4.5),
    "long 2, side by side": long_side_by_side,
    "round and long": lambda r: round_and_long(r, 2000),
}

MANY_COLUMNS: dict[str, Callable[[Rng], Drawn]] = {
    "wide 4, flowers": flowers,
    "wide 13, one covariance": lambda r: one_covariance(r, 60, 13, 1.1),
    "wide 13, one covariance, near": lambda r: one_covariance(r, 60, 13, 0.8),
    "wide 20, skewed by factors": lambda r: skewed_by_factors(r, 250, 20),
    "wide 6, own covariances": lambda r: own_covariances(r, 5, 60, 6, 1.8),
    "wide 8, own covariances": lambda r: own_covariances(r, 4, 150, 8, 1.3),
    "wide 20, own covariances": lambda r: own_covariances(r, 4, 100, 20, 1.0),
    "wide 40, own covariances": lambda r: own_covariances(r, 3, 80, 40, 0.8),
}

CLASSES = {"round": NORMALS, "wide": MANY_COLUMNS}  # by kind
