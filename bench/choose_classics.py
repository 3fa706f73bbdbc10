"""Tables with groups of kinds that the literature on clustering draws again and again: a bowl and a ball, a ring with
a core, zigzags, touching balls, shapes in noise. No published table is copied: sizes, places and widths are drawn."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from bench.choose_curves import moons
from bench.choose_pictures import face
from bench.choose_pieces import (
    Array,
    Drawn,
    Rng,
    about,
    arc,
    ball,
    box,
    join,
    polyline,
    sphere,
    spots,
    with_noise,
)
from bench.choose_regions import stripes

Draws = dict[str, Callable[[Rng], Drawn]]


def blur(rng: Rng, curve: ArrayLike, width: float) -> Array:
    """The points of a curve (n, d) moved by normal noise."""
    points = np.asarray(curve, float)
    return points + width * rng.normal(size=points.shape)


def evenly(rng: Rng, n: int) -> Array:
    """n shares of a length, evenly spaced and jittered by up to a third of the spacing."""
    return (np.arange(n) + rng.uniform(-0.3, 0.3, n)) / n


# --- curves -------------------------------------------------------------------------------------------------------


def bowl_and_ball(rng: Rng) -> Drawn:
    """A wide bowl and a normal group that sinks into it."""
    t = rng.uniform(-1, 1, about(rng, 150))
    depth = 2.2 * rng.uniform(0.8, 1.2)
    bowl = np.c_[5 * t, depth * (t**2 - 1) + 0.55 * rng.normal(size=len(t))]
    above = (rng.uniform(-0.5, 0.5), rng.uniform(1.9, 2.4))
    return join(bowl, spots(rng, about(rng, 87), above, (1.5, 1.1)))


def arc_around_two_wide(rng: Rng) -> Drawn:
    """An open ring around two normal groups that nearly reach it, and each other."""
    return join(
        arc(rng, about(rng, 110), 10, 0.7, (-0.2, 1.2)),
        spots(rng, about(rng, 97), (-4.5, 0), 1.9),
        spots(rng, about(rng, 93), (4.5, rng.uniform(-0.5, 0.5)), 1.9),
    )


def thinning_spirals(rng: Rng, n: int, width: float) -> Drawn:
    """Three arms whose rows are spaced wider and wider outwards."""
    parts = []
    for phase in (0.0, 2.1, 4.2):
        t = evenly(rng, about(rng, n, 0.1))
        angle = 2 * np.pi * 0.85 * t + phase
        parts.append(blur(rng, np.c_[np.cos(angle), np.sin(angle)] * (3 + 11 * t)[:, None], width))
    return join(*parts)


def long_zigzags(rng: Rng, n: int, width: float) -> Drawn:
    """Three zigzags of two teeth, above each other."""
    parts = []
    for low in (0.0, rng.uniform(1.3, 1.8), rng.uniform(3.0, 3.6)):
        t = evenly(rng, about(rng, n, 0.1))
        parts.append(blur(rng, np.c_[10 * t, low + np.abs((4 * t) % 2 - 1)], width))
    return join(*parts)


def facing_parabolas(rng: Rng, n: int, width: float) -> Drawn:
    """Two parabolas that reach into each other, wider than the gap allows."""
    x, y = rng.uniform(-2, 2, about(rng, n)), rng.uniform(-2, 2, about(rng, n))
    return join(blur(rng, np.c_[x, x**2], width), blur(rng, np.c_[y + 2, 4.5 - y**2], width))


def wide_cross(rng: Rng) -> Drawn:
    w = rng.uniform(0.22, 0.28)
    return join(*[polyline(rng, about(rng, 400), [(-3, -y), (3, y)], w) for y in (-3, 3)])


def crossing_trajectories(rng: Rng, n: int) -> Drawn:
    """Four tracks, of which one meets another."""
    tracks: list[Callable[[Array], Array]] = [
        lambda t: 2 * np.sin(6 * t),
        lambda t: 2 * np.sin(6 * t) + 2,
        lambda t: 3 * t - 4,
        lambda t: 6 + np.cos(5 * t),
    ]
    parts = []
    for track in tracks:
        t = rng.uniform(0, 1, about(rng, n, 0.1))
        parts.append(blur(rng, np.c_[10 * t, track(t)], rng.uniform(0.13, 0.17)))
    return join(*parts)


def crossing_rings(rng: Rng, n: int) -> Drawn:
    """Five rings in two rows, each crossing the next."""
    centers = ((0, 0), (2.8, 0), (5.6, 0), (1.4, -1.4), (4.2, -1.4))
    return join(*[arc(rng, about(rng, n), 1.2, 0.06, center=c) for c in centers])


def core_in_two_rings(rng: Rng, n: int) -> Drawn:
    rings = arc(rng, about(rng, n), 1, 0.1), arc(rng, about(rng, 2 * n), 2.2, 0.2)
    return join(*rings, spots(rng, about(rng, n), (0, 0), 0.12))


def ring_core_and_corners(rng: Rng) -> Drawn:
    """A ring, a core, and three rows in each of four corners: too few for groups, they belong to none."""
    rows, labels = join(arc(rng, about(rng, 395), 3, 0.15), spots(rng, about(rng, 363), (0, 0), 0.3))
    far = np.vstack([spots(rng, 3, (x, y), 0.05) for x in (-4, 4) for y in (-4, 4)])
    return np.vstack([rows, far]), np.r_[labels, np.zeros(len(far), np.int64)]


def shell_around_bars(rng: Rng) -> Drawn:
    """A sphere in space around two short bars that cross without touching."""
    m = about(rng, 1500)
    bars = [polyline(rng, about(rng, 600), [(-1, s, -s), (1, s, s)], 0.15) for s in (1, -1)]
    return join(blur(rng, 4 * sphere(rng, m, 3), 0.15), *bars)


# --- regions ------------------------------------------------------------------------------------------------------


def three_kinds_of_pairs(rng: Rng) -> Drawn:
    """Two groups side by side, a core in a ring, and a dense group in a sparse box."""
    return join(
        spots(rng, about(rng, 50), (0, 0), 0.8),
        spots(rng, about(rng, 92), (0, rng.uniform(3.6, 4.4)), 0.9),
        spots(rng, about(rng, 38), (12, 0), 0.6),
        arc(rng, about(rng, 45), 3, 0.35, center=(12, 0)),
        spots(rng, about(rng, 158), (11, 10), (0.7, 0.56)),
        box(rng, about(rng, 16), (8, 7), (14, 13)),
    )


def line_and_two(rng: Rng) -> Drawn:
    """A line with a normal group on each side."""
    return join(
        polyline(rng, about(rng, 100), [(0, 0), (10, 0)], 0.1),
        spots(rng, about(rng, 100), (3, rng.uniform(2.2, 3.0)), 0.5),
        spots(rng, about(rng, 50), (7, rng.uniform(-3.0, -2.2)), 0.5),
    )


def boxes_and_a_ball(rng: Rng) -> Drawn:
    """Two boxes like an L, and a normal group beside them."""
    return join(
        box(rng, about(rng, 100), (0, 2), (1, 5)),
        box(rng, about(rng, 200), (1.6, 0), (5, 1)),
        spots(rng, about(rng, 100), (3.8, rng.uniform(2.9, 3.4)), 0.4),
    )


def two_diamonds(rng: Rng) -> Drawn:
    """Squares tip to tip."""
    turn = np.array([[1, 1], [1, -1]]) / 2
    return join(*[
        box(rng, about(rng, 400), (-1, -1), (1, 1)) @ turn + (s * rng.uniform(1.01, 1.03), 0) for s in (-1, 1)
    ])  # fmt: skip


def thinning_boxes(rng: Rng) -> Drawn:
    """Two boxes, the second higher up, both thinning out towards the gap between them."""
    m, k, gap = about(rng, 500), about(rng, 500), rng.uniform(0.35, 0.5)
    return join(
        np.c_[2 * rng.beta(1, 1.6, m), rng.uniform(0, 3, m)],
        np.c_[4 + gap - 2 * rng.beta(1, 1.6, k), rng.uniform(1, 4, k)],
    )


def touching_balls(rng: Rng, n: int) -> Drawn:
    """Balls in space about the corners of a tetrahedron."""
    corners = rng.uniform(1.05, 1.2) * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    return join(*[ball(rng, about(rng, n), 3, 1.5, c) for c in corners])


def panes_and_thin_frame(rng: Rng) -> Drawn:
    """Four panes and, far from them, a thin square frame."""
    panes = [box(rng, about(rng, 400), (x, y), (x + 1, y + 1)) for x in (0, 1.4) for y in (0, 1.4)]
    frame = [(-1, -1), (3.4, -1), (3.4, 3.4), (-1, 3.4), (-1, -1)]
    return join(*panes, polyline(rng, about(rng, 1200), frame, 0.06))


def nodes_and_edges(rng: Rng, count: int, n: int) -> Drawn:
    """Normal groups anywhere (two may overlap), each with a thin line to the next that belongs to it."""
    places = rng.uniform(-10, 10, (count, 2))
    nodes = [spots(rng, about(rng, n), p, 0.5) for p in places]
    edges = [polyline(rng, n // 4, ends, 0.08) for ends in pairwise(places)]
    return join(*[np.vstack([a, b]) for a, b in zip(nodes[:-1], edges, strict=True)], nodes[-1])


def regular_squares(rng: Rng) -> Drawn:
    """Four square lattices of about 7 x 7 jittered rows around a cross 2.6 spacings wide."""
    parts = []
    for sides in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        across, up = rng.integers(6, 9, 2)
        cells = np.stack(np.meshgrid(np.arange(across), np.arange(up)), axis=-1).reshape(-1, 2)
        parts.append((cells + 1.3 + rng.uniform(-0.2, 0.2, cells.shape)) * sides)
    return join(*parts)


def seven_shapes(rng: Rng, n: int, noise: float) -> Drawn:
    """Bars, two arcs that reach into each other and a long normal group in background noise."""
    w = rng.uniform(0.16, 0.2)
    parts = [
        box(rng, about(rng, n // 6), (0, 0), (4, 0.8)),
        arc(rng, about(rng, n // 6), 2, w, (0, 1), (6.8, 1.5)),
        arc(rng, about(rng, n // 6), 2, w, (1, 2), (8.6, 2.6)),
        polyline(rng, about(rng, n // 8), [(0, 3), (4, 5)], 0.15),
        spots(rng, about(rng, n // 8), (10, 5), (0.9, 0.25)),
        box(rng, about(rng, n // 8), (5, 4.6), (5.8, 7.5)),
        polyline(rng, about(rng, n // 8), [(0, 7), (4, 5.9)], 0.15),
    ]
    return with_noise(rng, join(*parts), noise)


def dense_near_sparse(rng: Rng) -> Drawn:
    far = (rng.uniform(3, 4), 0)
    return join(
        spots(rng, about(rng, 100), (0, 0), 0.3), spots(rng, about(rng, 100), far, rng.uniform(1.0, 1.5))
    )


SHAPES: Draws = {
    "bowl and a ball": bowl_and_ball,
    "arc around two wide ones": arc_around_two_wide,
    "spirals 3, thinning": lambda r: thinning_spirals(r, 104, 0.15),
    "spirals 3 of 60, thinning": lambda r: thinning_spirals(r, 60, 0.25),
    "zigzags 3 of 84": lambda r: long_zigzags(r, 84, 0.05),
    "zigzags 3, long": lambda r: long_zigzags(r, 300, 0.08),
    "parabolas facing, wide": lambda r: facing_parabolas(r, 500, 0.25),
    "crossing lines, wide": wide_cross,
    "trajectories 4, crossing": lambda r: crossing_trajectories(r, 1500),
    "rings crossing 5": lambda r: crossing_rings(r, 600),
    "rings 2 around a core": lambda r: core_in_two_rings(r, 1500),
    "rings 2, small": lambda r: join(arc(r, about(r, 60), 1, 0.08), arc(r, about(r, 120), 2.2, 0.1)),
    "ring around a core, corners": ring_core_and_corners,
    "moons 75, wide": lambda r: moons(r, 75, 75, (0.09, 0.11)),
    "shell around bars": shell_around_bars,
    "pairs of three kinds": three_kinds_of_pairs,
    "line and two normals": line_and_two,
    "boxes and a ball": boxes_and_a_ball,
    "stripes 2, large": lambda r: stripes(r, 2, 1200),
    "diamonds 2": two_diamonds,
    "boxes thinning": thinning_boxes,
    "balls touching 4": lambda r: touching_balls(r, 100),
    "window, thin frame": panes_and_thin_frame,
    "nodes and edges 10": lambda r: nodes_and_edges(r, 10, 250),
    "regular squares 4": regular_squares,
    "face, small": lambda r: face(r, 150, 30, True),
    "dense near sparse": dense_near_sparse,
}

IN_NOISE: Draws = {
    "noise 15, zigzags": lambda r: with_noise(r, long_zigzags(r, 84, 0.05), 0.15),
    "noise 5, seven shapes": lambda r: seven_shapes(r, 2000, 0.05),
    "noise 10, seven shapes": lambda r: seven_shapes(r, 6000, 0.10),
    "noise 15, seven shapes": lambda r: seven_shapes(r, 8000, 0.15),
}

CLASSICS = {"shape": SHAPES, "noise": IN_NOISE}  # by kind
