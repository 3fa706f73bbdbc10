"""From a mixture to its neighbours, by moments alone.

What the rows of a component say of it is its mass, mean and scatter. From these, without the rows:

    split   c into the halves of a normal group cut across an axis u:  means  mu +- sqrt(2/pi) S u / sqrt(u'S u),
            covariances  S - (2/pi) S u u'S / u'S u
    merge   a and b into one with the mass, mean and scatter of both
    lend    the moments of one structure to another, which makes its own covariances of them

A sweep starts every cell from its neighbours in k and in structure, again and again, and keeps what climbs higher.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from asterism.choose.together import Candidate, in_small_blocks
from asterism.data.block import Block, Vector
from asterism.data.source import Source
from asterism.engines.reduce import reduce
from asterism.families.assignment import present
from asterism.families.base import Array
from asterism.families.gaussian import GaussianFamily
from asterism.families.gaussian_pass import (
    Components,
    GaussianParams,
    GaussianPass,
    Table,
    one_mixture,
    unknown_table,
)
from asterism.families.gaussian_statistic import GaussianStatistic, GaussianSums

TINY = np.finfo(float).tiny
HALF = 2.0 / np.pi  # the share of a normal variance that lies between its halves

Index = NDArray[np.int64]


def moments_of(source: Source, candidates: Sequence[Candidate]) -> list[GaussianStatistic]:
    """Mass, means and whole scatters (k, d, d) of the components of every candidate, in one pass."""
    ks = [len(one.model.weights) for one in candidates]
    params: list[GaussianParams] = [one.model.params for one in candidates]
    family = candidates[0].em.family
    assert isinstance(family, GaussianFamily)
    starts = np.cumsum([0, *ks]).astype(np.int64)
    components = Components(
        starts,
        np.concatenate([one.model.log_weights for one in candidates]),
        np.concatenate([p.means for p in params]),
        np.concatenate([p.covariances.inverse_factors() for p in params]),
    )
    found = _moments(source, components, family.table(single=True), "soft")
    return [
        GaussianStatistic(found.mass[a:b], found.means[a:b], found.scatters[a:b]) for a, b in pairwise(starts)
    ]


def moments_of_nearest(source: Source, centers: Array, unit: Vector, reference: Vector) -> GaussianStatistic:
    """The same of the rows nearest to each of some centres (k, d), offsets from the reference, in units (d,)."""
    k, d = centers.shape
    factors = np.broadcast_to(np.diag(1.0 / unit), (k, d, d))
    components = one_mixture(np.zeros(k), centers, factors)
    return _moments(source, components, unknown_table(reference), "hard")


def _moments(source: Source, components: Components, table: Table, assignment: str) -> GaussianStatistic:
    ready = GaussianPass(components, table, "full")

    def summarize(block: Block) -> GaussianSums:
        here = present(block)
        return ready.summarize(here.rows, here.weights, assignment)[1]

    found: GaussianSums = reduce(in_small_blocks(source), summarize)
    return found.centred


def moments_of_labels(y: Array, w: Vector, labels: NDArray[np.int32], k: int) -> GaussianStatistic:
    """The same of groups of rows (m, d) given as offsets."""
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(k + 1))
    d = y.shape[1]
    mass, means, scatters = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    for c in range(k):
        mine = order[ends[c] : ends[c + 1]]
        if len(mine):
            mass[c] = w[mine].sum()
            means[c] = w[mine] @ y[mine] / mass[c]
            about = (y[mine] - means[c]) * np.sqrt(w[mine])[:, None]
            scatters[c] = about.T @ about
    return GaussianStatistic(mass, means, scatters)


# --- split ------------------------------------------------------------------------------------------------------


def splits(moments: GaussianStatistic, axes: Array) -> list[GaussianStatistic]:
    """For every component c the moments with c in two halves across its axis (k, d), the second of them last."""
    mass, means, S = moments.mass, moments.means, moments.scatters
    across = (S @ axes[:, :, None])[:, :, 0]  # (k, d) S u
    along = np.maximum((axes * across).sum(axis=1), TINY)  # (k,) u'S u
    step = across * np.sqrt(HALF / (along * np.maximum(mass, TINY)))[:, None]
    inside = 0.5 * (S - across[:, :, None] * across[:, None, :] * (HALF / along)[:, None, None])
    found, k = [], len(mass)
    for c in range(k):
        which = [*range(k), c]  # the copies are cheaper than joining arrays
        m, centers, scatters = mass[which], means[which], S[which]
        m[[c, k]], scatters[[c, k]] = 0.5 * mass[c], inside[c]
        centers[c], centers[k] = means[c] - step[c], means[c] + step[c]
        found.append(GaussianStatistic(m, centers, scatters))
    return found


def axes_to_cut(mass: Vector, scatters: Array, covariances: Array, unit: Vector) -> Array:
    """(k, d) for every component the direction in which its rows spread most beyond its own covariance.

    Where it has all of their covariance there is none, and the longest axis in standard units is taken.
    """
    own = scatters / np.maximum(mass, TINY)[:, None, None]
    alike = np.abs(own - covariances).max(axis=(1, 2)) <= 0.05 * np.abs(own).max(axis=(1, 2))
    inner = np.where(alike[:, None, None], np.diag(unit**2), covariances)
    w = np.linalg.inv(np.linalg.cholesky(inner))
    vectors = np.linalg.eigh(w @ own @ w.transpose(0, 2, 1))[1]
    return np.asarray((w.transpose(0, 2, 1) @ vectors[:, :, -1:])[:, :, 0])


# --- merge ------------------------------------------------------------------------------------------------------


def merge(moments: GaussianStatistic, a: int, b: int) -> GaussianStatistic:
    """With components a < b as one, in the place of a."""
    mass, means, scatters = (np.delete(x, b, axis=0) for x in (moments.mass, moments.means, moments.scatters))
    both, joint = _pairs(moments, np.array([a]), np.array([b]))
    mass[a], scatters[a] = both[0], joint[0]
    means[a] += (moments.means[b] - means[a]) * (moments.mass[b] / max(both[0], TINY))
    return GaussianStatistic(mass, means, scatters)


def cheapest_mergers(moments: GaussianStatistic, form: str, n: int) -> list[tuple[int, int]]:
    """The n pairs whose merger costs the least likelihood, were no rows shared."""
    a, b = np.triu_indices(len(moments.mass), 1)
    losses = _losses(moments, a, b, form)
    return [(int(a[i]), int(b[i])) for i in np.argsort(losses, kind="stable")[:n]]


def _losses(moments: GaussianStatistic, a: Index, b: Index, form: str) -> Vector:
    """What it costs to bring components a and b together, pair by pair."""
    mass, S = moments.mass, moments.scatters
    both, joint = _pairs(moments, a, b)
    if form == "tied":
        within = S.sum(axis=0)
        loss = 0.5 * mass.sum() * (_logdet(within + joint - S[a] - S[b]) - _logdet(within[None]))
    else:
        alone = _width(mass, S, form)
        loss = _width(both, joint, form) - alone[a] - alone[b]
    return np.asarray(loss - (_pure(both) - _pure(mass[a]) - _pure(mass[b])))


def _pairs(moments: GaussianStatistic, a: Index, b: Index) -> tuple[Vector, Array]:
    """Masses and scatters of components a and b together, pair by pair."""
    both = moments.mass[a] + moments.mass[b]
    delta = moments.means[a] - moments.means[b]
    share = moments.mass[a] * moments.mass[b] / np.maximum(both, TINY)
    between = share[:, None, None] * (delta[:, :, None] * delta[:, None, :])
    return both, np.asarray(moments.scatters[a] + moments.scatters[b] + between)


def _pure(mass: Vector) -> Vector:
    """N log N."""
    return np.asarray(mass * np.log(np.maximum(mass, TINY)))


def _logdet(matrices: Array) -> Vector:
    return np.asarray(np.linalg.slogdet(matrices)[1])


def _width(mass: Vector, scatters: Array, form: str) -> Vector:
    """N/2 log det of the covariances of a form."""
    d = scatters.shape[1]
    variances = scatters / np.maximum(mass, TINY)[:, None, None]
    if form == "full":
        logs = np.linalg.slogdet(variances)[1]
    else:
        diagonals = np.maximum(np.diagonal(variances, axis1=1, axis2=2), TINY)
        logs = np.log(diagonals).sum(axis=1) if form == "diag" else d * np.log(diagonals.mean(axis=1))
    return np.asarray(0.5 * mass * np.maximum(logs, -1e3))
