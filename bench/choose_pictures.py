"""Tables that are pictures: faces, letters and bars in background noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.choose_pieces import (
    Array,
    Drawn,
    Rng,
    about,
    arc,
    ball,
    join,
    lattice,
    polyline,
    spots,
    with_noise,
)


def face(rng: Rng, n: int, eyes: int, round_eyes: bool) -> Drawn:
    """A ring, two eyes and a mouth."""
    x, y = rng.uniform(0.3, 0.4), rng.uniform(0.25, 0.35)
    outline = arc(rng, about(rng, n), 1, 0.03)
    mouth = arc(rng, about(rng, n // 3), 0.5, 0.03, (1.15, 1.85), (0, 0.0))
    places = [(s * x, y) for s in (-1, 1)]
    if round_eyes:
        pair = [spots(rng, about(rng, eyes), p, 0.06) for p in places]
    else:
        pair = [lattice(rng, about(rng, eyes), 0.1, p) for p in places]
    return join(outline, *pair, mouth)


LETTERS = {  # corners in a field of 1 x 1.6
    "L": [(0, 1.6), (0, 0), (1, 0)],
    "N": [(0, 0), (0, 1.6), (1, 0), (1, 1.6)],
    "V": [(0, 1.6), (0.5, 0), (1, 1.6)],
    "Z": [(0, 1.6), (1, 1.6), (0, 0), (1, 0)],
    "U": [(0, 1.6), (0, 0), (1, 0), (1, 1.6)],
    "M": [(0, 0), (0, 1.6), (0.5, 0.6), (1, 1.6), (1, 0)],
    "S": [(1, 1.6), (0, 1.6), (0, 0.8), (1, 0.8), (1, 0), (0, 0)],
}


def letters(rng: Rng, count: int, n: int, noise: float) -> Drawn:
    """Letters in thick pen in a row or two, in background noise."""
    names = rng.choice(list(LETTERS), count, replace=False)
    step, pen = rng.uniform(1.7, 1.9), rng.uniform(0.08, 0.12)
    parts = []
    for j, name in enumerate(names):
        corners = np.add(LETTERS[str(name)], (step * (j % 3), 2.4 * (j // 3)))
        length = np.linalg.norm(np.diff(corners, axis=0), axis=1).sum()
        stroke = polyline(rng, about(rng, round(n * length / 4), 0.1), corners, 0.0)
        parts.append(stroke + rng.uniform(-pen, pen, stroke.shape))
    return with_noise(rng, join(*parts), noise)


def picture(rng: Rng, n: int, noise: float) -> Drawn:
    """Bars, a ring around a disc, a wave and a wedge in background noise; n rows an area of 1."""
    w = rng.uniform(0.15, 0.2)

    def strip(corners: list[tuple[float, float]]) -> Array:
        length = np.linalg.norm(np.diff(np.array(corners), axis=0), axis=1).sum()
        rows = polyline(rng, about(rng, round(n * 2 * w * length), 0.1), corners, 0.0)
        return rows + rng.uniform(-w, w, rows.shape)

    t = np.linspace(0, 2 * np.pi, 40)
    circle = [(1.6 + 1.3 * float(np.cos(a)), 4.2 + 1.3 * float(np.sin(a))) for a in t]
    wave = [(3.8 + 0.65 * float(a), 4.4 + 0.8 * float(np.sin(a + 1))) for a in t]
    parts = [
        strip([(0, 0), (3.5, 0.6)]),
        strip([(0, 1.0), (2.8, 1.9)]),
        strip([(4.8, -0.2), (4.6, 2.8)]),
        strip([(6.0, 0.0), (7.8, 1.2), (6.0, 2.4)]),
        strip(circle),
        strip(wave),
        ball(rng, about(rng, round(n * 0.8)), 2, 0.5, (1.6, 4.2)),
    ]
    return with_noise(rng, join(*parts), noise)


PICTURES: dict[str, Callable[[Rng], Drawn]] = {
    "face": lambda r: face(r, 400, 80, False),
    "face, dense eyes": lambda r: face(r, 250, 150, True),
    "letters 3 in noise": lambda r: letters(r, 3, 900, 0.1),
    "letters 6 in noise": lambda r: letters(r, 6, 1100, 0.12),
    "picture in noise": lambda r: picture(r, 420, 0.1),
    "picture in noise, large": lambda r: picture(r, 700, 0.15),
}
