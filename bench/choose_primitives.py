"""Primitives that random scenes are made of (`bench/choose_scenes.py`): blobs, filled regions, curves with a width.

A primitive is a function of a generator, a number of rows and whether rows are spaced evenly (a jittered lattice,
even steps along a curve) instead of by chance; it returns about that many rows (n, 2), within a radius of about 1.
All else about it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import KDTree

from bench.choose_pieces import Array, Rng, rotation

Primitive = Callable[[Rng, int, bool], Array]
Inside = Callable[[Array], "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]"]


def log_uniform(rng: Rng, low: float, high: float) -> float:
    """A number between both, every ratio as probable as any other."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def spacing(rows: Array) -> float:
    """The median distance of a row (n, d) to the nearest other."""
    return float(np.median(KDTree(rows).query(rows, k=2)[0][:, 1]))


def flattest(rng: Rng) -> float:
    """Width over length."""
    return 1 / log_uniform(rng, 1, 8)


# --- blobs and regions --------------------------------------------------------------------------------------------


def blob(rng: Rng, n: int, even: bool) -> Array:  # noqa: ARG001  one signature for all
    """Normal, up to eight times as long as wide; thinning outwards leaves no even spacing to keep."""
    return np.asarray(rng.normal(size=(n, 2)) / 2.5 * [1, flattest(rng)])


def fill(rng: Rng, n: int, inside: Inside, even: bool) -> Array:
    """About n rows in the part of the square [-1, 1]^2 that is inside."""
    share = max(float(inside(rng.uniform(-1, 1, (2000, 2))).mean()), 0.01)
    if even:
        step = np.sqrt(4 * share / n)
        across = np.arange(-1.5, 1.5, step)
        places = np.stack(np.meshgrid(across, across), axis=-1).reshape(-1, 2)
        if rng.uniform() < 0.3:  # rows of the lattice shifted by half a step, as in a honeycomb
            places[:, 0] += 0.5 * step * (np.arange(len(places)) // len(across) % 2)
        places = places @ rotation(rng, 2) + rng.uniform(0, step, 2)
        places += rng.uniform(0.1, 0.35) * step * rng.uniform(-1, 1, places.shape)
        places = places[inside(places)]
        if len(places) > 0.7 * n:  # a thin region of few rows may lie between the places
            return np.asarray(places)
    steep = rng.uniform(1, 3, 2) if rng.uniform() < 0.25 else np.ones(2)  # density graded along a line
    way = rotation(rng, 2)[0]
    rows = np.empty((0, 2))
    while len(rows) < n:
        places = rng.uniform(-1, 1, (int(2 * n / share) + 50, 2))
        along = np.clip((1 + places @ way / 1.2) / 2, 0, 1)
        top = (steep - 1) / max((steep - 1).sum(), 1e-12)  # mode of the beta density
        weight = _beta(along, steep) / _beta(np.array([top[0]]), steep)
        rows = np.vstack([rows, places[inside(places) & (rng.uniform(size=len(places)) < weight)]])
    return rows[:n]


def _beta(x: Array, shape: Array) -> Array:
    return np.asarray(x ** (shape[0] - 1) * (1 - x) ** (shape[1] - 1))


def disc(rng: Rng, n: int, even: bool) -> Array:
    """Of an ellipse, often a circle."""
    flat = 1.0 if rng.uniform() < 0.4 else flattest(rng)
    return fill(rng, n, lambda p: np.hypot(p[:, 0], p[:, 1] / flat) < 1, even)


def box(rng: Rng, n: int, even: bool) -> Array:
    flat = flattest(rng)
    return fill(rng, n, lambda p: (np.abs(p) < [1, flat]).all(axis=1), even)


def triangle(rng: Rng, n: int, even: bool) -> Array:
    tip, height = rng.uniform(-1, 1), rng.uniform(0.5, 1)

    def inside(p: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        up = (p[:, 1] + height) / (2 * height)
        return np.asarray((up > 0) & (up < 1) & (np.abs(p[:, 0] - tip * up) < 1 - up))

    return fill(rng, n, inside, even)


def diamond(rng: Rng, n: int, even: bool) -> Array:
    flat = rng.uniform(0.4, 1)
    return fill(rng, n, lambda p: np.abs(p / [1, flat]).sum(axis=1) < 1, even)


BARS = {  # x low, x high, y low, y high of each bar, before its width is drawn
    "T": [(-1, 1, 1, 1), (0, 0, -1, 1)],
    "L": [(-1, -1, -1, 1), (-1, 1, -1, -1)],
    "U": [(-1, -1, -1, 1), (-1, 1, -1, -1), (1, 1, -1, 1)],
    "E": [(-1, -1, -1, 1), (-1, 1, -1, -1), (-1, 1, 0, 0), (-1, 1, 1, 1)],
    "+": [(-1, 1, 0, 0), (0, 0, -1, 1)],
    "H": [(-1, -1, -1, 1), (1, 1, -1, 1), (-1, 1, 0, 0)],
}


def bars(rng: Rng, n: int, even: bool) -> Array:
    """A letter of bars as wide as each other."""
    letter = np.array(BARS[str(rng.choice(list(BARS)))], float) * 0.8
    half = rng.uniform(0.08, 0.2)

    def inside(p: Array) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        x, y = p[:, :1], p[:, 1:]
        low_x, high_x, low_y, high_y = letter.T
        within = (x > low_x - half) & (x < high_x + half) & (y > low_y - half) & (y < high_y + half)
        return np.asarray(within.any(axis=1))

    return fill(rng, n, inside, even)


# --- curves -------------------------------------------------------------------------------------------------------


def follow(rng: Rng, n: int, points: Array, even: bool, widest: float = 0.12) -> Array:
    """n rows along a curve given by many points (m, 2): steps even, by chance or more alike than chance, sometimes
    denser towards a place; across it normal or uniform, thin or up to ``widest``."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    ends = np.r_[0.0, lengths.cumsum()]
    if even:
        place = (np.arange(n) + rng.uniform(0.1, 0.35) * rng.uniform(-1, 1, n)) / n
        width = rng.uniform(0, 0.3) * ends[-1] / n
    else:
        # Steps wholly by chance tear a thin curve of few rows into pieces that no eye joins.
        steps = rng.gamma(rng.uniform(1.5, 5) if n < 200 else 1.0, size=n)
        place = steps.cumsum() / steps.sum()
        if rng.uniform() < 0.2:
            shape = rng.uniform(1, 2.5, 2)
            place = rng.beta(*shape, n)
        width = min(widest, log_uniform(rng, 0.3, 3) * ends[-1] / n) if rng.uniform() < 0.4 else 0.0
        width = width or widest * rng.uniform(0.15, 1)
    place = ends[-1] * np.clip(place, 0, 1)
    rows = np.column_stack([np.interp(place, ends, column) for column in points.T])
    across = rng.normal(size=rows.shape) / 2 if rng.uniform() < 0.5 else rng.uniform(-1, 1, rows.shape)
    return np.asarray(rows + width * across)


def _turn(t: Array, radius: Array | float = 1.0) -> Array:
    return np.c_[radius * np.cos(t), radius * np.sin(t)]


def arc(rng: Rng, n: int, even: bool) -> Array:
    angle = np.radians(rng.uniform(60, 330))
    points = _turn(np.linspace(0, angle, 200)) * [1, log_uniform(rng, 0.6, 1)]
    return follow(rng, n, points, even, 0.25)


def ring(rng: Rng, n: int, even: bool) -> Array:
    points = _turn(np.linspace(0, 2 * np.pi, 300)) * [1, log_uniform(rng, 0.5, 1)]
    return follow(rng, n, points, even, 0.2)


def line(rng: Rng, n: int, even: bool) -> Array:
    """Straight, bent or a zigzag."""
    corners = int(rng.choice([0, 1, 2, 3, 5]))
    x = np.linspace(-1, 1, corners + 2)
    y = rng.uniform(0.15, 0.6) * np.where(np.arange(corners + 2) % 2, 1, -1) * (corners > 0)
    fine = np.linspace(-1, 1, 300)
    return follow(rng, n, np.c_[fine, np.interp(fine, x, y)], even, 0.3 / (corners + 2))


def wave(rng: Rng, n: int, even: bool) -> Array:
    x = np.linspace(-1, 1, 300)
    turns = rng.uniform(0.5, 3)
    y = rng.uniform(0.1, 0.5) * np.sin(2 * np.pi * turns * x / 2 + rng.uniform(0, 6.3))
    return follow(rng, n, np.c_[x, y], even, 0.2 / (1 + turns))


def parabola(rng: Rng, n: int, even: bool) -> Array:
    x = np.linspace(-1, 1, 300)
    return follow(rng, n, np.c_[x, rng.uniform(0.5, 2) * x**2], even, 0.15)


def spiral(rng: Rng, n: int, even: bool) -> Array:
    """One arm."""
    return arms(rng, [n], even)[0]


PRIMITIVES: dict[str, tuple[Primitive, int]] = {  # and the fewest rows that show the shape
    "blob": (blob, 12), "disc": (disc, 12), "box": (box, 15), "triangle": (triangle, 15),
    "diamond": (diamond, 15), "bars": (bars, 80), "arc": (arc, 25), "ring": (ring, 30), "line": (line, 20),
    "wave": (wave, 40), "parabola": (parabola, 25), "spiral": (spiral, 80),
}  # fmt: skip


# --- groups placed together ---------------------------------------------------------------------------------------


def arms(rng: Rng, sizes: list[int], even: bool) -> list[Array]:
    """Interleaved arms of a spiral, one for each size."""
    turns, inner = rng.uniform(0.6, 2.5) / max(1, len(sizes) - 1), rng.uniform(0.08, 0.3)
    t = np.linspace(inner, 1, 400)
    between = 1 / turns / len(sizes)  # of the radius, from an arm to the next
    phases = 2 * np.pi * np.arange(len(sizes)) / len(sizes)
    return [
        follow(rng, n, _turn(2 * np.pi * turns * t + p, t), even, min(0.12, 0.2 * between))
        for n, p in zip(sizes, phases, strict=True)
    ]


def spirals(rng: Rng, sizes: list[int], even: bool) -> list[Array]:
    """Two to four arms."""
    return arms(rng, [max(n, 60) for n in sizes[: int(rng.integers(2, 5))]], even)


def nested(rng: Rng, sizes: list[int], even: bool) -> list[Array]:
    """A ring around one or two things of which the outer is a ring as well."""
    parts, room = [ring(rng, max(sizes[0], 40), even)], 1.0
    for n in sizes[1 : int(rng.integers(2, 4))]:
        room = float(np.quantile(np.linalg.norm(parts[-1], axis=1), 0.01)) * rng.uniform(0.4, 0.9)
        inner = ring if len(sizes) > 2 and len(parts) == 1 else (blob, disc, box, ring)[int(rng.integers(4))]
        rows = inner(rng, max(n, 30) if inner is ring else n, even)
        parts.append(rows * room / np.linalg.norm(rows, axis=1).max())
    return parts


def parallel(rng: Rng, sizes: list[int], even: bool) -> list[Array]:
    """Two to four copies of a bent or straight band beside each other."""
    sizes = [max(n, 25) for n in sizes[: int(rng.integers(2, 5))]]
    x = np.linspace(-1, 1, 300)
    y = rng.uniform(0, 0.6) * (np.sin(rng.uniform(1, 7) * x) if rng.uniform() < 0.6 else x**2)
    apart = rng.uniform(0.15, 0.6)
    return [
        follow(rng, n, np.c_[x + rng.uniform(-0.3, 0.3), y + i * apart], even, 0.25 * apart)
        for i, n in enumerate(sizes)
    ]


CLUSTERS = {"spirals": spirals, "nested": nested, "parallel": parallel}
