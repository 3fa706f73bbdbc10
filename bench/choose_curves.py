"""Tables whose groups are thin and bent: arcs, rings, spirals, lines."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.choose_pieces import (
    Array,
    Drawn,
    Rng,
    about,
    arc,
    join,
    polyline,
    rotation,
    sphere,
    spiral,
    spots,
    with_noise,
    with_outliers,
)

# --- arcs ---------------------------------------------------------------------------------------------------------


def moons(rng: Rng, n: int, m: int, width: tuple[float, float] = (0.05, 0.09)) -> Drawn:
    """Two half rings that reach into each other."""
    center = (rng.uniform(0.9, 1.1), rng.uniform(0.35, 0.5))
    w = rng.uniform(*width)
    return join(arc(rng, about(rng, n), 1, w, (0, 1)), arc(rng, about(rng, m), 1, w, (1, 2), center))


def two_pairs_of_moons(rng: Rng) -> Drawn:
    left, right = moons(rng, 200, 200), moons(rng, 200, 300)
    shift = (rng.uniform(3.8, 4.4), rng.uniform(-0.5, 0.5))
    return np.vstack([left[0], right[0] + shift]), np.r_[left[1], right[1] + 2]


def nested_arcs(rng: Rng, sizes: tuple[int, ...], width: float) -> Drawn:
    span = (0.0, rng.uniform(0.9, 1.3))
    radii = 1 + rng.uniform(0.45, 0.6) * np.arange(len(sizes))
    return join(*[arc(rng, about(rng, n), r, width, span) for n, r in zip(sizes, radii, strict=True)])


def arc_around(rng: Rng, n: int, cores: int, m: int) -> Drawn:
    """An open ring around one, two or three normal groups."""
    opening = rng.uniform(-0.3, -0.15)
    outer = arc(rng, about(rng, n), 3.2, rng.uniform(0.15, 0.25), (opening, 1 - opening))
    across = {1: [0.0], 2: [-1.1, 1.1], 3: [-1.5, 0.0, 1.5]}[cores]
    inner = [spots(rng, about(rng, m), (x, rng.uniform(-0.3, 0.3)), 1.05 / (2 + cores)) for x in across]
    return join(outer, *inner)


def arcs_in_space(rng: Rng) -> Drawn:
    rows, labels = moons(rng, 250, 250)
    return np.c_[rows, rng.uniform(0.04, 0.08) * rng.normal(size=len(rows))] @ rotation(rng, 3), labels


# --- rings --------------------------------------------------------------------------------------------------------


def ring_around(rng: Rng, n: int, m: int, width: float) -> Drawn:
    """A ring of radius 5 and a normal group in it."""
    return join(
        arc(rng, about(rng, n), 5, width), spots(rng, about(rng, m), (0.0, 0.0), rng.uniform(0.7, 1.0))
    )


def ring_around_two(rng: Rng) -> Drawn:
    x = rng.uniform(1.7, 2.0)
    cores = [spots(rng, about(rng, 150), (s * x, 0.0), 0.5) for s in (-1, 1)]
    return join(arc(rng, about(rng, 400), 5, 0.25), *cores)


def rings(rng: Rng, sizes: tuple[int, ...], width: tuple[float, float]) -> Drawn:
    """Concentric ones, about 3 apart."""
    radii = 2 + np.cumsum(rng.uniform(2.6, 3.4, len(sizes))) - 2.6
    return join(*[
        arc(rng, about(rng, n), r, rng.uniform(*width)) for n, r in zip(sizes, radii, strict=True)
    ])  # fmt: skip


def rings_side_by_side(rng: Rng) -> Drawn:
    gap = rng.uniform(0.5, 0.8)
    return join(arc(rng, about(rng, 300), 1, 0.06), arc(rng, about(rng, 300), 1, 0.06, center=(2 + gap, 0)))


def linked_rings(rng: Rng, count: int, n: int) -> Drawn:
    """A chain of rings in space, each through the next."""
    parts = []
    for j in range(count):
        flat = arc(rng, about(rng, n), 1, 0.0)
        upright = np.c_[flat[:, 0], np.zeros(len(flat)), flat[:, 1]]
        ring = upright if j % 2 else np.c_[flat, np.zeros(len(flat))]
        place = (j * rng.uniform(0.95, 1.05), 0, 0)
        parts.append(ring + place + rng.uniform(0.04, 0.07) * rng.normal(size=ring.shape))
    rows, labels = join(*parts)
    return rows @ rotation(rng, 3), labels


def shells(rng: Rng, core: int, sizes: tuple[int, ...]) -> Drawn:
    """Spheres of radius 4, 7, ... in space, around a normal group if ``core`` is not 0."""
    parts = [spots(rng, about(rng, core), (0.0,) * 3, 0.6)] if core else []
    for j, n in enumerate(sizes):
        m = about(rng, n)
        parts.append(sphere(rng, m, 3) * (4 + 3 * j) + rng.uniform(0.15, 0.25) * rng.normal(size=(m, 3)))
    return join(*parts)


# --- spirals ------------------------------------------------------------------------------------------------------


def spirals(
    rng: Rng, arms: int, n: int, turns: tuple[float, float], width: float, even: bool = False
) -> Drawn:
    phases = 2 * np.pi * np.arange(arms) / arms + rng.uniform(0, 2 * np.pi)
    t = rng.uniform(*turns)
    return join(*[spiral(rng, about(rng, n, 0.1), t, width, p, even) for p in phases])


# --- lines --------------------------------------------------------------------------------------------------------


def parabolas(rng: Rng, n: int, facing: bool, width: float) -> Drawn:
    """Two parabolas: the second within the first, or reaching into it from above."""
    reach = 1.6 if facing else 2.0
    x, y = rng.uniform(-reach, reach, about(rng, n)), rng.uniform(-reach, reach, about(rng, n))
    first = np.c_[x, x**2 * rng.uniform(0.8, 1.0)]
    if facing:
        second = np.c_[y + rng.uniform(1.8, 2.0), 3.3 - y**2 * rng.uniform(0.8, 1.0)]
    else:
        second = np.c_[0.9 * y, y**2 * 1.1 + rng.uniform(1.5, 2.0)]
    return join(*[p + width * rng.normal(size=p.shape) for p in (first, second)])


def zigzags(rng: Rng, count: int, n: int, corners: int) -> Drawn:
    x = np.arange(corners, dtype=float)
    height, step = rng.uniform(0.5, 0.9), rng.uniform(0.7, 0.9)
    return join(*[
        polyline(rng, about(rng, n), np.c_[x, height * (x % 2) + j * step], rng.uniform(0.03, 0.06))
        for j in range(count)
    ])  # fmt: skip


def parallel_lines(rng: Rng, sizes: tuple[int, ...], width: tuple[float, float], even: bool = False) -> Drawn:
    slope, step = rng.uniform(-0.5, 0.5), rng.uniform(0.7, 0.9)
    parts = []
    for j, n in enumerate(sizes):
        x = np.array([0.0, 5.0]) + rng.uniform(-0.7, 0.7, 2)
        ends = np.c_[x, slope * x + j * step]
        parts.append(polyline(rng, about(rng, n), ends, rng.uniform(*width), even))
    return join(*parts)


def bars_with_gap(rng: Rng) -> Drawn:
    """A T whose stem does not reach its bar, and a bar beside it."""
    gap, w = rng.uniform(0.5, 0.8), rng.uniform(0.06, 0.09)
    return join(
        polyline(rng, about(rng, 250), [(0, 0), (4, 0)], w),
        polyline(rng, about(rng, 250), [(2, gap), (2, 4)], w),
        polyline(rng, about(rng, 200), [(5, 0), (5, 4)], w),
    )


def crossing_lines(rng: Rng) -> Drawn:
    a = rng.uniform(2.2, 3.5)
    w = rng.uniform(0.1, 0.16)
    return join(
        polyline(rng, about(rng, 300), [(-3, -a), (3, a)], w),
        polyline(rng, about(rng, 300), [(-3, a), (3, -a)], w),
    )


def crossing_normals(rng: Rng, n: int) -> Drawn:
    w = rng.uniform(0.2, 0.35)
    return join(spots(rng, about(rng, n), (0, 0), (3, w)), spots(rng, about(rng, n), (0, 0), (w, 3)))


def trajectories(rng: Rng, count: int, n: int) -> Drawn:
    """Smooth waves side by side, as tracks of vehicles are."""
    parts = []
    bend, wave = rng.uniform(0.6, 1.2), rng.uniform(0.6, 1.0)
    for j in range(count):
        x = rng.uniform(0, 6, about(rng, n))
        y = bend * np.sin(wave * x) + 0.9 * j + 0.12 * np.sin(2.3 * x + rng.uniform(0, 6))
        parts.append(np.c_[x, y] + rng.uniform(0.05, 0.09) * rng.normal(size=(len(x), 2)))
    return join(*parts)


def trajectories_in_space(rng: Rng) -> Drawn:
    """Three helices about one axis."""
    turns = rng.uniform(1.2, 1.8)
    parts: list[Array] = []
    for j in range(3):
        t = rng.uniform(0, 1, about(rng, 250))
        angle = 2 * np.pi * (turns * t + j / 3)
        track = np.c_[np.cos(angle), np.sin(angle), 4 * t]
        parts.append(track + rng.uniform(0.04, 0.08) * rng.normal(size=track.shape))
    rows, labels = join(*parts)
    return rows @ rotation(rng, 3), labels


CURVES: dict[str, Callable[[Rng], Drawn]] = {
    "moons 75": lambda r: moons(r, 75, 75, (0.04, 0.07)),
    "moons 150": lambda r: moons(r, 150, 150),
    "moons 300": lambda r: moons(r, 300, 300),
    "moons 600": lambda r: moons(r, 600, 600),
    "moons 1200": lambda r: moons(r, 1200, 1200),
    "moons 2500": lambda r: moons(r, 2500, 2500),
    "moons wide": lambda r: moons(r, 500, 500, (0.10, 0.13)),
    "moons 90 and 400": lambda r: moons(r, 90, 400),
    "moons 80 and 900": lambda r: moons(r, 80, 900, (0.04, 0.07)),
    "moons in space": arcs_in_space,
    "moons in two pairs": two_pairs_of_moons,
    "arcs nested 2": lambda r: nested_arcs(r, (150, 250), 0.06),
    "arcs nested 3": lambda r: nested_arcs(r, (200, 300, 400), 0.055),
    "arc around one": lambda r: arc_around(r, 200, 1, 100),
    "arc around two": lambda r: arc_around(r, 120, 2, 90),
    "arc around three": lambda r: arc_around(r, 400, 3, 120),
    "ring around a core": lambda r: ring_around(r, 400, 200, 0.3),
    "ring around a core, small": lambda r: ring_around(r, 90, 60, 0.25),
    "ring around a core, thick": lambda r: ring_around(r, 800, 200, 0.6),
    "ring around two": ring_around_two,
    "rings 2": lambda r: rings(r, (200, 400), (0.15, 0.3)),
    "rings 3": lambda r: rings(r, (250, 500, 800), (0.15, 0.25)),
    "rings 3, large": lambda r: rings(r, (800, 1500, 2200), (0.2, 0.35)),
    "rings 2 in noise": lambda r: with_noise(r, rings(r, (300, 600), (0.12, 0.25)), 0.1),
    "rings 2 with outliers": lambda r: with_outliers(r, rings(r, (200, 400), (0.15, 0.25)), 12),
    "rings side by side": rings_side_by_side,
    "rings linked 2": lambda r: linked_rings(r, 2, 400),
    "rings linked 3": lambda r: linked_rings(r, 3, 300),
    "shell around a core": lambda r: shells(r, 300, (400,)),
    "shell around a shell": lambda r: shells(r, 0, (400, 900)),
    "spirals 2, even": lambda r: spirals(r, 2, 100, (1.0, 1.4), 0.004, even=True),
    "spirals 2": lambda r: spirals(r, 2, 400, (1.3, 1.7), 0.012),
    "spirals 2, large": lambda r: spirals(r, 2, 1000, (1.6, 2.0), 0.015),
    "spirals 3, even": lambda r: spirals(r, 3, 105, (0.8, 1.0), 0.004, even=True),
    "spirals 3": lambda r: spirals(r, 3, 350, (0.9, 1.1), 0.015),
    "spirals 3, large": lambda r: spirals(r, 3, 1000, (1.1, 1.4), 0.014),
    "parabolas nested": lambda r: parabolas(r, 300, False, 0.08),
    "parabolas facing": lambda r: parabolas(r, 400, True, 0.1),
    "zigzags 2": lambda r: zigzags(r, 2, 250, 5),
    "zigzags 3": lambda r: zigzags(r, 3, 300, 6),
    "lines 4": lambda r: parallel_lines(r, (150,) * 4, (0.04, 0.08)),
    "lines 3, densities": lambda r: parallel_lines(r, (80, 200, 600), (0.04, 0.08)),
    "lines 5, even": lambda r: parallel_lines(r, (60,) * 5, (0.01, 0.03), even=True),
    "bars with gaps": bars_with_gap,
    "crossing lines": crossing_lines,
    "crossing normals": lambda r: crossing_normals(r, 300),
    "trajectories 3": lambda r: trajectories(r, 3, 250),
    "trajectories in space": trajectories_in_space,
}
