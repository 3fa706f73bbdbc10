"""Tables without groups of the fresh half: one shape, one distribution, one surface, one cloud with outliers.

Every draw takes the number of rows and of columns, and its seed draws what else there is.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from bench.choose_fresh_outlines import Draw, filled, gear, heart, leaf, plus, star
from bench.choose_fresh_space import helix, tube
from bench.choose_pieces import Array, Drawn, Rng, about, ball, polyline, rotation, spots

Rows = Callable[[Rng, int, int], Array]

# --- one shape ----------------------------------------------------------------------------------------------------


def a_corner(rng: Rng, n: int, _: int) -> Array:
    thick = rng.uniform(0.5, 0.9)
    return filled(rng, n, lambda x, y: np.minimum(x, y) < thick - 1)


def an_s(rng: Rng, n: int, _: int) -> Array:
    t = np.linspace(-1.5 * np.pi, 1.5 * np.pi, 100)
    return polyline(rng, n, np.c_[np.sin(t), np.sign(t) * (np.cos(t) - 1)], rng.uniform(0.1, 0.2))


def a_torus(rng: Rng, n: int, _: int) -> Array:
    thick = rng.uniform(0.3, 0.6)
    b = rng.uniform(0, 2 * np.pi, 8 * n)
    b = b[rng.uniform(size=8 * n) < (1 + thick * np.cos(b)) / (1 + thick)][:n]  # even over the surface
    a, r = rng.uniform(0, 2 * np.pi, n), 1 + thick * np.cos(b)
    return np.c_[r * np.cos(a), r * np.sin(a), thick * np.sin(b)] + 0.03 * rng.normal(size=(n, 3))


def a_strip_twisted(rng: Rng, n: int, _: int) -> Array:
    a, s = rng.uniform(0, 2 * np.pi, n), rng.uniform(-0.45, 0.45, n)
    r = 1 + s * np.cos(a / 2)
    return np.c_[r * np.cos(a), r * np.sin(a), s * np.sin(a / 2)] + 0.03 * rng.normal(size=(n, 3))


def a_saddle(rng: Rng, n: int, _: int) -> Array:
    x, y = rng.uniform(-1, 1, (2, n))
    return np.c_[x, y, rng.uniform(0.5, 1.2) * (x**2 - y**2) + 0.05 * rng.normal(size=n)]


def a_cone(rng: Rng, n: int, _: int) -> Array:
    h, a = np.sqrt(rng.uniform(0, 1, n)), rng.uniform(0, 2 * np.pi, n)
    return np.c_[h * np.cos(a), h * np.sin(a), rng.uniform(1, 2) * h] + 0.04 * rng.normal(size=(n, 3))


def a_curve_of_powers(rng: Rng, n: int, d: int) -> Array:
    x = rng.uniform(-1, 1, (n, 1))
    return x ** np.arange(1, d + 1) + rng.uniform(0.05, 0.12) * rng.normal(size=(n, d))


def a_helix(rng: Rng, n: int, _: int) -> Array:
    return helix(rng, n, rng.uniform(1.5, 2.5), rng.uniform(1, 1.5), 0.0, rng.uniform(0.05, 0.1))


# --- one distribution ---------------------------------------------------------------------------------------------


def scaled(draw: Callable[[Rng, tuple[int, int]], Array]) -> Rows:
    """Independent columns, each with its own unit."""
    return lambda rng, n, d: draw(rng, (n, d)) * np.exp(rng.normal(size=d))


def turned(draw: Callable[[Rng, tuple[int, int]], Array]) -> Rows:
    """Independent columns, mixed."""
    return lambda rng, n, d: draw(rng, (n, d)) @ rng.normal(size=(d, d))


def skew_normal(rng: Rng, n: int, d: int) -> Array:
    z, lean = rng.normal(size=(n, d)), rng.uniform(0.6, 0.95, d)
    return lean * abs(rng.normal(size=(n, 1))) + np.sqrt(1 - lean**2) * z


def copula(kind: str, to: Callable[[Array], Array]) -> Rows:
    """Clayton and Frank by frailties; ``to`` makes columns of the even ones, such that the density has one mode."""

    def draw(rng: Rng, n: int, d: int) -> Array:
        e = rng.exponential(size=(n, d))
        if kind == "clayton":
            theta = rng.uniform(1, 3)
            u = (1 + e / rng.gamma(1 / theta, size=(n, 1))) ** (-1 / theta)
        else:
            theta = rng.uniform(2, 6)
            v = stats.logser.rvs(1 - np.exp(-theta), size=(n, 1), random_state=rng)
            u = -np.log1p(np.exp(-e / v) * np.expm1(-theta)) / theta
        return to(np.clip(u, 1e-9, 1 - 1e-9))

    return draw


def student_copula(rng: Rng, n: int, d: int) -> Array:
    z = rng.normal(size=(n, d)) @ (np.eye(d) + rng.uniform(0.3, 0.8) / np.sqrt(d))
    degrees = rng.uniform(3, 8)
    t = z / z.std(axis=0) / np.sqrt(rng.chisquare(degrees, (n, 1)) / degrees)
    return np.asarray(stats.logistic.ppf(stats.t.cdf(t, degrees)))


def product_of_two(rng: Rng, n: int, d: int) -> Array:
    z = rng.normal(size=(n, d))
    z[:, -1] = z[:, 0] * z[:, 1] + 0.3 * z[:, -1]
    return z


def a_funnel(rng: Rng, n: int, d: int) -> Array:
    v = rng.uniform(0.4, 0.7) * rng.normal(size=(n, 1))
    return np.c_[v, np.exp(v) * rng.normal(size=(n, d - 1))]


def a_regression(rng: Rng, n: int, d: int) -> Array:
    x = rng.gamma(3.0, 1.0, (n, d - 1))
    y = x @ rng.uniform(0.5, 2, d - 1)
    return np.c_[x, y + rng.uniform(0.1, 0.3) * y * rng.normal(size=n)]


def dirichlet(rng: Rng, n: int, d: int) -> Array:
    return rng.dirichlet(rng.uniform(1.5, 6, d), n)


def in_order(rng: Rng, n: int, d: int) -> Array:
    return np.sort(rng.uniform(size=(n, d)), axis=1)


def growth(rng: Rng, n: int, d: int) -> Array:
    """Growth curves whose rates, limits and starts vary smoothly."""
    t = np.linspace(0, 4, d)
    limit, rate, start = (np.exp(s * rng.normal(size=(n, 1))) for s in (0.2, 0.3, 0.2))
    return limit / (1 + np.exp(-2 * rate * (t - 2 * start))) + 0.05 * rng.normal(size=(n, d))


def spectrum(rng: Rng, n: int, d: int) -> Array:
    """Variances that fall off as a power."""
    return rng.normal(size=(n, d)) * np.arange(1, d + 1) ** -rng.uniform(0.5, 1.2) @ rotation(rng, d)


def curved_factor(rng: Rng, n: int, d: int) -> Array:
    """Columns that are smooth, bent answers to one hidden cause."""
    f = rng.normal(size=(n, 1))
    place, slope = rng.uniform(-1, 1, d), rng.uniform(0.3, 0.6, d)  # no steeper: the ends stay thinner
    return np.tanh(slope * (f - place)) + 0.15 * rng.normal(size=(n, d))


def threshold_sum(rng: Rng, n: int, d: int) -> Array:
    """Sums of answers on scales: whole numbers from 0 to 40."""
    ability = rng.normal(size=(n, 1))
    return rng.binomial(40, 1 / (1 + np.exp(-(0.6 * ability + rng.uniform(-0.7, 0.7, d)))), (n, d)).astype(
        float
    )


# --- density that changes, regular places, outliers ---------------------------------------------------------------


def a_ramp(rng: Rng, n: int, d: int) -> Array:
    """A disc, denser towards one side."""
    rows = ball(rng, 6 * n, d)
    return rows[rng.uniform(size=6 * n) < (1.1 + rows[:, 0]) / 2.2][:n]


def a_wedge(rng: Rng, n: int, d: int) -> Array:
    x = rng.exponential(1.0, n)
    return np.c_[x, (0.2 + rng.uniform(0.3, 0.6) * x)[:, None] * rng.uniform(-1, 1, (n, d - 1))]


def a_regular_lattice(rng: Rng, n: int, d: int) -> Array:
    side = round(n ** (1 / d))
    places = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)
    return places + rng.uniform(0.02, 0.2) * rng.normal(size=places.shape)


def a_sequence_of_small_discrepancy(rng: Rng, n: int, d: int) -> Array:
    return np.asarray(stats.qmc.Halton(d, seed=rng).random(n))


def blob_and_outliers(rng: Rng, n: int, d: int) -> Array:
    few = max(3, round(0.015 * n))
    return np.vstack([rng.normal(size=(n - few, d)), rng.uniform(5, 40, (few, 1)) * ball(rng, few, d)])


def blob_in_noise(rng: Rng, n: int, d: int) -> Array:
    few = round(rng.uniform(0.1, 0.2) * n)
    return np.vstack([spots(rng, n - few, np.zeros(d), 1.0), rng.uniform(-7, 7, (few, d))])


def disc_with_soft_edge(rng: Rng, n: int, d: int) -> Array:
    return ball(rng, n, d, 2.0) + rng.uniform(0.2, 0.5) * rng.normal(size=(n, d))


SINGLE: list[tuple[str, int, int, Rows]] = [
    ("heart", 600, 2, lambda rng, n, _: filled(rng, n, heart)),
    ("star", 1500, 2, lambda rng, n, _: filled(rng, n, star(int(rng.integers(4, 8)), rng.uniform(0.5, 0.6)))),
    ("cross", 900, 2, lambda rng, n, _: filled(rng, n, plus(rng.uniform(0.28, 0.4)))),
    ("leaf", 250, 2, lambda rng, n, _: filled(rng, n, leaf)),
    ("gear", 2000, 2, lambda rng, n, _: filled(rng, n, gear(int(rng.integers(6, 11)), rng.uniform(0.1, 0.18)))),
    ("corner", 700, 2, a_corner),
    ("S curve", 400, 2, an_s),
    ("helix", 800, 3, a_helix),
    ("torus", 2000, 3, a_torus),
    ("twisted strip", 1200, 3, a_strip_twisted),
    ("saddle", 600, 3, a_saddle),
    ("cone", 900, 3, a_cone),
    ("tube", 1000, 3, lambda rng, n, _: tube(rng, n, 1.0, rng.uniform(2, 4), 0.05)),
    ("curve of powers", 500, 4, a_curve_of_powers),
    ("weibull", 300, 3, scaled(lambda rng, size: rng.weibull(rng.uniform(1.2, 2.5), size))),
    ("gumbel", 150, 2, scaled(lambda rng, size: rng.gumbel(size=size))),
    ("gumbel, mixed columns", 800, 6, turned(lambda rng, size: rng.gumbel(size=size))),
    ("lomax", 600, 1, scaled(lambda rng, size: rng.pareto(rng.uniform(2.5, 4), size))),
    ("rayleigh", 50, 2, scaled(lambda rng, size: rng.rayleigh(size=size))),
    ("half normal", 400, 4, scaled(lambda rng, size: abs(rng.normal(size=size)))),
    ("beta", 1000, 2, scaled(lambda rng, size: rng.beta(rng.uniform(1.2, 3), rng.uniform(2, 5), size))),
    ("beta, mixed columns", 300, 8, turned(lambda rng, size: rng.beta(1.5, 3.0, size))),
    ("student 1.5", 300, 1, scaled(lambda rng, size: rng.standard_t(1.5, size))),
    ("chi-square, mixed columns", 200, 15, turned(lambda rng, size: rng.chisquare(3, size))),
    ("poisson", 700, 3, scaled(lambda rng, size: rng.poisson(rng.uniform(12, 30), size).astype(float))),
    ("skew normal", 4000, 2, skew_normal),
    ("skew normal", 120, 10, skew_normal),
    ("clayton, normal columns", 900, 2, copula("clayton", lambda u: stats.norm.ppf(u))),
    ("clayton, exponential columns", 350, 5, copula("clayton", lambda u: -np.log(u))),
    ("frank, logistic columns", 1200, 2, copula("frank", lambda u: np.log(u / (1 - u)))),
    ("student copula, logistic columns", 600, 4, student_copula),
    ("product of two", 800, 3, product_of_two),
    ("funnel", 1000, 3, a_funnel),
    ("regression", 250, 3, a_regression),
    ("dirichlet", 500, 6, dirichlet),
    ("in order", 700, 4, in_order),
    ("growth curves", 300, 12, growth),
    ("falling spectrum", 500, 40, spectrum),
    ("falling spectrum", 90, 25, spectrum),
    ("curved factor", 600, 10, curved_factor),
    ("test scores", 400, 8, threshold_sum),
    ("ramp", 3000, 2, a_ramp),
    ("ramp", 500, 3, a_ramp),
    ("wedge", 800, 2, a_wedge),
    ("regular lattice", 900, 2, a_regular_lattice),
    ("small discrepancy", 500, 3, a_sequence_of_small_discrepancy),
    ("blob and outliers", 300, 2, blob_and_outliers),
    ("blob and outliers", 900, 7, blob_and_outliers),
    ("blob in noise", 1500, 2, blob_in_noise),
    ("disc with a soft edge", 2500, 2, disc_with_soft_edge),
]  # fmt: skip


def _drawn(rows: Rows, n: int, d: int) -> Draw:
    def draw(rng: Rng) -> Drawn:
        made = rows(rng, about(rng, n, 0.15), d)
        return made, np.ones(len(made), np.int64)

    return draw


NONE: dict[str, Draw] = {f"none: {name}, {n} x {d}": _drawn(rows, n, d) for name, n, d, rows in SINGLE}
