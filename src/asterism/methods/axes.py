"""Principal axes of a table, whether or not cells are missing: what ``asterism reduce`` tells of.

Complete rows have principal components (``methods.pca``). Where cells are missing the axes are those of probabilistic
PCA (``methods.ppca``): the variance along axis c is |W_c|^2 + s2, all axes left out have s2, and a row's score is
that of its expected position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector
from asterism.data.finite import infinite_cell
from asterism.data.source import Source
from asterism.engines.reduce import map_rows, reduce
from asterism.errors import ParameterError
from asterism.methods.components import project
from asterism.methods.pca import fit_pca
from asterism.methods.ppca import PPCAFit, fit_ppca, latent_of, rows_of
from asterism.stats.moments import ColumnMoments

Array = NDArray[np.float64]
SHARE = 0.9  # of the variance that is kept where nothing is asked for
FEW = 4  # axes of the first model, where cells are missing and a share is asked for; then twice as many, and so on


@dataclass(frozen=True)
class Axes:
    """Some orthogonal directions, the one of largest variance first."""

    names: tuple[str, ...]  # (d,) of the columns
    mean: Vector  # (d,)
    directions: Array  # (m, d) orthonormal rows; the entry of largest size in each is positive
    variances: Vector  # (m,)
    shares: Vector  # (m,) of the total variance
    scores: Array  # (n, m) (x - mean) directions'
    missing: bool  # whether cells are: the axes are those of probabilistic PCA then


def principal_axes(source: Source, wanted: float = SHARE) -> Axes:
    """``wanted`` axes: a whole number, or a share of the variance below 1.

    Axes that hold a share of a table with missing cells are the leading ones of a model with some more.

    >>> from asterism.data.source import ArraySource
    >>> rows = np.array([[3.0, 4.0], [-3.0, -4.0], [0.0, 0.0], [6.0, np.nan]])
    >>> principal_axes(ArraySource(rows[:3]), 1).scores.round(6).tolist()
    [[5.0], [-5.0], [0.0]]
    >>> principal_axes(ArraySource(rows), 1).scores.round(1).ravel().tolist()  # the last is expected at (6, 8)
    [2.5, -7.5, -2.5, 7.5]
    """
    columns: ColumnMoments = reduce(source, ColumnMoments.of)
    if columns.infinite is not None:
        raise infinite_cell(source.names, *columns.infinite)
    return _with_gaps(source, wanted) if columns.missing else _complete(source, wanted)


def _complete(source: Source, wanted: float) -> Axes:
    found = fit_pca(source, wanted)
    scores = map_rows(source, partial(project, found, source.names, False))
    return Axes(source.names, found.mean, found.directions, found.variances, found.ratios, scores, False)


def _with_gaps(source: Source, wanted: float) -> Axes:
    fit = _fitted(source, wanted)
    lengths = (fit.loadings**2).sum(axis=0)
    variances, shares = lengths + fit.noise, _shares(fit)
    directions = (fit.loadings / np.sqrt(np.where(lengths > 0, lengths, 1.0))).T
    scores = (rows_of(fit, latent_of(fit, source)) - fit.mean) @ directions.T
    m = len(shares) if wanted >= 1 else min(int(np.searchsorted(shares.cumsum(), wanted)) + 1, len(shares))
    return Axes(source.names, fit.mean, directions[:m], variances[:m], shares[:m], scores[:, :m], True)


def _fitted(source: Source, wanted: float) -> PPCAFit:
    most = source.n_columns - 1
    if most < 1:
        raise ParameterError(
            "A single column with missing cells has no components beside noise.",
            "Give more columns, or leave out the rows that lack the cell.",
        )
    if wanted >= 1:
        return fit_ppca(source, int(wanted))
    m = min(FEW, most)
    fit = fit_ppca(source, m)
    while m < most and _shares(fit).sum() < wanted:
        m = min(2 * m, most)
        fit = fit_ppca(source, m)
    return fit


def _shares(fit: PPCAFit) -> Vector:
    """(m,) of the trace of W W' + s2 I."""
    lengths = (fit.loadings**2).sum(axis=0)
    return np.asarray((lengths + fit.noise) / (lengths.sum() + len(fit.mean) * fit.noise))
