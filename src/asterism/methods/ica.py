"""Independent components: directions in which whitened rows look least normal.

Rows are centred and whitened by their moments, ``v = K (x - mean)`` with E[v v'] = I. Then every row b of an
orthogonal matrix B is moved, pass by pass, to where the contrast g balances (Newton's method for E[G(b'v)]):

    b <- E[g(b'v) v] - E[g'(b'v)] b

and the rows are made orthonormal again: all at once, B <- (B B')^(-1/2) B ("parallel"), or one after the other, each
orthogonal to those found before ("deflation"). Whitened rows are never made: B K is one matrix, and the sums over a
block are ``sum w g(u) (x - mean)'`` and ``sum w g'(u)``, which add up.

References
----------
1. Hyvarinen (1999), Fast and robust fixed-point algorithms for independent component analysis. IEEE Trans. Neural
   Networks 10:626-634.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism import _core
from asterism.data.block import Block, Vector
from asterism.data.source import Source
from asterism.engines.loop import Run, iterate
from asterism.engines.threads import one_blas_thread
from asterism.errors import NotConvergedWarning, ParameterError
from asterism.methods.components import Components
from asterism.methods.pca import fit_pca

Array = NDArray[np.float64]
ALGORITHMS = ("parallel", "deflation")
CONTRASTS = {"logcosh": _core.contrast_logcosh, "exp": _core.contrast_bell, "cube": _core.contrast_cube}
FUNCTIONS = tuple(CONTRASTS)
PATIENCE = 40  # whole steps; then half steps, which end where whole ones go to and fro
CHUNK = 1 << 15  # numbers of u that stay in the cache


@dataclass(frozen=True, slots=True)
class Pull:
    """What some rows say to directions: sums that add."""

    product: Array  # (b, d) sum w g(u) (x - mean)'
    slope: Vector  # (b,) sum w g'(u)

    def merge(self, other: Pull) -> Pull:
        """Rows add up."""
        return Pull(self.product + other.product, self.slope + other.slope)


@dataclass(frozen=True)
class Directions:
    """Rows of B on their way."""

    rows: Array  # (b, m) orthonormal
    moved: float = np.inf  # 1 - |cosine| of the last move, the largest of them
    step: int = 0


@dataclass(frozen=True)
class FixedPoint:
    """The method of the loop; ``found`` are directions to stay orthogonal to."""

    fun: str
    alpha: float
    tol: float
    weight: float
    mean: Vector = field(repr=False)  # (d,)
    whitener: Array = field(repr=False)  # (m, d) K
    found: Array = field(repr=False)  # (f, m) none for "parallel"
    name: str = "independent components"

    def summarize(self, model: Directions, block: Block) -> Pull:
        """Both sums over a block, some rows at a time."""
        contrast = CONTRASTS[self.fun]
        turn = model.rows @ self.whitener  # (b, d) B K
        product, slope = np.zeros_like(turn), np.zeros(len(turn))
        step = max(CHUNK // max(turn.shape), 1)
        for a in range(0, len(block), step):
            w = block.weights[a : a + step]
            y = block.rows[a : a + step] - self.mean
            if not w.all():
                y[w == 0] = 0.0  # absent rows may hold anything, NaN included
            u = turn @ y.T
            for c in range(len(u)):
                slope[c] += contrast(u[c], w, self.alpha)
            product += u @ y
        return Pull(product, slope)

    def update(self, model: Directions, statistic: Pull) -> Directions:
        """Newton's step, and orthonormal again."""
        pull = statistic.product @ self.whitener.T / self.weight
        raw = pull - (statistic.slope / self.weight)[:, None] * model.rows
        rows = self.orthonormal(raw)
        cosines = np.einsum("cm,cm->c", rows, model.rows)
        if model.step >= PATIENCE:
            rows = self.orthonormal(model.rows + np.where(cosines < 0, -1.0, 1.0)[:, None] * rows)
            cosines = np.einsum("cm,cm->c", rows, model.rows)
        return Directions(rows, float(np.abs(np.abs(cosines) - 1.0).max()), model.step + 1)

    def orthonormal(self, raw: Array) -> Array:
        """The nearest orthonormal rows; or, beside directions that are found, what is left of one."""
        if len(self.found):
            for _ in range(2):  # once is not enough (Kahan, Parlett)
                raw = raw - raw @ self.found.T @ self.found
        left, _, right = linalg.svd(raw, full_matrices=False)
        return np.asarray(left @ right)

    def objective(self, model: Directions, statistic: Pull) -> float:  # noqa: ARG002  the loop's signature
        """How far the last step moved: a fixed point has no better measure."""
        return model.moved

    def settled(self, before: Directions, after: Directions) -> bool:  # noqa: ARG002  the loop's signature
        """Directions hardly turned."""
        return after.moved < self.tol

    def pack(self, model: Directions) -> Mapping[str, NDArray[Any]]:
        """Arrays for a checkpoint."""
        return {"rows": model.rows, "moved": np.array([model.moved]), "step": np.array([model.step])}

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Directions:
        """From a checkpoint."""
        return Directions(arrays["rows"], float(arrays["moved"][0]), int(arrays["step"][0]))


@dataclass(frozen=True)
class ICAFit:
    """Independent components: x = mean + mixing s, s = unmixing (x - mean)."""

    mean: Vector  # (d,)
    unmixing: Array  # (m, d) sources have variance 1
    mixing: Array  # (d, m) columns longest first, their largest entries positive
    whitener: Array  # (m, d) K
    history: list[
        float
    ]  # 1 - |cosine| of every step's largest move; of one source after the other by deflation
    n_iter: int
    converged: bool


@one_blas_thread()
def fit_ica(
    source: Source,
    m: int | None = None,
    *,
    algorithm: str = "parallel",
    fun: str = "logcosh",
    alpha: float = 1.0,
    max_iter: int = 200,
    tol: float = 1e-6,
    start: Any = None,
    seed: int = 0,
) -> ICAFit:
    """``m`` independent components (None: as many as directions vary), ``start`` (m, m) or drawn.

    Sources have variance 1 (divided by the sum of weights). Order and signs are fixed: the source that makes the
    largest part of the table's variance comes first.
    """
    _check(algorithm, fun, alpha, max_iter, tol)
    found = fit_pca(source, m, seed=seed)
    whitener = _whitener(found, m)
    m = len(whitener)
    rows = _start(start, m, seed)
    settings = (fun, alpha, tol, found.weight, found.mean, whitener)
    if algorithm == "parallel":
        runs = [_run(FixedPoint(*settings, np.empty((0, m))), source, rows, max_iter)]
        turned = runs[0].model.rows
    else:
        runs, turned = [], np.empty((0, m))
        for c in range(m):
            runs.append(_run(FixedPoint(*settings, turned), source, rows[c : c + 1], max_iter))
            turned = np.vstack([turned, runs[-1].model.rows])
    converged = all(run.status == "settled" for run in runs)
    if not converged:
        warnings.warn(
            f"Independent components did not settle in {max_iter} steps. Give a larger max_iter or tol, or "
            "another start: two sources that are normal cannot be told apart.",
            NotConvergedWarning,
            stacklevel=3,
        )
    moves = [move for run in runs for move in [*run.history[1:], run.model.moved]]
    return _ordered(found.mean, turned @ whitener, whitener, moves, max(run.steps for run in runs), converged)


def _run(method: FixedPoint, source: Source, rows: Array, max_iter: int) -> Run[Directions]:
    start = Directions(method.orthonormal(rows))
    return iterate(method, source, [start], max_iter=max_iter)[0]


def _whitener(found: Components, m: int | None) -> Array:
    """(m, d) K = diag(variance)^(-1/2) V'; directions without variance are left out, or refused if asked for."""
    vary = found.eigenvalues > 0
    if m is not None and not vary.all():
        raise ParameterError(
            f"n_components={m}, but rows vary in {int(vary.sum())} directions only.",
            f"Give a whole number up to {int(vary.sum())}, or None.",
        )
    if not vary.any():
        raise ParameterError("All rows are equal: there is nothing to take apart.", "Give rows that differ.")
    roots = np.sqrt(found.eigenvalues[vary] / found.weight)
    return np.asarray(found.directions[vary] / roots[:, None])


def _start(start: Any, m: int, seed: int) -> Array:
    if start is None:
        return np.random.default_rng(seed).standard_normal((m, m))
    given = np.asarray(start, np.float64)
    if given.shape != (m, m) or np.linalg.matrix_rank(given) < m:
        raise ParameterError(
            f"w_init has the shape {given.shape}.", f"Give {(m, m)} numbers whose rows are independent."
        )
    return given


def _ordered(
    mean: Vector, unmixing: Array, whitener: Array, history: list[float], n_iter: int, converged: bool
) -> ICAFit:
    """K has orthogonal rows, so its pseudo-inverse, and that of B K, is a matter of lengths."""
    mixing = np.asarray(linalg.pinv(unmixing), np.float64)
    order = np.argsort(-(mixing**2).sum(axis=0), kind="stable")
    mixing, unmixing = mixing[:, order], unmixing[order]
    top = np.abs(mixing).argmax(axis=0)
    signs = np.where(mixing[top, np.arange(len(order))] < 0, -1.0, 1.0)
    return ICAFit(mean, unmixing * signs[:, None], mixing * signs, whitener, history, n_iter, converged)


def _check(algorithm: str, fun: str, alpha: float, max_iter: int, tol: float) -> None:
    if algorithm not in ALGORITHMS:
        raise ParameterError(f"algorithm is {algorithm!r}.", f"Give one of {ALGORITHMS}.")
    if fun not in FUNCTIONS:
        raise ParameterError(f"fun is {fun!r}.", f"Give one of {FUNCTIONS}.")
    if not 1.0 <= alpha <= 2.0:
        raise ParameterError(f"alpha is {alpha!r}.", "Give a number from 1 to 2.")
    if not max_iter >= 1 or not tol >= 0:
        raise ParameterError(
            f"max_iter={max_iter!r}, tol={tol!r}.", "Give 1 step or more, and tol 0 or more."
        )


def sources_of(mean: Vector, unmixing: Array, names: tuple[str, ...], block: Block) -> NDArray[Any]:
    """(n, m) sources of the rows of a block, in the rows' own precision."""
    from asterism.data.finite import require_finite

    with np.errstate(invalid="ignore", over="ignore"):
        s = (block.rows - mean) @ unmixing.T
    if not np.isfinite(s).all():
        require_finite(block, names)
    return s.astype(block.rows.dtype, copy=False)
