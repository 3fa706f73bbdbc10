"""A sheet of triangles: a grid of m x m knots (m^2, d), the second coordinate first, each cell cut into two.

A place on it is (u, v), in steps of the grid from its first corner. All of this is geometry; ``surface`` fits sheets.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.methods.curve import STRIP, nearest_segments

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
FLAT = 1e-12  # derived: sin^2 of an angle that rounding may make; an eigenvalue, as a share of the first


# --- the energy of a thin plate ----------------------------------------------------------------------------------


def energy(knots: Array, m: int) -> float:
    """sum |F_uu|^2 + 2 sum |F_uv|^2 + sum |F_vv|^2."""
    grid = knots.reshape(m, m, -1)
    along, across = np.diff(grid, 2, axis=0), np.diff(grid, 2, axis=1)
    twist = np.diff(np.diff(grid, axis=0), axis=1)
    return float((along**2).sum() + 2.0 * (twist**2).sum() + (across**2).sum())


@cache
def energy_bands(m: int) -> Array:
    """(2 m + 1, m^2) the diagonals of P as ``solveh_banded`` wants them, the main one last; energy = F'PF."""
    first, second = np.diff(np.eye(m), axis=0), np.diff(np.eye(m), 2, axis=0)
    slope, bend, one = first.T @ first, second.T @ second, np.eye(m)
    bands = np.zeros((2 * m + 1, m * m))
    for apart in range(2 * m + 1):
        (i, j), (g, h) = (np.divmod(np.arange(start, start + m * m - apart), m) for start in (0, apart))
        twist = 2.0 * slope[i, g] * slope[j, h]
        bands[-1 - apart, apart:] = bend[i, g] * one[j, h] + twist + one[i, g] * bend[j, h]
    bands.flags.writeable = False
    return bands


# --- places on the sheet -----------------------------------------------------------------------------------------


def hats(place: Array, m: int) -> tuple[Indices, Array]:
    """(n, 3) the knots of the triangle each place is in, in order, and its barycentric coordinates there.

    In the cell at (i, j), with s = u - i and t = v - j,

        f = F_ij (1 - s) + F_i+1,j (s - t) + F_i+1,j+1 t   where s >= t
            F_ij (1 - t) + F_i,j+1 (t - s) + F_i+1,j+1 s   elsewhere
    """
    cell = np.minimum(place.astype(np.int64), m - 2)
    s, t = (place - cell).T
    corner = cell[:, 0] * m + cell[:, 1]
    corners = np.stack([corner, corner + np.where(s >= t, m, 1), corner + m + 1], axis=1)
    high, low = np.maximum(s, t), np.minimum(s, t)
    return corners, np.stack([1.0 - high, high - low, low], axis=1)


def points(knots: Array, place: Array) -> Array:
    """(n, d) f(u, v) for places (n, 2)."""
    corner, share = hats(place, int(np.sqrt(len(knots))))
    return np.asarray(np.einsum("ni,nid->nd", share, knots[corner]))


def projected(knots: Array, y: Array) -> tuple[Array, Vector]:
    """(n, 2) the place of every row on the sheet, and (n,) its squared distance from it.

    The nearest point of a triangle is the foot of the perpendicular where that is inside, else a point of a side.
    """
    m = int(np.sqrt(len(knots)))
    side, step = _sides(m)
    start = knots[side[:, 0]]
    piece, t, square = nearest_segments(start, knots[side[:, 1]] - start, y)
    place = np.stack(np.divmod(side[piece, 0], m), axis=1) + t[:, None] * step[piece]
    face = _faces(m)
    inside, part, below = nearest_faces(knots[face], y)
    nearer = below < square
    cell, upper = np.stack(np.divmod(face[inside, 0], m), axis=1), face[inside, 1] - face[inside, 0] == m
    high, low = part.sum(axis=1), part[:, 1]
    foot = cell + np.where(upper[:, None], np.stack([high, low], axis=1), np.stack([low, high], axis=1))
    # a share of 1 + rounding would be outside of the grid
    return np.where(nearer[:, None], np.clip(foot, 0.0, m - 1.0), place), np.where(nearer, below, square)


def nearest_faces(corners: Array, y: Array) -> tuple[Indices, Array, Vector]:
    """(n,) the triangle (of t, 3, d) with the shortest perpendicular to a row, where its foot is, |distance|^2.

    With sides e, g from a corner a, and G = [e g]'[e g], the foot is a + [e g] p, p = G^-1 [e g]'(x - a), and

        |x - a - [e g] p|^2 - |x|^2 = |a|^2 - 2 x'a - p'G p

    p (n, 2) is returned; it is inside where p >= 0 and p1 + p2 <= 1. No perpendicular: the distance is infinite.
    """
    a, e, g = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    ee, eg, gg = (e * e).sum(axis=1), (e * g).sum(axis=1), (g * g).sum(axis=1)
    area = ee * gg - eg * eg
    proper = area > FLAT * ee * gg  # others are no more than their sides
    area = np.where(proper, area, 1.0)
    to_e, to_g = (gg * e.T - eg * g.T) / area, (ee * g.T - eg * e.T) / area  # (d, t)
    at_e, at_g, corner = (a.T * to_e).sum(axis=0), (a.T * to_g).sum(axis=0), (a * a).sum(axis=1)
    nearest, place, square = np.zeros(len(y), np.int64), np.zeros((len(y), 2)), np.full(len(y), np.inf)
    for first in range(0, len(y), STRIP):
        here, x = slice(first, first + STRIP), y[first : first + STRIP]
        p, q = x @ to_e - at_e, x @ to_g - at_g
        above = corner - x @ (2.0 * a.T) - p * (ee * p + 2.0 * eg * q) - gg * q * q
        above[~(proper & (p >= 0.0) & (q >= 0.0) & (p + q <= 1.0))] = np.inf
        best, row = above.argmin(axis=1), np.arange(len(x))
        p, q = p[row, best], q[row, best]
        rest = x - a[best] - p[:, None] * e[best] - q[:, None] * g[best]
        there = np.isfinite(above[row, best])
        nearest[here], place[here] = best, np.stack([p, q], axis=1)
        square[here] = np.where(there, np.einsum("ij,ij->i", rest, rest), np.inf)
    return nearest, place, square


@cache
def _sides(m: int) -> tuple[Indices, Indices]:
    """(e, 2) the knots at both ends of every side of a triangle, and (e, 2) the step from one to the other."""
    grid = np.arange(m * m).reshape(m, m)
    ends, steps = [], []
    for i, j in ((1, 0), (0, 1), (1, 1)):
        pairs = np.stack([grid[: m - i, : m - j].ravel(), grid[i:, j:].ravel()], axis=1)
        ends.append(pairs)
        steps.append(np.tile([[i, j]], (len(pairs), 1)))
    return np.concatenate(ends), np.concatenate(steps)


@cache
def _faces(m: int) -> Indices:
    """(t, 3) the knots of every triangle, in order: two to a cell."""
    grid = np.arange(m * m).reshape(m, m)
    first, last = grid[:-1, :-1].ravel(), grid[1:, 1:].ravel()
    middles = (grid[1:, :-1].ravel(), grid[:-1, 1:].ravel())
    return np.concatenate([np.stack([first, middle, last], axis=1) for middle in middles])


def plane_of(m: int, axes: Array) -> Array:
    """(m^2, d) knots of the flat sheet from -axes to +axes (2, d)."""
    u, v = np.divmod(np.arange(m * m), m)
    return np.asarray((2.0 * np.stack([u, v], axis=1) / (m - 1) - 1.0) @ axes)
