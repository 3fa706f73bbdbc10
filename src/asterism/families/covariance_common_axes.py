"""Axes that several groups share: the orientation of EVE and VVE.

With axes D and ``v_cj = (D' W_c D)_jj`` the best lengths are known, and what is left to minimise over D is

    VVE    sum_c n_c sum_j log v_cj
    EVE    sum_c g_c,    g_c = (v_c1 ... v_cd)^(1/d)

Both are concave in v, so their tangent at the last D lies above them: lowering ``sum_c p_c sum_j v_cj / v_cj(last)``
lowers them, with p_c = n_c for VVE and g_c for EVE. In the plane of two axes the tangent is a quadratic form in the
angle, and the best angle is an eigenvector of a 2 x 2 matrix. d/2 planes without a common axis are turned at a time.
The optimum is local: start from the last D, and the objective never rises.

References
----------
1. Flury, Gautschi (1986), An algorithm for simultaneous orthogonal transformation of several positive definite
   symmetric matrices to nearly diagonal form. SIAM J. Sci. Stat. Comput. 7:169-184.
2. Browne, McNicholas (2014), Orthogonal Stiefel manifold optimization for eigen-decomposed covariance parameter
   estimation in mixture models. Statistics and Computing 24:203-210.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Objective = Callable[[Array], tuple[float, Array]]  # lengths v (k, d) -> what to minimise, weights p (k,)

SWEEPS = 100  # over all planes, at most
SETTLED = 1e-9  # largest angle of a sweep; the objective moves by its square


def common_axes(scatters: Array, objective: Objective, start: Array | None) -> Array:
    """(d, d) axes in columns that minimise ``objective``, from ``start`` on; without one, from several."""
    if start is not None:
        return _turn(scatters, objective, start)[1]
    d = scatters.shape[1]
    starts = [np.linalg.eigh(scatters.sum(axis=0))[1], np.eye(d)]
    starts += [np.linalg.eigh(s)[1] for s in scatters]
    return min((_turn(scatters, objective, axes) for axes in starts), key=lambda found: found[0])[1]


def lengths_along(scatters: Array, axes: Array) -> Array:
    """(k, d) ``diag(D' W_c D)``, never below rounding."""
    v: Array = np.einsum("cij,ij->cj", scatters @ axes, axes)
    return _above_rounding(v)


def _above_rounding(v: Array) -> Array:
    least = v.shape[1] * np.finfo(float).eps * v.max(axis=1, keepdims=True)
    lengths: Array = np.maximum(v, np.maximum(least, np.finfo(float).tiny))
    return lengths


def _turn(scatters: Array, objective: Objective, axes: Array) -> tuple[float, Array]:
    axes = axes.copy()
    for _ in range(SWEEPS):
        turned = axes.T @ scatters @ axes
        if max(_turn_planes(turned, axes, objective, p, q) for p, q in _rounds(len(axes))) <= SETTLED:
            break
    left, _, right = np.linalg.svd(axes)  # rounding of many turns
    axes = left @ right
    return objective(lengths_along(scatters, axes))[0], axes


def _turn_planes(
    turned: Array,  # (k, d, d) in and out: D' W_c D
    axes: Array,  # (d, d) in and out
    objective: Objective,
    p: NDArray[np.intp],  # (h,) first axis of each plane
    q: NDArray[np.intp],  # (h,) second
) -> float:
    """Turns every plane by its best angle, and gives the largest.

    That is the smallest eigenvector of ``sum_c p_c (1/v_p - 1/v_q) W_c`` within the plane.
    """
    v = _above_rounding(np.diagonal(turned, axis1=1, axis2=2))
    weights = objective(v)[1]
    tilt = weights[:, None] * (1.0 / v[:, p] - 1.0 / v[:, q])
    gap = np.sum(tilt * (v[:, q] - v[:, p]), axis=0)  # never negative: no angle is above 45 degrees
    cross = np.sum(tilt * turned[:, p, q], axis=0)
    angle = 0.5 * np.arctan2(-2.0 * cross, np.maximum(gap, 0.0))
    c, s = np.cos(angle), np.sin(angle)
    _rotate_columns(axes, p, q, c, s)
    _rotate_columns(turned, p, q, c, s)
    _rotate_columns(turned.swapaxes(1, 2), p, q, c, s)
    return float(np.abs(angle).max())


def _rotate_columns(a: Array, p: NDArray[np.intp], q: NDArray[np.intp], c: Array, s: Array) -> None:
    first, second = a[..., p], a[..., q]
    a[..., p], a[..., q] = c * first + s * second, c * second - s * first


def _rounds(d: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Every pair of axes once, in rounds of pairs without a common axis (a round-robin tournament)."""
    size = d + d % 2
    ring = np.arange(size)
    for _ in range(size - 1):
        p, q = ring[: size // 2], ring[size // 2 :][::-1]
        real = (p < d) & (q < d)
        yield p[real], q[real]
        ring = np.concatenate([ring[:1], ring[-1:], ring[1:-1]])
