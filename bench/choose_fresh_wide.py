"""Wide tables of the fresh half: 4 to 60 columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bench.choose_fresh_outlines import Draw
from bench.choose_pieces import (
    Array,
    Drawn,
    Rng,
    about,
    centers_apart,
    factors,
    join,
    normal_groups,
    rotation,
)


def correlated(rng: Rng, sizes: Sequence[int], gap: float, covariance: Array) -> Drawn:
    """Groups of one covariance (d, d), about ``gap`` apart in its own measure."""
    root = np.linalg.cholesky(covariance).T
    rows, labels = normal_groups(rng, sizes, len(root), gap)
    return rows @ root, labels


def own_columns(rng: Rng, k: int, each: int, idle: int, shift: float, n: int) -> Drawn:
    """Every group is moved in columns of its own, and no group in the idle ones."""
    parts = []
    for i in range(k):
        rows = rng.normal(size=(about(rng, n), k * each + idle))
        rows[:, i * each : (i + 1) * each] += shift * rng.choice((-1, 1), each) * rng.uniform(0.8, 1.2, each)
        parts.append(rows)
    return join(*parts)


def pictures(rng: Rng, k: int, side: int, n: int, noise: float) -> Drawn:
    """Small pictures of k kinds, brighter and darker, with noise in every cell."""
    parts = []
    for _ in range(k):
        kind, m = (rng.uniform(size=side * side) < 0.4).astype(float), about(rng, n)
        parts.append(kind * rng.uniform(0.8, 1.2, (m, 1)) + noise * rng.normal(size=(m, side * side)))
    return join(*parts)


def time_series(rng: Rng, d: int, n: int) -> Drawn:
    """Series of four forms: a wave, a rise, a step, a hump; each with a level of its own."""
    t = np.linspace(0, 1, d)
    forms = (np.sin(2 * np.pi * t), 2 * t - 1, np.sign(t - 0.5), 2 * np.exp(-(((t - 0.5) / 0.15) ** 2)) - 1)
    parts = []
    for form in forms:
        m = about(rng, n)
        level, size = 0.2 * rng.normal(size=(m, 1)), rng.uniform(0.85, 1.15, (m, 1))
        parts.append(level + size * form + 0.3 * rng.normal(size=(m, d)))
    return join(*parts)


def grown(rng: Rng, k: int, d: int, n: int, apart: float) -> Drawn:
    """Lengths of animals: one size moves all columns, kinds differ in proportions."""
    parts = []
    for kind in centers_apart(rng, [np.eye(d)] * k, apart):
        m = about(rng, n)
        parts.append(
            np.exp(2 + 0.25 * rng.normal(size=(m, 1)) + 0.05 * kind + 0.05 * rng.normal(size=(m, d)))
        )
    return join(*parts)


def compositions(rng: Rng, k: int, d: int, n: int) -> Drawn:
    """Shares that add up to 1."""
    parts = []
    for middle in centers_apart(rng, [np.eye(d)] * k, 5.5):
        z = np.exp(0.35 * (middle + rng.normal(size=(about(rng, n), d))))
        parts.append(z / z.sum(axis=1, keepdims=True))
    return join(*parts)


def counts(rng: Rng, k: int, d: int, n: int) -> Drawn:
    rates = [rng.gamma(3.0, 5.0, d) for _ in range(k)]
    return join(*[np.sqrt(rng.poisson(rate, (about(rng, n), d))) for rate in rates])


def lifted_curves(rng: Rng, d: int, n: int) -> Drawn:
    """Two S curves of the plane, mapped into d columns, with noise in each."""
    t = [rng.uniform(-1, 1, about(rng, n)) for _ in range(2)]
    plane = [np.c_[3 * s, 0.8 * np.sin(3 * s) + 1.8 * i] for i, s in enumerate(t)]
    lift = rotation(rng, d)[:2]
    return join(*[rows @ lift + 0.07 * rng.normal(size=(len(rows), d)) for rows in plane])


def skewed(table: Drawn, how: float) -> Drawn:
    """Columns bent by an exponential: long tails to one side."""
    rows, labels = table
    return np.exp(how * (rows - rows.mean(axis=0)) / rows.std(axis=0)), labels


def heavy(rng: Rng, sizes: Sequence[int], d: int, gap: float, degrees: float) -> Drawn:
    places, parts = centers_apart(rng, [np.eye(d)] * len(sizes), gap), []
    for place, n in zip(places, sizes, strict=True):
        m = about(rng, n)
        scale = np.sqrt(degrees / rng.chisquare(degrees, (m, 1)))
        parts.append(place + scale * rng.normal(size=(m, d)))
    return join(*parts)


def by_factors(rng: Rng, k: int, d: int, q: int, n: int, gap: float) -> Drawn:
    """Groups in q hidden factors; d columns load on them and have noise of their own."""
    rows, labels = normal_groups(rng, [n] * k, q, gap)
    loads = rng.normal(size=(q, d)) / np.sqrt(q)
    return rows @ loads + rng.uniform(0.3, 0.8, d) * rng.normal(size=(len(rows), d)), labels


def with_idle(rng: Rng, table: Drawn, idle: int, degrees: float) -> Drawn:
    """Columns beside that have no part in the groups."""
    scale = table[0].std(axis=0).mean()
    return np.hstack([table[0], scale * 0.7 * rng.standard_t(degrees, (len(table[0]), idle))]), table[1]


def orientations(rng: Rng, k: int, d: int, n: int) -> Drawn:
    """Groups that are long in different directions; centers 4 apart."""
    shapes = factors(rng, k, d, (0.9, 1.1), 2.5)
    places = centers_apart(rng, shapes, 4.0)
    return join(*[p + rng.normal(size=(about(rng, n), d)) @ f for p, f in zip(places, shapes, strict=True)])


def toeplitz(d: int, r: float) -> Array:
    return r ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))


WIDE: dict[str, Draw] = {
    "wide 4, three at 3.5": lambda rng: normal_groups(rng, [200, 150, 250], 4, 3.5),
    "wide 5, nine of many sizes": lambda rng: normal_groups(rng, [300, 40, 80, 150, 60, 200, 35, 100, 250], 5, 5.0),
    "wide 6, equal correlations": lambda rng: correlated(
        rng, [160, 220, 120], 5.0, 0.3 * np.eye(6) + 0.7 * np.ones((6, 6))),
    "wide 12, near columns alike": lambda rng: correlated(rng, [150] * 4, 5.5, toeplitz(12, rng.uniform(0.6, 0.9))),
    "wide 18, own columns": lambda rng: own_columns(rng, 5, 3, 3, 3.2, 130),
    "wide 45, markers": lambda rng: own_columns(rng, 5, 8, 5, 2.4, 90),
    "wide 24, heavy tails": lambda rng: heavy(rng, [200, 150, 180], 24, 10.0, 5.0),
    "wide 5, heavy tails": lambda rng: heavy(rng, [300, 200], 5, 6.5, 4.0),
    "wide 6, exponentials": lambda rng: skewed(normal_groups(rng, [200] * 3, 6, 5.5), 0.5),
    "wide 10, exponentials": lambda rng: skewed(correlated(rng, [150] * 4, 6.0, toeplitz(10, 0.5)), 0.4),
    "wide 36, pictures": lambda rng: pictures(rng, 6, 6, 80, 0.35),
    "wide 30, time series": lambda rng: time_series(rng, 30, 100),
    "wide 7, grown animals": lambda rng: grown(rng, 3, 7, 120, 4.5),
    "wide 9, compositions": lambda rng: compositions(rng, 4, 9, 120),
    "wide 11, roots of counts": lambda rng: counts(rng, 4, 11, 140),
    "wide 8, lifted curves": lambda rng: lifted_curves(rng, 8, 350),
    "wide 60, four factors": lambda rng: by_factors(rng, 5, 60, 4, 70, 6.5),
    "wide 20, three factors": lambda rng: by_factors(rng, 3, 20, 3, 120, 5.5),
    "wide 10, 6 idle and heavy": lambda rng: with_idle(rng, normal_groups(rng, [200] * 4, 4, 6.5), 6, 4.0),
    "wide 8, orientations": lambda rng: orientations(rng, 3, 8, 260),
    "wide 40, two of 45": lambda rng: normal_groups(rng, [45] * 2, 40, 9.0),
    "wide 15, 12 groups, 4000 rows": lambda rng: normal_groups(rng, [330] * 12, 15, 6.0, (0.8, 1.3), 1.4),
}  # fmt: skip
