"""A principal surface: a smooth sheet through the middle of the rows, a principal curve of two dimensions.

The sheet is a grid of m x m knots F (m^2, d), each cell of it cut into two triangles. A row's place is (u, v), in
steps of the grid, and f(u, v) = b(u, v)'F, where b has the three barycentric coordinates within a triangle. Two
steps, each of which can only lower

    J = sum w |x - f(u, v)|^2 + s (sum |F_uu|^2 + 2 sum |F_uv|^2 + sum |F_vv|^2)

by turns:  project   (u, v) = argmin |x - f(u, v)|      (a pass over the rows)
           smooth    (B'WB + s P) F = B'WX              (a band of 2 m diagonals; P is the energy of a thin plate)

F_uu, F_uv, F_vv are second differences of the grid: a plane is free of penalty, everything else is not. A start far
too stiff, s halved at every step until it is as asked, keeps the sheet from folding; it can only lower J, too.
B'WB and B'WX are sums over rows. The start is the plane of the first two principal components.

References
----------
1. Hastie, Stuetzle (1989), Principal curves. JASA 84:502-516.
2. Gorban, Zinovyev (2005), Elastic principal graphs and manifolds and their practical applications.
   Computing 75:359-379.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector, present
from asterism.data.finite import require_finite
from asterism.data.source import Source
from asterism.engines.loop import iterate
from asterism.engines.reduce import map_rows
from asterism.engines.threads import one_blas_thread
from asterism.errors import NotConvergedWarning, ParameterError
from asterism.methods.pca import fit_pca
from asterism.methods.sheet import FLAT, energy, energy_bands, hats, plane_of, points, projected

Array = NDArray[np.float64]
REACH = 3.0  # convention: standard deviations along both components that the start reaches
STIFF = 100.0  # convention: the smoothness of the first step


@dataclass(frozen=True, slots=True)
class Shares:
    """The shares of knots in the places of rows: sums that add."""

    beside: Array  # (4, m^2) of B'WB: each knot with itself, and those 1, m and m + 1 after it
    sums: Array  # (m^2, d) B'W(X - mean)
    square: float  # sum w |x - f(u, v)|^2

    def merge(self, other: Shares) -> Shares:
        """Rows add up."""
        return Shares(self.beside + other.beside, self.sums + other.sums, self.square + other.square)


@dataclass(frozen=True)
class Sheet:
    """A surface on its way."""

    knots: Array  # (m^2, d) offsets from the mean; the second coordinate runs first
    penalty: float  # s of the step that made it
    reached: float = np.inf  # J of the sheet before
    gain: float = np.inf  # what the last step won, as a share of the scatter about the mean


@dataclass(frozen=True)
class Surface:
    """The method of the loop."""

    m: int
    mean: Vector
    penalty: float  # s
    total: float  # sum w |x - mean|^2
    tol: float
    name: str = "principal surface"

    def summarize(self, model: Sheet, block: Block) -> Shares:
        """Project the rows of a block, and add up the shares of the knots in their places."""
        here = present(block)
        y = here.rows - self.mean
        place, square = projected(model.knots, y)
        corner, share = hats(place, self.m)
        p, w = self.m**2, here.weights
        beside = np.zeros(4 * p)
        # corners of a triangle are in order, so those of a pair are 0, 1, m or m + 1 apart
        for i, j in combinations_with_replacement(range(3), 2):
            apart = np.searchsorted([0, 1, self.m, self.m + 1], corner[:, j] - corner[:, i])
            beside += np.bincount(apart * p + corner[:, i], w * share[:, i] * share[:, j], 4 * p)
        sums = np.zeros((p, y.shape[1]))
        for i in range(3):
            pull = w * share[:, i]
            sums += np.stack([np.bincount(corner[:, i], pull * x, p) for x in y.T], axis=1)
        return Shares(beside.reshape(4, p), sums, float(w @ square))

    def update(self, model: Sheet, statistic: Shares) -> Sheet:
        """The knots that minimise J for these places."""
        penalty = max(self.penalty, model.penalty / 2)
        bands = penalty * energy_bands(self.m)
        for apart, products in zip((0, 1, self.m, self.m + 1), statistic.beside, strict=True):
            bands[-1 - apart, apart:] += products[: len(products) - apart]
        # Rows on one line of the sheet leave it free to turn: what is free stays as it is, and J cannot rise by it.
        hold = 1e-12 * bands[-1].max()
        bands[-1] += hold
        knots = linalg.solveh_banded(bands, statistic.sums + hold * model.knots)
        now = self.objective(model, statistic)
        return Sheet(np.asarray(knots, np.float64), penalty, now, (model.reached - now) / self.total)

    def objective(self, model: Sheet, statistic: Shares) -> float:
        """J, by the penalty of the step."""
        return statistic.square + model.penalty * energy(model.knots, self.m)

    def settled(self, before: Sheet, after: Sheet) -> bool:
        """The last step won too little, and s is as asked."""
        return before.penalty == self.penalty and after.gain <= self.tol

    def pack(self, model: Sheet) -> Mapping[str, NDArray[Any]]:
        """Arrays for a checkpoint."""
        return {"knots": model.knots, "way": np.array([model.penalty, model.reached, model.gain])}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Sheet:
        """From a checkpoint."""
        return Sheet(arrays["knots"], *(float(number) for number in arrays["way"]))


# --- a whole fit -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SurfaceFit:
    """A finished surface."""

    mean: Vector  # (d,)
    knots: Array  # (m^2, d) offsets from the mean
    step: Vector  # (2,) the mean length of a step of the grid, both ways
    distance: float  # sum w |x - f(u, v)|^2
    explained: float  # 1 - distance / sum w |x - mean|^2
    history: list[float]  # J before every step
    n_iter: int
    converged: bool


@one_blas_thread()
def fit_surface(
    source: Source, *, n_knots: int = 10, smoothness: float = 1.0, tol: float = 1e-4, max_iter: int = 200
) -> SurfaceFit:
    """The surface; a small ``smoothness`` follows the rows as knots allow, a large one gives the plane of PCA."""
    if not n_knots >= 3 or not smoothness > 0 or not max_iter >= 1 or not tol >= 0:
        raise ParameterError(
            f"n_knots={n_knots!r}, smoothness={smoothness!r}, tol={tol!r}, max_iter={max_iter!r}.",
            "Give 3 knots a side or more, 1 step or more, a smoothness above 0, and nothing negative.",
        )
    if source.n_columns < 2:
        raise ParameterError(
            "A surface needs 2 columns or more, and there is 1 feature.", "Give rows of more columns."
        )
    found = fit_pca(source, 2)
    if len(found.eigenvalues) < 2 or not found.eigenvalues[1] > FLAT * found.eigenvalues[0]:
        raise ParameterError(
            "All rows are on one line: there is no surface.", "Give rows that differ in two directions."
        )
    reach = REACH * np.sqrt(found.eigenvalues / found.weight)
    plane = plane_of(n_knots, reach[:, None] * found.directions)
    # A bend of given size costs a curve of 40 knots as much as a surface: squared second differences fall with m^4,
    # and m^2 knots have them.
    unit = found.weight * n_knots**2 / 40.0**3
    method = Surface(n_knots, found.mean, unit * smoothness, found.total, tol)
    start = Sheet(plane, unit * max(smoothness, STIFF))
    (run,) = iterate(method, source, [start], max_iter=max_iter)
    if run.status == "step limit":
        warnings.warn(
            f"The principal surface did not settle in {max_iter} steps. The result is usable; give a larger "
            "max_iter or tol.",
            NotConvergedWarning,
            stacklevel=3,
        )
    knots = run.model.knots
    square = float(map_rows(source, partial(_weighted_squares, found.mean, knots)).sum())
    explained, converged = 1.0 - square / found.total, run.status == "settled"
    step = _steps(knots, n_knots)
    return SurfaceFit(found.mean, knots, step, square, explained, run.history, run.steps, converged)


def _weighted_squares(mean: Vector, knots: Array, block: Block) -> Vector:
    y = np.where(block.weights[:, None] > 0, block.rows - mean, 0.0)
    return np.asarray(block.weights * projected(knots, y)[1])


def _steps(knots: Array, m: int) -> Vector:
    grid = knots.reshape(m, m, -1)
    return np.array([np.linalg.norm(np.diff(grid, axis=way), axis=2).mean() for way in (0, 1)])


def places_of(fit: SurfaceFit, names: tuple[str, ...], block: Block) -> Array:
    """(n, 2) where each row projects: steps from the middle of the grid, times their mean length."""
    require_finite(block, names)
    place, _ = projected(fit.knots, block.rows - fit.mean)
    return (place - _middle(fit)) * fit.step


def rows_at(fit: SurfaceFit, coordinates: Array) -> Array:
    """(n, d) the points of the surface at these coordinates (n, 2); outside of it, of its border."""
    place = np.clip(coordinates / fit.step + _middle(fit), 0.0, 2.0 * _middle(fit))
    return np.asarray(fit.mean + points(fit.knots, place))


def _middle(fit: SurfaceFit) -> float:
    return (float(np.sqrt(len(fit.knots))) - 1.0) / 2.0
