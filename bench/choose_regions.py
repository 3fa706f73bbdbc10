"""Tables whose groups are regions of other shapes than round, or of different densities: boxes, discs, chains,
small regular ones."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from bench.choose_pieces import (
    Array,
    Drawn,
    Rng,
    about,
    ball,
    box,
    join,
    lattice,
    polyline,
    spots,
)

# --- boxes, discs, diamonds ---------------------------------------------------------------------------------------


def boxes_in_a_corner(rng: Rng, n: int) -> Drawn:
    """Three boxes around a corner, with gaps of a sixth to a quarter of their side."""
    gap = rng.uniform(0.17, 0.25)
    places = ((0.0, 0.0), (1 + gap, 0.0), (0.0, 1 + gap))
    return join(*[box(rng, about(rng, n), p, (p[0] + 1, p[1] + 1)) for p in places])


def thin_boxes(rng: Rng) -> Drawn:
    gap = rng.uniform(0.3, 0.45)
    return join(
        box(rng, about(rng, 200), (0, 0), (4, 0.4)),
        box(rng, about(rng, 200), (0, 0.4 + gap), (4, 0.8 + gap)),
        box(rng, about(rng, 100), (4 + gap, 0), (4.4 + gap, 1.2)),
    )


def stripes(rng: Rng, count: int, n: int) -> Drawn:
    tall, gap = rng.uniform(0.4, 0.6), rng.uniform(0.3, 0.45)
    return join(*[
        box(rng, about(rng, n), (0, j * (tall + gap)), (6, j * (tall + gap) + tall)) for j in range(count)
    ])  # fmt: skip


def grid_of_boxes(rng: Rng, side: int, n: int) -> Drawn:
    step = 1 + rng.uniform(0.25, 0.35)
    places = [(step * i, step * j) for i in range(side) for j in range(side)]
    return join(*[box(rng, about(rng, n), (x, y), (x + 1, y + 1)) for x, y in places])


def boxes_of_densities(rng: Rng) -> Drawn:
    gap = rng.uniform(0.3, 0.5)
    return join(
        box(rng, about(rng, 800), (0, 0), (1, 1)), box(rng, about(rng, 120), (1 + gap, 0), (2.6 + gap, 1.6))
    )


def touching_discs(rng: Rng, radii: tuple[float, ...], n: int) -> Drawn:
    """Discs in a row, bent at random, each touching the next; as many rows an area in all."""
    parts, place, heading = [], np.zeros(2), 0.0
    for j, radius in enumerate(radii):
        if j:
            heading += rng.uniform(-0.7, 0.7)
            place = place + (radii[j - 1] + radius) * 1.02 * np.array([np.cos(heading), np.sin(heading)])
        parts.append(ball(rng, about(rng, round(n * radius**2)), 2, radius, place))
    return join(*parts)


def diamonds(rng: Rng, side: int, n: int, gap: float) -> Drawn:
    """Squares on their corners, which (nearly) touch."""
    turn = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    places = [(i, j) for i in range(side) for j in range(side)]
    step = np.sqrt(2) * (1 + gap)
    return join(
        *[box(rng, about(rng, n), (-0.5, -0.5), (0.5, 0.5)) @ turn + step * np.array(p) for p in places]
    )


def wings(rng: Rng, n: int) -> Drawn:
    """Two wedges, tip to tip across a narrow gap, dense at their tips and thin outside."""
    parts = []
    for sign in (-1, 1):
        t = rng.uniform(0.02, 1, about(rng, n)) ** 1.5
        x = sign * (rng.uniform(0.12, 0.18) + 2 * t)
        parts.append(np.c_[x, rng.uniform(-1, 1, len(t)) * (0.3 + 1.2 * t)])
    return join(*parts)


def wedges(rng: Rng, n: int) -> Drawn:
    """Two long triangles side by side whose density falls from one end to the other, in opposite directions."""
    parts = []
    gap = rng.uniform(0.35, 0.5)
    for j in range(2):
        x = rng.beta(1.2, 2.5, about(rng, n))
        y = rng.uniform(0, 1, len(x)) * (0.9 - 0.5 * x)
        part = np.c_[3 * x, y]
        parts.append(part if j == 0 else np.c_[3 - part[:, 0], -gap - part[:, 1]])
    return join(*parts)


def window(rng: Rng, n: int) -> Drawn:
    """A square frame, and in it four panes."""
    pane, bar = rng.uniform(0.7, 0.8), rng.uniform(0.12, 0.18)
    frame = polyline(rng, about(rng, n), [(-2, -2), (2, -2), (2, 2), (-2, 2), (-2, -2)], 0.0)
    frame = frame + rng.uniform(-bar, bar, frame.shape)
    panes = [
        box(rng, about(rng, n // 3), (x - pane / 2, y - pane / 2), (x + pane / 2, y + pane / 2))
        for x in (-0.7, 0.7)
        for y in (-0.7, 0.7)
    ]
    return join(frame, *panes)


def labyrinth(rng: Rng, n: int) -> Drawn:
    """Thin walls that reach around each other."""
    w = rng.uniform(0.03, 0.05)
    s = rng.uniform(0.9, 1.1)
    walls = [
        [(0, 0), (4, 0), (4, 4), (0, 4), (0, 1)],
        [(1, 0.7), (3.3, 0.7), (3.3, 3.3), (0.7, 3.3), (0.7, 1.4)],
        [(1.4, 1.4), (2.6, 1.4), (2.6, 2.6), (1.4, 2.6)],
    ]
    lengths = [np.abs(np.diff(np.array(wall), axis=0)).sum() for wall in walls]
    return join(*[
        polyline(rng, about(rng, round(n * length / 10)), s * np.array(wall), w)
        for wall, length in zip(walls, lengths, strict=True)
    ])  # fmt: skip


# --- chains, splashes --------------------------------------------------------------------------------------


def chain(rng: Rng, count: int, n: int, bridge: int, gap: tuple[float, float]) -> Drawn:
    """Normal groups in a row and a few rows between each two, which belong to none."""
    places, heading = [np.zeros(2)], 0.0
    for _ in range(count - 1):
        heading += rng.uniform(-0.8, 0.8)
        places.append(places[-1] + rng.uniform(*gap) * np.array([np.cos(heading), np.sin(heading)]))
    rows, labels = join(*[spots(rng, about(rng, n), p, rng.uniform(0.8, 1.0)) for p in places])
    between = [polyline(rng, bridge, [a, b], 0.15) for a, b in pairwise(places)]
    return np.vstack([rows, *between]), np.r_[labels, np.zeros(bridge * (count - 1), np.int64)]


def discs_with_bridge(rng: Rng) -> Drawn:
    far = rng.uniform(3.4, 4.0)
    rows, labels = join(ball(rng, about(rng, 400), 2), ball(rng, about(rng, 250), 2, 1, (far, 0)))
    between = polyline(rng, 15, [(1, 0), (far - 1, 0)], 0.04)
    return np.vstack([rows, between]), np.r_[labels, np.zeros(15, np.int64)]


def splashes(rng: Rng, count: int, n: int, arms: int) -> Drawn:
    """Stars: a dense middle and thin arms, so far from each other that arms do not reach the next middle."""
    parts = []
    step = rng.uniform(6.2, 7.0)
    for j in range(count):
        center = np.array([step * (j % 2), step * (j // 2)]) + rng.uniform(-0.4, 0.4, 2)
        angles = rng.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(arms) / arms
        rays = [
            polyline(rng, n // 12, [center, center + 2.3 * np.array([np.cos(a), np.sin(a)])], 0.1)
            for a in angles
        ]
        parts.append(np.vstack([spots(rng, about(rng, n), center, 0.5), *rays]))
    return join(*parts)


# --- densities and small groups -----------------------------------------------------------------------------------


def dense_beside_sparse(rng: Rng, dense: int, sparse: int) -> Drawn:
    s = rng.uniform(1.3, 1.7)
    return join(
        spots(rng, about(rng, dense), (0, 0), 0.25), spots(rng, about(rng, sparse), (1 + 2.6 * s, 0), s)
    )


def dense_in_sparse(rng: Rng, d: int, dense: int, sparse: int) -> Drawn:
    """A dense normal group somewhere in an even box."""
    center = rng.uniform(-1.5, 1.5, d)
    sides = [4.0] * d
    return join(spots(rng, about(rng, dense), center, 0.25), box(rng, about(rng, sparse), [-4.0] * d, sides))


def pairs_of_pairs(rng: Rng, n: int) -> Drawn:
    """Pairs of small groups, the pairs far from each other."""
    parts = []
    for middle in ((0.0, 0.0), (12.0, 1.0), (5.0, 10.0)):
        angle = rng.uniform(0, np.pi)
        half = rng.uniform(2.2, 2.6) * np.array([np.cos(angle), np.sin(angle)]) * 0.9
        parts += [spots(rng, about(rng, n), np.add(middle, s * half), rng.uniform(0.5, 0.8)) for s in (-1, 1)]
    return join(*parts)


def small_regular(rng: Rng, sizes: tuple[int, ...], gap: float) -> Drawn:
    """Groups of a few evenly spaced rows, as if drawn by hand; gaps as wide as 3 or 4 rows."""
    radii = np.sqrt(np.array(sizes) / np.pi) * rng.uniform(0.9, 1.1, len(sizes))
    places: list[Array] = []
    side = float(2 * radii.mean()) * np.sqrt(len(sizes))
    while (j := len(places)) < len(sizes):
        place = rng.uniform(0, side, 2)
        if all(np.linalg.norm(place - q) > radii[i] + radii[j] + gap for i, q in enumerate(places)):
            places.append(place)
        side *= 1.001
    return join(*[lattice(rng, n, r, p, 0.2) for n, r, p in zip(sizes, radii, places, strict=True)])


def small_shapes(rng: Rng) -> Drawn:
    """A few evenly spaced rows on two bars and a bow."""
    gap = rng.uniform(1.6, 2.2)
    bow = np.c_[4 * np.cos(np.linspace(0, np.pi, 30)), 3 * np.sin(np.linspace(0, np.pi, 30))]
    bars = [
        polyline(rng, about(rng, 24), [(x, -gap), (x + 2.2, -gap - 4)], 0.08, even=True) for x in (-3.0, 0.5)
    ]
    return join(bow + 0.1 * rng.normal(size=bow.shape), *bars)


REGIONS: dict[str, Callable[[Rng], Drawn]] = {
    "boxes 3": lambda r: boxes_in_a_corner(r, 300),
    "boxes 3, small": lambda r: boxes_in_a_corner(r, 80),
    "boxes, thin": thin_boxes,
    "boxes 9": lambda r: grid_of_boxes(r, 3, 90),
    "boxes of two densities": boxes_of_densities,
    "stripes 4": lambda r: stripes(r, 4, 400),
    "discs touching 3": lambda r: touching_discs(r, (1.0, 1.0, 1.0), 400),
    "discs touching, sizes": lambda r: touching_discs(r, (1.5, 0.7, 1.0), 350),
    "diamonds 9": lambda r: diamonds(r, 3, 330, r.uniform(0.02, 0.06)),
    "diamonds 4": lambda r: diamonds(r, 2, 200, r.uniform(0.02, 0.06)),
    "wings": lambda r: wings(r, 500),
    "wedges": lambda r: wedges(r, 400),
    "window": lambda r: window(r, 600),
    "labyrinth": lambda r: labyrinth(r, 500),
    "chain of two": lambda r: chain(r, 2, 400, 12, (7.0, 8.0)),
    "chain of five": lambda r: chain(r, 5, 200, 8, (6.0, 7.0)),
    "discs with a bridge": discs_with_bridge,
    "splashes 4": lambda r: splashes(r, 4, 240, 5),
    "splashes 3, large": lambda r: splashes(r, 3, 900, 7),
    "dense beside sparse": lambda r: dense_beside_sparse(r, 300, 200),
    "dense beside sparse, unbalanced": lambda r: dense_beside_sparse(r, 1500, 150),
    "dense in sparse": lambda r: dense_in_sparse(r, 2, 300, 400),
    "dense in sparse, 3-D": lambda r: dense_in_sparse(r, 3, 200, 600),
    "pairs of small groups": lambda r: pairs_of_pairs(r, 40),
    "small regular 3": lambda r: small_regular(r, (25, 40, 60), 2.6),
    "small regular 5": lambda r: small_regular(r, (45, 30, 60, 15, 35), 2.8),
    "small regular 7": lambda r: small_regular(r, (50, 40, 30, 45, 12, 20, 35), 3.0),
    "small shapes": small_shapes,
}
