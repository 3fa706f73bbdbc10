"""k-means and EM step by step, on the points of a map: what the slider plays.

Both run on the two coordinates that are drawn, so what is seen is what is computed, and from a poor start (all
centres around one point), so that there is something to see. They are the library's own methods, watched.
"""

from __future__ import annotations

import warnings
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from asterism.data.source import ArraySource
from asterism.engines.context import engine
from asterism.engines.loop import Run, iterate
from asterism.engines.threads import one_blas_thread
from asterism.errors import AsterismError
from asterism.families.base import Family
from asterism.families.gaussian import GaussianFamily
from asterism.families.product import ProductFamily
from asterism.methods.em import EM, MixtureModel
from asterism.methods.frame import survey
from asterism.methods.lloyd import Centers, centers_at, lloyd_for
from asterism.methods.mixture import facts_of
from asterism.methods.posterior import Mixture
from asterism.methods.starts import model_of, nearest_of

MOST_STEPS = 40
MOST_FRAMES = 16  # shown; steps between them are skipped where there are more

Points = NDArray[np.float64]  # (m, 2)


class Frame(TypedDict):
    """One step."""

    step: int
    objective: float
    centres: list[list[float]]  # (k, 2)
    ellipses: list[list[float]]  # (k, 3) covariances xx, xy, yy; empty for k-means
    labels: list[int]  # (m,)


def poor_start(points: Points, k: int, seed: int) -> Points:
    """The k distinct points nearest to one of them, that far from the middle: a start that has far to go."""
    distinct = np.unique(points, axis=0)
    away = ((distinct - distinct.mean(axis=0)) ** 2).sum(axis=1)
    corner = distinct[np.argsort(away, kind="stable")[int(0.8 * (len(distinct) - 1))]]
    near = distinct[np.argsort(((distinct - corner) ** 2).sum(axis=1), kind="stable")]
    spread = near[: max(k, len(near) // 20)]  # not all on one spot: ties would decide
    return spread[np.sort(np.random.default_rng(seed).choice(len(spread), k, replace=False))]


def kmeans_steps(points: Points, weights: NDArray[np.float64], k: int, seed: int = 0) -> list[Frame]:
    """The steps of k-means; none where there are too few points.

    >>> rng = np.random.default_rng(0)
    >>> points = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(9, 1, (50, 2))])
    >>> frames = kmeans_steps(points, np.ones(100), 2)
    >>> all(a["objective"] >= b["objective"] for a, b in zip(frames, frames[1:]))
    True
    """
    if not _enough(points, k):
        return []
    source = ArraySource(points, weights)
    with engine():  # nobody's progress, checkpoint or time limit
        frame, moments = survey(source)
        models: list[Centers] = [centers_at(frame, poor_start(points, k, seed))]

        def watch(runs: list[Run[Centers]]) -> None:
            models.append(runs[0].model)

        run = iterate(lloyd_for(frame, moments), source, models[:1], max_iter=MOST_STEPS, watch=watch)[0]
    frames: list[Frame] = []
    for step, (model, objective) in enumerate(zip(models, run.history, strict=False)):
        near = nearest_of(points, model.positions)
        frames.append(
            Frame(
                step=step,
                objective=objective,
                centres=_rounded(model.positions),
                ellipses=[],
                labels=near.tolist(),
            )
        )
    return _thinned(frames)


def em_steps(points: Points, weights: NDArray[np.float64], k: int, seed: int = 0) -> list[Frame]:
    """The steps of EM with Gaussians of any shape; none where they cannot be fitted."""
    if not _enough(points, 3 * k):
        return []
    source = ArraySource(points, weights)
    block = next(iter(source.blocks()))
    try:
        with engine(), one_blas_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a picture warns of nothing
            frame, moments = survey(source)
            family = in_one_part(GaussianFamily("VVV"), 2)
            em = EM(family.prepared(facts_of(source, family, frame, moments)), tol=1e-5)
            models: list[MixtureModel] = [model_of(em, block, _soft(points, poor_start(points, k, seed)))]

            def watch(runs: list[Run[MixtureModel]]) -> None:
                models.append(runs[0].model)

            run = iterate(em, source, models[:1], max_iter=MOST_STEPS, watch=watch)[0]
    except AsterismError:
        return []  # points on a line have no Gaussian of any shape
    frames: list[Frame] = []
    for step, (model, objective) in enumerate(zip(models, run.history, strict=False)):
        [params] = model.params.parts
        cov = np.broadcast_to(params.matrices, (k, 2, 2))
        scores = Mixture(em.family, model.weights, model.params).scores(block)
        frames.append(
            Frame(
                step=step,
                objective=-objective,
                centres=_rounded(frame.reference + params.means),
                ellipses=_rounded(np.column_stack([cov[:, 0, 0], cov[:, 0, 1], cov[:, 1, 1]])),
                labels=scores.argmax(axis=1).tolist(),
            )
        )
    return _thinned(frames)


def in_one_part(family: Family, d: int) -> ProductFamily:
    """The same family as a product, which has no kernel for whole steps: few rows are not worth compiling one."""
    return ProductFamily(((family, tuple(range(d))),))


def _soft(points: Points, centres: Points) -> Points:
    """(m, k) shares by distance, so wide that every component begins with something of everything."""
    squares = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
    scores = -squares / (0.4 * points.var(axis=0).sum())
    r = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(r / r.sum(axis=1, keepdims=True))


def _enough(points: Points, least: int) -> bool:
    return len(np.unique(points, axis=0)) > least


def _thinned(frames: list[Frame]) -> list[Frame]:
    """The first steps, where most happens, and then some up to the last."""
    if len(frames) <= MOST_FRAMES:
        return frames
    places = np.unique(np.round(np.linspace(0, 1, MOST_FRAMES) ** 1.6 * (len(frames) - 1)).astype(int))
    return [frames[i] for i in places]


def _rounded(values: NDArray[np.float64]) -> list[list[float]]:
    out: list[list[float]] = np.round(values, 5).tolist()
    return out
