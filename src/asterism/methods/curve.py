"""A principal curve: a smooth line through the middle of the rows.

The curve is a chain of p knots F (p, d). A row's place on it is u (piece and fraction), and f(u) = b(u)'F with hat
functions b. Two steps, each of which can only lower

    J = sum w |x - f(u)|^2 + s sum |F_{j-1} - 2 F_j + F_{j+1}|^2

by turns:  project   u = argmin |x - f(u)|                        (a pass over the rows)
           smooth    (B'WB + s D'D) F = B'WX                      (tridiagonal B'WB, second differences D)

B'WB and B'WX are sums over rows, so blocks add up, and rows are never sorted. The penalty also keeps knots evenly
apart. The start is the first principal component; arc length is measured along the finished chain.

References
----------
1. Hastie, Stuetzle (1989), Principal curves. JASA 84:502-516.
2. Kegl, Krzyzak, Linder, Zeger (2000), Learning and design of principal curves. IEEE PAMI 22:281-297.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
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

Array = NDArray[np.float64]
STRIP = 256  # measured: rows that are projected together, while all is in the cache
REACH = 2.0  # standard deviations along the first component that the starting line reaches


@dataclass(frozen=True, slots=True)
class Pulls:
    """What rows say to the knots: sums that add."""

    diagonal: Vector  # (p,) of B'WB
    beside: Vector  # (p,) of B'WB, one to the right; the last is 0
    sums: Array  # (p, d) B'W(X - mean)
    square: float  # sum w |x - f(u)|^2

    def merge(self, other: Pulls) -> Pulls:
        """Rows add up."""
        return Pulls(
            self.diagonal + other.diagonal,
            self.beside + other.beside,
            self.sums + other.sums,
            self.square + other.square,
        )


@dataclass(frozen=True)
class Chain:
    """A curve on its way."""

    knots: Array  # (p, d) offsets from the mean
    reached: float = np.inf  # J of the chain before
    gain: float = np.inf  # what the last step won, as a share of the scatter about the mean


@dataclass(frozen=True)
class Curve:
    """The method of the loop."""

    mean: Vector
    penalty: float  # s
    total: float  # sum w |x - mean|^2
    tol: float
    name: str = "principal curve"

    def summarize(self, model: Chain, block: Block) -> Pulls:
        """Project the rows of a block, and add up what they say."""
        here = present(block)
        y = here.rows - self.mean
        place, square = projected(model.knots, y)
        p, w = len(model.knots), here.weights
        j = np.minimum(place.astype(np.int64), p - 2)
        t = place - j
        left, right = w * (1 - t), w * t
        beside = _added(j, left * t, p)
        diagonal = _added(j, left * (1 - t), p) + _added(j + 1, right * t, p)
        sums = np.stack([_added(j, left * x, p) + _added(j + 1, right * x, p) for x in y.T], axis=1)
        return Pulls(diagonal, beside, sums, float(w @ square))

    def update(self, model: Chain, statistic: Pulls) -> Chain:
        """The knots that minimise J for these places."""
        p = len(model.knots)
        bands = np.zeros((3, p))  # of a symmetric matrix: the diagonal and two beside it
        bands[2], bands[1, 1:] = statistic.diagonal, statistic.beside[:-1]
        second = self.penalty * np.convolve(np.ones(p - 2), [1.0, 4.0, 1.0])
        first = -2.0 * self.penalty * np.convolve(np.ones(p - 2), [1.0, 1.0])
        bands[2] += second
        bands[1, 1:] += first
        bands[0, 2:] += self.penalty
        # a straight line is free of penalty: two knots that no row is near still need a hold
        bands[2] += 1e-12 * bands[2].max()
        knots = linalg.solveh_banded(bands, statistic.sums)
        now = self.objective(model, statistic)
        return Chain(np.asarray(knots, np.float64), now, (model.reached - now) / self.total)

    def objective(self, model: Chain, statistic: Pulls) -> float:
        """J."""
        bend = np.diff(model.knots, 2, axis=0)
        return statistic.square + self.penalty * float((bend * bend).sum())

    def settled(self, before: Chain, after: Chain) -> bool:  # noqa: ARG002  ``after`` remembers
        """The last step won too little."""
        return after.gain <= self.tol

    def pack(self, model: Chain) -> Mapping[str, NDArray[Any]]:
        """Arrays for a checkpoint."""
        return {"knots": model.knots, "way": np.array([model.reached, model.gain])}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Chain:
        """From a checkpoint."""
        return Chain(arrays["knots"], float(arrays["way"][0]), float(arrays["way"][1]))


def _added(at: NDArray[np.int64], values: Vector, p: int) -> Vector:
    """(p,) the sum of the values at each place; of no values, NumPy's own would be whole numbers."""
    return np.asarray(np.bincount(at, values, p), np.float64)


def projected(knots: Array, y: Array) -> tuple[Vector, Vector]:
    """(n,) the place of every row on the chain, and its squared distance from it."""
    piece, t, square = nearest_segments(knots[:-1], np.diff(knots, axis=0), y)
    return piece + t, square


def nearest_segments(start: Array, way: Array, y: Array) -> tuple[NDArray[np.int64], Vector, Vector]:
    """(n,) the segment a row is nearest to, the fraction of it that is behind, the squared distance from it.

    On the segment from a to a + v a row x is nearest to a + t v, t = (x - a)'v / |v|^2 held to 0 <= t <= 1, and there

        |x - a - t v|^2 - |x|^2 = |a|^2 - 2 x'a - t (2 (x - a)'v / |v|^2 - t) |v|^2

    Products find the nearest segment, the first of equals; the distance is taken from the difference itself.
    """
    length = (way * way).sum(axis=1)
    along = np.divide(way, length[:, None], out=np.zeros_like(way), where=length[:, None] > 0)
    before, corner = (start * along).sum(axis=1), (start * start).sum(axis=1)
    nearest, part, square = np.empty(len(y), np.int64), np.empty(len(y)), np.empty(len(y))
    for a in range(0, len(y), STRIP):
        here, x = slice(a, a + STRIP), y[a : a + STRIP]
        free = x @ along.T - before
        t = np.clip(free, 0.0, 1.0)
        piece = (corner - x @ (2.0 * start.T) - t * (2.0 * free - t) * length).argmin(axis=1)
        t = t[np.arange(len(x)), piece]
        rest = x - start[piece] - t[:, None] * way[piece]
        nearest[here], part[here], square[here] = piece, t, np.einsum("ij,ij->i", rest, rest)
    return nearest, part, square


@dataclass(frozen=True)
class CurveFit:
    """A finished curve."""

    mean: Vector  # (d,)
    knots: Array  # (p, d) offsets from the mean
    arc: Vector  # (p,) length of the curve up to each knot
    distance: float  # sum w |x - f(u)|^2
    explained: float  # 1 - distance / sum w |x - mean|^2
    history: list[float]  # J before every step
    n_iter: int
    converged: bool


@one_blas_thread()
def fit_curve(
    source: Source, *, n_knots: int = 40, smoothness: float = 1.0, tol: float = 1e-4, max_iter: int = 200
) -> CurveFit:
    """The curve; ``smoothness`` 0 follows the rows as knots allow, a large one gives the first component."""
    if not n_knots >= 3 or not smoothness >= 0 or not max_iter >= 1 or not tol >= 0:
        raise ParameterError(
            f"n_knots={n_knots!r}, smoothness={smoothness!r}, tol={tol!r}, max_iter={max_iter!r}.",
            "Give 3 knots or more, 1 step or more, and nothing negative.",
        )
    found = fit_pca(source, 1)
    if not found.eigenvalues[0] > 0:
        raise ParameterError("All rows are equal: there is no curve.", "Give rows that differ.")
    deviation = float(np.sqrt(found.eigenvalues[0] / found.weight))
    line = np.linspace(-REACH, REACH, n_knots)[:, None] * deviation * found.directions
    # Second differences of a bend of given size fall with p^3 (squared p^4, times p knots): so s grows with it.
    penalty = smoothness * found.weight * (n_knots / 40.0) ** 3
    method = Curve(found.mean, penalty, found.total, tol)
    (run,) = iterate(method, source, [Chain(line)], max_iter=max_iter)
    if run.status == "step limit":
        warnings.warn(
            f"The principal curve did not settle in {max_iter} steps. The result is usable; give a larger "
            "max_iter or tol.",
            NotConvergedWarning,
            stacklevel=3,
        )
    knots = run.model.knots
    arc = np.append(0.0, np.cumsum(np.sqrt((np.diff(knots, axis=0) ** 2).sum(axis=1))))
    square = float(map_rows(source, partial(_weighted_squares, found.mean, knots)).sum())
    explained = 1.0 - square / found.total
    converged = run.status == "settled"
    return CurveFit(found.mean, knots, arc, square, explained, run.history, run.steps, converged)


def _weighted_squares(mean: Vector, knots: Array, block: Block) -> Vector:
    y = np.where(block.weights[:, None] > 0, block.rows - mean, 0.0)
    return np.asarray(block.weights * projected(knots, y)[1])


def places_of(fit: CurveFit, names: tuple[str, ...], block: Block) -> Array:
    """(n, 1) the arc length at which each row projects."""
    require_finite(block, names)
    place, _ = projected(fit.knots, block.rows - fit.mean)
    return np.interp(place, np.arange(len(fit.arc)), fit.arc)[:, None]


def rows_at(fit: CurveFit, arc: Vector) -> Array:
    """(n, d) the points of the curve at these arc lengths."""
    points = np.stack([np.interp(arc, fit.arc, knot) for knot in fit.knots.T], axis=1)
    return np.asarray(fit.mean + points)
