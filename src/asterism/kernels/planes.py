"""Turning the planes of two axes each, so that several symmetric matrices come near diagonals together.

``families.covariance_common_axes`` says what for. In the plane of axes p, q, with half the sum m and half the
difference h of the lengths of a group and e what is off its diagonal, a turn by t makes the lengths

    m + x,  m - x,      x = h cos 2t + e sin 2t,      dx/dt = 2 y,  y = e cos 2t - h sin 2t

and what is to be lowered is ``sum_c p_c log((m_c + x_c)(m_c - x_c))``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from asterism.kernels.compiled import kernel

NEWTON, SEARCH, TANGENT = 0, 1, 2  # how an angle is found
STEPS, STEPS_AFTER_SEARCH, LONGEST = 2, 3, 0.2  # of Newton's method, and the longest of them
TRIED = 12  # angles of a search: these and no others, up to naming the axes
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)

Floats = NDArray[np.float64]


@kernel
def turn_planes(
    turned: Floats,  # (k, d, d) in and out: D' W_c D
    axes: Floats,  # (d, d) in and out: D', an axis a line
    weights: Floats,  # (k,) in: p; or none, where it is the mean length (v_1 ... v_d)^(1/d) of a group, as it is
    how: int,
) -> float:
    """Turn every plane once, each to its best angle; returns the largest."""
    k, d = turned.shape[:2]
    least, logs, p = np.empty(k), np.zeros(k), np.empty(k)
    plane = np.empty((5, k))
    largest = 0.0
    for c in range(k):
        longest = 0.0
        for j in range(d):
            longest = max(longest, turned[c, j, j])
        least[c] = max(d * EPS * longest, TINY)
        for j in range(d):
            logs[c] += math.log(max(turned[c, j, j], least[c])) / d
    for i in range(d - 1):
        for j in range(i + 1, d):
            weigh(weights, logs, p)
            for c in range(k):
                a, b = max(turned[c, i, i], least[c]), max(turned[c, j, j], least[c])
                plane[0, c], plane[1, c], plane[2, c] = 0.5 * (a + b), 0.5 * (a - b), turned[c, i, j]
                plane[3, c], plane[4, c] = a, b
            angle = best_angle(p, plane, how)
            largest = max(largest, abs(angle))
            turn_plane(turned, axes, i, j, math.cos(angle), math.sin(angle))
            for c in range(k):
                a, b = max(turned[c, i, i], least[c]), max(turned[c, j, j], least[c])
                logs[c] += math.log((a / plane[3, c]) * (b / plane[4, c])) / d
    return largest


@kernel
def weigh(weights: Floats, logs: Floats, p: Floats) -> None:
    """The weights as they are now; a factor that all have does not matter."""
    most = logs.max()
    for c in range(len(p)):
        p[c] = weights[c] if len(weights) else math.exp(logs[c] - most)


@kernel
def best_angle(p: Floats, plane: Floats, how: int) -> float:
    """The angle of a plane: the tangent's, and Newton's steps from there or from the best of many."""
    if how == SEARCH:
        best, found = np.inf, 0.0
        for n in range(1, TRIED + 1):
            t = math.pi / 2 * n / TRIED - math.pi / 4
            value = at_angle(p, plane, t)[0]
            if value < best:
                best, found = value, t
        return newton(p, plane, found, STEPS_AFTER_SEARCH)
    t = tangent_angle(p, plane)
    return t if how == TANGENT else newton(p, plane, t, STEPS)


@kernel
def tangent_angle(p: Floats, plane: Floats) -> float:
    """Where the tangent is least: smallest eigenvector of ``sum_c p_c (1/a_c - 1/b_c) W_c`` in the plane."""
    gap, off = 0.0, 0.0
    for c in range(len(p)):
        a, b = plane[3, c], plane[4, c]
        tilt = p[c] * (1.0 / a - 1.0 / b)
        gap += tilt * (b - a)  # never negative: no angle is above 45 degrees
        off += tilt * plane[2, c]
    return 0.5 * math.atan2(-2.0 * off, max(gap, 0.0))


@kernel
def at_angle(p: Floats, plane: Floats, t: float) -> tuple[float, float, float]:
    """Value, slope and curvature."""
    cosine, sine = math.cos(2.0 * t), math.sin(2.0 * t)
    value, slope, curvature = 0.0, 0.0, 0.0
    for c in range(len(p)):
        m, half, e = plane[0, c], plane[1, c], plane[2, c]
        x, y = half * cosine + e * sine, e * cosine - half * sine
        product = max((m - x) * (m + x), max(EPS * m * m, TINY))
        rise = -4.0 * x * y / product
        value += p[c] * math.log(product)
        slope += p[c] * rise
        curvature += p[c] * (8.0 * (x * x - y * y) / product - rise * rise)
    return value, slope, curvature


@kernel
def newton(p: Floats, plane: Floats, t: float, steps: int) -> float:
    """Steps that lower the value; others are not made."""
    value, slope, curvature = at_angle(p, plane, t)
    for _ in range(steps):
        if not curvature > 0.0:
            break
        tried = t + min(max(-slope / curvature, -LONGEST), LONGEST)
        there, slope_there, curvature_there = at_angle(p, plane, tried)
        if not there <= value:
            break
        t, value, slope, curvature = tried, there, slope_there, curvature_there
    return t


@kernel
def turn_plane(turned: Floats, axes: Floats, i: int, j: int, cosine: float, sine: float) -> None:
    """Lines i and j of the axes and of every matrix; columns are lines again, for they are symmetric."""
    k, d = turned.shape[:2]
    turn_lines(axes[i], axes[j], cosine, sine)
    for c in range(k):
        matrix = turned[c]
        turn_lines(matrix[i], matrix[j], cosine, sine)
        upper, lower = matrix[i, i], matrix[j, j]
        across, back = matrix[i, j], matrix[j, i]
        for n in range(d):
            matrix[n, i], matrix[n, j] = matrix[i, n], matrix[j, n]
        matrix[i, i], matrix[j, j] = cosine * upper + sine * across, cosine * lower - sine * back
        matrix[i, j] = matrix[j, i] = cosine * across - sine * upper


@kernel
def turn_lines(first: Floats, second: Floats, cosine: float, sine: float) -> None:
    """Two lines, in place."""
    for n in range(len(first)):
        a, b = first[n], second[n]
        first[n] = cosine * a + sine * b
        second[n] = cosine * b - sine * a
