"""Which rows of a table belong to no group.

"none"    no row
0.02      the rows of least typicality, two in a hundred of the weight
"auto"    those of a background of evenly spread rows, where the evidence for one is there (``groups.background``)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from asterism.data.block import Vector, block_of
from asterism.data.source import ArraySource, Source
from asterism.engines.context import current, engine
from asterism.engines.loop import iterate
from asterism.engines.threads import crew, one_blas_thread
from asterism.errors import ParameterError
from asterism.families.assignment import assign
from asterism.groups.background import MOST_SHARE, Background, Evidence, LogDensity, find_background
from asterism.groups.judges import Array, Judge, Labels, MixtureJudge
from asterism.groups.model import GroupModel
from asterism.methods.em import EM, MixtureModel
from asterism.methods.noise import FIRST_SHARE, Box, WithNoise, noise_probabilities, with_share
from asterism.methods.posterior import Mixture
from asterism.methods.starts import model_of
from asterism.verdict.rows import draw

EVIDENCE_ROWS = 5000  # convention: rows that evidence is looked for in
STEPS = 50  # convention: of EM beside a background
TOLERANCE = 1e-4  # convention: nats a row
MOST_LOST = 0.5  # derived: a group that loses more of its rows was the background itself

Outliers = str | float


def checked_outliers(outliers: Any) -> Outliers:
    """ "auto", "none" or a share; "2%" is 0.02.

    >>> checked_outliers("2%"), checked_outliers(0), checked_outliers("auto")
    (0.02, 'none', 'auto')
    """
    if outliers in ("auto", "none"):
        return str(outliers)
    try:
        text = str(outliers).strip()
        share = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        share = np.nan
    if isinstance(outliers, bool) or not 0 <= share < MOST_LOST:
        raise ParameterError(
            f"outliers is {outliers!r}.",
            "Give 'auto', 'none', or a share below one half such as 0.02 or '2%'.",
        )
    return share or "none"


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows in groups or in none, and the model that says so."""

    model: GroupModel
    labels: Labels  # (n,) -1: belongs to none
    typicality: Vector  # (n,) NaN for rows without weight
    mass: Vector  # (k,) weight of the groups


def with_outliers(model: GroupModel, source: Source, labels: Labels, outliers: Outliers, seed: int) -> Judged:
    """The model with what it needs to tell which rows belong to none, and what it says of the rows of ``source``.

    ``labels``  the likeliest groups of the rows of ``source``
    """
    own = labels
    if outliers == "auto":
        model = with_background(model, source, labels, seed)
        if model.background is not None:
            own, labels = model.own_and_labels(source)
    model, typicality, weights = model.with_typicality(source, own, labels >= 0)
    if isinstance(outliers, float):
        out, least = least_typical(typicality, weights, outliers)
        model, labels = replace(model, least_typicality=least), np.where(out, np.int32(-1), labels)
    inside = labels >= 0
    mass = np.bincount(labels[inside], weights[inside], model.k).astype(np.float64)
    return Judged(model, labels, typicality, mass)


# --- a share ----------------------------------------------------------------------------------------------------


def least_typical(typicality: Vector, weights: Vector, share: float) -> tuple[NDArray[np.bool_], float]:
    """(n,) the rows of least typicality that make up at most a share of the weight, and the typicality above them.

    The earlier row goes first among equals.

    >>> least_typical(np.array([0.5, 0.1, 0.1, 0.9]), np.ones(4), 0.25)
    (array([False,  True, False, False]), 0.1)
    """
    out = np.zeros(len(typicality), bool)
    known = np.flatnonzero((weights > 0) & ~np.isnan(typicality))
    order = known[np.argsort(typicality[known], kind="stable")]
    spent = np.cumsum(weights[order])
    most = share * weights[known].sum() * (1 + 1e-12)
    taken = int(np.searchsorted(spent, most, "right"))
    out[order[:taken]] = True
    return out, float(typicality[order[taken]]) if taken < len(order) else 0.0


# --- a background -----------------------------------------------------------------------------------------------


def with_background(model: GroupModel, source: Source, labels: Labels, seed: int) -> GroupModel:
    """The model with a background, where rows of ``source`` give evidence for one and no group is lost to it."""
    if any(column.kind != "numeric" for column in model.view.modelled(model.columns)):
        return model  # convention: levels have no volume to be evenly spread in
    seen = model.rows_of(source)
    drawn = draw(seen, EVIDENCE_ROWS, seed)
    whole = ~np.isnan(drawn.x).any(axis=1)
    rows, weights = drawn.x[whole], drawn.weights[whole]
    if len(rows) <= rows.shape[1] + 1 or model.judge.log_density(block_of(rows[:1])) is None:
        return model
    found, judge = background_beside(model.judge, rows, weights, seed)
    if found.background is None:
        return model
    background = found.background
    if not drawn.whole and isinstance(judge, MixtureJudge):
        start = with_share(MixtureModel(judge.mixture.weights, judge.mixture.params), background.share)
        judge, background = _refitted(judge, background.box, seen, [start])
    after = replace(model, judge=judge, background=background)
    left = after.labels(source)
    sizes, lost = (np.bincount(labels[rows], minlength=model.k) for rows in (labels >= 0, left < 0))
    stay = np.bincount(left[left >= 0], minlength=model.k)
    return model if (lost > MOST_LOST * sizes).any() or (stay == 0).any() else after


def background_beside(judge: Judge, rows: Array, weights: Vector, seed: int = 0) -> tuple[Evidence, Judge]:
    """The evidence of complete rows (n, D), and the judge as it is beside a background: a mixture is fitted anew."""
    alone = _density(judge)
    low, high = rows.min(axis=0), rows.max(axis=0)
    if not isinstance(judge, MixtureJudge) or not (high > low).all():
        return find_background(rows, weights, alone, seed=seed), judge
    with engine(n_threads=current().n_threads):
        starts = _starts(judge, rows, weights)
        beside, background = _refitted(judge, Box(low, high), ArraySource(rows, weights), starts)
    found = find_background(rows, weights, _density(beside), alone=alone, seed=seed)
    return (replace(found, background=background) if found.background else found), beside


def _density(judge: Judge) -> LogDensity:
    def log_density(rows: Array) -> Vector:
        found = judge.log_density(block_of(np.ascontiguousarray(rows)))
        assert found is not None, "a judge without a density"
        return found

    return log_density


def _starts(judge: MixtureJudge, rows: Array, weights: Vector) -> list[MixtureModel]:
    """The mixture as it is, with a little noise; and of the rows alone that have near neighbours.

    A mixture that had to explain noise has wide components for it, and would keep them.
    """
    m, block = judge.mixture, block_of(rows, weights)
    unit = np.sqrt(
        np.average((rows - np.average(rows, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    )
    near = noise_probabilities(rows / unit, weights) <= 0.5
    share = 1.0 - float(weights[near].sum() / weights.sum())
    given = MixtureModel(m.weights, m.params)
    starts = [with_share(given, FIRST_SHARE)]
    if 0 < share <= MOST_SHARE:
        shares = assign(m.scores(block), "soft")[0] * near[:, None]
        starts.append(with_share(model_of(EM(m.family), block, shares, given), share))
    return starts


def _refitted(
    judge: MixtureJudge, box: Box, source: Source, starts: list[MixtureModel]
) -> tuple[MixtureJudge, Background]:
    """A mixture and a background of these rows, by EM from the best of these starts."""
    m = judge.mixture
    em = EM(WithNoise(m.family, box), tol=TOLERANCE)
    with one_blas_thread(), crew():
        run = min(iterate(em, source, starts, max_iter=STEPS), key=lambda run: run.objective)
    weights = run.model.weights
    noise = float(np.clip(weights[-1], np.finfo(float).tiny, 1.0 - np.finfo(float).eps))
    beside = Mixture(m.family, weights[:-1] / weights[:-1].sum(), run.model.params)
    return replace(judge, mixture=beside), Background(noise, box)
