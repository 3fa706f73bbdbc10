"""Tables of round and long normal groups, such groups in noise, and tables of many columns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.choose_pieces import (
    Array,
    Drawn,
    Rng,
    about,
    arc,
    box,
    centers_apart,
    join,
    normal_groups,
    rotation,
    spots,
    with_noise,
    with_outliers,
)


def in_a_line(rng: Rng, sizes: tuple[int, ...], gap: tuple[float, float]) -> Drawn:
    """Normal groups in one column."""
    places = np.cumsum(rng.uniform(*gap, len(sizes)))
    return join(
        *[spots(rng, about(rng, n), (x,), rng.uniform(0.8, 1.1)) for n, x in zip(sizes, places, strict=True)]
    )


def unbalanced(rng: Rng, dense: int, sparse: int) -> Drawn:
    """Three large dense groups near each other and five small sparse ones far from them."""
    left = [spots(rng, about(rng, dense), c, 0.7) for c in ((0, 0), (5, 4), (5, -4))]
    far = ((30, 0), (40, 8), (40, -8), (52, 6), (52, -6))
    return join(*left, *[spots(rng, about(rng, sparse), np.add(c, rng.uniform(-1, 1, 2)), 1.5) for c in far])


def student_groups(rng: Rng, k: int, n: int, d: int, degrees: float, gap: float) -> Drawn:
    """Groups of multivariate t rows."""
    places = centers_apart(rng, [np.eye(d)] * k, gap)
    parts = []
    for place in places:
        m = about(rng, n)
        parts.append(place + rng.normal(size=(m, d)) / np.sqrt(rng.chisquare(degrees, (m, 1)) / degrees))
    return join(*parts)


def skewed_groups(rng: Rng, k: int, n: int, d: int, gap: float) -> Drawn:
    """Groups whose columns are skewed to the right (gamma of shape 2) and correlated within a group."""
    places = centers_apart(rng, [np.sqrt(2) * np.eye(d)] * k, gap)
    parts = []
    for place in places:
        common, m = rng.uniform(0.0, 0.5), about(rng, n)
        own = rng.gamma(2.0, 1.0, (m, d))
        parts.append(place + (1 - common) * own + common * rng.gamma(2.0, 1.0, (m, 1)))
    return join(*parts)


def core_and_halos(rng: Rng) -> Drawn:
    s = rng.uniform(1.0, 1.3)
    return join(
        spots(rng, about(rng, 300), (0, 0), 0.3),
        spots(rng, about(rng, 300), (3, 0), 0.3),
        spots(rng, about(rng, 200), (1.5, 3 + 2.5 * s), s),
    )


# --- many columns -------------------------------------------------------------------------------------------------


def with_idle_columns(rng: Rng, table: Drawn, d: int) -> Drawn:
    """d columns more that have nothing to do with the groups."""
    rows, labels = table
    idle = rng.normal(size=(len(rows), d)) * rng.uniform(0.5, 3.0, d)
    return np.column_stack([rows, idle])[:, rng.permutation(rows.shape[1] + d)], labels


def from_factors(rng: Rng, table: Drawn, d: int, noise: float) -> Drawn:
    """d columns, each a random sum of the given ones and noise of its own."""
    rows, labels = table
    loaded = (rows - rows.mean(axis=0)) / rows.std(axis=0) @ rng.normal(size=(rows.shape[1], d))
    return loaded + noise * rng.normal(size=loaded.shape), labels


def of_other_covariance(rng: Rng, n: int, d: int, scale: float) -> Drawn:
    """Two groups about one center: the second is ``scale`` times as wide along half of its axes, in directions of its
    own, and as much narrower along the others."""
    half = np.where(np.arange(d) < d // 2, scale, 1 / scale)
    first = rng.normal(size=(about(rng, n), d))
    second = rng.normal(size=(about(rng, n), d)) * half @ rotation(rng, d)
    return join(first, second)


def wide_and_narrow(rng: Rng, n: int, d: int, scale: float) -> Drawn:
    """Two groups whose centers nearly coincide, one wider than the other in every column."""
    return join(rng.normal(size=(about(rng, n), d)), rng.normal(size=(about(rng, n), d)) * scale + 0.5)


def classes(rng: Rng, n: int, d: int, near: float, correlation: float) -> Drawn:
    """Three classes as measured ones often are: one apart, two near each other, columns that share a size factor."""
    direction = np.abs(rng.normal(size=d))
    direction /= np.linalg.norm(direction)
    across = rng.normal(size=d)
    across /= np.linalg.norm(across)
    parts: list[Array] = []
    for step in (0.0, 7.0, 7.0 + near):
        m = about(rng, n)
        own = np.sqrt(1 - correlation) * rng.normal(size=(m, d)) * rng.uniform(0.7, 1.2, d)
        parts.append(
            own + np.sqrt(correlation) * rng.normal(size=(m, 1)) + step * direction + 0.3 * step * across
        )
    return join(*parts)


def exponentiated(table: Drawn, by: float) -> Drawn:
    """Columns made skewed by the exponential function."""
    rows, labels = table
    return np.exp(by * (rows - rows.mean(axis=0)) / rows.std(axis=0)), labels


def rounded(table: Drawn, digits: int) -> Drawn:
    rows, labels = table
    return np.round(rows, digits), labels


def in_units(rng: Rng, table: Drawn) -> Drawn:
    """Columns in very different units."""
    rows, labels = table
    d = rows.shape[1]
    return rows * 10.0 ** rng.uniform(-3, 4, d) + rng.normal(size=d) * 100, labels


ROUND: dict[str, Callable[[Rng], Drawn]] = {
    "normals 2 of 50": lambda r: normal_groups(r, [50] * 2, 2, 7),
    "normals 2 of 300": lambda r: normal_groups(r, [300] * 2, 2, 6),
    "normals 2 at 3.5": lambda r: normal_groups(r, [500] * 2, 2, 3.5),
    "normals 2 at 3": lambda r: normal_groups(r, [1000] * 2, 2, 3.0),
    "normals 3": lambda r: normal_groups(r, [200, 300, 250], 2, 5.5),
    "normals 3 at 3.4": lambda r: normal_groups(r, [600, 400, 500], 2, 3.4),
    "normals 3 of 40": lambda r: normal_groups(r, [40] * 3, 2, 6),
    "normals 4 at 3.8, sizes": lambda r: normal_groups(r, [900, 300, 500, 700], 2, 3.8, (0.7, 1.2)),
    "normals 5 in 3-D": lambda r: normal_groups(r, [80, 100, 60, 90, 120], 3, 5.5),
    "normals 6": lambda r: normal_groups(r, [120] * 6, 2, 5),
    "normals 7 of 30 in 3-D": lambda r: normal_groups(r, [30] * 7, 3, 6),
    "normals 10 at 4.5": lambda r: normal_groups(r, [150] * 10, 2, 4.5),
    "normals 12": lambda r: normal_groups(r, [100] * 12, 2, 6),
    "normals 15 at 3": lambda r: normal_groups(r, [330] * 15, 2, 3.0, stretch=1.2),
    "normals 15 at 3.5": lambda r: normal_groups(r, [330] * 15, 2, 3.5),
    "normals 15 at 4": lambda r: normal_groups(r, [330] * 15, 2, 4.0, (0.8, 1.2), 1.3),
    "normals 15 at 5": lambda r: normal_groups(r, [100] * 15, 2, 5.0, (0.6, 1.4)),
    "normals 20 at 4.5": lambda r: normal_groups(r, [150] * 20, 2, 4.5),
    "normals 30": lambda r: normal_groups(r, [100] * 30, 2, 5),
    "normals 35 at 4": lambda r: normal_groups(r, [150] * 35, 2, 4.0),
    "normals 50": lambda r: normal_groups(r, [150] * 50, 2, 4.8),
    "unbalanced 1000 and 100": lambda r: normal_groups(r, [1000, 100], 2, 6),
    "unbalanced 2000 and 60 in 3-D": lambda r: normal_groups(r, [2000, 60, 60], 3, 6.5),
    "unbalanced 8": lambda r: unbalanced(r, 2000, 100),
    "spreads 3": lambda r: normal_groups(r, [400] * 3, 2, 6, (0.2, 2.0)),
    "spreads 5": lambda r: normal_groups(r, [100, 500, 200, 800, 150], 2, 6, (0.3, 2.2)),
    "long 3": lambda r: normal_groups(r, [250] * 3, 2, 6, stretch=2.6),
    "long 6": lambda r: normal_groups(r, [200] * 6, 2, 6, stretch=2.4),
    "long 10 at 4": lambda r: normal_groups(r, [250] * 10, 2, 4.0, (0.7, 1.3), 2.0),
    "one column, 2": lambda r: in_a_line(r, (150, 150), (5.5, 6.5)),
    "one column, 3": lambda r: in_a_line(r, (100, 200, 100), (5.0, 6.0)),
    "one column, 2 near": lambda r: in_a_line(r, (500, 400), (3.4, 3.8)),
    "skewed 3": lambda r: skewed_groups(r, 3, 250, 2, 6.5),
    "student 3": lambda r: student_groups(r, 3, 250, 2, 3.0, 11.0),
    "core and halos": core_and_halos,
}

NOISE: dict[str, Callable[[Rng], Drawn]] = {
    "noise 5, normals 3": lambda r: with_noise(r, normal_groups(r, [150] * 3, 2, 7), 0.05),
    "noise 10, normals 4": lambda r: with_noise(r, normal_groups(r, [200] * 4, 2, 7), 0.10),
    "noise 20, normals 5": lambda r: with_noise(r, normal_groups(r, [250] * 5, 2, 8, (0.6, 1.2)), 0.20),
    "noise 30, normals 6": lambda r: with_noise(r, normal_groups(r, [300] * 6, 2, 8), 0.30),
    "noise 10, normals 15": lambda r: with_noise(r, normal_groups(r, [200] * 15, 2, 5.5), 0.10),
    "noise 15, small": lambda r: with_noise(r, normal_groups(r, [60] * 3, 2, 8), 0.15),
    "noise 15, long": lambda r: with_noise(r, normal_groups(r, [300] * 4, 2, 7, stretch=2.2), 0.15),
    "noise 20, 3-D": lambda r: with_noise(r, normal_groups(r, [250] * 4, 3, 7), 0.20),
    "noise 10, 5-D": lambda r: with_noise(r, normal_groups(r, [200] * 4, 5, 6), 0.10),
    "noise 10, 10-D": lambda r: with_noise(r, normal_groups(r, [150] * 3, 10, 7), 0.10),
    "noise 10, spreads": lambda r: with_noise(r, normal_groups(r, [400, 200, 300], 2, 7, (0.3, 1.2)), 0.10),
    "noise 15, moons": lambda r: with_noise(
        r,
        join(*[arc(r, about(r, 400), 1, 0.06, (j, j + 1), (j, j * r.uniform(0.3, 0.4))) for j in (0, 1)]),
        0.15,
    ),
    "noise 20, boxes": lambda r: with_noise(
        r,
        join(*[box(r, about(r, 400), (x, y), (x + 1, y + 1)) for x, y in ((0, 0), (1.8, 0.3), (0.5, 1.9))]),
        0.20,
    ),
    "outliers 2 in 100": lambda r: with_outliers(r, normal_groups(r, [300, 400, 250], 2, 6.5), about(r, 19)),
    "outliers 6 in 100": lambda r: with_outliers(r, normal_groups(r, [150, 200, 120], 2, 7), about(r, 30)),
    "outliers, 6-D": lambda r: with_outliers(r, normal_groups(r, [150] * 3, 6, 6), about(r, 15), 2.0),
}  # fmt: skip

WIDE: dict[str, Callable[[Rng], Drawn]] = {
    "wide 5, 4 groups": lambda r: normal_groups(r, [150] * 4, 5, 5),
    "wide 10, 5 groups": lambda r: normal_groups(r, [100] * 5, 10, 6),
    "wide 10, 2 at 4": lambda r: normal_groups(r, [300] * 2, 10, 4),
    "wide 8, 10 groups": lambda r: normal_groups(r, [150] * 10, 8, 5, stretch=1.6),
    "wide 13, correlated": lambda r: normal_groups(r, [60, 70, 50], 13, 6, stretch=2.0),
    "wide 16, 6 large": lambda r: normal_groups(r, [400] * 6, 16, 6.5),
    "wide 20, sizes": lambda r: normal_groups(r, [120, 80, 200, 150], 20, 7),
    "wide 25, 3000 rows": lambda r: normal_groups(r, [900, 1200, 500, 400], 25, 6, (0.7, 1.3), 1.5),
    "wide 30, 3 groups": lambda r: normal_groups(r, [100] * 3, 30, 7),
    "wide 60, 3 groups": lambda r: normal_groups(r, [70] * 3, 60, 9),
    "wide 6, unbalanced": lambda r: normal_groups(r, [800, 100, 60], 6, 6),
    "wide 8, student": lambda r: student_groups(r, 3, 150, 8, 4.0, 8.0),
    "wide 6, skewed": lambda r: skewed_groups(r, 3, 200, 6, 5.0),
    "wide 12, skewed": lambda r: exponentiated(normal_groups(r, [150] * 3, 12, 6), 0.5),
    "wide 15 of 2 factors": lambda r: from_factors(r, normal_groups(r, [90, 120, 90], 2, 5.5), 15, 0.8),
    "wide 40 of 3 factors": lambda r: from_factors(r, normal_groups(r, [150] * 4, 3, 6), 40, 1.0),
    "wide 12, 9 idle": lambda r: with_idle_columns(r, normal_groups(r, [120, 90, 100], 3, 6), 9),
    "wide 22, 20 idle": lambda r: with_idle_columns(r, normal_groups(r, [250, 250, 200], 2, 7), 20),
    "wide 8, covariances": lambda r: of_other_covariance(r, 400, 8, 2.5),
    "wide 10, a narrow and a wide one": lambda r: wide_and_narrow(r, 300, 10, 3.0),
    "wide 4, classes": lambda r: classes(r, 60, 4, 3.2, 0.3),
    "wide 9, classes": lambda r: classes(r, 100, 9, 4.0, 0.3),
    "wide 13, classes, skewed": lambda r: exponentiated(classes(r, 120, 13, 4.5, 0.2), 0.4),
    "wide 7, rounded": lambda r: rounded(normal_groups(r, [120] * 4, 7, 5.5), 0),
    "wide 9, units": lambda r: in_units(r, normal_groups(r, [150] * 3, 9, 5.0, stretch=1.8)),
}
