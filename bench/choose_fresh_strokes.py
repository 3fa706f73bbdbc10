"""Shapes of the fresh half made of strokes, of regular lattices, and of bands."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bench.choose_fresh_outlines import Draw, in_noise, moved, strewn
from bench.choose_pieces import Drawn, Rng, about, arc, ball, box, join, lattice, polyline, spots

LETTERS: dict[str, list[tuple[float, float]]] = {  # one stroke each, in a frame 1 wide and 1.6 high
    "L": [(0, 1.6), (0, 0), (1, 0)],
    "C": [(1, 1.4), (0.7, 1.6), (0.2, 1.5), (0, 1), (0, 0.6), (0.2, 0.1), (0.7, 0), (1, 0.2)],
    "S": [(1, 1.4), (0.6, 1.6), (0.1, 1.4), (0.1, 1), (0.9, 0.6), (0.9, 0.2), (0.5, 0), (0, 0.2)],
    "U": [(0, 1.6), (0, 0.3), (0.3, 0), (0.7, 0), (1, 0.3), (1, 1.6)],
    "V": [(0, 1.6), (0.5, 0), (1, 1.6)],
    "Z": [(0, 1.6), (1, 1.6), (0, 0), (1, 0)],
    "N": [(0, 0), (0, 1.6), (1, 0), (1, 1.6)],
    "M": [(0, 0), (0, 1.6), (0.5, 0.7), (1, 1.6), (1, 0)],
    "T": [(0, 1.6), (1, 1.6), (0.5, 1.6), (0.5, 0)],
    "P": [(0, 0), (0, 1.6), (0.8, 1.5), (0.9, 1.1), (0.7, 0.8), (0, 0.8)],
    "J": [(1, 1.6), (1, 0.3), (0.7, 0), (0.3, 0), (0, 0.4)],
    "7": [(0, 1.6), (1, 1.6), (0.3, 0)],
}  # fmt: skip

# --- strokes in the plane -----------------------------------------------------------------------------------------


def letters(rng: Rng, k: int, n: int, per_line: int = 9) -> Drawn:
    width, space = rng.uniform(0.03, 0.06), rng.uniform(1.55, 1.75)
    chosen = rng.choice(list(LETTERS), k, replace=k > len(LETTERS))
    return join(*[
        moved(polyline(rng, about(rng, n), LETTERS[letter], width), space * (i % per_line), -2.5 * (i // per_line))
        for i, letter in enumerate(chosen)
    ])  # fmt: skip


def frames(rng: Rng, k: int, sides: int, n: int) -> Drawn:
    """Outlines of regular polygons around one middle; as many rows a length."""
    angle = 2 * np.pi * np.arange(sides + 1) / sides
    ring, width = np.c_[np.cos(angle), np.sin(angle)], rng.uniform(0.03, 0.07)
    radii = 0.6 + np.arange(k) * rng.uniform(0.9, 1.1)
    return join(*[polyline(rng, about(rng, round(n * r), 0.1), r * ring, width) for r in radii])


def snakes(rng: Rng, k: int, n: int, step: float = 1.0) -> Drawn:
    """Waves above each other, bent alike, of different lengths."""
    t, parts = np.linspace(0, 1, 60), []
    high, turns = rng.uniform(0.4, 0.7), rng.uniform(1.0, 2.0)
    for i in range(k):
        x = rng.uniform(0, 1) + t * rng.uniform(5.0, 7.0)
        parts.append(polyline(rng, about(rng, n), np.c_[x, step * i + high * np.sin(turns * x)], 0.05))
    return join(*parts)


def s_curves(rng: Rng, n: int, width: float, even: bool = False) -> Drawn:
    t = np.linspace(-1.5 * np.pi, 1.5 * np.pi, 100)
    curve, apart = np.c_[np.sin(t), np.sign(t) * (np.cos(t) - 1)], rng.uniform(2.8, 3.2)
    return join(*[moved(polyline(rng, about(rng, n), curve, width, even), apart * i, 0) for i in range(2)])


def figure_eight(rng: Rng, blobs: int) -> Drawn:
    t = np.linspace(0, 2 * np.pi, 120)
    curve = np.c_[2 * np.cos(t), 1.6 * np.sin(2 * t) / 1.6] / (1 + 0.2 * np.sin(t)[:, None] ** 2)
    parts = [polyline(rng, about(rng, 500), curve, rng.uniform(0.04, 0.07))]
    places = [(3.1, 0.6), (-3.1, -0.5), (0.0, 2.0)][:blobs]
    return join(*parts, *[spots(rng, about(rng, 110), place, rng.uniform(0.15, 0.2)) for place in places])


def hooks(rng: Rng, n: int) -> Drawn:
    """Two square hooks, each with an end inside the other."""
    deep, width = rng.uniform(0.8, 1.3), rng.uniform(0.05, 0.1)
    lower = [(0, 2), (0, 0), (2, 0), (2, 2)]
    upper = [(1, 2 - deep), (1, 3), (3, 3), (3, 2 - deep)]
    return join(polyline(rng, about(rng, n), lower, width), polyline(rng, about(rng, n), upper, width))


def chevrons(rng: Rng, k: int, n: int, even: bool = False) -> Drawn:
    steep, step = rng.uniform(0.6, 1.1), rng.uniform(0.8, 1.0)
    shape = np.array([(-2, 0), (0, 2 * steep), (2, 0)])
    return join(*[
        polyline(rng, about(rng, n), moved(shape, 0, step * i * np.hypot(1, steep)), 0.03 if even else 0.07, even)
        for i in range(k)
    ])  # fmt: skip


def stairs(rng: Rng, k: int, n: int) -> Drawn:
    steps = [(i // 2 + i % 2, i // 2) for i in range(9)]
    return join(
        *[polyline(rng, about(rng, n), moved(np.array(steps), 1.5 * i, -0.9 * i), 0.06) for i in range(k)]
    )


def rails_and_sleepers(rng: Rng, sleepers: int) -> Drawn:
    wide, long = rng.uniform(1.8, 2.2), 0.9 * sleepers
    rails = [
        polyline(rng, about(rng, 55 * sleepers), [(-0.5, s * wide), (long, s * wide)], 0.04) for s in (-1, 1)
    ]
    x, end = 0.9 * np.arange(sleepers), wide - 0.55
    return join(*rails, *[box(rng, about(rng, 75), (a, -end), (a + 0.3, end)) for a in x])


def tree_and_apples(rng: Rng) -> Drawn:
    high = rng.uniform(0.9, 1.1)
    bough = [
        (0, 0), (0, 1), (1.5, 2.2), (0, 1), (-1.5, 2.2), (0, 1), (0, 2), (0.8, 3.4), (0, 2), (-0.8, 3.4)
    ]  # fmt: skip
    places = [(-1.2, 1.0), (1.2, 1.0), (0, 3.3), (1.6, 3.2), (-1.6, 3.2)]
    apples = [ball(rng, about(rng, 70), 2, rng.uniform(0.18, 0.25), place) for place in places]
    rows, labels = join(polyline(rng, about(rng, 700), bough, 0.035), *apples)
    return rows * [1, high], labels


def exclamation_marks(rng: Rng, k: int) -> Drawn:
    parts = []
    for i in range(k):
        y = 2.4 * np.sqrt(rng.uniform(0, 1, about(rng, 200)))
        bar = np.c_[(0.1 + 0.12 * y) * rng.uniform(-1, 1, len(y)) + 1.6 * i, y]
        parts += [bar, ball(rng, about(rng, 70), 2, 0.24, (1.6 * i, rng.uniform(-1.1, -0.8)))]
    return join(*parts)


def eye(rng: Rng) -> Drawn:
    t = np.linspace(-1, 1, 60)
    lid = rng.uniform(1.0, 1.2) * (1 - t**2)
    outline = np.r_[np.c_[2 * t, lid], np.c_[-2 * t, -lid]]
    brow = np.c_[2 * t, lid * 0.8 + rng.uniform(0.9, 1.1)]
    return join(
        polyline(rng, about(rng, 520), outline, 0.04), ball(rng, about(rng, 160), 2, rng.uniform(0.35, 0.5)),
        polyline(rng, about(rng, 260), brow, 0.06),
    )  # fmt: skip


def tadpoles(rng: Rng, k: int) -> Drawn:
    parts = []
    for i in range(k):
        x = np.linspace(0, 2.6, 50)
        tail = np.c_[x, rng.uniform(0.15, 0.3) * np.sin(4 * x)]
        head = ball(rng, about(rng, 150), 2, 0.45, (-0.3, 0))
        one = np.vstack([head, polyline(rng, about(rng, 130), tail, 0.05)])
        parts.append(moved(one, rng.uniform(-0.6, 0.6), 1.5 * i))
    return join(*parts)


def chain_of_discs(rng: Rng, k: int, n: int) -> Drawn:
    """Discs along a bent line, with clear gaps."""
    t, bend = np.arange(k), rng.uniform(0.3, 0.7)
    places = np.c_[2.1 * t, 2.5 * np.sin(bend * t)]
    return join(*[ball(rng, about(rng, n), 2, rng.uniform(0.6, 0.85), place) for place in places])


def ring_in_pieces(rng: Rng, k: int, n: int) -> Drawn:
    cuts, gap = np.arange(k) + rng.uniform(-0.15, 0.15, k), rng.uniform(0.1, 0.14)
    ends = 2 * np.r_[cuts, cuts[0] + k] / k
    return join(*[
        arc(rng, about(rng, n), 1.0, 0.04, (a + gap / 2, b - gap / 2))
        for a, b in pairwise(ends)
    ])  # fmt: skip


def comets(rng: Rng, k: int, n: int) -> Drawn:
    parts = []
    for i in range(k):
        x = rng.exponential(rng.uniform(0.8, 1.2), about(rng, n))
        y = (0.14 + 0.07 * x) * rng.normal(size=len(x))
        parts.append(np.c_[rng.uniform(-1, 1) + x, 1.9 * i + y])
    return join(*parts)


# --- lattices and bands -------------------------------------------------------------------------------------------


def beds(rng: Rng, across: int, down: int, shape: tuple[int, int], jitter: float) -> Drawn:
    """Beds of plants on a regular lattice with lanes between them."""
    lane, (p, q) = (
        rng.uniform(2.3, 3.0),
        (shape[0] + int(rng.integers(0, 3)), shape[1] + int(rng.integers(0, 3))),
    )
    bed = np.stack(np.meshgrid(np.arange(p), np.arange(q)), axis=-1).reshape(-1, 2).astype(float)
    return join(*[
        moved(bed, (p - 1 + lane) * i, (q - 1 + lane) * j) + jitter * rng.normal(size=bed.shape)
        for i in range(across) for j in range(down)
    ])  # fmt: skip


def patches(rng: Rng, k: int, n: int) -> Drawn:
    return strewn(rng, [lattice(rng, about(rng, n), 1.0, (0, 0), 0.1) for _ in range(k)], 0.6, (0.8, 1.1))


def blobs_on_lattice(rng: Rng, across: int, n: int, gap: float, hexagons: bool = False) -> Drawn:
    shift = np.sqrt(0.75) if hexagons else 1.0
    places = [(i + (j % 2) / 2 * hexagons, shift * j) for i in range(across) for j in range(across)]
    return join(*[spots(rng, about(rng, n), place, rng.uniform(0.9, 1.1) / gap) for place in places])


def ridges(rng: Rng, sizes: Sequence[int], sharp: float) -> Drawn:
    """Bands that touch where hardly a row is left, of different densities and lengths."""
    parts, y = [], 0.0
    for n in sizes:
        wide, m = rng.uniform(0.8, 1.2), about(rng, n)
        parts.append(np.c_[rng.uniform(rng.uniform(0, 0.5), 5, m), y + wide * rng.beta(sharp, sharp, m)])
        y += wide
    return join(*parts)


STROKES: dict[str, Draw] = {
    "letters 5, strokes": lambda rng: letters(rng, 5, 160),
    "letters 8 in two lines": lambda rng: letters(rng, 8, 170, 4),
    "letters 3 of 60": lambda rng: letters(rng, 3, 60),
    "squares around each other 3": lambda rng: frames(rng, 3, 4, 260),
    "triangles around each other 2": lambda rng: frames(rng, 2, 3, 200),
    "hexagons around each other 4, large": in_noise(lambda rng: frames(rng, 4, 6, 550), 0.05, 0.1),
    "snakes 4": lambda rng: snakes(rng, 4, 260),
    "snakes 5 in noise, large": in_noise(lambda rng: snakes(rng, 5, 750, 1.3), 0.15, 0.25),
    "S curves 2": lambda rng: s_curves(rng, 320, 0.08),
    "S curves 2 of 60, even": lambda rng: s_curves(rng, 60, 0.05, even=True),
    "figure eight and 3 blobs": lambda rng: figure_eight(rng, 3),
    "hooks interlocked": lambda rng: hooks(rng, 250),
    "hooks interlocked, 100 rows": lambda rng: hooks(rng, 50),
    "chevrons 4": lambda rng: chevrons(rng, 4, 200),
    "chevrons 3 of 25, even": lambda rng: chevrons(rng, 3, 25, even=True),
    "stairs 3": lambda rng: stairs(rng, 3, 320),
    "rails and sleepers": lambda rng: rails_and_sleepers(rng, 6),
    "tree and apples": tree_and_apples,
    "exclamation marks 3": lambda rng: exclamation_marks(rng, 3),
    "eye and brow": eye,
    "tadpoles 4": lambda rng: tadpoles(rng, 4),
    "chain of 8 discs": lambda rng: chain_of_discs(rng, 8, 130),
    "chain of 5 discs in noise, large": in_noise(lambda rng: chain_of_discs(rng, 5, 700), 0.2, 0.3),
    "ring in 5 pieces": lambda rng: ring_in_pieces(rng, 5, 110),
    "comets 3": lambda rng: comets(rng, 3, 350),
    "beds of plants 6": lambda rng: beds(rng, 3, 2, (6, 5), 0.08),
    "beds of plants 4, exact": lambda rng: beds(rng, 2, 2, (4, 4), 0.001),
    "lattice patches 5 of 30": lambda rng: patches(rng, 5, 30),
    "blobs on a lattice 25": lambda rng: blobs_on_lattice(rng, 5, 40, 6.0),
    "blobs on a hexagonal lattice 16": lambda rng: blobs_on_lattice(rng, 4, 120, 5.5, hexagons=True),
    "ridges of three densities": lambda rng: ridges(rng, (1200, 600, 350), 4.0),
    "ridges 2, large": lambda rng: ridges(rng, (2600, 1300), 3.0),
}  # fmt: skip
