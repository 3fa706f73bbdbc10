"""What a report tries by itself, on a few of the rows it draws: other tables without groups, and other starts.

The search keeps its answer, not every way it took; these two show again, on at most ``FEW`` rows, how much of the
answer is the table's and how much hangs on where a method begins.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import block_of
from asterism.data.source import ArraySource
from asterism.engines.context import engine
from asterism.engines.loop import iterate
from asterism.engines.threads import one_blas_thread
from asterism.errors import AsterismError
from asterism.families.base import Fused
from asterism.groups.judges import MixtureJudge
from asterism.groups.model import GroupModel
from asterism.methods.em import EM
from asterism.methods.frame import survey
from asterism.methods.lloyd import centers_at, lloyd_for
from asterism.methods.starts import model_of, nearest_of, one_hot
from asterism.report.steps import in_one_part
from asterism.report.subject import Curve
from asterism.report.views import MOST_GROUPS, Sample
from asterism.verdict.gap import gap_statistic
from asterism.verdict.rows import Rows

FEW = 600  # rows
EVEN_TABLES = 6  # to compare with
GAP_STEPS = 12  # of k-means: more of them move a gap by less than its error
STARTS = 6
STEPS = 40
TOL = 1e-4  # gain a row below which a curve is flat to the eye
CELLS = 40_000  # rows x columns x components beyond which so many steps of EM take too long for a picture

Table = NDArray[np.float64]


class Starts(TypedDict):
    """The objective after every step, start by start; the first number is that of the start itself."""

    objective: str
    higher: bool  # is better
    histories: list[list[float]]
    rows: int


def few_rows(sample: Sample, seed: int) -> NDArray[np.intp]:
    """Which of the drawn rows are tried."""
    every = np.arange(len(sample.z))
    return every if len(every) <= FEW else np.sort(np.random.default_rng([seed, 5]).choice(every, FEW, False))


# --- tables without groups --------------------------------------------------------------------------------------


def gap_curve(sample: Sample, seed: int) -> Curve | None:
    """The gap statistic of k-means, its error, and the line of tables that are even, whose gap is 0."""
    few = few_rows(sample, seed)
    z = sample.z[few]
    most = min(MOST_GROUPS, len(np.unique(z, axis=0)) // 2)
    if most < 2:
        return None
    ks = tuple(range(1, most + 1))
    with engine():  # nobody's progress, checkpoint or time limit
        rows = Rows(z, sample.weights[few])
        found = gap_statistic(rows, ks, seed=seed, references=EVEN_TABLES, max_iter=GAP_STEPS)
    values, errors = tuple(found.gap[k] for k in ks), tuple(found.error[k] for k in ks)
    return Curve("Gap statistic", ks, values, "high", found.k, errors, (0.0,) * len(ks), rows=len(few))


# --- other starts -----------------------------------------------------------------------------------------------


def starts_of(sample: Sample, k: int, model: GroupModel | None, seed: int) -> Starts | None:
    """EM with the model's own family where it is a mixture and not too slow, else k-means, from random rows."""
    few = few_rows(sample, seed)
    z, w = sample.z[few], sample.weights[few]
    judge = None if model is None else model.judge
    parts = judge.mixture.k if isinstance(judge, MixtureJudge) else k
    if k < 2 or len(np.unique(z, axis=0)) <= parts:
        return None
    rng = np.random.default_rng([seed, 6])
    picked = [z[rng.choice(len(z), parts, replace=False)] for _ in range(STARTS)]
    with engine(), one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a picture warns of nothing
        if model is not None and isinstance(judge, MixtureJudge):
            rows = ArraySource(sample.rows[few], w, model.columns)
            seen = np.concatenate([block.rows for block in judge.ready(model.view.of(rows)).blocks()])
            family, fused = judge.mixture.family, isinstance(judge.mixture.family, Fused)
            if seen.size * parts <= CELLS * (10 if fused else 1):
                em = EM(in_one_part(family, seen.shape[1]) if fused else family, tol=TOL)
                # So few rows can be too few for the family.
                with suppress(AsterismError, np.linalg.LinAlgError):
                    return _by_em(em, seen, w, z, picked)
        return _by_kmeans(z, w, picked)


def _by_em(em: EM, seen: Table, w: Table, z: Table, picked: list[Table]) -> Starts:
    """Rows go to the nearest of some random rows, and EM goes on from there."""
    block = block_of(np.ascontiguousarray(seen, np.float64), w)
    models = [model_of(em, block, one_hot(nearest_of(z, rows), len(rows))) for rows in picked]
    runs = iterate(em, ArraySource(block.rows, w), models, max_iter=STEPS)
    total = w.sum()
    histories = [[-value / total for value in run.history] for run in runs]
    return Starts(objective="log-likelihood per row", higher=True, histories=_rounded(histories), rows=len(w))


def _by_kmeans(z: Table, w: Table, picked: list[Table]) -> Starts:
    source = ArraySource(z, w)
    frame, moments = survey(source)
    starts = [centers_at(frame, rows) for rows in picked]
    runs = iterate(lloyd_for(frame, moments), source, starts, max_iter=STEPS)
    histories = [run.history for run in runs]
    return Starts(objective="sum of squares", higher=False, histories=_rounded(histories), rows=len(w))


def _rounded(histories: list[list[float]]) -> list[list[float]]:
    """Seven digits: enough to see which starts end together."""
    return [[float(f"{value:.7g}") for value in history] for history in histories]
