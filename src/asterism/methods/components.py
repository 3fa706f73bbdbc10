"""Principal components as a value: what they are, and what can be done with them.

With the scatter matrix ``S = sum w (x - mean)(x - mean)' = V diag(eigenvalues) V'``

    project      z = V_m' (x - mean)
    reconstruct  x ~ mean + V_m z,    sum w |x - reconstruction|^2 = sum of the eigenvalues left out
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from asterism.data.block import Block, Vector, is_sparse
from asterism.data.finite import require_finite
from asterism.data.sparse import squared_lengths
from asterism.errors import ParameterError, WeightError

EPS = float(np.finfo(np.float64).eps)
MANY_CELLS = 1 << 20  # of float32: from here on a product in float32 is tried first
SAFE = 2.0**-60  # float32 holds squares of cells that add up to more, and to less than its inverse
CLEAR = 1.0 / 64.0  # of the largest variance: what that product gives five digits of


@dataclass(frozen=True, slots=True)
class Components:
    """The leading principal components of some rows, largest first."""

    mean: Vector  # (d,)
    directions: NDArray[np.float64]  # (m, d) orthonormal rows
    eigenvalues: Vector  # (m,) of the scatter matrix; exactly 0 where rounding is all there is
    total: float  # trace of the scatter matrix: the sum of all its eigenvalues
    weight: float  # of the rows: how many they count for
    most: int  # components there could be (``limit``)

    @property
    def freedom(self) -> float:
        """What variances are divided by: weight - 1."""
        if self.total == 0:
            return max(self.weight - 1.0, 1.0)  # one row, or equal rows: all variances are 0
        if self.weight > 1:
            return self.weight - 1.0
        raise WeightError(
            f"The weights sum to {self.weight:g}: a variance needs more than one row.",
            "A weight says how many times its row counts; multiply all of them so that they sum to "
            "the number of rows.",
        )

    @property
    def variances(self) -> Vector:
        """(m,) variance along each direction."""
        return self.eigenvalues / self.freedom

    @property
    def ratios(self) -> Vector:
        """(m,) share of the total variance; 0 where there is none."""
        return self.eigenvalues / self.total if self.total > 0 else np.zeros_like(self.eigenvalues)

    @property
    def dropped(self) -> float:
        """Sum of the eigenvalues left out, which is sum w |x - reconstruction|^2."""
        if len(self.eigenvalues) == self.most:
            return 0.0
        left = self.total - float(self.eigenvalues.sum())
        return left if left > len(self.mean) * EPS * self.total else 0.0

    @property
    def noise(self) -> float:
        """Mean variance of the directions left out: what probabilistic PCA calls the noise."""
        left_out = self.most - len(self.eigenvalues)
        return self.dropped / self.freedom / left_out if left_out > 0 else 0.0

    def first(self, m: int) -> Components:
        """Only the ``m`` leading ones."""
        return replace(self, directions=self.directions[:m], eigenvalues=self.eigenvalues[:m])


# ---- making them


def leading(matrix: NDArray[np.float64], m: int) -> tuple[Vector, NDArray[np.float64]]:
    """The ``m`` largest eigenvalues (m,) of a symmetric matrix and their vectors (d, m), largest first."""
    d = len(matrix)
    values, vectors = linalg.eigh(matrix, subset_by_index=(d - m, d - 1), check_finite=False)
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def assembled(
    mean: Vector,  # (d,)
    directions: NDArray[np.float64],  # (r, d) orthonormal, largest eigenvalue first
    eigenvalues: Vector,  # (r,)
    floor: float,  # eigenvalues up to here, relative to the largest, are rounding
    m: int,  # components wanted
    **known: Any,  # total, weight, most
) -> Components:
    """The value of ``m`` components: with signs fixed, and completed where fewer directions vary.

    Where nothing varies any orthonormal directions will do. Those of Householder's reflections depend on the
    other directions alone, so a row of weight w still counts as w copies, to the last component.
    """
    r = min(m, int((eigenvalues > floor * max(eigenvalues[0], 0.0)).sum()))
    basis = np.zeros((len(mean), m))
    basis[:, :r] = directions[:r].T
    if r < m:
        basis[:, r:] = linalg.qr(basis, mode="economic", check_finite=False)[0][:, r:]
    values = np.zeros(m)
    values[:r] = eigenvalues[:r]
    return Components(mean, signed(basis.T), values, **known)


def limit(rows: int, weight: float, d: int) -> int:
    """How many components there can be: min(n, d), where rows of weight w count as w, but none as less than 1."""
    return int(min(max(rows, weight), d))


def asked(m: int | None, most: int, rows: int) -> int:
    """``m`` components, all for None, or a ``ParameterError``."""
    if m is None:
        return most
    if m <= most:
        return m
    raise ParameterError(
        f"n_components={m}, but {rows} rows have no more than {most} components.",
        f"Give a whole number from 1 to {most}, a share between 0 and 1, or None for all.",
    )


def signed(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m, d) every direction turned so that its entry of largest size is positive."""
    at = np.abs(directions).argmax(axis=1)
    sign = np.sign(directions[np.arange(len(directions)), at])
    return np.ascontiguousarray(directions * np.where(sign < 0, -1.0, 1.0)[:, None])


# ---- using them


def project(model: Components, names: tuple[str, ...], whiten: bool, block: Block) -> NDArray[Any]:
    """(n, m) coordinates of rows along the components, in the rows' own precision.

    Whitened coordinates have variance 1, and are 0 along directions in which nothing varied.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        if is_sparse(block.rows):  # centred after the product: rows stay sparse
            z = block.rows @ model.directions.T - model.directions @ model.mean
        else:
            z = (block.rows - model.mean) @ model.directions.T
    if not np.isfinite(z).all():
        require_finite(block, names)
    if whiten:
        z *= reciprocal(np.sqrt(model.variances))
    return z.astype(block.rows.dtype, copy=False)


def reconstruct(model: Components, whiten: bool, block: Block) -> NDArray[Any]:
    """(n, d) rows with these coordinates (n, m)."""
    scale = np.sqrt(model.variances)[:, None] if whiten else 1.0
    rows = block.rows @ (scale * model.directions)
    rows += model.mean
    return rows.astype(block.rows.dtype, copy=False)


def log_density(model: Components, names: tuple[str, ...], block: Block) -> Vector:
    """(n,) log of the Gaussian with the variances kept, and ``noise`` in all directions left out.

    Where some directions have no variance at all it is the density within the others: rows that leave them
    have density 0.
    """
    require_finite(block, names)
    varying = model.variances > 0
    variances, directions = model.variances[varying], model.directions[varying]
    if is_sparse(block.rows):
        z, outside = _sparse_parts(model, directions, block)
    else:
        y = block.rows - model.mean
        z = y @ directions.T
        y -= z @ directions
        outside = (y * y).sum(axis=1)
    distance = (z * z / variances).sum(axis=1)
    volume = float(np.log(2 * np.pi * variances).sum())
    left_out = len(model.mean) - len(model.eigenvalues)
    if left_out and model.noise > 0:
        distance += outside / model.noise
        volume += left_out * float(np.log(2 * np.pi * model.noise))
    else:
        rounding = 1e-16 * (model.total / model.freedom + model.mean @ model.mean)
        distance[outside > rounding] = np.inf
    return np.asarray(-0.5 * (volume + distance), np.float64)


def _sparse_parts(
    model: Components, directions: NDArray[np.float64], block: Block
) -> tuple[NDArray[np.float64], Vector]:
    """(n, m) coordinates of sparse rows, and (n,) |x - mean|^2 - |z|^2, what lies outside the directions."""
    x, mean = block.rows, model.mean
    z = np.asarray(x @ directions.T - directions @ mean)
    square = squared_lengths(x) - 2.0 * (x @ mean) + mean @ mean
    outside = square - (z * z).sum(axis=1)
    return z, np.where(outside > len(mean) * EPS * square, outside, 0.0)


def precision(model: Components) -> NDArray[np.float64]:
    """(d, d) the inverse of the Gaussian's covariance; the pseudo-inverse where it has none."""
    return spectral(model, reciprocal(model.variances), 1.0 / model.noise if model.noise > 0 else 0.0)


def spectral(model: Components, along: Vector, elsewhere: float) -> NDArray[np.float64]:
    """(d, d) the matrix with these eigenvalues along the components, and another in all other directions."""
    matrix: NDArray[np.float64] = (model.directions.T * (along - elsewhere)) @ model.directions
    matrix[np.diag_indices_from(matrix)] += elsewhere
    return matrix


def reciprocal(values: Vector) -> Vector:
    """1 / values, and 0 for 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
