"""Tables without groups: one place that rows gather about, or an even, bent, heavy-tailed or wandering one.

But for walks, density has one peak or is even along one connected piece; where it varies along a curve it falls to
both sides of one place, so that there is no valley between two peaks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.choose_pieces import Array, Rng, about, arc, ball, factors, polyline, rotation, sphere, spiral

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


# --- what could be mistaken for groups ----------------------------------------------------------------------------


def factor_model(count: int, draw: Callable[[Rng, tuple[int, int]], Array]) -> Maker:
    """Columns that share ``count`` factors drawn independently, with noise of their own."""

    def make(rng: Rng, n: int, d: int) -> Array:
        loaded = draw(rng, (n, count)) @ rng.normal(size=(count, d))
        return np.asarray(loaded + rng.uniform(0.4, 1.0) * rng.normal(size=(n, d)))

    return make


def share_along(rng: Rng, n: int) -> Array:
    """Shares of a length (n,) with one peak anywhere, at an end too: a beta distribution of both shapes above 1."""
    return rng.beta(rng.uniform(1.0, 2.5), rng.uniform(1.5, 2.5), n)


def an_uneven_line(rng: Rng, n: int, d: int) -> Array:
    along = share_along(rng, n)[:, None] * 5 * rng.normal(size=d)
    return np.asarray(along + rng.uniform(0.03, 0.2) * rng.normal(size=(n, d)))


def around(rng: Rng, angle: Array) -> Array:
    """Rows at these angles (n,) about the circle of radius 1."""
    r = 1 + rng.uniform(0.05, 0.12) * rng.normal(size=len(angle))
    return np.column_stack([r * np.cos(angle), r * np.sin(angle)])


def an_uneven_arc(rng: Rng, n: int, _: int) -> Array:
    return around(rng, np.pi * rng.uniform(0.8, 1.4) * share_along(rng, n))


def an_uneven_ring(rng: Rng, n: int, _: int) -> Array:
    """A ring up to 3 times as dense on one side as on the other: density 1 + a cos(angle), a at most a half."""
    angle, a = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.3, 0.5)
    # a row goes to the other side with probability (1 - a cos(angle)) / 2: exactly that density, none rejected
    angle += np.pi * (rng.uniform(-1, 1, n) > a * np.cos(angle))
    return around(rng, angle)


def a_thick_arc(rng: Rng, n: int, _: int) -> Array:
    return arc(rng, n, 1, rng.uniform(0.2, 0.28), (0, rng.uniform(0.8, 1.2)))


def a_bent_normal(rng: Rng, n: int, _: int) -> Array:
    """A banana bent further than ``a_banana``: its ends stand above its middle."""
    x = rng.normal(size=n)
    return np.column_stack([x, rng.uniform(1.0, 1.5) * x**2 + rng.uniform(0.3, 0.6) * rng.normal(size=n)])


def a_parabola(rng: Rng, n: int, _: int) -> Array:
    """As many rows a length everywhere."""
    x = np.linspace(-1.5, 1.5, 200)
    return polyline(rng, n, np.c_[x, rng.uniform(0.8, 1.6) * x**2], rng.uniform(0.05, 0.15))


def a_spiral(rng: Rng, n: int, _: int) -> Array:
    return spiral(rng, n, rng.uniform(1.0, 1.6), rng.uniform(0.01, 0.03), 0.0)


def a_folded_sheet(rng: Rng, n: int, _: int) -> Array:
    """A sheet in two or three folds, as many rows an area everywhere."""
    x = np.linspace(0, rng.uniform(2.0, 3.0) * np.pi, 400)
    fold = polyline(rng, n, np.c_[x, rng.uniform(1.5, 2.5) * np.sin(x)], 0.05)
    return np.column_stack([fold, rng.uniform(0, 6, n)]) @ rotation(rng, 3)


def a_shell(rng: Rng, n: int, d: int) -> Array:
    return sphere(rng, n, d) + rng.uniform(0.03, 0.08) * rng.normal(size=(n, d))


def of_lognormal_factors(rng: Rng, n: int, d: int) -> Array:
    """Skewed columns, all correlated by a common size."""
    z = rng.normal(size=(n, 1)) * rng.uniform(0.5, 1.2, d) + rng.uniform(0.5, 0.8) * rng.normal(size=(n, d))
    return np.asarray(np.exp(rng.uniform(0.4, 0.6) * z))


def of_gamma_scales(rng: Rng, n: int, d: int) -> Array:
    """One center and a width that varies from row to row by a gamma distribution; correlated."""
    return correlated(rng, n, d) * np.sqrt(rng.gamma(rng.uniform(1.0, 3.0), 1.0, (n, 1)))


def correlated_gamma(rng: Rng, n: int, d: int) -> Array:
    common = rng.gamma(rng.uniform(1.5, 3.0), 1.0, (n, 1))
    return np.asarray(rng.gamma(rng.uniform(1.5, 3.0), 1.0, (n, d)) + rng.uniform(0.5, 1.5, d) * common)


def a_triangle(rng: Rng, n: int, d: int) -> Array:
    return np.asarray(a_simplex(rng, n, d) @ rng.normal(size=(d, d)))


def of_levels(rng: Rng, n: int, d: int) -> Array:
    """Answers on 7 to 20 levels that share a factor. Levels reach three standard deviations to each side: with fewer,
    rows would pile up at both ends."""
    levels = int(rng.integers(7, 21))
    z = np.sqrt(0.7) * rng.normal(size=(n, d)) + np.sqrt(0.3) * rng.normal(size=(n, 1))
    return np.asarray(np.clip(np.round((levels - 1) * (0.5 + z / 6)), 0, levels - 1) + 1)


def with_gross_errors(rng: Rng, n: int, d: int) -> Array:
    """One row in twenty is eight times as far out, in any direction."""
    return rng.normal(size=(n, d)) * np.where(rng.uniform(size=(n, 1)) < 0.05, 8.0, 1.0)


def a_long_normal(rng: Rng, n: int, d: int) -> Array:
    """20 times as long as wide, turned."""
    return np.asarray(rng.normal(size=(n, d)) * np.r_[20.0, np.ones(d - 1)] @ rotation(rng, d))


GROUPLESS: dict[str, tuple[Maker, tuple[tuple[int, int], ...]]] = {  # name -> how, rows and columns
    "normal": (lambda r, n, d: r.normal(size=(n, d)), ((60, 2), (100, 1), (300, 5), (1000, 3), (3000, 2), (400, 20))),
    "correlated": (correlated, ((150, 4), (800, 10), (250, 30))),
    "even": (lambda r, n, d: r.uniform(size=(n, d)), ((80, 2), (300, 1), (800, 2), (2500, 2), (1000, 5), (400, 12))),
    "ball": (lambda r, n, d: ball(r, n, d), ((200, 2), (1500, 2), (500, 3), (800, 4), (1000, 5), (300, 10))),
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
    "one factor": (factor_model(1, lambda r, size: r.normal(size=size)), ((120, 6),)),
    "five factors": (factor_model(5, lambda r, size: r.normal(size=size)), ((600, 60),)),
    "three exponential factors": (factor_model(3, lambda r, size: r.exponential(size=size)), ((80, 20), (350, 40))),
    "two student factors": (factor_model(2, lambda r, size: r.standard_t(4, size)), ((400, 15),)),
    "uneven line": (an_uneven_line, ((150, 2), (800, 3))),
    "uneven arc": (an_uneven_arc, ((400, 2),)),
    "uneven ring": (an_uneven_ring, ((250, 2), (1500, 2))),
    "thick arc": (a_thick_arc, ((500, 2),)),
    "bent normal": (a_bent_normal, ((600, 2),)),
    "parabola": (a_parabola, ((500, 2),)),
    "spiral": (a_spiral, ((700, 2),)),
    "folded sheet": (a_folded_sheet, ((1500, 3),)),
    "shell": (a_shell, ((800, 3),)),
    "lognormal factors": (of_lognormal_factors, ((200, 10), (500, 30))),
    "gamma scales": (of_gamma_scales, ((400, 5),)),
    "correlated gamma": (correlated_gamma, ((300, 10),)),
    "logistic": (lambda r, n, d: r.logistic(size=(n, d)), ((250, 4),)),
    "laplace": (lambda r, n, d: r.laplace(size=(n, d)), ((50, 2), (600, 3))),
    "triangle": (a_triangle, ((3000, 2),)),
    "levels": (of_levels, ((250, 12), (900, 4))),
    "gross errors": (with_gross_errors, ((400, 2),)),
    "long normal": (a_long_normal, ((300, 2),)),
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
