"""Probabilistic principal components: normal components that are long in m directions and round in all others.

    x = mu + W z + e,   z ~ Normal(0, I_m),   e ~ Normal(0, s2 I_d)        so   x ~ Normal(mu, C),  C = W W' + s2 I

Everything is done with m x m matrices. For a row with observed cells ``o``, y = x_o - mu_o and M = W_o'W_o + s2 I

    E[z | x_o]   = M^-1 W_o' y                       V[z | x_o] = s2 M^-1
    y' C_oo^-1 y = |y - W_o E[z]|^2 / s2 + |E[z]|^2  log det C_oo = log det M + (|o| - m) log s2
    E[x_m | x_o] = mu_m + W_m E[z]                   V[x_m | x_o] = s2 (I + W_m M^-1 W_m')

The statistic is that of any normal component (mass, mean, scatter, missing cells by what is expected of them), and
the estimate is the maximum for it in closed form: with S = scatter / mass = V diag(l) V'

    s2 = mean of the d - m smallest l,      W = V_m (diag(l_m) - s2 I)^(1/2)

References
----------
1. Tipping, Bishop (1999), Probabilistic principal component analysis. JRSS B 61:611-622.
2. Tipping, Bishop (1999), Mixtures of probabilistic principal component analysers. Neural Computation 11:443-482.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector
from asterism.errors import ParameterError
from asterism.families.assignment import assign
from asterism.families.base import Array, Facts
from asterism.families.covariance import FLOOR
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_statistic import GaussianStatistic
from asterism.families.missing import LOG_2_PI, Gathered, chunks, gappy, patterns

# --- parameters -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PPCAParams:
    """k components."""

    means: Array  # (k, d) offsets from the family's reference
    loadings: Array  # (k, d, m) W; columns orthogonal, longest first
    noise: Vector  # (k,) s2


# --- rows and their patterns ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gaps:
    """Which cells are missing among some rows; rows that miss the same cells share all algebra."""

    seen: Array  # (p, d) 1 where a cell is there: one row a pattern
    group: NDArray[np.intp]  # (n,) the pattern of every row

    @classmethod
    def of(cls, y: Array) -> Gaps:
        """The patterns of rows."""
        n, d = y.shape
        if gappy(y) is None:
            return cls(np.ones((1, d)), np.zeros(n, np.intp))
        found, group = [], np.empty(n, np.intp)
        for p, (seen, rows) in enumerate(patterns(y)):
            found.append(seen)
            group[rows] = p
        return cls(np.array(found, np.float64), group)

    def through(self, matrices: Array, vectors: Array) -> Array:
        """(n, a) every row's vector (n, b) times its pattern's matrix (p, a, b)."""
        if len(matrices) == 1:
            return np.asarray(vectors @ matrices[0].T)
        return np.asarray(np.einsum("nij,nj->ni", matrices[self.group], vectors))


@dataclass(frozen=True)
class View:
    """One component and some rows."""

    loadings: Array  # (d, m)
    noise: float
    gaps: Gaps
    root: Array  # (p, m, m) R with R'R = M^-1
    z: Array  # (n, m) E[z | x_o]
    about: Array  # (n, d) x - mu, missing cells by their conditional means
    log_density: Vector  # (n,) log p(x_o)

    @classmethod
    def of(cls, params: PPCAParams, c: int, y: Array, gaps: Gaps) -> View:
        """All that is asked of rows ``y`` (n, d), offsets from the reference."""
        w, noise = params.loadings[c], float(params.noise[c])
        d, m = w.shape
        squares = gaps.seen @ (w[:, :, None] * w[:, None, :]).reshape(d, m * m)
        factor = np.linalg.cholesky(squares.reshape(-1, m, m) + noise * np.eye(m))
        root = np.linalg.inv(factor)
        log_det = 2.0 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        cells = gaps.seen.sum(axis=1)
        height = -0.5 * (log_det + (cells - m) * np.log(noise) + cells * LOG_2_PI)
        about = y - params.means[c]
        gone = np.isnan(about)
        about[gone] = 0.0
        z = gaps.through(root.transpose(0, 2, 1), gaps.through(root, about @ w))
        fitted = z @ w.T
        about[gone] = fitted[gone]
        rest = about - fitted  # exactly 0 where cells are missing
        squares = np.einsum("nd,nd->n", rest, rest) / noise + np.einsum("nm,nm->n", z, z)
        return cls(w, noise, gaps, root, z, about, height[gaps.group] - 0.5 * squares)

    def spread(self, counts: Vector) -> Array:
        """(d, d) what the missing cells of ``counts`` (p,) rows of each pattern add to the scatter.

        With R'R = M^-1 the sum of s2 W_m M^-1 W_m' is one product A A', A the columns of all W_m R' side by side.
        """
        gone = 1.0 - self.gaps.seen
        some = (counts > 0) & (gone > 0).any(axis=1)
        sides = (self.loadings @ self.root[some].transpose(0, 2, 1)) * gone[some][:, :, None]  # (p, d, m)
        sides *= np.sqrt(counts[some] * self.noise)[:, None, None]
        flat = np.ascontiguousarray(sides.transpose(1, 0, 2)).reshape(len(self.loadings), -1)
        matrix: Array = flat @ flat.T
        matrix[np.diag_indices_from(matrix)] += self.noise * (counts @ gone)
        return matrix


# --- the family -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PPCAFamily:
    """Normal components that vary in ``n_components`` directions, and evenly in all others.

    >>> PPCAFamily(2, GaussianFamily().at(np.zeros(5))).n_parameters(1)  # 5 means, 9 of W, 1 of the noise
    15
    """

    n_components: int = 2  # m
    normal: GaussianFamily = field(default_factory=GaussianFamily)  # references and units of the table
    name: str = "ppca"

    def prepared(self, facts: Facts) -> PPCAFamily:
        """With what the normal family needs of the table."""
        m, d = self.n_components, len(facts.names)
        if not (isinstance(m, int | np.integer) and 1 <= m < d):
            raise ParameterError(
                f"n_components={m!r} for n_features={d}: nothing would be left for the noise, or nothing kept.",
                f"Give a whole number from 1 to {d - 1}."
                if d > 1
                else "Give a table of two columns or more.",
            )
        return replace(self, normal=replace(self.normal, structure="VVV").prepared(facts))

    def n_parameters(self, k: int) -> int:
        """Means, W up to a rotation of its columns, and the noise."""
        d, m = len(self.normal.reference), self.n_components
        return k * (d + d * m - m * (m - 1) // 2 + 1)

    # --- density ---

    def log_density(self, params: PPCAParams, block: Block) -> Array:
        """(n, k) log p of the cells that are there."""
        out = np.empty((len(block), len(params.noise)))
        for rows, _, views in self._views(params, block):
            for c, view in enumerate(views):
                out[rows, c] = view.log_density
        return out

    def posterior(self, params: PPCAParams, component: int, block: Block) -> Array:
        """(n, m) E[z | x_o] = M^-1 W'(x - mu) of one component."""
        out = np.empty((len(block), self.n_components))
        for rows in self._chunks(len(block), 1):
            y = self._offsets(block.rows[rows])
            out[rows] = View.of(params, component, y, Gaps.of(y)).z
        return out

    def log_prior(self, params: PPCAParams) -> float:  # noqa: ARG002  the family's signature
        """There is none."""
        return 0.0

    # --- statistic ---

    def statistic(self, params: PPCAParams | None, block: Block, mass: Array) -> GaussianStatistic:
        """Mass, means and scatters of rows with given shares."""
        if params is None:
            return self.normal.statistic(None, block, mass)
        gathered = Gathered.empty(*params.means.shape)
        for rows, gaps, views in self._views(params, block):
            _gather(gathered, gaps, views, mass[rows])
        return GaussianStatistic.about(params.means, gathered.mass, gathered.sums, gathered.scatters)

    def summarize(
        self, params: PPCAParams, log_weights: Vector, block: Block, assignment: str, draws: Vector | None
    ) -> tuple[Vector, float, GaussianStatistic]:
        """Shares, what they climb, and the statistic; the algebra of patterns is done once."""
        gathered, total = Gathered.empty(*params.means.shape), 0.0
        mass = np.zeros(len(params.noise))
        for rows, gaps, views in self._views(params, block):
            scores = np.stack([view.log_density for view in views], axis=1) + log_weights
            r, climbed = assign(scores, assignment, None if draws is None else draws[rows])
            w = block.weights[rows]
            total += float(w @ climbed)
            r = r * w[:, None]
            mass += r.sum(axis=0)
            _gather(gathered, gaps, views, r)
        found = GaussianStatistic.about(params.means, gathered.mass, gathered.sums, gathered.scatters)
        return mass, total, found

    # --- estimate ---

    def estimate(self, statistic: GaussianStatistic, previous: PPCAParams | None) -> PPCAParams:
        """The maximum in closed form; a component without mass stays as it was, or becomes the table's centre."""
        k, d = statistic.means.shape
        means = np.empty((k, d))
        loadings, noise = np.zeros((k, d, self.n_components)), np.full(k, self.normal.variances.mean())
        for c, mass in enumerate(statistic.mass):
            if mass > 0:
                means[c] = statistic.means[c]
                loadings[c], noise[c] = self._principal(statistic.scatters[c] / mass)
            elif previous is not None:
                means[c], loadings[c], noise[c] = previous.means[c], previous.loadings[c], previous.noise[c]
            else:
                means[c] = self.normal.center
        return PPCAParams(means, loadings, noise)

    def _principal(self, covariance: Array) -> tuple[Array, float]:
        d, m = len(covariance), self.n_components
        values, vectors = linalg.eigh(covariance, subset_by_index=(d - m, d - 1), check_finite=False)
        return self.of_spectrum(values[::-1], vectors[:, ::-1], float(np.trace(covariance)))

    def of_spectrum(self, values: Vector, vectors: Array, total: float) -> tuple[Array, float]:
        """W (d, m) and s2 from the m leading eigenvalues, their vectors (d, m) and the sum of all eigenvalues."""
        d, m = vectors.shape
        noise = max((total - float(values.sum())) / (d - m), self.floor)
        top = np.abs(vectors).argmax(axis=0)
        signs = np.where(vectors[top, np.arange(m)] < 0, -1.0, 1.0)  # so that steps can be compared
        return vectors * (signs * np.sqrt(np.maximum(values - noise, 0.0))), noise

    @property
    def floor(self) -> float:
        """The least s2: a spread of 1e-4 of the table's."""
        return FLOOR * float(self.normal.variances.mean())

    # --- collapse and acceleration ---

    @property
    def least_rows(self) -> int:
        """m + 2 rows have something left beside m directions."""
        return self.n_components + 2

    def collapsed(self, params: PPCAParams, statistic: Any) -> NDArray[np.bool_]:  # noqa: ARG002  one signature for all
        """(k, d) components without noise, which is in no column more than in another."""
        return np.repeat((params.noise <= self.floor)[:, None], params.means.shape[1], axis=1)

    def split(self, params: PPCAParams, component: int, into: int) -> PPCAParams:
        """Halves along the longest direction, one standard deviation apart."""
        means, loadings, noise = params.means.copy(), params.loadings.copy(), params.noise.copy()
        axis = loadings[component, :, 0]
        means[into], means[component] = means[component] + 0.5 * axis, means[component] - 0.5 * axis
        loadings[into], noise[into] = loadings[component], noise[component]
        return PPCAParams(means, loadings, noise)

    def flatten(self, statistic: GaussianStatistic) -> Vector:
        """As for normal components."""
        return self.normal.flatten(statistic)

    def unflatten(self, vector: Vector, like: GaussianStatistic) -> GaussianStatistic | None:
        """The statistic of these moments, if masses and variances are positive."""
        return self.normal.unflatten(vector, like)

    # --- sample ---

    def sample(self, params: PPCAParams, component: int, n: int, rng: np.random.Generator) -> Array:
        """(n, d) rows of one component: mu + W z + e."""
        w = params.loadings[component]
        y = rng.standard_normal((n, w.shape[1])) @ w.T
        y += np.sqrt(params.noise[component]) * rng.standard_normal(y.shape)
        return np.asarray(self.normal.reference + (params.means[component] + y))

    def impute(self, params: PPCAParams, block: Block, r: Array) -> Array:
        """(n, d) missing cells by sum_c r_c E[x_m | x_o, c]."""
        out = block.rows.astype(np.float64)
        for rows, _, views in self._views(params, block):
            parts = (r[rows, c, None] * (view.about + params.means[c]) for c, view in enumerate(views))
            filled = self.normal.reference + reduce(np.add, parts)
            out[rows] = np.where(np.isnan(out[rows]), filled, out[rows])
        return out

    # --- storage ---

    def pack(self, params: PPCAParams) -> Mapping[str, NDArray[Any]]:
        """Arrays for files."""
        return {"means": params.means, "loadings": params.loadings, "noise": params.noise}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> PPCAParams:
        """From a file."""
        means, loadings, noise = (np.asarray(arrays[n], np.float64) for n in ("means", "loadings", "noise"))
        return PPCAParams(means, loadings, noise)

    # --- parts of a block ---

    def _chunks(self, n: int, k: int) -> Any:
        return chunks(n, k * len(self.normal.reference) * (self.n_components + 1))

    def _views(self, params: PPCAParams, block: Block) -> Any:
        """Slices of a block, their patterns, and all components' views of them."""
        for rows in self._chunks(len(block), len(params.noise)):
            y = self._offsets(block.rows[rows])
            gaps = Gaps.of(y)
            yield rows, gaps, [View.of(params, c, y, gaps) for c in range(len(params.noise))]

    def _offsets(self, rows: NDArray[Any]) -> Array:
        return np.asarray(np.subtract(rows, self.normal.reference, dtype=np.float64))


def _gather(gathered: Gathered, gaps: Gaps, views: list[View], mass: Array) -> None:
    """Add rows with shares ``mass`` (n, k) to the sums; rows without cells say nothing."""
    told = (gaps.seen.sum(axis=1) > 0)[gaps.group]
    for c, view in enumerate(views):
        m = np.where(told, mass[:, c], 0.0)
        weighted = view.about * m[:, None]
        gathered.mass[c] += m.sum()
        gathered.sums[c] += weighted.sum(axis=0)
        gathered.scatters[c] += weighted.T @ view.about
        gathered.scatters[c] += view.spread(np.bincount(gaps.group, m, len(gaps.seen)).astype(np.float64))
