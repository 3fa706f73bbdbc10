"""Gaussian mixtures and rows: responsibilities and what they add up to, and log densities.

With y_c = W_c (x - mu_c) for a lower triangular W_c (the inverse of the Cholesky factor of a covariance)

    log p_c(x) = log det W_c - d/2 log 2 pi - ||y_c||^2 / 2
    r_c        = pi_c p_c(x) / sum_b pi_b p_b(x)

``normals`` holds components, ``visits`` what is made ready of them for each structure. Responsibilities live for a
tile of rows; nothing of size n x k is kept.
"""

from __future__ import annotations

import numpy as np

from asterism.kernels.diagonal import diagonal_scores
from asterism.kernels.full import full_scores
from asterism.kernels.normals import (
    DOUBLE,
    Floats,
    Kind,
    Normals,
    Vector,
    at,
    centers_of,
    padded,
    scaled,
    single_size,
)
from asterism.kernels.shares import DRAW, HARD, SOFT
from asterism.kernels.tied import tied_scores
from asterism.kernels.visits import (
    NEAR,
    DiagonalVisit,
    FarSphericalVisit,
    FarTiedVisit,
    FullVisit,
    GaussianTotals,
    SphericalVisit,
    TiedVisit,
    Visit,
)
from asterism.kernels.wide_visits import (
    FEWEST,
    FEWEST_FULL,
    WideFullVisit,
    WideTiedVisit,
    WideVisit,
    seen_from,
)

MODES = {"soft": SOFT, "hard": HARD, "draw": DRAW, "stochastic": DRAW}
NO_DRAWS = np.empty(0)


def visit_for(normals: Normals, reference: Vector, log_weights: Vector, rows: Kind, size: Vector) -> Visit:
    """A visit for rows of a type and of mean squares ``size`` (d,) about the reference, see ``normals.single_size``.

    Made at the first block of a step and kept for its others: they ask with the same array of log weights.
    """
    kept: Visit | None = normals.made.get(("visit", rows))
    if kept is None or kept.log_weights is not log_weights:
        kept = visit_of(normals, reference, log_weights, normals.precision(rows, size)).ready()
        normals.made["visit", rows] = kept
    return kept


def visit_of(normals: Normals, reference: Vector, log_weights: Vector, kind: Kind) -> Visit:
    """The visit of a structure: in products where rows are wide, group by group where means are far apart."""
    k, d = normals.offsets.shape
    how: type[Visit]
    each = normals.factors.ndim == 3 and len(normals.factors) == k
    if d >= (FEWEST_FULL if each else FEWEST) and seen_from(normals, reference, kind).near:
        how = WideFullVisit if each else WideTiedVisit if normals.factors.ndim == 3 else WideVisit
    elif each:
        how = FullVisit
    elif normals.factors.ndim == 3:
        how = TiedVisit if normals.reach <= NEAR[kind] else FarTiedVisit
    elif normals.factors.shape[1] < d:
        how = SphericalVisit if normals.reach <= NEAR[kind] else FarSphericalVisit
    else:
        how = DiagonalVisit
    return how(normals, reference, log_weights, kind)


def gaussian_pass(
    rows: Floats,  # (n, d) complete
    weights: Vector,  # (n,)
    reference: Vector,  # (d,) a point among the rows
    normals: Normals,  # k components, about the reference
    log_weights: Vector,  # (k,) log pi
    assignment: str = "soft",  # or "hard": all of a row to the likeliest group; or "draw"
    draws: Vector | None = None,  # (n,) for "draw": a number of [0, 1) a row, which picks its group
) -> GaussianTotals:
    """Responsibilities of rows that are all there is, added up about the new means.

    A group whose share of a row is below 2^-57 (float32: 2^-36) gets none of it (``kernels.shares``).
    """
    some = rows[weights > 0] - reference
    size = single_size(reference, np.einsum("ij,ij->j", some, some) / max(len(some), 1))
    visit = visit_for(normals, reference, log_weights, rows.dtype, size)
    chances = NO_DRAWS if draws is None else np.asarray(draws, np.float64)
    return visit.totals(visit.sums(rows, weights, MODES[assignment], chances))


def gaussian_log_density(rows: Floats, reference: Vector, normals: Normals) -> Vector:
    """(n, k) log p_c(x) of complete rows, in float64 and from differences, however far apart groups are."""
    k = len(normals.offsets)
    offsets, factors = normals.offsets, normals.factors
    out, ones = np.empty((len(rows), k)), np.ones(len(rows))
    rows, constants = np.ascontiguousarray(rows), np.ascontiguousarray(normals.heights)
    if factors.ndim == 2:
        lines = normals.once("plain lines", DOUBLE, lambda: scaled(offsets, factors, DOUBLE))
        diagonal_scores(rows, ones, at(reference), lines, constants, out)
    elif len(factors) == k:
        inner = normals.once("factors", DOUBLE, lambda: padded(factors, DOUBLE))
        full_scores(rows, ones, at(reference), offsets, inner, constants, out)
    else:
        inner = normals.once("factors", DOUBLE, lambda: padded(factors, DOUBLE))
        centers, _ = normals.once("centers", DOUBLE, lambda: centers_of(normals.whitened, np.ones(k), DOUBLE))
        origin = np.stack([reference, normals.middle])
        tied_scores(rows, ones, origin, inner[0], centers[:k], constants, out)
    return out
