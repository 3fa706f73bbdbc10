"""Tables without groups: one place that rows gather about, or an even, bent, heavy-tailed or wandering one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.choose_pieces import Array, Rng, about, arc, ball, factors, polyline, rotation

Maker = Callable[[Rng, int, int], Array]


def correlated(rng: Rng, n: int, d: int) -> Array:
    return rng.normal(size=(n, d)) @ factors(rng, 1, d, (1.0, 1.0), 4.0)[0]


def gamma(rng: Rng, n: int, d: int) -> Array:
    return rng.gamma(rng.uniform(1.5, 4.0), 1.0, (n, d))


def lognormal(rng: Rng, n: int, d: int) -> Array:
    return np.exp(rng.uniform(0.5, 1.0) * rng.normal(size=(n, d)))


def elliptic_t(rng: Rng, n: int, d: int) -> Array:
    return correlated(rng, n, d) / np.sqrt(rng.chisquare(3, (n, 1)) / 3)


def of_two_scales(rng: Rng, n: int, d: int) -> Array:
    """One center, two widths: heavy tails of a kind that a mixture of two fits well."""
    scale = np.where(rng.uniform(size=(n, 1)) < rng.uniform(0.15, 0.5), rng.uniform(2.0, 4.0), 1.0)
    return rng.normal(size=(n, d)) * scale


def of_many_scales(rng: Rng, n: int, d: int) -> Array:
    """Every row with a width of its own."""
    return rng.normal(size=(n, d)) * np.exp(0.7 * rng.normal(size=(n, 1)))


def a_ring(rng: Rng, n: int, _: int) -> Array:
    return arc(rng, n, 1, rng.uniform(0.05, 0.15))


def an_arc(rng: Rng, n: int, _: int) -> Array:
    return arc(rng, n, 1, rng.uniform(0.05, 0.12), (0, rng.uniform(0.6, 1.4)))


def a_line(rng: Rng, n: int, d: int) -> Array:
    return polyline(rng, n, [np.zeros(d), 5 * rng.normal(size=d)], rng.uniform(0.03, 0.2))


def a_banana(rng: Rng, n: int, d: int) -> Array:
    """Normal, with the second column bent by the square of the first."""
    rows = rng.normal(size=(n, d))
    rows[:, 1] = 0.5 * rows[:, 1] + rng.uniform(0.3, 0.8) * rows[:, 0] ** 2
    return rows


def a_rolled_sheet(rng: Rng, n: int, _: int) -> Array:
    angle = np.pi * rng.uniform(1.0, 2.6, n)
    return np.c_[angle * np.cos(angle), 8 * rng.uniform(size=n), angle * np.sin(angle)] @ rotation(rng, 3)


def a_bent_sheet(rng: Rng, n: int, _: int) -> Array:
    x, y = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    return np.c_[x, y, rng.uniform(0.5, 1.0) * (x**2 - y**2) + 0.05 * rng.normal(size=n)]


def a_simplex(rng: Rng, n: int, d: int) -> Array:
    """Shares that sum to 1, the last left out."""
    return rng.dirichlet(np.ones(d + 1), n)[:, :d]


def of_factors(rng: Rng, n: int, d: int) -> Array:
    """Columns that share two or three normal factors."""
    common = rng.normal(size=(n, int(rng.integers(2, 4))))
    return common @ rng.normal(size=(common.shape[1], d)) + rng.uniform(0.4, 1.0) * rng.normal(size=(n, d))


def of_skewed_factors(rng: Rng, n: int, d: int) -> Array:
    common = rng.exponential(size=(n, 2))
    return common @ rng.normal(size=(2, d)) + rng.uniform(0.4, 1.0) * rng.normal(size=(n, d))


def a_walk(rng: Rng, n: int, d: int) -> Array:
    """Down the rows."""
    return rng.normal(size=(n, d)).cumsum(axis=0)


def a_walk_along(rng: Rng, n: int, d: int) -> Array:
    """Along the columns: neighbours are correlated."""
    return rng.normal(size=(n, d)).cumsum(axis=1)


def rounded(rng: Rng, n: int, d: int) -> Array:
    return np.round(rng.normal(size=(n, d)) * rng.uniform(1.5, 4.0))


def a_gradient(rng: Rng, n: int, d: int) -> Array:
    """In a box, denser to one side."""
    return np.c_[rng.beta(1.0, rng.uniform(2.0, 3.0), n), rng.uniform(size=(n, d - 1))]


def mixed_columns(rng: Rng, n: int, d: int) -> Array:
    """Normal, skewed, even and heavy-tailed columns side by side, correlated by a common factor."""
    z = rng.normal(size=(n, d)) + 0.6 * rng.normal(size=(n, 1))
    shaped = [
        z[:, j] if j % 3 == 0 else np.exp(0.5 * z[:, j]) if j % 3 == 1 else np.tanh(z[:, j]) for j in range(d)
    ]
    return np.column_stack(shaped)


GROUPLESS: dict[str, tuple[Maker, tuple[tuple[int, int], ...]]] = {  # name -> how, rows and columns
    "normal": (lambda r, n, d: r.normal(size=(n, d)), ((60, 2), (100, 1), (300, 5), (1000, 3), (3000, 2), (400, 20))),
    "correlated": (correlated, ((150, 4), (800, 10), (250, 30))),
    "even": (lambda r, n, d: r.uniform(size=(n, d)), ((80, 2), (300, 1), (800, 2), (2500, 2), (1000, 5), (400, 12))),
    "ball": (lambda r, n, d: ball(r, n, d), ((200, 2), (1500, 2), (800, 4))),
    "exponential": (lambda r, n, d: r.exponential(size=(n, d)), ((200, 2), (1000, 3), (500, 8))),
    "lognormal": (lognormal, ((150, 2), (700, 4))),
    "gamma": (gamma, ((300, 3), (1200, 6))),
    "student": (lambda r, n, d: r.standard_t(3, (n, d)), ((200, 2), (1000, 5))),
    "elliptic student": (elliptic_t, ((400, 3), (1500, 8))),
    "two scales": (of_two_scales, ((400, 2), (1000, 6))),
    "many scales": (of_many_scales, ((600, 3),)),
    "ring": (a_ring, ((200, 2), (1500, 2))),
    "arc": (an_arc, ((150, 2), (1000, 2))),
    "line": (a_line, ((200, 2), (600, 5))),
    "banana": (a_banana, ((300, 2), (1000, 4))),
    "rolled sheet": (a_rolled_sheet, ((1200, 3),)),
    "bent sheet": (a_bent_sheet, ((500, 3),)),
    "simplex": (a_simplex, ((400, 3),)),
    "factors": (of_factors, ((200, 10), (500, 25), (300, 60))),
    "skewed factors": (of_skewed_factors, ((400, 12),)),
    "walk": (a_walk, ((500, 2), (1000, 5))),
    "walk along columns": (a_walk_along, ((400, 12),)),
    "rounded": (rounded, ((300, 2), (1000, 3))),
    "gradient": (a_gradient, ((800, 2),)),
    "mixed columns": (mixed_columns, ((500, 6),)),
}  # fmt: skip


def drawn(make: Maker, n: int, d: int) -> Callable[[Rng], tuple[Array, np.ndarray]]:
    """The maker with its size, all rows in one group."""

    def draw(rng: Rng) -> tuple[Array, np.ndarray]:
        rows = make(rng, about(rng, n, 0.15), d)
        return rows, np.ones(len(rows), np.int64)

    return draw


NONE = {
    f"none: {name}, {n} x {d}": drawn(make, n, d)
    for name, (make, sizes) in GROUPLESS.items()
    for n, d in sizes
}
