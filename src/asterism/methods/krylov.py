"""The few largest eigenvalues of S = sum of something over rows, pass by pass, without ever forming S: block Lanczos.

    S V = V T + Q R e'         V orthonormal, T = V'S V, Q the next block, R its coupling to the last

Every pass multiplies one block of directions, S Q. T is small, and its eigenpairs (t, y) tell all: t approximates
an eigenvalue, V y its vector, and |S V y - t V y| = |R y_last|, so accuracy costs nothing to know. When V is full it
restarts from its best vectors; the next block couples to them by itself, since it is made orthogonal to all of V.

What S is, and what is accurate enough, is an operator's affair: the scatter about the mean (``methods.pca``, below)
with wide blocks, for tables where a pass costs most; A'A of sparse tables (``methods.squares``) with narrow ones.

References
----------
1. Golub, Underwood (1977), The block Lanczos method for computing eigenvalues.
2. Golub, Luk, Overton (1981), A block Lanczos method for computing the singular values and corresponding singular
   vectors of a matrix. ACM TOMS 7:149-169.
3. Wu, Simon (2000), Thick-restart Lanczos method for large symmetric eigenvalue problems. SIAM
   J. Matrix Anal. Appl. 22:602-616.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector, is_sparse, present
from asterism.data.finite import infinite_cell, raise_for_bad_cell
from asterism.data.source import Source
from asterism.engines.loop import iterate
from asterism.engines.reduce import reduce
from asterism.engines.threads import one_blas_thread
from asterism.errors import NotConvergedWarning
from asterism.methods.components import EPS, Components, asked, assembled, limit
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]
MORE = 8  # directions of a block beyond the components wanted: they speed up the last of them
WIDE_BLOCKS = 5  # of V beside the vectors wanted, before it restarts
VALUE_ERROR = 1e-11  # of an eigenvalue, relative to it
VECTOR_ERROR = 1e-8  # residual of a direction, relative to the largest eigenvalue
ROUNDING = 1e-13  # of the largest eigenvalue: a direction with less is none
MOST_PASSES = 500


class Operator(Protocol):
    """S, as a sum over rows."""

    def visit(self, q: Array, block: Block) -> Any:
        """What a block has to say about S Q: a statistic."""
        ...

    def image(self, q: Array, statistic: Any) -> Array:
        """(d, b) S Q."""
        ...

    def enough(self, values: Vector, residuals: Vector) -> bool:
        """Whether eigenvalues with residuals |S v - t v| are accurate."""
        ...


@dataclass(frozen=True, slots=True)
class Space:
    """V, T and what is known of eigenvalues so far."""

    room: Array  # (d, more) columns up to ``have`` are V; the others are not written but by the next step
    have: int
    near: int  # S Q has its large parts along the columns of V from here on
    inner: Array  # (more, more) T up to ``have``
    new: Array  # (d, b) Q
    values: Vector  # (have,) of T, largest first
    turn: Array  # (have, have) its vectors
    residuals: Vector  # (m,) of the leading ones; infinite before there are m

    def vectors(self, m: int) -> Array:
        """(d, m) the best approximations."""
        return np.asarray(self.room[:, : len(self.turn)] @ self.turn[:, :m])


@dataclass(frozen=True)
class Krylov:
    """The method of the loop: each pass widens the space."""

    operator: Operator
    d: int
    m: int  # eigenvalues wanted
    width: int  # directions of a pass
    blocks: int  # of V beside the vectors wanted
    name: str

    @property
    def full(self) -> int:
        """Columns of V at which it restarts."""
        return min(self.m + self.blocks * self.width, self.d)

    def start(self, seed: int) -> Space:
        """Random directions."""
        b = min(self.width, self.d)
        drawn = np.random.default_rng(seed).standard_normal((self.d, b))
        new = np.asarray(linalg.qr(drawn, mode="economic")[0], np.float64)
        more = self.full + b
        room, inner = np.empty((self.d, more), order="F"), np.zeros((more, more))
        return Space(room, 0, 0, inner, new, np.empty(0), np.empty((0, 0)), np.full(self.m, np.inf))

    def summarize(self, model: Space, block: Block) -> Any:
        """What a block says about the image of the new directions."""
        return self.operator.visit(model.new, block)

    def update(self, model: Space, statistic: Any) -> Space:
        """Widen V by the new directions, and find the best approximations in it."""
        have, top, t = model.have, model.have + model.new.shape[1], model.inner.copy()
        v, z = model.room, self.operator.image(model.new, statistic)
        v[:, have:top] = model.new
        # The large parts of z lie along the last two blocks, or along all after a restart. Then once more along
        # all: what one such step leaves behind would grow fourfold with every block.
        for first in (model.near, 0):
            inner = v[:, first:top].T @ z
            z -= v[:, first:top] @ inner
            t[first:top, have:top] += inner
        t[have:top, :top] = t[:top, have:top].T
        values, turn = linalg.eigh(t[:top, :top])
        values, turn = values[::-1], turn[:, ::-1]
        new, coupling = _next(z, self.d - top, float(values[0]))
        residuals = np.full(self.m, np.inf)
        known = min(self.m, top)
        residuals[:known] = np.sqrt(((coupling @ turn[have:top, :known]) ** 2).sum(axis=0))
        after = Space(v, top, have, t, new, values, turn, residuals)
        return self._restarted(after) if top + new.shape[1] > self.full and not self._done(after) else after

    def _restarted(self, model: Space) -> Space:
        keep = min(self.m + self.width, model.have)
        room, t = np.empty_like(model.room), np.zeros_like(model.inner)
        room[:, :keep] = model.vectors(keep)
        t[:keep, :keep] = np.diag(model.values[:keep])
        return Space(room, keep, 0, t, model.new, model.values[:keep], np.eye(keep), model.residuals)

    def objective(self, model: Space, _statistic: Any) -> float:
        """Minus the sum of the eigenvalues so far."""
        return -float(model.values[: self.m].sum())

    def settled(self, _before: Space, after: Space) -> bool:
        """Whether values and vectors are accurate, or the space cannot grow."""
        return self._done(after)

    def _done(self, model: Space) -> bool:
        if not model.new.shape[1]:
            return True
        return len(model.values) >= self.m and self.operator.enough(model.values[: self.m], model.residuals)

    def pack(self, model: Space) -> Mapping[str, NDArray[Any]]:
        """Arrays for a checkpoint."""
        have = model.have
        return {
            "basis": model.room[:, :have],
            "inner": model.inner[:have, :have],
            "new": model.new,
            "values": model.values,
            "turn": model.turn,
            "residuals": model.residuals,
            "near": np.array([model.near]),
        }

    def unpack(self, arrays: Mapping[str, NDArray[Any]]) -> Space:
        """And back."""
        a, blank = arrays, self.start(0)
        have = a["basis"].shape[1]
        blank.room[:, :have] = a["basis"]
        blank.inner[:have, :have] = a["inner"]
        return Space(
            blank.room, have, int(a["near"][0]), blank.inner, a["new"], a["values"], a["turn"], a["residuals"]
        )


def _next(z: Array, room: int, largest: float) -> tuple[Array, Array]:
    """Q R = Z, without the columns of Q that would be rounding."""
    q, r = linalg.qr(z, mode="economic", check_finite=False)
    if room >= len(r) and np.abs(np.diag(r)).min() > ROUNDING * largest:
        return np.asarray(q, np.float64), np.asarray(r, np.float64)
    q, r, order = linalg.qr(z, mode="economic", pivoting=True, check_finite=False)
    keep = min(int((np.abs(np.diag(r)) > ROUNDING * largest).sum()), room)
    back = np.empty(r.shape)
    back[:, order] = r
    return np.asarray(q[:, :keep], np.float64), back


@one_blas_thread()  # the sums of a product depend on how many threads share it
def leading_pairs(method: Krylov, source: Source, seed: int, remedy: str) -> tuple[Vector, Array]:
    """The ``m`` largest eigenvalues, and their vectors (d, m); a warning with a remedy where they did not settle."""
    (run,) = iterate(method, source, [method.start(seed)], max_iter=MOST_PASSES)
    if run.status == "step limit":
        warnings.warn(
            f"The {method.m} {method.name} did not settle in {MOST_PASSES} passes: they lie too close. {remedy}",
            NotConvergedWarning,
            stacklevel=4,
        )
    return run.model.values[: method.m], run.model.vectors(method.m)


# ---- the scatter about the mean


@dataclass(frozen=True, slots=True)
class Image:
    """What the scatter matrix of some rows makes of the directions Q."""

    product: Array  # (d, b) sum of w y (y' Q), y = x - mean
    away: Vector  # (d,) sum of w y: 0 but for the rounding of the mean, which it corrects

    def merge(self, other: Image) -> Image:
        """Rows add up."""
        return Image(self.product + other.product, self.away + other.away)


@dataclass(frozen=True)
class ScatterOperator:
    """S = sum w y y', y = x - mean."""

    weight: float
    mean: Vector = field(repr=False)  # (d,)

    def visit(self, q: Array, block: Block) -> Image:
        """Of the rows of a block."""
        if is_sparse(block.rows):
            return self._visit_sparse(q, present(block))
        w = block.weights
        y = block.rows - self.mean
        if not w.all():
            y[w == 0] = 0.0  # absent rows may hold anything, NaN included
        z = y @ q
        z *= w[:, None]
        return Image(y.T @ z, w @ y)

    def _visit_sparse(self, q: Array, block: Block) -> Image:
        """The same, and the mean is never subtracted: y'q = x'q - mean'q, sum w y z = sum w x z - mean sum w z."""
        w, x = block.weights, block.rows.astype(np.float64, copy=False)
        z = w[:, None] * (x @ q - self.mean @ q)
        return Image(x.T @ z - np.outer(self.mean, z.sum(axis=0)), x.T @ w - w.sum() * self.mean)

    def image(self, q: Array, statistic: Image) -> Array:
        """About the mean of all rows to the last digit."""
        away = statistic.away
        return np.asarray(statistic.product - np.outer(away, away @ q / self.weight))

    def enough(self, values: Vector, residuals: Vector) -> bool:
        """An eigenvalue is within |r| of t, and within |r|^2 / gap where others are a gap away (Kato, Temple)."""
        apart = np.abs(np.diff(values, append=0.0))
        gap = np.minimum(apart, np.append(np.inf, apart[:-1]))
        near = np.divide(residuals, gap, out=np.ones_like(residuals), where=gap > 0)
        error = residuals * np.minimum(1.0, near)
        allowed = np.maximum(VALUE_ERROR * values, EPS * np.sqrt(len(self.mean)) * values[0])
        return bool((error <= allowed).all() and (residuals <= VECTOR_ERROR * values[0]).all())


@one_blas_thread()
def pca_iterative(source: Source, m: int, seed: int = 0) -> Components:
    """The ``m`` leading components, eigenvalues accurate to about 1e-10 of themselves."""
    columns: ColumnMoments = reduce(source, ColumnMoments.of)
    if columns.infinite is not None:
        raise infinite_cell(source.names, *columns.infinite)
    if columns.missing:
        raise_for_bad_cell(source)
    d, weight = source.n_columns, columns.total
    most = limit(columns.rows, weight, d)
    m = asked(m, most, columns.rows)
    operator = ScatterOperator(weight, columns.mean)
    method = Krylov(operator, d, m, m + MORE, WIDE_BLOCKS, "leading components")
    values, vectors = leading_pairs(method, source, seed, "Ask for fewer or more of them.")
    total = float(columns.scatter.sum())
    return assembled(columns.mean, vectors.T, values, d * EPS, m, total=total, weight=weight, most=most)
