"""Axes that several groups share: the orientation of EVE and VVE.

With axes D and ``v_cj = (D' W_c D)_jj`` the best lengths are known, and what is left to minimise over D is

    VVE    sum_c n_c sum_j log v_cj
    EVE    sum_c g_c,    g_c = (v_c1 ... v_cd)^(1/d)

Both have the gradient of ``sum_c p_c sum_j log v_cj``, with p_c = n_c for VVE and g_c for EVE. In the plane of two
axes that is a function of one angle, and turning a plane leaves the other axes alone: d/2 planes without a common
axis are turned at a time, each to its best angle. For VVE no turn raises the objective. For EVE, where p moves with
D, a sweep that did is taken back and made along the tangent instead: both objectives are concave in v, so lowering
``sum_c p_c sum_j v_cj / v_cj(last)`` lowers them for certain, only more slowly.

The optimum is local: start from the last D.

References
----------
1. Flury, Gautschi (1986), An algorithm for simultaneous orthogonal transformation of several positive definite
   symmetric matrices to nearly diagonal form. SIAM J. Sci. Stat. Comput. 7:169-184.
2. Browne, McNicholas (2014), Orthogonal Stiefel manifold optimization for eigen-decomposed covariance parameter
   estimation in mixture models. Statistics and Computing 24:203-210.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Objective = Callable[[Array], tuple[float, Array]]  # lengths v (k, d) -> what to minimise, weights p (k,)

SWEEPS = 50  # over all planes, at most
SCREENING = 3  # of them to tell the starts apart
SETTLED = 1e-6  # largest angle of a sweep near the optimum: the objective is flat there
WORTH = 1e-10  # of the objective, by a sweep: less is axes of nearly equal length, which are anywhere
ROUNDING = 8.0 * np.finfo(float).eps  # of the objective, a mean of logarithms
ANGLES = np.linspace(-np.pi / 4, np.pi / 4, 13)[1:]  # all there are, up to naming the axes


def common_axes(scatters: Array, objective: Objective, start: Array | None) -> Array:
    """(d, d) axes in columns that minimise ``objective``, from ``start`` on; without one, from the better of two."""
    if len(scatters) == 1:
        return np.linalg.eigh(scatters[0])[1]  # nobody to agree with
    if start is None:
        starts = (np.linalg.eigh(scatters.sum(axis=0))[1], np.eye(scatters.shape[1]))
        tried = [_turn(scatters, objective, axes, _searched_angles, SCREENING) for axes in starts]
        start = min(tried, key=lambda found: found[0])[1]
    return _turn(scatters, objective, start, _newton_angles, SWEEPS)[1]


def lengths_along(scatters: Array, axes: Array) -> Array:
    """(k, d) ``diag(D' W_c D)``, never below rounding."""
    v: Array = np.einsum("cij,ij->cj", scatters @ axes, axes)
    return _above_rounding(v)


def _above_rounding(v: Array) -> Array:
    least = v.shape[1] * np.finfo(float).eps * v.max(axis=1, keepdims=True)
    lengths: Array = np.maximum(v, np.maximum(least, np.finfo(float).tiny))
    return lengths


Angles = Callable[[Array, Array, Array, Array], Array]  # p (k,), v_p, v_q, w_pq (k, h) -> angles (h,)


def _turn(
    scatters: Array, objective: Objective, axes: Array, rule: Angles, sweeps: int
) -> tuple[float, Array]:
    value = objective(lengths_along(scatters, axes))[0]
    for _ in range(sweeps):
        turned, after = axes.T @ scatters @ axes, axes.copy()
        largest = max([_turn_planes(turned, after, objective, rule, p, q) for p, q in _rounds(len(axes))])
        left, _, right = np.linalg.svd(after)  # rounding of many turns
        after = left @ right
        reached = objective(lengths_along(scatters, after))[0]
        won = value - reached
        if reached <= value + ROUNDING * (1.0 + abs(value)):
            value, axes = min(value, reached), after
        elif rule is _tangent_angles:  # cannot raise it: rounding is all that is left
            break
        else:
            rule = _tangent_angles
            continue
        if largest <= SETTLED or won <= WORTH * (1.0 + abs(value)):
            break
    return value, axes


def _turn_planes(
    turned: Array,  # (k, d, d) in and out: D' W_c D
    axes: Array,  # (d, d) in and out
    objective: Objective,
    rule: Angles,
    p: NDArray[np.intp],  # (h,) first axis of each plane
    q: NDArray[np.intp],  # (h,) second
) -> float:
    """Turns planes by the angles of ``rule``, and gives the largest."""
    v = _above_rounding(np.diagonal(turned, axis1=1, axis2=2))
    angle = rule(objective(v)[1], v[:, p], v[:, q], turned[:, p, q])
    c, s = np.cos(angle), np.sin(angle)
    _rotate_columns(axes, p, q, c, s)
    _rotate_columns(turned, p, q, c, s)
    _rotate_columns(turned.swapaxes(1, 2), p, q, c, s)
    return float(np.abs(angle).max())


def _newton_angles(weights: Array, a: Array, b: Array, e: Array) -> Array:
    """Towards the least ``sum_c p_c log(v_p(t) v_q(t))``: the tangent's angle, then Newton where that is lower."""
    plane = _Plane(weights, 0.5 * (a + b), 0.5 * (a - b), e)
    return plane.newton(_tangent_angles(weights, a, b, e), 2)


def _searched_angles(weights: Array, a: Array, b: Array, e: Array) -> Array:
    """The same among all angles: out of saddle points, and of poor starts."""
    plane = _Plane(weights, 0.5 * (a + b), 0.5 * (a - b), e)
    values = np.stack([plane.at(np.full(a.shape[1], t))[0] for t in ANGLES])
    return plane.newton(ANGLES[values.argmin(axis=0)], 3)


class _Plane(NamedTuple):
    """h planes: with x = half cos 2t + e sin 2t the lengths are m + x and m - x, their product m^2 - x^2."""

    weights: Array  # (k,) p
    m: Array  # (k, h) mean length
    half: Array  # (k, h) half their difference
    e: Array  # (k, h) what is off the diagonal

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """(h,) value, slope and curvature at angles t (h,)."""
        c, s = np.cos(2.0 * t), np.sin(2.0 * t)
        x, y = self.half * c + self.e * s, self.e * c - self.half * s  # dx/dt = 2 y, dy/dt = -2 x
        product = np.maximum((self.m - x) * (self.m + x), np.finfo(float).eps * self.m * self.m)
        slope = -4.0 * x * y / product
        curvature = 8.0 * (x * x - y * y) / product - slope * slope
        return self.weights @ np.log(product), self.weights @ slope, self.weights @ curvature

    def newton(self, t: Array, steps: int) -> Array:
        """Steps that lower the value; others are not made."""
        value, slope, curvature = self.at(t)
        for _ in range(steps):
            step = np.divide(-slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
            tried = t + np.clip(step, -0.2, 0.2)
            value_there, slope_there, curvature_there = self.at(tried)
            lower = value_there <= value
            t, value = np.where(lower, tried, t), np.where(lower, value_there, value)
            slope = np.where(lower, slope_there, slope)
            curvature = np.where(lower, curvature_there, curvature)
        return t


def _tangent_angles(weights: Array, a: Array, b: Array, e: Array) -> Array:
    """Where the tangent is least: smallest eigenvector of ``sum_c p_c (1/v_p - 1/v_q) W_c`` in the plane."""
    tilt = weights[:, None] * (1.0 / a - 1.0 / b)
    gap = np.sum(tilt * (b - a), axis=0)  # never negative: no angle is above 45 degrees
    angles: Array = 0.5 * np.arctan2(-2.0 * np.sum(tilt * e, axis=0), np.maximum(gap, 0.0))
    return angles


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
