"""What a model says of rows that lack one column: for the relevance of columns."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.spatial import cKDTree

from asterism.data.block import block_of
from asterism.data.margins import Margins
from asterism.data.source import ArraySource, Source
from asterism.engines.threads import one_blas_thread
from asterism.explain.relevance import Array, Relevance, Sample, relevances
from asterism.groups.judges import RegionsJudge
from asterism.groups.model import GroupModel
from asterism.verdict.rows import draw
from asterism.verdict.view import SAMPLE_SEED

ROWS = 2000  # convention: rows that columns are judged by
TIE = 1e-9  # convention: of a column's spread, by which equal places are parted
NEAREST = 20  # convention: other rows that say the group of a place, where groups are regions


def relevance_of(model: GroupModel, source: Source) -> tuple[Relevance, ...]:
    """Of the columns of a table whose groups the model knows, those that carry most first."""
    with one_blas_thread():
        drawn = draw(source, ROWS, SAMPLE_SEED)
        margins = model.view.margins or Margins.plain(source.columns)
        shares = model.shares(block_of(drawn.x, drawn.weights))
        sample = Sample(
            source.names, margins.modelled, margins.origins, margins.apply(drawn.x), drawn.weights, shares
        )
        return relevances(sample, partial(shares_without, model, drawn.x, drawn.weights, shares))


def shares_without(model: GroupModel, rows: Array, weights: Array, shares: Array, j: int) -> Array:
    """(m, k) probabilities of groups where the cells of column ``j`` are missing.

    Regions know a place by the rows near it, so that they are asked anew: of each row's nearest others, how many are
    of each group, with one more row spread over the groups as they are in the table.
    """
    bare = rows.copy()
    bare[:, j] = np.nan
    if not isinstance(model.judge, RegionsJudge):
        return model.shares(block_of(bare, weights))
    table = model.rows_of(ArraySource(bare, weights, model.columns))
    places = np.nan_to_num(np.concatenate([block.rows for block in table.blocks()]))
    # Rows at one place are near each other in no order, or the first of the table would be the neighbours of all.
    places = places + TIE * np.random.default_rng(0).standard_normal(places.shape)
    near = np.asarray(cKDTree(places).query(places, k=np.arange(1, min(NEAREST + 1, len(places)) + 1))[1])
    others = near[:, 1:]  # the first is the row itself
    mean = weights @ shares / weights.sum()
    return np.asarray((shares[others].sum(axis=1) + mean) / (others.shape[1] + 1))
