"""What a model says of the groups of a table's rows, for a third step."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Block, Vector
from asterism.data.source import Source
from asterism.engines.reduce import map_rows
from asterism.engines.threads import one_blas_thread
from asterism.errors import ParameterError
from asterism.explain.first_step import mixing_covariance
from asterism.explain.three_step import Array, Membership
from asterism.groups.judges import MixtureJudge
from asterism.groups.model import GroupModel
from asterism.groups.numbering import unnumbered
from asterism.verdict.rows import draw
from asterism.verdict.view import SAMPLE_SEED

SAMPLE = 4000  # convention: rows that say how sure the parameters of a mixture are
Weights = Literal["auto", "copies", "sampling"]


def membership_of(
    model: GroupModel, source: Source, labels: NDArray[np.int32], weights: Weights = "auto"
) -> tuple[Membership, NDArray[np.intp]]:
    """Of the rows that are in groups, and which rows these are.

    ``weights``  what row weights are: "copies" of rows, "sampling" weights, or "auto": copies where all are whole
    """
    if weights not in ("auto", "copies", "sampling"):
        raise ParameterError(f"weights is {weights!r}.", "Give 'auto', 'copies' or 'sampling'.")
    model = unnumbered(model)
    w = map_rows(source, weights_of)
    here = np.flatnonzero((labels >= 0) & (w > 0))
    shares = model.probabilities(source)[here]
    shares /= shares.sum(axis=1, keepdims=True)  # without the background
    w = w[here]
    sampling = weights == "sampling" or (weights == "auto" and not bool((w == np.floor(w)).all()))
    rows = float(w.sum() ** 2 / (w**2).sum()) if sampling else float(w.sum())
    return Membership(shares, w, sampling, _step_one(model, source, rows)), here


def weights_of(block: Block) -> Vector:
    """(n,)"""
    return block.weights


def _step_one(model: GroupModel, source: Source, rows: float) -> Array | None:
    """Of a mixture; centres, medoids and regions have no likelihood that would say it."""
    if not isinstance(model.judge, MixtureJudge):
        return None
    with one_blas_thread():
        drawn = draw(model.rows_of(source), SAMPLE, SAMPLE_SEED)
        weights = drawn.weights * (rows / drawn.weights.sum())
        return mixing_covariance(model.judge.mixture, model.judge.groups, drawn.x, weights)
