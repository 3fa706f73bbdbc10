"""How areas of the plane are filled and placed, and outlines: hearts, stars, leaves, fish, coast lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bench.choose_pieces import Array, Drawn, Rng, about, centers_apart, join, rotation, with_noise

Inside = Callable[[Array, Array], NDArray[np.bool_]]
Draw = Callable[[Rng], Drawn]

# --- how areas are filled and placed ------------------------------------------------------------------------------


def filled(rng: Rng, n: int, inside: Inside, low: ArrayLike = -1.0, high: ArrayLike = 1.0) -> Array:
    """n rows, even over the part of the box where ``inside`` holds."""
    kept = np.empty((0, 2))
    while len(kept) < n:
        rows = rng.uniform(low, high, (4 * n, 2))
        kept = np.vstack([kept, rows[inside(rows[:, 0], rows[:, 1])]])
    return kept[:n]


def polar(edge: Callable[[Array], ArrayLike]) -> Inside:
    """Inside the radius that ``edge`` gives for an angle."""
    return lambda x, y: np.hypot(x, y) < edge(np.arctan2(y, x))


def polygon(corners: ArrayLike) -> Inside:
    """Inside a closed polygon of corners (m, 2): an odd number of edges to the right."""
    a = np.asarray(corners, float)
    b = np.roll(a, -1, axis=0)

    def inside(x: Array, y: Array) -> NDArray[np.bool_]:
        odd = np.zeros(len(x), bool)
        for (x0, y0), (x1, y1) in zip(a, b, strict=True):
            if y0 != y1:
                odd ^= ((y0 > y) != (y1 > y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
        return odd

    return inside


def rectangles(rng: Rng, density: float, *corners: Sequence[float]) -> Array:
    """Even over rectangles (x0, y0, x1, y1) that do not overlap, ``density`` rows a unit of area."""
    parts = []
    for x0, y0, x1, y1 in corners:
        n = max(1, round(density * (x1 - x0) * (y1 - y0)))
        parts.append(rng.uniform((x0, y0), (x1, y1), (n, 2)))
    return np.vstack(parts)


def strewn(
    rng: Rng, parts: Sequence[Array], room: float = 0.25, scale: tuple[float, float] = (1.0, 1.0)
) -> Drawn:
    """Parts (n, d) within radius 1, each turned, scaled and put where circles around them leave ``room`` radii."""
    d = parts[0].shape[1]
    radii = rng.uniform(*scale, len(parts))
    places = centers_apart(rng, [r * np.eye(d) for r in radii], 2 + room)
    return join(*[
        place + r * part @ rotation(rng, d) for part, r, place in zip(parts, radii, places, strict=True)
    ])  # fmt: skip


def many(rng: Rng, k: int, n: int, *insides: Inside) -> list[Array]:
    """k areas of about n rows, of the shapes in turn."""
    return [filled(rng, about(rng, n), insides[i % len(insides)]) for i in range(k)]


def uncut(rows: Array, curve: Array, gap: float) -> NDArray[np.bool_]:
    """Which rows lie farther than half the gap from a curve (m, 2) of close points."""
    squares = ((rows[:, None] - curve[None]) ** 2).sum(axis=-1)
    return np.asarray(squares.min(axis=1) > (gap / 2) ** 2)


def moved(rows: Array, *by: float) -> Array:
    return rows + np.array(by)


def in_noise(draw: Draw, low: float, high: float) -> Draw:
    """The same in even noise, of a share between two."""
    return lambda rng: with_noise(rng, draw(rng), rng.uniform(low, high))


# --- outlines -----------------------------------------------------------------------------------------------------


def heart(x: Array, y: Array) -> NDArray[np.bool_]:
    x, y = 1.25 * x, 1.25 * y + 0.1
    return np.asarray((x**2 + y**2 - 1) ** 3 < x**2 * y**3)


def star(points: int, inner: float = 0.45) -> Inside:
    angle = np.pi * np.arange(2 * points) / points
    radius = np.where(np.arange(2 * points) % 2, inner, 1.0)
    return polygon(np.c_[radius * np.cos(angle), radius * np.sin(angle)])


def plus(arm: float = 0.3) -> Inside:
    return lambda x, y: (np.minimum(abs(x), abs(y)) < arm) & (np.maximum(abs(x), abs(y)) < 0.93)


def gear(teeth: int, deep: float = 0.16) -> Inside:
    return polar(lambda t: 0.82 + deep * np.sign(np.cos(teeth * t)))


def leaf(x: Array, y: Array) -> NDArray[np.bool_]:
    return np.asarray(abs(y) < 0.38 * (1 - x**2))


def fish_outline(x: Array, y: Array) -> NDArray[np.bool_]:
    body = ((x - 0.25) / 0.75) ** 2 + (y / 0.42) ** 2 < 1
    tail = (x < -0.35) & (x > -0.95) & (abs(y) < 0.12 + 0.7 * (-0.35 - x))
    return np.asarray(body | tail)


def drop(x: Array, y: Array) -> NDArray[np.bool_]:
    return np.asarray((abs(y) < 0.62 * (1 - x) * np.sqrt(np.clip(1 + x, 0, None)) * 0.75) & (x < 0.9))


def dumbbell(x: Array, y: Array) -> NDArray[np.bool_]:
    return np.asarray((np.hypot(abs(x) - 0.62, y) < 0.38) | ((abs(y) < 0.14) & (abs(x) < 0.6)))


def mushroom(x: Array, y: Array) -> NDArray[np.bool_]:
    return np.asarray(((np.hypot(x, y) < 0.95) & (y > 0.05)) | ((abs(x) < 0.25) & (y < 0.1) & (y > -0.9)))


def lobed(rng: Rng) -> Inside:
    """A coast line: a circle bent by a few waves of random size and phase."""
    size, phase = rng.uniform(0.03, 0.13, 4), rng.uniform(0, 2 * np.pi, 4)
    waves = list(enumerate(zip(size, phase, strict=True), start=2))
    return polar(lambda t: 0.7 + sum(s * np.cos(i * t + p) for i, (s, p) in waves))
