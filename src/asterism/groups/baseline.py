"""The rows of a fit, counted once for all later comparisons (``groups.figures``)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block
from asterism.data.source import Source
from asterism.engines.reduce import map_rows, reduce
from asterism.groups.figures import HEIGHTS, PLACES, Baseline, Figures, Ruler, Standing, borders_of
from asterism.groups.held_out import gains, heights_of
from asterism.groups.model import GroupModel, scores_of
from asterism.stats.sample import RowSample

BORDER_ROWS = 20_000  # convention: rows that borders of places are quantiles of
BORDER_SEED = 0  # convention


def with_baseline(model: GroupModel, source: Source) -> GroupModel:
    """The model with its baseline, from the rows it was fitted to."""
    standing = held_out_standing(model, source)
    formed = model.view.formed(source)
    ruler = ruler_of(formed, standing, model.k)
    return replace(model, baseline=Baseline(ruler, figures_of(formed, ruler, standing)))


def standing_of(model: GroupModel, source: Source) -> Standing:
    """Where the rows of a table with the model's own columns stand."""
    return _standing(map_rows(model.rows_of(source), partial(_stand, model)))


def held_out_standing(model: GroupModel, source: Source) -> Standing:
    """Where rows of the fit would stand if they had taken no part in it."""
    rows = model.rows_of(source)
    found = map_rows(rows, partial(_stand, model))
    plain = _standing(found)
    gain = gains(model.judge, rows, plain.own, (plain.labels >= 0) & (found[:, 5] > 0))
    typicality = plain.typicality
    if model.typicality is not None:
        typicality = model.typicality.of(plain.own, found[:, 4] - gain[:, 1])
    return replace(plain, typicality=typicality, height=plain.height - gain[:, 0])


def figures_of(formed: Source, ruler: Ruler, standing: Standing) -> Figures:
    """All rows of a table in its forms, counted."""
    found: Figures = reduce(formed, partial(_counted, ruler, standing))
    return found


def ruler_of(formed: Source, standing: Standing, k: int) -> Ruler:
    """Borders at quantiles of the rows and of those of each group."""
    sample: RowSample = reduce(formed, _sampled)
    x, _ = sample.estimates()
    labels = standing.labels[sample.row[: len(x)]]
    groups = [np.ones(len(x), bool), *(labels == g for g in range(k))]
    borders = np.array(
        [
            [borders_of(np.asarray(x[rows, j], np.float64), PLACES) for j in range(formed.n_columns)]
            for rows in groups
        ]
    )
    return Ruler(formed.columns, borders[0], borders[1:], borders_of(standing.height, HEIGHTS))


def _sampled(block: Block) -> RowSample:
    return RowSample.of(block, block.weights, BORDER_ROWS, BORDER_SEED)


def _counted(ruler: Ruler, standing: Standing, block: Block) -> Figures:
    return Figures.of(ruler, block.rows, block.weights, standing.of(block))


def _stand(model: GroupModel, block: Block) -> NDArray[Any]:
    """(n, 6) group, label, typicality, height, score within the group, weight."""
    placed = model.place(block)
    height = heights_of(model.judge, placed.own, block)[:, 0]
    score = np.full(len(block), np.nan)
    if model.typicality is not None:
        score = scores_of(model.judge, placed.own, model.typicality.cell_scores, block)
    return np.column_stack([placed.own, placed.labels, placed.typicality, height, score, block.weights])


def _standing(found: NDArray[Any]) -> Standing:
    return Standing(
        found[:, 0].astype(np.int32), found[:, 1].astype(np.int32), found[:, 2].copy(), found[:, 3].copy()
    )
