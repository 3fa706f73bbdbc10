"""Shapes of the fresh half that fill areas of the plane: hearts, gears, keyholes, rivers, islands, bricks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench.choose_fresh_outlines import (
    Draw,
    drop,
    dumbbell,
    filled,
    fish_outline,
    gear,
    heart,
    in_noise,
    leaf,
    lobed,
    many,
    moved,
    mushroom,
    plus,
    polygon,
    rectangles,
    star,
    strewn,
    uncut,
)
from bench.choose_pieces import (
    Array,
    Drawn,
    Rng,
    about,
    arc,
    ball,
    centers_apart,
    join,
    polyline,
    spots,
    with_noise,
)

# --- areas side by side -------------------------------------------------------------------------------------------


def clover(rng: Rng, leaves: int, stem: bool) -> Drawn:
    tilt, reach = rng.uniform(0, 2 * np.pi), rng.uniform(0.95, 1.1)
    parts = []
    for i in range(leaves):
        turn = np.array([[np.cos(a := tilt + 2 * np.pi * i / leaves), np.sin(a)], [-np.sin(a), np.cos(a)]])
        size = 1.6 / leaves if leaves > 4 else 0.52
        parts.append((filled(rng, about(rng, 170), heart) @ [[0, -1], [1, 0]] * size + [reach, 0]) @ turn)
    if stem:
        parts.append(ball(rng, about(rng, 90), 2, rng.uniform(0.2, 0.26)))
    return join(*parts)


def gears_and_axles(rng: Rng, k: int, density: float) -> Drawn:
    parts, hole = [], rng.uniform(0.48, 0.55)
    for i in range(k):
        teeth, middle = int(rng.integers(7, 12)), (2.35 * i, rng.uniform(-0.6, 0.6))
        wheel = filled(rng, about(rng, round(density * 1.9)), gear(teeth))
        wheel = wheel[np.linalg.norm(wheel, axis=1) > hole]
        parts += [moved(wheel, *middle), ball(rng, about(rng, round(density * 0.22)), 2, 0.25, middle)]
    return join(*parts)


def key_in_keyhole(rng: Rng) -> Drawn:
    def slot(x: Array, y: Array, shrunk: float) -> NDArray[np.bool_]:
        head = np.hypot(x, y - 0.22) < 0.55 - shrunk
        return np.asarray(head | ((abs(x) < 0.32 - shrunk) & (y < 0.2) & (y > shrunk - 0.85)))

    gap = rng.uniform(0.18, 0.23)
    plate = filled(rng, about(rng, 1300), lambda x, y: ~slot(x, y, 0.0), (-1.3, -1.2), (1.3, 1.2))
    return join(plate, filled(rng, about(rng, 260), lambda x, y: slot(x, y, gap)))


def combs(rng: Rng, teeth: int, density: float) -> Drawn:
    width, reach = rng.uniform(0.3, 0.42), rng.uniform(1.6, 2.4)
    lower = [(2 * i, 0.0, 2 * i + width, reach) for i in range(teeth)]
    upper = [(2 * i + 1, 0.6, 2 * i + 1 + width, reach + 0.6) for i in range(teeth)]
    ends = 2 * teeth - 1
    return join(
        rectangles(rng, density, (0, -width, ends, 0), *lower),
        rectangles(
            rng, density * rng.uniform(0.7, 1.3), (0.5, reach + 0.6, ends + 0.5, reach + 0.6 + width), *upper
        ),
    )


def river(rng: Rng, islands: int, noise: float = 0.0) -> Drawn:
    bend, phase, length = rng.uniform(0.7, 1.2), rng.uniform(0, 2 * np.pi), 3.2 * islands

    def middle(x: ArrayLike) -> Array:
        return bend * np.sin(0.8 * np.asarray(x) + phase)

    at = 3.2 * (np.arange(islands) + 0.5) + rng.uniform(-0.4, 0.4, islands)
    holes = np.c_[at, middle(at)]

    def water(x: Array, y: Array) -> NDArray[np.bool_]:
        dry = [np.hypot(x - a, y - b) < 0.72 for a, b in holes]
        return np.asarray((abs(y - middle(x)) < 1.2) & ~np.any(dry, axis=0))

    parts = [filled(rng, about(rng, 750 * islands), water, (0, -3), (length, 3))]
    parts += [ball(rng, about(rng, 110), 2, rng.uniform(0.3, 0.4), hole) for hole in holes]
    return with_noise(rng, join(*parts), noise) if noise else join(*parts)


def corners_nested(rng: Rng, k: int, n: int) -> Drawn:
    thick, step = rng.uniform(0.3, 0.4), rng.uniform(0.95, 1.15)
    long = step * k + 1
    parts = [
        [
            (s, s, s + thick, long * rng.uniform(0.9, 1.1)),
            (s + thick, s, long * rng.uniform(0.9, 1.1), s + thick),
        ]
        for s in step * np.arange(k)
    ]
    return join(*[rectangles(rng, about(rng, n), *part) for part in parts])


def cracked(rng: Rng, k: int, n: int) -> Drawn:
    """A square broken into cells, each nearest to its own center, with cracks between."""
    centers = centers_apart(rng, [np.eye(2)] * k, 1.0)
    rows = rng.uniform(centers.min(axis=0) - 0.5, centers.max(axis=0) + 0.5, (about(rng, n), 2))
    distance = np.linalg.norm(rows[:, None] - centers[None], axis=-1)
    order = np.argsort(distance, axis=1)
    first, second = (np.take_along_axis(distance, order[:, [i]], axis=1)[:, 0] for i in (0, 1))
    between = np.linalg.norm(centers[order[:, 0]] - centers[order[:, 1]], axis=1)
    kept = (second**2 - first**2) / (2 * between) > rng.uniform(0.085, 0.1)
    return rows[kept], order[kept, 0] + 1


def yin_and_yang(rng: Rng) -> Drawn:
    t = np.linspace(0, np.pi, 80)
    curve = np.r_[np.c_[-np.sin(t), 1 + np.cos(t)], np.c_[np.sin(t), np.cos(t) - 1]]
    rows = ball(rng, about(rng, 1800), 2, 2.0)
    rows = rows[uncut(rows, curve, rng.uniform(0.3, 0.4))]
    x, y = rows.T
    right = ((x > 0) | (np.hypot(x, y - 1) < 1)) & (np.hypot(x, y + 1) > 1)
    kept = right | (rng.uniform(size=len(rows)) < rng.uniform(0.5, 1.0))
    return rows[kept], np.where(right, 1, 2)[kept]


def sheet_torn(rng: Rng, tears: int) -> Drawn:
    """A sheet of paper torn along jagged lines."""
    rows = rng.uniform((0, 0), (2.0 * (tears + 1), 3.0), (about(rng, 800 * (tears + 1)), 2))
    y, labels, kept = np.linspace(0, 3, 200), np.ones(len(rows), np.int64), np.ones(len(rows), bool)
    for i in range(tears):
        bends = 2.0 * (i + 1) + rng.uniform(-0.5, 0.5, 8)
        jag = np.interp(y, np.linspace(0, 3, 8), bends)
        kept &= uncut(rows, np.c_[jag, y], rng.uniform(0.3, 0.4))
        labels += rows[:, 0] > np.interp(rows[:, 1], y, jag)
    return rows[kept], labels[kept]


def sectors(rng: Rng, k: int) -> Drawn:
    """Pieces of a pie, moved apart."""
    share = rng.uniform(0.7, 1.3, k)
    ends = np.r_[0, 2 * np.pi * share.cumsum() / share.sum()]
    parts = []
    for a, b in pairwise(ends):
        n, out = about(rng, round(170 * (b - a)), 0.1), 0.2 / np.sin((b - a) / 2)
        angle, r = rng.uniform(a, b, n), np.sqrt(rng.uniform(0, 1, n))
        middle = (a + b) / 2
        parts.append(
            np.c_[r * np.cos(angle) + out * np.cos(middle), r * np.sin(angle) + out * np.sin(middle)]
        )
    return join(*parts)


def bricks(rng: Rng, courses: int, across: int, n: int, space: float = 0.32) -> Drawn:
    mortar = space * rng.uniform(1.0, 1.3)
    return join(*[
        rng.uniform((x, y), (x + 2, y + 0.8), (about(rng, n), 2))
        for j in range(courses) for i in range(across)
        for x, y in [((2 + mortar) * (i + (j % 2) / 2), (0.8 + mortar) * j)]
    ])  # fmt: skip


def honeycomb(rng: Rng, n: int) -> Drawn:
    angle = np.pi / 3 * np.arange(6)
    corners = np.c_[np.sin(angle), np.cos(angle)] * rng.uniform(0.77, 0.82)
    cells = np.r_[[[0.0, 0.0]], np.sqrt(3) * np.c_[np.cos(angle), np.sin(angle)]]
    return join(*[filled(rng, about(rng, n), polygon(corners)) + cell for cell in cells])


def flower(rng: Rng, petals: int) -> Drawn:
    reach, half = rng.uniform(1.0, 1.15), rng.uniform(0.16, 0.22)
    parts = [ball(rng, about(rng, 130), 2, 0.36)]
    for a in 2 * np.pi * np.arange(petals) / petals:
        petal = ball(rng, about(rng, 110), 2) * [0.38, half] + [reach, 0]
        parts.append(petal @ [[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    return join(*parts)


def pinwheel(rng: Rng, blades: int, n: int) -> Drawn:
    bend, wide, parts = rng.uniform(0.7, 1.3), rng.uniform(0.45, 0.6) * np.pi / blades, []
    for i in range(blades):
        r = np.sqrt(rng.uniform(0.35**2, 1, about(rng, n)))
        a = 2 * np.pi * i / blades + bend * r + rng.uniform(-wide, wide, len(r))
        parts.append(np.c_[r * np.cos(a), r * np.sin(a)])
    return join(*parts)


def crescents(rng: Rng, sizes: Sequence[int]) -> Drawn:
    """Crescents one after another, each of another density."""
    hollow, parts = rng.uniform(0.45, 0.6), []
    for i, n in enumerate(sizes):
        moon = filled(
            rng, about(rng, n), lambda x, y: (np.hypot(x, y) < 1) & (np.hypot(x - hollow, y) > 0.95)
        )
        parts.append(moved(moon, rng.uniform(1.45, 1.6) * i, rng.uniform(-0.3, 0.3)))
    return join(*parts)


def twig(rng: Rng, leaves: int) -> Drawn:
    parts = [polyline(rng, about(rng, 60 * leaves), [(0, 0), (leaves * 0.8 + 0.6, 0)], 0.035)]
    for i in range(leaves):
        side, tilt = (-1) ** i, rng.uniform(0.8, 1.2)
        one = filled(rng, about(rng, 120), leaf) * [0.75, 0.8] + [1.1, 0]
        turn = [[np.cos(tilt), side * np.sin(tilt)], [-side * np.sin(tilt), np.cos(tilt)]]
        parts.append(one @ turn + [0.8 * i + 0.2, 0])
    return join(*parts)


def planet(rng: Rng, moons: int) -> Drawn:
    """A large disc, small dense ones around it, and far away a ring."""
    turn = rng.uniform(0, 2 * np.pi) + 2 * np.pi * (np.arange(moons) + rng.uniform(-0.2, 0.2, moons)) / moons
    places = rng.uniform(1.45, 1.7, (moons, 1)) * np.c_[np.cos(turn), np.sin(turn)]
    small = [spots(rng, about(rng, 45), place, 0.05) for place in places]
    return join(
        ball(rng, about(rng, 900), 2, 1.0), *small, arc(rng, about(rng, 700), rng.uniform(2.3, 2.5), 0.05)
    )


AREAS: dict[str, Draw] = {
    "clover 4": lambda rng: clover(rng, 4, stem=False),
    "clover 5 and a middle": lambda rng: clover(rng, 5, stem=True),
    "gears 2 and axles": lambda rng: gears_and_axles(rng, 2, 420),
    "key in a keyhole": key_in_keyhole,
    "combs interleaved": lambda rng: combs(rng, 4, 130),
    "combs interleaved, 170 rows": lambda rng: combs(rng, 2, 36),
    "river with 4 islands": lambda rng: river(rng, 4),
    "corners nested 3": lambda rng: corners_nested(rng, 3, 130),
    "corners nested 2, 100 rows": lambda rng: corners_nested(rng, 2, 30),
    "cracked mud 8": lambda rng: cracked(rng, 8, 2500),
    "yin and yang": yin_and_yang,
    "sheet torn in 3": lambda rng: sheet_torn(rng, 2),
    "pie in 6 pieces": lambda rng: sectors(rng, 6),
    "bricks 12": lambda rng: bricks(rng, 4, 3, 160),
    "bricks 4 of 40": lambda rng: bricks(rng, 2, 2, 40, 0.6),
    "honeycomb 7": lambda rng: honeycomb(rng, 170),
    "flower of 6 petals": lambda rng: flower(rng, 6),
    "pinwheel 5": lambda rng: pinwheel(rng, 5, 170),
    "pinwheel 3 of 35": lambda rng: pinwheel(rng, 3, 35),
    "crescents of three densities": lambda rng: crescents(rng, (700, 250, 90)),
    "twig and leaves 5": lambda rng: twig(rng, 5),
    "planet, moons, ring": lambda rng: planet(rng, 3),
    "hearts 3": lambda rng: strewn(rng, many(rng, 3, 260, heart)),
    "stars 4": lambda rng: strewn(rng, many(rng, 4, 230, star(5), star(6)), 0.1, (0.8, 1.2)),
    "crosses 5 of 50": lambda rng: strewn(rng, many(rng, 5, 50, plus()), 0.3),
    "fish 6": lambda rng: strewn(rng, many(rng, 6, 160, fish_outline), 0.15),
    "drops 7": lambda rng: strewn(rng, many(rng, 7, 110, drop), 0.2, (0.6, 1.2)),
    "dumbbells 3": lambda rng: strewn(rng, many(rng, 3, 380, dumbbell), 0.2),
    "mushrooms 4": lambda rng: strewn(rng, many(rng, 4, 220, mushroom), 0.2, (0.8, 1.2)),
    "islands 6": lambda rng: strewn(rng, many(rng, 6, 240, *(lobed(rng) for _ in range(6))), 0.05, (0.6, 1.3)),
    "islands 9 in noise, large": in_noise(
        lambda rng: strewn(rng, many(rng, 9, 640, *(lobed(rng) for _ in range(9))), 0.15, (0.8, 1.2)), 0.2, 0.3
    ),
    "hearts and stars in noise, large": in_noise(
        lambda rng: strewn(rng, many(rng, 6, 700, heart, star(5)), 0.2), 0.08, 0.15
    ),
    "gears and axles in noise, large": in_noise(lambda rng: gears_and_axles(rng, 3, 1500), 0.05, 0.12),
    "combs in noise, large": in_noise(lambda rng: combs(rng, 5, 330), 0.1, 0.2),
    "river with 3 islands in noise": lambda rng: river(rng, 3, rng.uniform(0.05, 0.08)),
}  # fmt: skip
