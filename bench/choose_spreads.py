"""Random distributions and mixtures of them in one to many columns, for `bench/choose_scenes.py`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.choose_pieces import Array, Drawn, Rng, ball, centers_apart, factors, rotation, sphere
from bench.choose_primitives import log_uniform

# --- mixtures -----------------------------------------------------------------------------------------------------


def draw_mixture(rng: Rng) -> tuple[str, Drawn]:
    """Two to twelve groups, the nearest two 2.6 to 8 standard deviations apart along the line between them."""
    k, d = round(log_uniform(rng, 1.6, 12.4)), round(log_uniform(rng, 2, 40))
    latent = d > 4 and rng.uniform() < 0.2
    inner = int(rng.integers(2, 5)) if latent else d
    n = log_uniform(rng, max(60, 15 * k), 2000)
    shares = np.exp(rng.uniform(0, np.log(log_uniform(rng, 1, 20) if rng.uniform() < 0.6 else 1.3), k))
    sizes = np.maximum(n * shares / shares.sum(), 6).astype(int)
    name, shapes = _shapes(rng, k, inner)
    centers = _centers(rng, shapes, rng.uniform(2.6, 8))
    heavy = rng.uniform(3, 8) if rng.uniform() < 0.15 else np.inf
    labels = np.repeat(np.arange(1, k + 1), sizes)
    noise = _tailed(rng, (len(labels), inner), heavy)
    rows = np.vstack([centers[g - 1] + noise[labels == g] @ shapes[g - 1] for g in range(1, k + 1)])
    name += f", t({heavy:.1f})" if np.isfinite(heavy) else ""
    if latent:
        name += f", {inner} factors"
        within = float(np.mean([np.linalg.norm(f) for f in shapes])) / np.sqrt(inner)
        rows = rows @ rng.normal(size=(inner, d))
        rows += within * rng.uniform(0.1, 0.8) * rng.normal(size=rows.shape)
    if rng.uniform() < 0.15:
        name += ", skewed"
        rows = _skewed(rng, rows)
    if rng.uniform() < 0.15:
        name += ", irrelevant columns"
        rows = _with_irrelevant(rng, rows)
    if rng.uniform() < 0.1:
        name += ", rounded"
        rows = rounded(rng, rows)
    return f"{k} in {rows.shape[1]}, {name}", (rows, labels)


def _shapes(rng: Rng, k: int, d: int) -> tuple[str, list[Array]]:
    """Factors (d, d) of covariances: common to the groups or their own, round, diagonal or full."""
    own, form = bool(rng.uniform() < 0.6), str(rng.choice(["round", "diagonal", "full"]))
    spread, stretch = (1.0, log_uniform(rng, 1, 3)), 1.0 if form == "round" else log_uniform(rng, 1, 4)
    shapes = factors(rng, k if own else 1, d, spread, stretch)
    if form == "diagonal":
        shapes = [np.diag(np.linalg.norm(f, axis=1)) for f in shapes]
    return f"{'own' if own else 'common'} {form}", shapes if own else shapes * k


def _centers(rng: Rng, shapes: list[Array], gap: float) -> Array:
    """Centers (k, d) in all columns, in a few or on a subspace, scaled so that the nearest two are ``gap`` apart; of
    several draws the one with the most even distances, or else a pair of groups would be one seen from afar."""
    k, d = len(shapes), len(shapes[0])
    plane = np.linalg.qr(rng.normal(size=(d, min(d, int(rng.integers(1, 5))))))[0].T
    low = rng.uniform() < 0.3
    best, most = np.empty((0, d)), -1.0
    first, second = np.triu_indices(k, 1)
    if d < 5 and rng.uniform() < 0.5:
        return centers_apart(rng, shapes, gap)
    for _ in range(int(rng.integers(10, 40))):
        places = rng.uniform(-1, 1, (k, len(plane))) @ plane if low else rng.uniform(-1, 1, (k, d))
        line = places[first] - places[second]
        distance = np.linalg.norm(line, axis=1)
        along = [
            (np.linalg.norm(shapes[i] @ u) + np.linalg.norm(shapes[j] @ u)) / 2
            for i, j, u in zip(first, second, line / distance[:, None], strict=True)
        ]
        apart = distance / np.array(along)
        if apart.min() / apart.mean() > most:
            most = apart.min() / apart.mean()
            best = places * gap / apart.min()
    return best


def _tailed(rng: Rng, shape: tuple[int, int], degrees: float) -> Array:
    """Normal, or t of unit variance: every column for itself or a row as a whole (elliptic)."""
    z = rng.normal(size=shape)
    if not np.isfinite(degrees):
        return z
    size = shape if rng.uniform() < 0.5 else (shape[0], 1)
    return np.asarray(
        z / np.sqrt(rng.chisquare(degrees, size) / degrees) * np.sqrt(1 - 2 / max(degrees, 2.5))
    )


def _skewed(rng: Rng, rows: Array) -> Array:
    """Some columns exponentiated or squared, by a monotone map: groups stay apart."""
    columns = rng.uniform(size=rows.shape[1]) < rng.uniform(0.2, 1)
    z = (rows - rows.min(axis=0)) / rows.std(axis=0)
    bent = np.exp(rng.uniform(0.3, 1.0) * z) if rng.uniform() < 0.5 else (z + rng.uniform(0, 1)) ** 2
    bent = (bent - bent.mean(axis=0)) / bent.std(axis=0) * rows.std(axis=0)
    return np.where(columns, bent, rows)


def _with_irrelevant(rng: Rng, rows: Array) -> Array:
    n, d = rows.shape
    more = int(rng.integers(1, 2 * d + 1))
    draw = (
        rng.normal(size=(n, more)), rng.uniform(-1.7, 1.7, (n, more)), _tailed(rng, (n, more), 4.0),
    )[int(rng.integers(3))]  # fmt: skip
    return np.hstack([rows, draw * rng.choice(rows.std(axis=0), more) * rng.uniform(0.2, 1)])


def rounded(rng: Rng, rows: Array) -> Array:
    """Rounded to a part of each column's standard deviation: rows have equal values, or are equal."""
    step = rows.std(axis=0) * rng.uniform(0.03, 0.4)
    return np.asarray(np.round(rows / step) * step)


# --- one distribution ---------------------------------------------------------------------------------------------


def draw_spread(rng: Rng, n: int) -> tuple[str, Array]:
    """Rows (n, d) of one distribution without groups; d is 1 to 30."""
    name = str(rng.choice(list(SPREADS)))
    rows = SPREADS[name](rng, n, max(1, round(log_uniform(rng, 0.6, 30))))
    return f"{name} in {rows.shape[1]}", rows


def _correlated(rng: Rng, d: int) -> Array:
    return factors(rng, 1, d, (1.0, 1.0), log_uniform(rng, 1, 8))[0]


def _loaded(rng: Rng, hidden: Array, d: int) -> Array:
    """Factors (n, m) loaded on d columns, or on two if d is 1, and noise."""
    (n, m), d = hidden.shape, max(d, 2)
    return np.asarray(hidden @ rng.normal(size=(m, d)) + rng.uniform(0.1, 1) * rng.normal(size=(n, d)))


def _roll(rng: Rng, n: int) -> Array:
    u, v = rng.uniform(-1, 1, (2, n))
    t = 1.5 * np.pi * (1 + rng.uniform(0.2, 0.5) * (u + 1))
    return np.c_[t * np.cos(t), t * np.sin(t), 6 * v * rng.uniform(0.5, 2)]


def _banana(rng: Rng, n: int) -> Array:
    x, z = rng.normal(size=(2, n))
    return np.c_[x, z * rng.uniform(0.1, 0.6) + rng.uniform(0.3, 1.2) * x**2]


def _paraboloid(rng: Rng, n: int) -> Array:
    u, v = rng.uniform(-1, 1, (2, n))
    return np.c_[u, v, rng.uniform(0.5, 2) * u**2 + rng.uniform(-2, 2) * v**2]


def _noisy(rng: Rng, surface: Array, d: int) -> Array:
    """A curved sheet (n, 2 to 4) with some noise, turned; at times with further columns, up to d, of noise only."""
    n = len(surface)
    rows = surface + rng.uniform(0, 0.1) * surface.std() * rng.normal(size=surface.shape)
    more = max(0, min(d, 8) - rows.shape[1]) if rng.uniform() < 0.3 else 0
    rows = np.hstack([rows, 0.1 * rows.std() * rng.normal(size=(n, more))])
    return np.asarray(rows @ rotation(rng, rows.shape[1]))


def _scale_mixture(rng: Rng, n: int, d: int) -> Array:
    """Two or three normals of the same center, one wider than another by up to eight times."""
    sd = np.exp(rng.uniform(0, np.log(8), int(rng.integers(2, 4))))
    return np.asarray(rng.choice(sd, (n, 1)) * rng.normal(size=(n, d)))


SPREADS: dict[str, Callable[[Rng, int, int], Array]] = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated": lambda rng, n, d: rng.normal(size=(n, d)) @ _correlated(rng, d),
    "t": lambda rng, n, d: _tailed(rng, (n, d), rng.uniform(2.5, 10)) @ _correlated(rng, d),
    "lognormal": lambda rng, n, d: np.exp(
        rng.uniform(0.2, 1)
        * rng.normal(size=(n, d))
        @ (rotation(rng, d) if rng.uniform() < 0.5 else np.eye(d))
    ),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "gamma": lambda rng, n, d: rng.gamma(log_uniform(rng, 0.7, 8), size=(n, d)),
    "laplace": lambda rng, n, d: rng.laplace(size=(n, d)),
    "box": lambda rng, n, d: rng.uniform(size=(n, d)),
    "ball": lambda rng, n, d: ball(rng, n, d) * np.exp(rng.uniform(-1, 0, d)),
    "simplex": lambda rng, n, d: rng.dirichlet(np.ones(d + 1), n)[:, :d],
    "normal factors": lambda rng, n, d: _loaded(rng, rng.normal(size=(n, int(rng.integers(1, 5)))), d),
    "skewed factors": lambda rng, n, d: _loaded(rng, rng.exponential(size=(n, int(rng.integers(1, 5)))), d),
    "heavy factors": lambda rng, n, d: _loaded(rng, _tailed(rng, (n, int(rng.integers(1, 5))), 4.0), d),
    "scales": _scale_mixture,
    "Swiss roll": lambda rng, n, d: _noisy(rng, _roll(rng, n), d),
    "banana": lambda rng, n, d: _noisy(rng, _banana(rng, n), d),
    "paraboloid": lambda rng, n, d: _noisy(rng, _paraboloid(rng, n), d),
    "sphere": lambda rng, n, d: _noisy(rng, sphere(rng, n, int(rng.integers(3, 5))), d),
}
