"""Axes that several groups share: the orientation of EVE and VVE.

With axes D and ``v_cj = (D' W_c D)_jj`` the best lengths are known, and what is left to minimise over D is

    VVE    sum_c n_c sum_j log v_cj
    EVE    sum_c g_c,    g_c = (v_c1 ... v_cd)^(1/d)

Both have the gradient of ``sum_c p_c sum_j log v_cj``, with p_c = n_c for VVE and g_c for EVE. In the plane of two
axes that is a function of one angle, and plane after plane is turned to its best (``core/planes.cpp``). For VVE no
turn raises the objective. For EVE, where p moves with D, a sweep that did is taken back and made along the tangent
instead: both objectives are concave in v, so lowering ``sum_c p_c sum_j v_cj / v_cj(last)`` lowers them for certain,
only more slowly.

The optimum is local, and there are several: a sweep from each of some starts, the last D among them, tells the best.

References
----------
1. Flury, Gautschi (1986), An algorithm for simultaneous orthogonal transformation of several positive definite
   symmetric matrices to nearly diagonal form. SIAM J. Sci. Stat. Comput. 7:169-184.
2. Browne, McNicholas (2014), Orthogonal Stiefel manifold optimization for eigen-decomposed covariance parameter
   estimation in mixture models. Statistics and Computing 24:203-210.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from asterism import _core

Array = NDArray[np.float64]
Objective = Callable[[Array], float]  # lengths v (k, d) -> what to minimise

SWEEPS = 50  # over all planes, at most
GROUPS = 4  # whose own axes are tried
SETTLED = 1e-7  # largest angle of a sweep near the optimum: the objective is flat there
WORTH = 1e-14  # of the objective, by a sweep: less is axes of nearly equal length, which are anywhere
ROUNDING = 8.0 * np.finfo(float).eps  # of the objective, a mean of logarithms


def common_axes(
    scatters: Array,  # (k, d, d) W
    objective: Objective,
    weights: Array,  # (k,) p, or none where it is g
    last: Array | None,  # (d, d) those of the step before
) -> Array:
    """(d, d) axes in columns that minimise ``objective``, from the best of some starts, the last axes among them."""
    if len(scatters) == 1:
        return np.linalg.eigh(scatters[0])[1]  # nobody to agree with
    tried = [
        _turn(scatters, objective, weights, axes, _core.Angle.SEARCH, 1) for axes in _starts(scatters, last)
    ]
    best = min(tried, key=lambda found: found[0])[1]
    return _turn(scatters, objective, weights, best, _core.Angle.NEWTON, SWEEPS)[1]


def _starts(scatters: Array, last: Array | None) -> list[Array]:
    """Where to start from: the last axes, those of all rows, and those of the largest groups."""
    largest = np.argsort(-np.trace(scatters, axis1=1, axis2=2), kind="stable")[:GROUPS]
    matrices = [scatters.sum(axis=0), *scatters[largest]]
    return [np.eye(scatters.shape[1]) if last is None else last, *(np.linalg.eigh(m)[1] for m in matrices)]


def lengths_along(scatters: Array, axes: Array) -> Array:
    """(k, d) ``diag(D' W_c D)``, never below rounding."""
    v: Array = np.einsum("cij,ij->cj", scatters @ axes, axes)
    return _above_rounding(v)


def _above_rounding(v: Array) -> Array:
    least = v.shape[1] * np.finfo(float).eps * v.max(axis=1, keepdims=True)
    lengths: Array = np.maximum(v, np.maximum(least, np.finfo(float).tiny))
    return lengths


def _turn(
    scatters: Array, objective: Objective, weights: Array, axes: Array, how: _core.Angle, sweeps: int
) -> tuple[float, Array]:
    value = objective(lengths_along(scatters, axes))
    for _ in range(sweeps):
        lines = axes.T.copy()
        largest = _core.turn_planes(lines @ scatters @ axes, lines, weights, how)
        after = _straightened(lines.T)
        reached = objective(lengths_along(scatters, after))
        won = value - reached
        if reached <= value + ROUNDING * (1.0 + abs(value)):
            value, axes = min(value, reached), after
        elif how == _core.Angle.TANGENT:  # cannot raise it: rounding is all that is left
            break
        else:
            how = _core.Angle.TANGENT
            continue
        if largest <= SETTLED or won <= WORTH * (1.0 + abs(value)):
            break
    return value, axes


def _straightened(axes: Array) -> Array:
    """Axes at right angles again after the rounding of many turns: one step of Newton's for the nearest such."""
    return np.ascontiguousarray(1.5 * axes - 0.5 * (axes @ (axes.T @ axes)))
