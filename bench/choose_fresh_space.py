"""Shapes of the fresh half in space: helices, tubes, sheets, tetrapods, coins, a knot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bench.choose_fresh_outlines import Draw, strewn
from bench.choose_pieces import Array, Drawn, Rng, about, ball, join, sphere


def helix(rng: Rng, n: int, turns: float, pitch: float, phase: float, width: float) -> Array:
    t = rng.uniform(0, turns, n)
    angle = 2 * np.pi * t + phase
    return np.c_[np.cos(angle), np.sin(angle), pitch * t] + width * rng.normal(size=(n, 3))


def tube(rng: Rng, n: int, radius: float, length: float, width: float, center: ArrayLike = 0.0) -> Array:
    angle, r = rng.uniform(0, 2 * np.pi, n), radius + width * rng.normal(size=n)
    return np.c_[r * np.cos(angle), r * np.sin(angle), rng.uniform(0, length, n)] + np.asarray(center)


def cones(rng: Rng) -> Drawn:
    """Two full cones, tips towards each other."""
    parts, gap = [], rng.uniform(0.25, 0.4)
    for sign in (-1, 1):
        h = 1.6 * rng.uniform(0, 1, about(rng, 700)) ** (1 / 3)
        disc = ball(rng, len(h), 2, 0.7) * h[:, None]
        parts.append(np.c_[disc, sign * (gap + h)])
    return join(*parts)


def sheets(rng: Rng, sizes: Sequence[int], apart: float) -> Drawn:
    """Bent sheets above each other."""
    bend, speed, parts = rng.uniform(0.3, 0.6), rng.uniform(1.0, 1.6), []
    for i, n in enumerate(sizes):
        xy = rng.uniform(-2, 2, (about(rng, n), 2))
        z = apart * i + bend * np.sin(speed * xy[:, 0]) * np.cos(speed * xy[:, 1])
        parts.append(np.c_[xy, z + 0.05 * rng.normal(size=len(xy))])
    return join(*parts)


def tetrapods(rng: Rng, k: int, n: int) -> Drawn:
    legs = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / np.sqrt(3)
    parts = []
    for _ in range(k):
        m, width = about(rng, n), rng.uniform(0.04, 0.07)
        parts.append(
            legs[rng.integers(4, size=m)] * rng.uniform(0, 0.95, (m, 1)) + width * rng.normal(size=(m, 3))
        )
    return strewn(rng, parts, 0.1)


def coins(rng: Rng, k: int) -> Drawn:
    parts, step = [], rng.uniform(0.55, 0.65)
    for i in range(k):
        disc = ball(rng, about(rng, 350), 2, 1.0, rng.uniform(-0.3, 0.3, 2))
        parts.append(np.c_[disc, step * i + rng.uniform(0, 0.12, len(disc))])
    return join(*parts)


def bowls(rng: Rng) -> Drawn:
    """Two half shells, open sides towards each other, with a gap."""
    parts, gap = [], rng.uniform(0.25, 0.35)
    for sign in (-1, 1):
        shell = sphere(rng, m := about(rng, 700), 3) * (1 + 0.03 * rng.normal(size=(m, 1)))
        shell[:, 2] = sign * (abs(shell[:, 2]) + gap)
        parts.append(shell)
    return join(*parts)


def torus_and_rod(rng: Rng) -> Drawn:
    a, b = rng.uniform(0, 2 * np.pi, (2, about(rng, 900)))
    thick = rng.uniform(0.3, 0.4)
    r = 1.3 + thick * np.cos(b)
    rod = np.c_[0.08 * rng.normal(size=(m := about(rng, 260), 2)), rng.uniform(-1.3, 1.3, m)]
    return join(np.c_[r * np.cos(a), r * np.sin(a), thick * np.sin(b)], rod)


def trefoil_and_balls(rng: Rng) -> Drawn:
    t = rng.uniform(0, 2 * np.pi, about(rng, 900))
    knot = np.c_[np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -1.5 * np.sin(3 * t)]
    knot = knot + 0.06 * rng.normal(size=knot.shape)
    return join(knot, *[ball(rng, about(rng, 120), 3, 0.5, (0, 0, z)) for z in (rng.uniform(3, 3.5), -3.2)])


def beams(rng: Rng, k: int, n: int) -> Drawn:
    """Beams above each other, along two axes in turn."""
    parts, step = [], rng.uniform(0.85, 1.0)
    for i in range(k):
        rows = rng.uniform((-2, 0, 0), (2, 0.35, 0.35), (about(rng, n), 3))
        rows[:, :2] += rng.uniform((-0.5, -1), (0.5, 1))
        rows[:, 2] += step * i
        parts.append(rows[:, [1, 0, 2]] if i % 2 else rows)
    return join(*parts)


def helix_around_rod(rng: Rng) -> Drawn:
    pitch = rng.uniform(0.8, 1.1)
    rod = np.c_[0.1 * rng.normal(size=(m := about(rng, 250), 2)), rng.uniform(0, 3 * pitch, m)]
    return join(helix(rng, about(rng, 800), 3, pitch, 0, 0.05), rod)


def helices(rng: Rng, n: int) -> Drawn:
    pitch, turns = rng.uniform(1.8, 2.4), rng.uniform(1.3, 2.0)
    return join(*[helix(rng, about(rng, n), turns, pitch, phase, 0.06) for phase in (0, np.pi)])


SPACE: dict[str, Draw] = {
    "helices 2": lambda rng: helices(rng, 420),
    "helix around a rod": helix_around_rod,
    "tubes 3": lambda rng: join(*[tube(rng, about(rng, 420), rng.uniform(0.6, 0.75), 3, 0.03, (2 * i, i % 2, 0))
                                  for i in range(3)]),
    "tube around a tube": lambda rng: join(
        *[tube(rng, about(rng, round(800 * r)), r, 3, 0.04) for r in (rng.uniform(0.35, 0.5), 1.2)]),
    "cones, tips facing": cones,
    "sheets 2": lambda rng: sheets(rng, (600, 600), rng.uniform(0.9, 1.1)),
    "sheets of three densities": lambda rng: sheets(rng, (1500, 800, 500), rng.uniform(1.1, 1.3)),
    "tetrapods 3": lambda rng: tetrapods(rng, 3, 320),
    "coins stacked 4": lambda rng: coins(rng, 4),
    "bowls facing": bowls,
    "torus and a rod": torus_and_rod,
    "trefoil and two balls": trefoil_and_balls,
    "beams passing 4": lambda rng: beams(rng, 4, 220),
}  # fmt: skip
