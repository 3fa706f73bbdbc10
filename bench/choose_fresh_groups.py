"""Round and elliptic groups of the fresh half, and groups in noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from bench.choose_fresh_outlines import Draw
from bench.choose_pieces import (
    Array,
    Drawn,
    Rng,
    about,
    arc,
    ball,
    box,
    centers_apart,
    join,
    normal_groups,
    rotation,
    spots,
    with_noise,
)

# --- round and elliptic -------------------------------------------------------------------------------------------


def at_places(rng: Rng, places: ArrayLike, sd: float | Array, n: int | Sequence[int]) -> Drawn:
    """Round normal groups of about n rows at places (k, d)."""
    points = np.asarray(places, float)
    sds, sizes = np.broadcast_to(sd, len(points)), np.broadcast_to(n, len(points))
    return join(*[spots(rng, about(rng, int(m)), p, s) for p, s, m in zip(points, sds, sizes, strict=True)])


def on_circle(rng: Rng, k: int, gap: float, n: int) -> Drawn:
    """Neighbours on a circle are ``gap`` standard deviations apart."""
    angle = 2 * np.pi * np.arange(k) / k
    places = np.c_[np.cos(angle), np.sin(angle)] * gap / (2 * np.sin(np.pi / k))
    return at_places(rng, places, rng.uniform(0.95, 1.0, k), n)


def along_curve(rng: Rng, k: int, gap: float, n: int) -> Drawn:
    turn = np.cumsum(rng.uniform(-0.6, 0.6, k))
    return at_places(rng, gap * np.cumsum(np.c_[np.cos(turn), np.sin(turn)], axis=0), 1.0, n)


def ellipses_abreast(rng: Rng, k: int, gap: float, n: int) -> Drawn:
    places = np.c_[gap * np.arange(k), rng.uniform(-3, 3, k)]
    return join(*[spots(rng, about(rng, n), place, (1.0, rng.uniform(4, 7))) for place in places])


def rays(rng: Rng, k: int, n: int) -> Drawn:
    """Long groups that point to one middle, as petals do."""
    parts = []
    for a in 2 * np.pi * (np.arange(k) + rng.uniform(-0.1, 0.1, k)) / k:
        ray = spots(rng, about(rng, n), (7.0, 0.0), (rng.uniform(1.3, 1.7), 0.55))
        parts.append(ray @ [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    return join(*parts)


def doubling(rng: Rng, k: int, n: int) -> Drawn:
    """Each group twice as wide as the one before it, gaps in proportion."""
    sd = 2.0 ** np.arange(k)
    x = np.r_[0, np.cumsum(rng.uniform(4.0, 5.0, k - 1) * (sd[1:] + sd[:-1]) / 2)]
    return at_places(rng, np.c_[x, rng.uniform(-1, 1, k) * sd], sd, n)


def families(rng: Rng, k: int, n: int) -> Drawn:
    """Families of three round groups 5 apart; families far from each other."""
    middles = centers_apart(rng, [np.eye(2)] * k, 18.0)
    places = []
    for middle in middles:
        angle = rng.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(3) / 3
        places.append(middle + 5 / np.sqrt(3) * np.c_[np.cos(angle), np.sin(angle)])
    return at_places(rng, np.vstack(places), 1.0, n)


def groups_of(rng: Rng, k: int, n: int, gap: float, draw: Callable[[int], Array]) -> Drawn:
    """Groups of another distribution than the normal; ``draw`` gives rows (n, 2) around 0."""
    places = centers_apart(rng, [np.eye(2)] * k, gap)
    return join(*[place + draw(about(rng, n)) @ rotation(rng, 2) for place in places])


ROUND: dict[str, Draw] = {
    "two of 2000 at 3": lambda rng: at_places(rng, [(0, 0), (rng.uniform(3.0, 3.2), 0)], 1.0, 2000),
    "triangle at 3.2": lambda rng: on_circle(rng, 3, 3.2, 500),
    "circle of 10 at 4": lambda rng: on_circle(rng, 10, 4.0, 120),
    "curve of 8 at 3.8": lambda rng: along_curve(rng, 8, 3.8, 200),
    "hexagon of 7 at 3.5": lambda rng: at_places(
        rng, np.r_[[[0, 0]], 3.5 * np.c_[np.cos(a := np.pi / 3 * np.arange(6)), np.sin(a)]], 1.0, 300),
    "ellipses abreast 4": lambda rng: ellipses_abreast(rng, 4, 4.5, 200),
    "ellipses abreast 2 of 45": lambda rng: ellipses_abreast(rng, 2, 5.5, 45),
    "rays 6": lambda rng: rays(rng, 6, 150),
    "doubling 4": lambda rng: doubling(rng, 4, 220),
    "families of three, 4": lambda rng: families(rng, 4, 110),
    "forty of 60": lambda rng: normal_groups(rng, [60] * 40, 2, 6.0),
    "twenty-four in 3-D": lambda rng: normal_groups(rng, [70] * 24, 3, 5.0, (0.8, 1.2)),
    "halving sizes 6": lambda rng: normal_groups(rng, [1200, 600, 300, 150, 75, 38], 2, 5.0),
    "three of 14": lambda rng: normal_groups(rng, [14] * 3, 2, 9.0),
    "pancakes and needles in 3-D": lambda rng: normal_groups(rng, [180] * 5, 3, 5.0, (0.9, 1.1), 3.0),
    "large one, three small": lambda rng: at_places(
        rng, np.r_[[[0, 0]], rng.uniform(5.5, 6.5, (3, 1)) * np.c_[np.cos(a := 2.1 * np.arange(3)), np.sin(a)]],
        np.array([1.2, 0.3, 0.4, 0.5]), [1500, 40, 60, 80]),
    "one column, 5": lambda rng: at_places(rng, 5.5 * np.arange(5)[:, None], rng.uniform(0.8, 1.1, 5), 120),
    "one column, three spreads": lambda rng: at_places(
        rng, [[0.0], [rng.uniform(4, 5)], [rng.uniform(17, 19)]], np.array([0.4, 1.0, 2.5]), 250),
    "laplace groups 4": lambda rng: groups_of(rng, 4, 250, 8.0, lambda n: rng.laplace(size=(n, 2)) / np.sqrt(2)),
    "even ellipses 5": lambda rng: groups_of(rng, 5, 180, 4.6, lambda n: ball(rng, n, 2, 2.0) * [1, 0.6]),
    "gamma groups 3": lambda rng: groups_of(rng, 3, 220, 9.0, lambda n: rng.gamma(2.5, 0.7, (n, 2))),
}  # fmt: skip

# --- in noise -----------------------------------------------------------------------------------------------------


def with_rows(table: Drawn, rows: Array) -> Drawn:
    return np.vstack([table[0], rows]), np.r_[table[1], np.zeros(len(rows), np.int64)]


def in_haze(rng: Rng, table: Drawn, share: float) -> Drawn:
    """Noise that is a wide normal cloud around the middle, not even."""
    rows = table[0]
    n = round(share / (1 - share) * len(rows))
    return with_rows(table, spots(rng, n, rows.mean(axis=0), rng.uniform(1.0, 1.4) * rows.std(axis=0)))


def in_gradient(rng: Rng, table: Drawn, share: float) -> Drawn:
    """Noise that thins out from one side to the other."""
    rows = table[0]
    n = round(share / (1 - share) * len(rows))
    place = rng.uniform(size=(n, rows.shape[1]))
    place[:, 0] = 1 - np.sqrt(1 - place[:, 0])
    return with_rows(table, rows.min(axis=0) + place * np.ptp(rows, axis=0))


def wrong_cells(rng: Rng, table: Drawn, share: float) -> Drawn:
    """Rows whose cell in one column was mistyped: ten times too large."""
    rows, labels = table[0].copy(), table[1].copy()
    wrong = rng.choice(len(rows), max(3, round(share * len(rows))), replace=False)
    rows[wrong, rng.integers(rows.shape[1], size=len(wrong))] *= 10
    labels[wrong] = 0
    return rows, labels


def far_circle(rng: Rng, table: Drawn, n: int) -> Drawn:
    """Single rows far out, all around."""
    rows = table[0]
    reach = rng.uniform(1.5, 4.0, (n, 1)) * np.linalg.norm(np.ptp(rows, axis=0))
    z = rng.normal(size=(n, rows.shape[1]))
    return with_rows(table, rows.mean(axis=0) + reach * z / np.linalg.norm(z, axis=1, keepdims=True))


NOISE: dict[str, Draw] = {
    "noise 25, two round": lambda rng: with_noise(rng, normal_groups(rng, [250] * 2, 2, 7.0), 0.25),
    "noise 12, ten long": lambda rng: with_noise(rng, normal_groups(rng, [180] * 10, 2, 7.0, stretch=1.8), 0.12),
    "noise 20, one column": lambda rng: with_noise(rng, normal_groups(rng, [250] * 3, 1, 12.0), 0.2),
    "noise 8, 4-D": lambda rng: with_noise(rng, normal_groups(rng, [130] * 5, 4, 6.0, (0.7, 1.4)), 0.08),
    "noise 15, 7-D": lambda rng: with_noise(rng, normal_groups(rng, [200, 150, 100, 60], 7, 7.0), 0.15),
    "haze 20, four round": lambda rng: in_haze(rng, normal_groups(rng, [220] * 4, 2, 7.5), 0.2),
    "haze 10, 5-D": lambda rng: in_haze(rng, normal_groups(rng, [150] * 3, 5, 7.0), 0.1),
    "noise thinning, five round": lambda rng: in_gradient(rng, normal_groups(rng, [200] * 5, 2, 7.0), 0.2),
    "wrong cells in 3 of 100": lambda rng: wrong_cells(
        rng, normal_groups(rng, [150] * 4, 4, 6.0), 0.03),
    "outliers far around, 3 round": lambda rng: far_circle(rng, normal_groups(rng, [120] * 3, 2, 6.0), 8),
    "outliers far around, 8-D": lambda rng: far_circle(rng, normal_groups(rng, [140] * 4, 8, 6.0), 15),
    "noise 10, rings apart and bars": lambda rng: with_noise(rng, join(
        arc(rng, about(rng, 500), 1.0, 0.05), arc(rng, about(rng, 400), 0.7, 0.04, center=(2.6, 0.4)),
        box(rng, about(rng, 300), (-1, 1.6), (1, 1.9)), box(rng, about(rng, 300), (1.6, 1.9), (3.4, 2.2))), 0.1),
    "noise 30, large": lambda rng: with_noise(rng, normal_groups(rng, [700] * 6, 2, 8.0, (0.8, 1.2), 1.5), 0.3),
}  # fmt: skip
