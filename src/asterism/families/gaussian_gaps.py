"""Rows with missing cells and normal components: density, shares and statistic (``missing`` has the algebra).

``y`` are rows as offsets from the family's reference, NaN where a cell is missing. Diagonal components need no
patterns: a missing cell is left out of the density, and the statistic takes the mean and variance of its column.
"""

from __future__ import annotations

import numpy as np

from asterism.data.block import Vector
from asterism.families.assignment import assign
from asterism.families.base import Array
from asterism.families.gaussian_pass import GaussianParams
from asterism.families.gaussian_statistic import Form, GaussianStatistic, in_form
from asterism.families.missing import LOG_2_PI, Gathered, chunks, views


def log_density_of(params: GaussianParams, y: Array) -> Array:
    """(n, k) log p(x | c) of the cells that are there."""
    out = np.empty((len(y), len(params.means)))
    if params.covariances.diagonal:
        for rows in chunks(len(y), out.shape[1] * y.shape[1]):
            z = (y[rows, None, :] - params.means) * params.factors
            heights = np.where(np.isnan(z), 0.0, np.log(params.factors) - 0.5 * LOG_2_PI)
            out[rows] = heights.sum(axis=2) - 0.5 * np.nansum(z * z, axis=2)
        return out
    for view, members in views(params, y):
        out[members] = view.log_density(y[members])
    return out


def statistic_of(params: GaussianParams, y: Array, mass: Array, form: Form) -> GaussianStatistic:
    """The statistic of rows with shares ``mass`` (n, k); missing cells are what ``params`` expect."""
    if form in ("diag", "round"):
        return _diagonal_statistic(params, y, mass, form)
    gathered, gaps = Gathered.empty(*params.means.shape), np.isnan(y).any(axis=1)
    gathered.add_complete(params.means, y[~gaps], mass[~gaps])
    y, mass = y[gaps], mass[gaps]
    for view, rows in views(params, y):
        gathered.add(view, y[rows], mass[rows])
    return _told(params, gathered, form)


def pass_over(
    params: GaussianParams,
    log_weights: Vector,
    y: Array,
    w: Vector,
    form: Form,
    assignment: str,
    draws: Vector | None,
) -> tuple[Vector, float, GaussianStatistic]:
    """Shares, what they climb, and the statistic; one view serves all three."""
    if params.covariances.diagonal:
        r, climbed = assign(log_density_of(params, y) + log_weights, assignment, draws)
        statistic = _diagonal_statistic(params, y, r * w[:, None], form)
        return statistic.mass, float(w @ climbed), statistic
    gathered, total = Gathered.empty(*params.means.shape), 0.0
    for view, rows in views(params, y):
        scores = view.log_density(y[rows]) + log_weights
        r, climbed = assign(scores, assignment, None if draws is None else draws[rows])
        gathered.add(view, y[rows], r * w[rows, None])
        total += float(w[rows] @ climbed)
    return gathered.mass, total, _told(params, gathered, form)


def fill_in(params: GaussianParams, y: Array, r: Array) -> None:
    """Missing cells of ``y`` become sum_c r_c E[x_m | x_o, c], in place."""
    gaps = np.flatnonzero(np.isnan(y).any(axis=1))
    for view, rows in views(params, y[gaps]):
        at = gaps[rows]
        filled = view.deviations(y[at]) + params.means[:, None, :]
        y[at] = np.einsum("nk,knd->nd", r[at], filled)


def _told(params: GaussianParams, gathered: Gathered, form: Form) -> GaussianStatistic:
    scatters = in_form(gathered.scatters, form)
    return GaussianStatistic.about(params.means, gathered.mass, gathered.sums, scatters)


def _diagonal_statistic(params: GaussianParams, y: Array, mass: Array, form: Form) -> GaussianStatistic:
    sums, scatters = np.zeros_like(params.means), np.zeros_like(params.means)
    spread = params.covariances.diagonals()
    for rows in chunks(len(y), mass.shape[1] * y.shape[1]):
        about = y[rows, None, :] - params.means
        gone = np.isnan(about)
        m = mass[rows, :, None]
        sums += np.where(gone, 0.0, m * about).sum(axis=0)
        scatters += np.where(gone, m * spread, m * about * about).sum(axis=0)
    return GaussianStatistic.about(params.means, mass.sum(axis=0), sums, in_form(scatters, form))
